//! The pairs of a local and another endpoint that have something to do with each other.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::qos::PolicyId;
use whimbrel_base::sorted::SortedMap;

use super::remote::guids_of;

/// What a pair is; `M` is what the local endpoint is told of the other one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Pair<M> {
    Matched(M),
    Incompatible(Vec<PolicyId>),
    Inconsistent,
}

/// What a change of a pair means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step<M> {
    Nothing,
    /// Tell of the new state; `unmatched` says that it had been matched before.
    News {
        unmatched: bool,
        pair: Option<Pair<M>>,
    },
    /// The local endpoint is matched with as many others as it may be.
    Refused,
}

#[derive(Debug)]
struct Entry<M> {
    pair: Pair<M>,
    /// The other side is known to know of the match.
    confirmed: bool,
}

/// The pairs of all local writers, or of all local readers.
#[derive(Debug)]
pub(super) struct PairTable<M> {
    entries: BTreeMap<(EntityId, Guid), Box<Entry<M>>>,
    matched: SortedMap<EntityId, usize>,
    matches_max: usize,
}

impl<M: Clone + PartialEq> PairTable<M> {
    pub(super) fn new(matches_max: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            matched: SortedMap::new(),
            matches_max,
        }
    }

    /// Notes that `local` and `other` are `pair` to each other, or nothing.
    pub(super) fn set(&mut self, local: EntityId, other: Guid, pair: Option<Pair<M>>) -> Step<M> {
        let key = (local, other);
        let old = self.entries.get(&key).map(|entry| &entry.pair);
        if old == pair.as_ref() {
            return Step::Nothing;
        }
        let was = matches!(old, Some(Pair::Matched(_)));
        let is = matches!(pair, Some(Pair::Matched(_)));
        let count = self.matched.get(&local).copied().unwrap_or_default();
        if is && !was && count >= self.matches_max {
            return Step::Refused;
        }
        let count = match (was, is) {
            (false, true) => count.saturating_add(1),
            (true, false) => count.saturating_sub(1),
            (true, true) | (false, false) => count,
        };
        self.matched.insert(local, count);
        let confirmed = was && is && self.is_confirmed(local, other);
        match &pair {
            Some(pair) => {
                self.entries.insert(
                    key,
                    Box::new(Entry {
                        pair: pair.clone(),
                        confirmed,
                    }),
                );
            }
            None => {
                self.entries.remove(&key);
            }
        }
        Step::News {
            unmatched: was && !is,
            pair,
        }
    }

    fn is_confirmed(&self, local: EntityId, other: Guid) -> bool {
        self.entries
            .get(&(local, other))
            .is_some_and(|entry| entry.confirmed)
    }

    /// Forgets that the other side knows of a pair: it will show it anew.
    pub(super) fn unconfirm(&mut self, local: EntityId, other: Guid) {
        if let Some(entry) = self.entries.get_mut(&(local, other)) {
            entry.confirmed = false;
        }
    }

    /// Notes that the other side knows of the match; true when there is one and that is news.
    pub(super) fn confirm(&mut self, local: EntityId, other: Guid) -> bool {
        self.entries.get_mut(&(local, other)).is_some_and(|entry| {
            matches!(entry.pair, Pair::Matched(_))
                && !core::mem::replace(&mut entry.confirmed, true)
        })
    }

    /// What `local` was told of `other` when they matched.
    pub(super) fn matched(&self, local: EntityId, other: Guid) -> Option<&M> {
        match &self.entries.get(&(local, other))?.pair {
            Pair::Matched(matched) => Some(matched),
            Pair::Incompatible(_) | Pair::Inconsistent => None,
        }
    }

    /// The others with which `local` has a pair.
    pub(super) fn of_local(&self, local: EntityId) -> Vec<Guid> {
        let all = (local, Guid::UNKNOWN)..=(local, *guids_of(GuidPrefix([0xff; 12])).end());
        self.entries
            .range(all)
            .map(|((_, other), _)| *other)
            .collect()
    }

    /// The endpoints of participant `prefix` that are matched with `local`.
    pub(super) fn matched_of(
        &self,
        local: EntityId,
        prefix: GuidPrefix,
    ) -> impl Iterator<Item = (Guid, &M)> {
        let (first, last) = guids_of(prefix).into_inner();
        self.entries
            .range((local, first)..=(local, last))
            .filter_map(|((_, other), entry)| match &entry.pair {
                Pair::Matched(matched) => Some((*other, matched)),
                Pair::Incompatible(_) | Pair::Inconsistent => None,
            })
    }

    /// `local` is gone, and its pairs are.
    pub(super) fn forget_local(&mut self, local: EntityId) {
        for other in self.of_local(local) {
            self.entries.remove(&(local, other));
        }
        self.matched.remove(&local);
    }

    /// True when `local` is matched with any other.
    pub(super) fn has_match(&self, local: EntityId) -> bool {
        self.matched.get(&local).is_some_and(|count| *count > 0)
    }

    /// Number of matches of all local endpoints.
    pub(super) fn matched_count(&self) -> usize {
        self.matched
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const LOCAL: EntityId = EntityId([0, 0, 1, 2]);

    fn other(number: u8) -> Guid {
        Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, 1, 7]))
    }

    fn news(unmatched: bool, pair: Option<Pair<u8>>) -> Step<u8> {
        Step::News { unmatched, pair }
    }

    #[test]
    fn only_changes_are_news() {
        let mut table = PairTable::new(8);
        let mut set = |pair: Option<Pair<u8>>| table.set(LOCAL, other(1), pair);
        assert_eq!(set(None), Step::Nothing);
        assert_eq!(
            set(Some(Pair::Matched(1))),
            news(false, Some(Pair::Matched(1)))
        );
        assert_eq!(set(Some(Pair::Matched(1))), Step::Nothing);
        assert_eq!(
            set(Some(Pair::Matched(2))),
            news(false, Some(Pair::Matched(2)))
        );
        let one = Some(Pair::Incompatible(vec![PolicyId::Deadline]));
        let two = Some(Pair::Incompatible(vec![
            PolicyId::Deadline,
            PolicyId::Ownership,
        ]));
        assert_eq!(set(one.clone()), news(true, one.clone()));
        assert_eq!(set(one), Step::Nothing);
        assert_eq!(set(two.clone()), news(false, two));
        assert_eq!(
            set(Some(Pair::Inconsistent)),
            news(false, Some(Pair::Inconsistent))
        );
        assert_eq!(set(None), news(false, None));
        assert_eq!(table.matched_count(), 0);
    }

    #[test]
    fn matches_are_counted_and_limited() {
        let mut table = PairTable::new(2);
        table.set(LOCAL, other(1), Some(Pair::Matched(1)));
        table.set(LOCAL, other(2), Some(Pair::Matched(1)));
        assert_eq!(
            table.set(LOCAL, other(3), Some(Pair::Matched(1))),
            Step::Refused
        );
        table.set(LOCAL, other(1), None);
        assert_ne!(
            table.set(LOCAL, other(3), Some(Pair::Matched(1))),
            Step::Refused
        );
        assert_eq!(table.of_local(LOCAL), [other(2), other(3)]);
        assert_eq!(table.matched_of(LOCAL, other(3).prefix).count(), 1);
        table.forget_local(LOCAL);
        assert_eq!(table.matched_count(), 0);
        assert!(table.of_local(LOCAL).is_empty());
    }

    #[test]
    fn confirmation_outlives_a_move_but_not_an_end() {
        let mut table = PairTable::new(2);
        assert!(!table.confirm(LOCAL, other(1)));
        table.set(LOCAL, other(1), Some(Pair::Matched(1)));
        assert!(table.confirm(LOCAL, other(1)));
        table.set(LOCAL, other(1), Some(Pair::Matched(2)));
        assert!(!table.confirm(LOCAL, other(1)));
        table.set(LOCAL, other(1), Some(Pair::Inconsistent));
        table.set(LOCAL, other(1), Some(Pair::Matched(2)));
        assert!(table.confirm(LOCAL, other(1)));
    }
}
