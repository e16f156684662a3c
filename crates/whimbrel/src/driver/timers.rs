//! The deadlines of all machines of the process, in order, and the sleep until the next.
//!
//! Arming is lazy: an owner that already has an earlier entry adds none, and an entry that fires
//! too early only makes its owner look at its machine again. So a stream of samples, each moving
//! a deadline back, costs nothing. An owner has one entry, or for a moment a stale one besides.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64 as Numbers;

use whimbrel_base::time::Instant;

use super::sync::atomic::{AtomicU64, Ordering};
use super::sync::{Mutex, Weak, lock};

/// Owner of a machine with deadlines.
pub(crate) trait Timed: Send + Sync {
    /// A deadline may have passed: looks at the machine and arms again.
    fn on_timer(&self, now: Instant);

    /// Where this owner remembers its earliest entry.
    fn timer(&self) -> &TimerSlot;
}

/// The earliest entry of an owner.
#[derive(Debug)]
pub(crate) struct TimerSlot {
    at: AtomicU64,
    /// Tells owners with the same deadline apart.
    id: u64,
}

impl Default for TimerSlot {
    fn default() -> Self {
        static NEXT: Numbers = Numbers::new(0);
        Self {
            at: AtomicU64::new(u64::MAX),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl TimerSlot {
    /// True where the owner is called by `at` anyway, so that it need not be armed for that.
    pub(crate) fn fires_by(&self, at: Instant) -> bool {
        self.at.load(Ordering::SeqCst) <= at.0
    }

    /// True when the entry for `at` is the one that counts. An earlier one may have been added
    /// since; then this one is stale, and firing it would only make it reproduce itself.
    fn claim(&self, at: Instant) -> bool {
        self.at
            .compare_exchange(at.0, u64::MAX, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

/// The entries, and until when the thread that fires them sleeps.
#[derive(Default)]
pub(crate) struct Timers {
    entries: Mutex<BTreeMap<(Instant, u64), Weak<dyn Timed>>>,
    /// Deadlines before that must wake the sleeper; 0 while it is awake.
    sleeps_until: AtomicU64,
}

impl Timers {
    /// Has `owner` called at `at` at the latest; true when the sleeper must be woken for that.
    #[must_use]
    pub(crate) fn arm(&self, slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant) -> bool {
        let before = slot.at.fetch_min(at.0, Ordering::SeqCst);
        if before <= at.0 {
            return false;
        }
        {
            let mut entries = lock(&self.entries);
            // Others may have come in between. Where the slot is `before` again its entry is no
            // stale one, and where it is not `at` any more its owner was called, or will be sooner.
            let counts = slot.at.load(Ordering::SeqCst);
            if counts != before {
                entries.remove(&(Instant(before), slot.id));
            }
            if counts == at.0 {
                entries.insert((at, slot.id), owner.clone());
            }
        }
        at.0 < self.sleeps_until.load(Ordering::SeqCst)
    }

    /// Forgets the owner of `slot`, which is being dropped.
    pub(crate) fn disarm(&self, slot: &TimerSlot) {
        let at = slot.at.swap(u64::MAX, Ordering::SeqCst);
        lock(&self.entries).remove(&(Instant(at), slot.id));
    }

    /// When the next entry fires.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        let entries = lock(&self.entries);
        entries.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Until when to sleep. From now on [`Timers::arm`] says so when that is too long.
    pub(crate) fn fall_asleep(&self) -> Option<Instant> {
        // Announced before the look at the entries: whoever arms after it sees it and wakes us.
        self.sleeps_until.store(u64::MAX, Ordering::SeqCst);
        let next = self.next_at();
        if let Some(at) = next {
            self.sleeps_until.store(at.0, Ordering::SeqCst);
        }
        next
    }

    /// The sleeper is awake and will look at all entries before it sleeps again.
    pub(crate) fn wake_up(&self) {
        self.sleeps_until.store(0, Ordering::SeqCst);
    }

    /// Calls the owners of all entries that fire by `now`. Those they add by then wait for the
    /// next call, so that none keeps the caller here.
    pub(crate) fn fire(&self, now: Instant) {
        let count = lock(&self.entries).len();
        for _ in 0..count {
            let due = {
                let mut entries = lock(&self.entries);
                match entries.first_entry() {
                    Some(first) if first.key().0 <= now => first.remove_entry(),
                    _ => return,
                }
            };
            let ((at, _), owner) = due;
            if let Some(owner) = owner.upgrade()
                && owner.timer().claim(at)
            {
                owner.on_timer(now);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.entries).len()
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
        let arm = |at| timers.arm(&owner.slot, &weak, Instant(at));
        assert_eq!(timers.fall_asleep(), None);
        assert!(!owner.slot.fires_by(Instant(u64::MAX - 1)));
        assert!(arm(10), "the sleeper knows of no deadline");
        assert!(owner.slot.fires_by(Instant(10)) && !owner.slot.fires_by(Instant(9)));
        assert!(!arm(12));
        assert_eq!(timers.fall_asleep(), Some(Instant(10)));
        assert!(arm(5));
        timers.wake_up();
        timers.fire(Instant(5));
        assert_eq!(calls(), 1);
        assert!(!arm(20), "nobody sleeps");
        timers.fire(Instant(10));
        assert_eq!(calls(), 1);
        timers.fire(Instant(20));
        assert_eq!(calls(), 2);
        assert_eq!(timers.next_at(), None);
    }

    #[test]
    fn owners_have_one_entry_however_often_they_are_armed() {
        let timers = Timers::default();
        let owner = Arc::new(Owner::default());
        let as_timed: Arc<dyn Timed> = owner.clone();
        let weak = Arc::downgrade(&as_timed);
        // A lease far away, and something near again and again.
        for near in 1..1000 {
            let _ = timers.arm(&owner.slot, &weak, Instant(1_000_000));
            let _ = timers.arm(&owner.slot, &weak, Instant(near));
            timers.fire(Instant(near));
            assert_eq!(owner.calls.load(Ordering::SeqCst), near);
        }
        let _ = timers.arm(&owner.slot, &weak, Instant(1_000_000));
        assert_eq!(timers.len(), 1);
        timers.disarm(&owner.slot);
        assert_eq!(timers.len(), 0);
    }
}
