//! The changes that a writer keeps for repair and for late joiners.
//!
//! Changes are kept in order of their sequence numbers. Removing one from the middle leaves a
//! tombstone that is swept once tombstones are the majority, so that a steady stream neither
//! moves much nor allocates.

use alloc::collections::VecDeque;

use whimbrel_base::budget::Account;

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;

use super::change::{Change, slab_bytes};
use super::instances::{Instance, Instances};
use crate::change::ChangeKind;

/// Key hash, status info and the end of the list, which go with the end of an instance, in octets.
pub(super) const INLINE_QOS_BYTES: usize = 32;

/// What a change takes beside its payload, in octets.
const CHANGE_BYTES: usize = 160;

/// What a known instance takes, in octets.
const INSTANCE_BYTES: usize = 128;

/// Room for changes that is kept for the next ones.
const IDLE_ROOM_MAX: usize = 1024;

/// Octets that `change` keeps.
fn held_by(change: &Change) -> usize {
    slab_bytes(&change.payload, &change.packed).saturating_add(CHANGE_BYTES)
}

#[derive(Debug)]
struct Slot {
    sequence: SequenceNumber,
    /// What it keeps while it has a change, in octets.
    bytes: usize,
    change: Option<Change>,
}

/// What a history has of an instance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// It is registered, or has changes kept.
    pub(super) is_known: bool,
    /// It is registered.
    pub(super) is_registered: bool,
    /// How many changes are kept of it.
    pub(super) depth: usize,
    /// The oldest of them.
    pub(super) oldest: Option<SequenceNumber>,
}

/// Changes in order, and which of them belong to which instance.
#[derive(Debug, Default)]
pub(super) struct HistoryCache {
    slots: VecDeque<Slot>,
    live: usize,
    instances: Instances,
    last: SequenceNumber,
    /// Octets that the changes kept hold.
    change_bytes: usize,
    account: Account,
}

impl HistoryCache {
    /// An empty history that counts what it holds in `account`.
    pub(super) fn new(account: Account) -> Self {
        Self {
            account,
            ..Self::default()
        }
    }

    /// Octets held.
    pub(super) fn held_bytes(&self) -> usize {
        self.account.held()
    }

    /// True when a change whose payloads keep `bytes`, of an instance that `is_known` or not, fits
    /// the budget, once the change `replaced` is gone.
    pub(super) fn has_memory(
        &self,
        is_known: bool,
        bytes: usize,
        replaced: Option<SequenceNumber>,
    ) -> bool {
        let replaced = replaced.and_then(|sequence| self.get(sequence));
        let freed = replaced.map_or(0, held_by);
        let instance_bytes = if is_known { 0 } else { INSTANCE_BYTES };
        let more = bytes
            .saturating_add(CHANGE_BYTES)
            .saturating_add(instance_bytes);
        self.account.has_room(more.saturating_sub(freed))
    }

    /// Counts what is held now.
    pub(super) fn settle(&mut self) {
        let instances = self.instances.len().saturating_mul(INSTANCE_BYTES);
        self.account
            .set(self.change_bytes.saturating_add(instances));
    }

    /// Number of changes kept.
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Number of the newest change ever written, kept or not.
    pub(super) fn last(&self) -> SequenceNumber {
        self.last
    }

    /// Number of the oldest change kept; one past [`HistoryCache::last`] when nothing is kept.
    pub(super) fn first(&self) -> SequenceNumber {
        self.slots
            .iter()
            .find(|slot| slot.change.is_some())
            .map_or(self.last.next(), |slot| slot.sequence)
    }

    /// Limits fragments to the octets that `bytes` says for a kind of change; true when that
    /// changes how some change is divided.
    pub(super) fn shrink_fragments(&mut self, bytes: impl Fn(ChangeKind) -> u16) -> bool {
        let mut news = false;
        for change in self.slots.iter_mut().filter_map(|it| it.change.as_mut()) {
            let bytes = bytes(change.kind);
            if change.fragment_bytes > bytes {
                news |= change.payload.len() > usize::from(bytes);
                change.fragment_bytes = bytes;
            }
        }
        news
    }

    /// Number of known instances: registered, or with changes kept.
    pub(super) fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// What there is of `instance`.
    pub(super) fn known(&self, instance: InstanceHandle) -> Known {
        let Some(known) = self.instances.get(instance) else {
            return Known::default();
        };
        Known {
            is_known: true,
            is_registered: known.registered,
            depth: known.sequences.len(),
            oldest: known.sequences.front().copied(),
        }
    }

    /// True when `instance` is registered or has changes kept.
    pub(super) fn knows(&self, instance: InstanceHandle) -> bool {
        self.instances.get(instance).is_some()
    }

    /// True when `instance` is registered by this writer.
    pub(super) fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.instances
            .get(instance)
            .is_some_and(|known| known.registered)
    }

    /// Number of changes kept of `instance`.
    pub(super) fn depth(&self, instance: InstanceHandle) -> usize {
        self.instances
            .get(instance)
            .map_or(0, |known| known.sequences.len())
    }

    /// The oldest change kept of `instance`.
    pub(super) fn oldest(&self, instance: InstanceHandle) -> Option<SequenceNumber> {
        self.instances.get(instance)?.sequences.front().copied()
    }

    /// The newest change kept of `instance`.
    pub(super) fn newest(&self, instance: InstanceHandle) -> Option<&Change> {
        self.get(*self.instances.get(instance)?.sequences.back()?)
    }

    /// Registers `instance` without writing.
    pub(super) fn register(&mut self, instance: InstanceHandle) {
        if !self.is_registered(instance) {
            self.instances
                .change(instance, |known| known.registered = true);
            self.settle();
        }
    }

    /// Marks `instance` as no longer registered; it is forgotten with its last change.
    pub(super) fn unregister(&mut self, instance: InstanceHandle) {
        if let Some(known) = self.instances.get_mut(instance) {
            known.registered = false;
            if known.sequences.is_empty() {
                self.instances.remove(instance);
                self.settle();
            }
        }
    }

    /// The registered instances.
    pub(super) fn registered(&self) -> impl Iterator<Item = InstanceHandle> + '_ {
        self.instances
            .iter()
            .filter(|(_, known)| known.registered)
            .map(|(handle, _)| handle)
    }

    /// Appends the next change and returns its number. `make` gets the number.
    pub(super) fn push(&mut self, make: impl FnOnce(SequenceNumber) -> Change) -> SequenceNumber {
        let sequence = self.last.next();
        self.last = sequence;
        self.live = self.live.saturating_add(1);
        let change = make(sequence);
        let bytes = held_by(&change);
        self.change_bytes = self.change_bytes.saturating_add(bytes);
        let keep = |known: &mut Instance| known.sequences.push_back(sequence);
        self.instances.change(change.instance, keep);
        self.slots.push_back(Slot {
            sequence,
            bytes,
            change: Some(change),
        });
        self.settle();
        sequence
    }

    /// True where one change is kept and nothing besides, of data of `instance`, of which the
    /// payloads keep `bytes` octets.
    #[inline(always)]
    pub(super) fn has_only(&self, instance: InstanceHandle, bytes: usize) -> bool {
        let (Some(slot), 1) = (self.slots.front(), self.slots.len()) else {
            return false;
        };
        let held = bytes.saturating_add(CHANGE_BYTES);
        slot.bytes == held
            && slot.change.as_ref().is_some_and(|change| {
                change.instance == instance && change.kind == ChangeKind::Alive
            })
    }

    /// Has what `renew` makes of the only change kept be the next one; its number. What it is of,
    /// and what it holds, stay as they are.
    #[inline(always)]
    pub(super) fn renew_only(&mut self, renew: impl FnOnce(&mut Change)) -> SequenceNumber {
        let sequence = self.last.next();
        let slot = self.slots.front_mut();
        let Some((change, number)) =
            slot.and_then(|it| Some((it.change.as_mut()?, &mut it.sequence)))
        else {
            return self.last;
        };
        renew(change);
        change.sequence = sequence;
        *number = sequence;
        self.last = sequence;
        let known = self.instances.get_mut(change.instance);
        if let Some(kept) = known.and_then(|it| it.sequences.front_mut()) {
            *kept = sequence;
        }
        sequence
    }

    /// Passes over the next number, `sequence`, of which nothing is kept.
    pub(super) fn skip(&mut self, sequence: SequenceNumber) {
        self.last = self.last.max(sequence);
    }

    /// Where `sequence` is as long as no slots were swept away: that is nearly always right.
    fn guess(&self, sequence: SequenceNumber) -> Option<usize> {
        let front = self.slots.front()?.sequence;
        let guess = usize::try_from(sequence.since(front)).ok()?;
        let slot = self.slots.get(guess)?;
        (slot.sequence == sequence).then_some(guess)
    }

    #[inline(always)]
    fn position(&self, sequence: SequenceNumber) -> Option<usize> {
        self.guess(sequence).or_else(|| self.search(sequence).ok())
    }

    #[cold]
    fn search(&self, sequence: SequenceNumber) -> Result<usize, usize> {
        self.slots
            .binary_search_by_key(&sequence, |slot| slot.sequence)
    }

    /// The change numbered `sequence`, if kept.
    pub(super) fn get(&self, sequence: SequenceNumber) -> Option<&Change> {
        self.slots.get(self.position(sequence)?)?.change.as_ref()
    }

    /// The change written last, if kept.
    #[inline(always)]
    pub(super) fn newest_of_all(&self) -> Option<&Change> {
        match self.slots.back() {
            Some(slot) if slot.sequence == self.last => slot.change.as_ref(),
            _ => None,
        }
    }

    /// The oldest kept change numbered `from` or later.
    #[inline(always)]
    pub(super) fn next_from(&self, from: SequenceNumber) -> Option<&Change> {
        let start = match self.guess(from) {
            Some(at) => at,
            None => match self.search(from) {
                Ok(at) | Err(at) => at,
            },
        };
        let here = self.slots.get(start)?.change.as_ref();
        // Tombstones are few.
        here.or_else(|| self.first_after(start))
    }

    #[cold]
    fn first_after(&self, start: usize) -> Option<&Change> {
        let mut later = self.slots.range(start..);
        later.find_map(|slot| slot.change.as_ref())
    }

    /// Forgets the change numbered `sequence`; false where it was not kept.
    pub(super) fn remove(&mut self, sequence: SequenceNumber) -> bool {
        let was_kept = self.give_way(sequence);
        if was_kept {
            self.settle();
        }
        was_kept
    }

    /// As [`HistoryCache::remove`], but what is held is to be counted later: by
    /// [`HistoryCache::push`], or [`HistoryCache::settle`].
    pub(super) fn give_way(&mut self, sequence: SequenceNumber) -> bool {
        let position = self.position(sequence);
        let was_kept = position.is_some_and(|at| self.vacate(at));
        if was_kept {
            self.sweep();
        }
        was_kept
    }

    /// Leaves a tombstone at `at`; false where there is one.
    #[inline(always)]
    fn vacate(&mut self, at: usize) -> bool {
        let Some(slot) = self.slots.get_mut(at) else {
            return false;
        };
        let Some(change) = &slot.change else {
            return false;
        };
        let (sequence, instance, bytes) = (slot.sequence, change.instance, slot.bytes);
        slot.change = None;
        self.live = self.live.saturating_sub(1);
        self.change_bytes = self.change_bytes.saturating_sub(bytes);
        self.forget_in_instance(instance, sequence);
        true
    }

    /// Drops tombstones where that is cheap or they are many, and gives back room.
    #[inline(always)]
    fn sweep(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.change.is_none()) {
            self.slots.pop_front();
        }
        if self.slots.len() > 64 && self.live < self.slots.len() / 2 {
            take_tombstones(&mut self.slots);
        }
        give_back_room(&mut self.slots, self.live);
    }

    #[inline(always)]
    fn forget_in_instance(&mut self, instance: InstanceHandle, sequence: SequenceNumber) {
        let Some(known) = self.instances.get_mut(instance) else {
            return;
        };
        if known.sequences.front() == Some(&sequence) {
            known.sequences.pop_front();
        } else {
            take_out(&mut known.sequences, sequence);
        }
        let left = known.sequences.len();
        give_back_room(&mut known.sequences, left);
        if known.sequences.is_empty() && !known.registered {
            self.instances.remove(instance);
        }
    }

    /// Forgets every change numbered up to `last`, oldest first.
    pub(super) fn remove_through(&mut self, last: SequenceNumber) {
        let before = self.live;
        let mut at = 0;
        while self.slots.get(at).is_some_and(|it| it.sequence <= last) {
            self.vacate(at);
            at = at.saturating_add(1);
        }
        if self.live != before {
            self.settle();
            self.sweep();
        }
    }

    /// Forgets every change of `instance` numbered up to `last`.
    pub(super) fn remove_instance_through(
        &mut self,
        instance: InstanceHandle,
        last: SequenceNumber,
    ) {
        while let Some(sequence) = self.oldest(instance).filter(|sequence| *sequence <= last) {
            if !self.remove(sequence) {
                break;
            }
        }
    }
}

/// Gives back what a backlog that is over has taken. Where one half of `entries` may be tombstones
/// beside the `live` ones, those left find room again and again without allocating.
fn give_back_room<T>(entries: &mut VecDeque<T>, live: usize) {
    let room = entries.capacity();
    if room > IDLE_ROOM_MAX && room / 4 > live {
        shrink(entries, live.saturating_mul(3).max(IDLE_ROOM_MAX));
    }
}

#[cold]
fn shrink<T>(entries: &mut VecDeque<T>, room: usize) {
    entries.shrink_to(room);
}

#[cold]
fn take_tombstones(slots: &mut VecDeque<Slot>) {
    slots.retain(|slot| slot.change.is_some());
}

#[cold]
fn take_out(sequences: &mut VecDeque<SequenceNumber>, sequence: SequenceNumber) {
    sequences.retain(|kept| *kept != sequence);
}

#[cfg(test)]
mod tests {
    use super::super::change::Packed;
    use super::*;
    use alloc::sync::Arc;
    use whimbrel_base::budget::Budget;
    use whimbrel_base::buffer::SharedBytes;
    use whimbrel_base::time::Timestamp;

    fn push(history: &mut HistoryCache, instance: u8) -> SequenceNumber {
        history.push(|sequence| Change {
            packed: Packed::Untried,
            sequence,
            kind: ChangeKind::Alive,
            instance: InstanceHandle([instance; 16]),
            timestamp: Timestamp(0),
            payload: SharedBytes::copy_from(&[instance; 4]).into(),
            fragment_bytes: 1024,
            charged_bytes: 0,
        })
    }

    #[test]
    fn numbers_stay_in_order_through_removal_and_sweeps() {
        let mut history = HistoryCache::default();
        push(&mut history, 0);
        for _ in 0..1000 {
            let sequence = push(&mut history, 1);
            if let Some(oldest) = history
                .oldest(InstanceHandle([1; 16]))
                .filter(|o| *o != sequence)
            {
                history.remove(oldest);
            }
        }
        assert_eq!(history.len(), 2);
        assert_eq!(history.first(), SequenceNumber(1));
        assert_eq!(history.last(), SequenceNumber(1001));
        assert!(history.slots.len() <= 66);
        assert!(history.get(SequenceNumber(1)).is_some());
        assert!(history.get(SequenceNumber(1001)).is_some());
        assert!(history.get(SequenceNumber(500)).is_none());
        assert_eq!(
            history.next_from(SequenceNumber(2)).unwrap().sequence,
            SequenceNumber(1001)
        );
    }

    #[test]
    fn room_for_a_backlog_is_given_back_and_the_rest_used_again() {
        let mut history = HistoryCache::default();
        let one = InstanceHandle([1; 16]);
        let room = |history: &HistoryCache| {
            let of_one = history.instances.get(one);
            (
                history.slots.capacity(),
                of_one.map_or(0, |it| it.sequences.capacity()),
            )
        };
        push(&mut history, 0);
        for _ in 0..100_000 {
            push(&mut history, 1);
        }
        let backlog = room(&history);
        assert!(backlog.0 >= 100_000 && backlog.1 >= 100_000);
        for number in 2..=99_001 {
            assert!(history.remove(SequenceNumber(number)));
        }
        assert_eq!(history.len(), 1001);
        let steady = room(&history);
        assert!(steady.0 <= 4200 && steady.1 <= 4200, "{steady:?}");
        for _ in 0..100_000 {
            push(&mut history, 1);
            assert!(history.remove(history.oldest(one).unwrap()));
            assert_eq!(room(&history), steady);
        }
        history.remove_through(history.last());
        assert!(room(&history).0 <= IDLE_ROOM_MAX);
    }

    #[test]
    fn an_empty_history_starts_after_its_last() {
        let mut history = HistoryCache::default();
        assert_eq!(history.first(), SequenceNumber(1));
        push(&mut history, 0);
        push(&mut history, 0);
        history.remove_through(SequenceNumber(2));
        assert_eq!(history.len(), 0);
        assert_eq!(history.first(), SequenceNumber(3));
        assert_eq!(history.instance_count(), 0);
    }

    #[test]
    fn registered_instances_stay_known() {
        let mut history = HistoryCache::default();
        let instance = InstanceHandle([9; 16]);
        history.register(instance);
        push(&mut history, 9);
        history.remove_instance_through(instance, SequenceNumber(1));
        assert!(history.knows(instance));
        history.unregister(instance);
        assert!(!history.knows(instance));
    }

    #[test]
    fn what_is_held_is_counted_and_given_back() {
        let budget = Arc::new(Budget::new(10_000));
        let mut history = HistoryCache::new(Account::new(Some(Arc::clone(&budget))));
        for number in 0..10 {
            push(&mut history, number);
        }
        assert_eq!(budget.held(), 10 * (4 + CHANGE_BYTES + INSTANCE_BYTES));
        assert_eq!(history.held_bytes(), budget.held());
        assert!(!history.has_memory(history.knows(InstanceHandle::NIL), 9000, None));
        history.remove_through(SequenceNumber(10));
        assert_eq!(budget.held(), 0);
        assert!(history.has_memory(history.knows(InstanceHandle::NIL), 9000, None));
        history.register(InstanceHandle([1; 16]));
        assert_eq!(budget.held(), INSTANCE_BYTES);
        drop(history);
        assert_eq!(budget.held(), 0);
    }
}
