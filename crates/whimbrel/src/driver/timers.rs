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
            if let Some(owner) = due.and_then(|Reverse(entry)| entry.owner.upgrade()) {
                owner.timer().0.store(u64::MAX, Ordering::SeqCst);
                owner.on_timer(now);
            }
        }
    }
}
