//! The deadlines of all machines of the process, in one heap.
//!
//! Arming is lazy: an owner that already has an earlier entry adds none, and an entry that fires
//! too early only makes its owner look at its machine again. So a stream of samples, each moving
//! a deadline back, costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Weak};

use whimbrel_base::time::Instant;

use super::wake::lock;

/// Owner of a machine with deadlines.
pub(crate) trait Timed: Send + Sync {
    /// A deadline may have passed: looks at the machine and arms again.
    fn on_timer(&self, now: Instant);

    /// Where this owner remembers its earliest entry.
    fn timer(&self) -> &TimerSlot;
}

/// The earliest entry of an owner.
#[derive(Debug)]
pub(crate) struct TimerSlot(AtomicU64);

impl Default for TimerSlot {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl TimerSlot {
    /// True when the entry for `at` is the one that counts. An earlier one may have been added
    /// since; then this one is stale, and firing it would only make it reproduce itself.
    fn claim(&self, at: Instant) -> bool {
        self.0
            .compare_exchange(at.0, u64::MAX, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

struct Entry {
    at: Instant,
    owner: Weak<dyn Timed>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// The heap.
#[derive(Default)]
pub(crate) struct Timers {
    heap: Mutex<BinaryHeap<Reverse<Entry>>>,
}

impl Timers {
    /// Has `owner` called at `at` at the latest; true when that is a new entry.
    pub(crate) fn arm(&self, slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant) -> bool {
        if slot.0.fetch_min(at.0, Ordering::SeqCst) <= at.0 {
            return false;
        }
        lock(&self.heap).push(Reverse(Entry {
            at,
            owner: owner.clone(),
        }));
        true
    }

    /// When the next entry fires.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        lock(&self.heap).peek().map(|Reverse(entry)| entry.at)
    }

    /// Calls the owners of all entries that fire by `now`.
    pub(crate) fn fire(&self, now: Instant) {
        loop {
            let due = {
                let mut heap = lock(&self.heap);
                if heap.peek().is_none_or(|Reverse(entry)| entry.at > now) {
                    return;
                }
                heap.pop()
            };
            let Some(Reverse(entry)) = due else { return };
            if let Some(owner) = entry.owner.upgrade()
                && owner.timer().claim(entry.at)
            {
                owner.on_timer(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Default)]
    struct Owner {
        slot: TimerSlot,
        calls: AtomicU64,
    }

    impl Timed for Owner {
        fn on_timer(&self, _now: Instant) {
            self.calls.fetch_add(1, Ordering::SeqCst);
        }

        fn timer(&self) -> &TimerSlot {
            &self.slot
        }
    }

    #[test]
    fn stale_entries_neither_fire_nor_multiply() {
        let timers = Timers::default();
        let owner = Arc::new(Owner::default());
        let as_timed: Arc<dyn Timed> = owner.clone();
        let weak = Arc::downgrade(&as_timed);
        let calls = || owner.calls.load(Ordering::SeqCst);
        assert!(timers.arm(&owner.slot, &weak, Instant(10)));
        assert!(!timers.arm(&owner.slot, &weak, Instant(12)));
        assert!(timers.arm(&owner.slot, &weak, Instant(5)));
        timers.fire(Instant(5));
        assert_eq!(calls(), 1);
        assert!(timers.arm(&owner.slot, &weak, Instant(20)));
        timers.fire(Instant(10));
        assert_eq!(calls(), 1);
        timers.fire(Instant(20));
        assert_eq!(calls(), 2);
        assert_eq!(timers.next_at(), None);
    }
}
