//! Which of many entries has something to do next, without a look at each of them.
//!
//! A machine with hundreds of peers is asked for its next deadline after every packet. It tells
//! its agenda which entries it touched, and the agenda looks at those only.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::sorted::BoxedMap;
use crate::time::Instant;

/// When something is due, and why.
type Due<R> = (Instant, R);

/// The earlier one, where there are both: that is rare.
#[inline(never)]
fn earlier_of<R: Ord>(a: Due<R>, b: Due<R>) -> Due<R> {
    a.min(b)
}

/// The earlier of two deadlines, each with its reason.
pub fn earlier<R: Ord>(a: Option<(Instant, R)>, b: Option<(Instant, R)>) -> Option<(Instant, R)> {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(earlier_of(a, b)),
    }
}

/// The deadlines, with their reasons `R`, of the entries of a map with keys `K`.
#[derive(Debug)]
pub struct Agenda<K, R> {
    by_time: BTreeSet<(Due<R>, K)>,
    times: BTreeMap<K, Due<R>>,
    /// Entries whose deadlines may differ from those noted.
    touched: Vec<K>,
    /// Room for the entries that are due.
    spare: Vec<K>,
}

impl<K, R> Default for Agenda<K, R> {
    fn default() -> Self {
        Self {
            by_time: BTreeSet::new(),
            times: BTreeMap::new(),
            touched: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl<K: Copy + Ord, R: Copy + Ord> Agenda<K, R> {
    /// The entry `key` was added, changed or removed.
    pub fn touch(&mut self, key: K) {
        if !self.touched.contains(&key) {
            self.touched.push(key);
        }
    }

    /// True where no entry has a deadline.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.by_time.is_empty()
    }

    /// The next deadline of all `entries`, each of which has the deadline that `due` says.
    #[inline(always)]
    pub fn next<V>(
        &self,
        entries: &BoxedMap<K, V>,
        due: impl Fn(&V) -> Option<Due<R>>,
    ) -> Option<Due<R>> {
        let noted = if self.by_time.is_empty() {
            None
        } else {
            self.first_untouched()
        };
        let touched = self
            .touched
            .iter()
            .filter_map(|key| entries.get(key).and_then(&due));
        touched.fold(noted, |next, deadline| earlier(next, Some(deadline)))
    }

    #[cold]
    fn first_untouched(&self) -> Option<Due<R>> {
        let mut noted = self.by_time.iter();
        let noted = noted.find(|(_, key)| !self.touched.contains(key));
        noted.map(|(deadline, _)| *deadline)
    }

    /// The entries with deadlines up to `now`, in order of their keys.
    #[inline(always)]
    pub fn due<V>(
        &mut self,
        now: Instant,
        entries: &BoxedMap<K, V>,
        due: impl Fn(&V) -> Option<Due<R>>,
    ) -> Vec<K> {
        if self.touched.is_empty() && (self.by_time.is_empty() || self.comes_later(now)) {
            return Vec::new();
        }
        self.look(now, entries, due)
    }

    #[inline(never)]
    fn comes_later(&self, now: Instant) -> bool {
        let is_later = |((at, _), _): &(Due<R>, K)| *at > now;
        self.by_time.first().is_none_or(is_later)
    }

    #[cold]
    fn look<V>(
        &mut self,
        now: Instant,
        entries: &BoxedMap<K, V>,
        due: impl Fn(&V) -> Option<Due<R>>,
    ) -> Vec<K> {
        while let Some(key) = self.touched.pop() {
            self.note(key, entries.get(&key).and_then(&due));
        }
        let mut keys = core::mem::take(&mut self.spare);
        let noted = self.by_time.iter();
        let due = noted.take_while(|((at, _), _)| *at <= now);
        keys.extend(due.map(|(_, key)| *key));
        keys.sort_unstable();
        keys
    }

    /// Takes back what [`Agenda::due`] gave, so that its room is used again.
    pub fn reuse(&mut self, mut keys: Vec<K>) {
        if keys.capacity() > 0 {
            keys.clear();
            self.spare = keys;
        }
    }

    fn note(&mut self, key: K, deadline: Option<Due<R>>) {
        let old = self.times.get(&key).copied();
        if old == deadline {
            return;
        }
        if let Some(old) = old {
            self.by_time.remove(&(old, key));
        }
        match deadline {
            Some(deadline) => {
                self.by_time.insert((deadline, key));
                self.times.insert(key, deadline);
            }
            None => {
                self.times.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entries = BoxedMap<u32, Option<u64>>;

    #[expect(clippy::ref_option, reason = "as the agenda hands entries out")]
    fn deadline(entry: &Option<u64>) -> Option<Due<()>> {
        entry.map(|at| (Instant(at), ()))
    }

    /// What a look at every entry finds.
    fn searched(entries: &Entries, now: u64) -> (Option<Due<()>>, Vec<u32>) {
        let next = entries.values().filter_map(deadline).min();
        let due = entries
            .iter()
            .filter(|(_, at)| at.is_some_and(|at| at <= now));
        (next, due.map(|(key, _)| *key).collect())
    }

    #[test]
    fn it_finds_what_a_look_at_every_entry_finds() {
        let mut agenda = Agenda::default();
        let mut entries = Entries::new();
        let mut random = 1u64;
        for now in 0..4000u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let (key, what, wait) = ((random >> 33) % 9, (random >> 40) % 5, (random >> 50) % 30);
            let key = key as u32;
            match what {
                0 => drop(entries.remove(&key)),
                1 => drop(entries.insert(key, None)),
                _ => drop(entries.insert(key, Some(now + wait))),
            }
            agenda.touch(key);
            let (next, due) = searched(&entries, now);
            assert_eq!(agenda.next(&entries, deadline), next);
            if now % 3 == 0 {
                assert_eq!(agenda.due(now_at(now), &entries, deadline), due);
                assert_eq!(agenda.next(&entries, deadline), next);
            }
        }
        for key in 0..9 {
            entries.remove(&key);
            agenda.touch(key);
        }
        assert!(agenda.due(now_at(9999), &entries, deadline).is_empty());
        assert!(agenda.by_time.is_empty() && agenda.times.is_empty());
    }

    fn now_at(now: u64) -> Instant {
        Instant(now)
    }
}
