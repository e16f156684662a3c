//! The deadlines of all machines of the process, in order, and the sleep until the next.
//!
//! Arming is lazy: an owner that already has an earlier entry adds none, and an entry that fires
//! too early only makes its owner look at its machine again. So a stream of samples, each moving
//! a deadline back, costs nothing. An owner has one entry, or for a moment a stale one besides.
//! Whoever would be called again and again for nothing postpones its entry before it fires: that
//! moves the alarm of the thread that sleeps, and does not wake it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64 as Numbers;

use whimbrel_base::time::{Duration, Instant};

use super::sync::atomic::{AtomicU64, Ordering};
use super::sync::{Mutex, Weak, lock};

/// What fires sooner may be postponed. Longer than between two ticks of most systems: to move a
/// timer that is the next of all costs several times as much as to move another, most of all in a
/// virtual machine.
const POSTPONED_WITHIN: Duration = Duration::from_millis(5);

/// It is postponed by so much at least.
const POSTPONED_BY_MIN: Duration = Duration::from_millis(2);

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

    /// True where the owner would soon be called though nothing is due before `due_at`, and it is
    /// worth its while to postpone that, by a call of the system.
    #[inline(always)]
    pub(crate) fn is_to_be_postponed(&self, now: Instant, due_at: Instant) -> bool {
        let worth = due_at > now.after(POSTPONED_WITHIN.plus(POSTPONED_BY_MIN));
        worth && due_at != Instant::FAR_FUTURE && self.fires_by(now.after(POSTPONED_WITHIN))
    }

    /// True when the entry for `at` is the one that counts. An earlier one may have been added
    /// since; then this one is stale, and firing it would only make it reproduce itself.
    fn claim(&self, at: Instant) -> bool {
        self.at
            .compare_exchange(at.0, u64::MAX, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}

/// Ends the sleep of the thread that fires entries.
pub(crate) trait Alarm {
    /// Rings at `at`, or soon after, and not at what was set before; [`Instant::FAR_FUTURE`] is
    /// never.
    fn set(&self, at: Instant);
}

/// The entries, and what wakes the thread that fires them.
pub(crate) struct Timers<A> {
    schedule: Mutex<Schedule>,
    alarm: A,
}

struct Schedule {
    entries: BTreeMap<(Instant, u64), Weak<dyn Timed>>,
    /// The thread that fires entries sleeps.
    is_asleep: bool,
    /// What the alarm was set to last.
    rings_at: Instant,
}

impl<A: Alarm> Timers<A> {
    /// No entries; whoever fires them is awake, and `alarm` not set.
    pub(crate) fn new(alarm: A) -> Self {
        Self {
            schedule: Mutex::new(Schedule {
                entries: BTreeMap::new(),
                is_asleep: false,
                rings_at: Instant::FAR_FUTURE,
            }),
            alarm,
        }
    }

    /// Has `owner` called at `at` at the latest.
    pub(crate) fn arm(&self, slot: &TimerSlot, owner: &Weak<dyn Timed>, at: Instant) {
        let before = slot.at.fetch_min(at.0, Ordering::SeqCst);
        if before <= at.0 {
            return;
        }
        let mut schedule = lock(&self.schedule);
        // Others may have come in between. Where the slot is `before` again its entry is no stale
        // one, and where it is not `at` any more its owner was called, or will be sooner, or has
        // postponed it and so looked at what it was armed for.
        let counts = slot.at.load(Ordering::SeqCst);
        if counts != before {
            schedule.entries.remove(&(Instant(before), slot.id));
        }
        if counts == at.0 {
            schedule.entries.insert((at, slot.id), owner.clone());
            self.adjust(&mut schedule);
        }
    }

    /// Has the owner of `slot` called at `at` instead of before, unless it is being called. Only
    /// for an owner that nobody arms meanwhile for a moment before `at`.
    pub(crate) fn postpone(&self, slot: &TimerSlot, at: Instant) {
        let mut schedule = lock(&self.schedule);
        let before = slot.at.load(Ordering::SeqCst);
        // Whoever arms it just now has not added its entry yet.
        let Some(owner) = schedule.entries.get(&(Instant(before), slot.id)).cloned() else {
            return;
        };
        let moved = before < at.0
            && slot
                .at
                .compare_exchange(before, at.0, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok();
        if moved {
            schedule.entries.remove(&(Instant(before), slot.id));
            schedule.entries.insert((at, slot.id), owner);
            self.adjust(&mut schedule);
        }
    }

    /// Forgets the owner of `slot`, which is being dropped.
    pub(crate) fn disarm(&self, slot: &TimerSlot) {
        let at = slot.at.swap(u64::MAX, Ordering::SeqCst);
        lock(&self.schedule).entries.remove(&(Instant(at), slot.id));
    }

    /// From now on the alarm rings when the next entry fires.
    pub(crate) fn fall_asleep(&self) {
        let mut schedule = lock(&self.schedule);
        schedule.is_asleep = true;
        self.adjust(&mut schedule);
    }

    /// The sleeper is awake and will look at all entries before it sleeps again; the alarm `rang`
    /// or something else has woken it.
    pub(crate) fn wake_up(&self, rang: bool) {
        let mut schedule = lock(&self.schedule);
        schedule.is_asleep = false;
        if rang {
            schedule.rings_at = Instant::FAR_FUTURE;
        }
    }

    /// Sets the alarm to the first entry, where somebody sleeps and it is not.
    fn adjust(&self, schedule: &mut Schedule) {
        if !schedule.is_asleep {
            return;
        }
        let first = schedule.entries.first_key_value();
        let next = first.map_or(Instant::FAR_FUTURE, |(&(at, _), _)| at);
        if schedule.rings_at != next {
            schedule.rings_at = next;
            self.alarm.set(next);
        }
    }

    /// Calls the owners of all entries that fire by `now`. Those they add by then wait for the
    /// next call, so that none keeps the caller here.
    pub(crate) fn fire(&self, now: Instant) {
        let count = lock(&self.schedule).entries.len();
        for _ in 0..count {
            let due = {
                let mut schedule = lock(&self.schedule);
                match schedule.entries.first_entry() {
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
    fn len(&self) -> usize {
        lock(&self.schedule).entries.len()
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

    /// Notes what it was set to.
    #[derive(Default)]
    struct Notes(Mutex<Vec<u64>>);

    impl Alarm for Notes {
        fn set(&self, at: Instant) {
            lock(&self.0).push(at.0);
        }
    }

    struct Scene {
        timers: Timers<Notes>,
        owner: Arc<Owner>,
        weak: Weak<dyn Timed>,
    }

    impl Scene {
        fn new() -> Self {
            let owner = Arc::new(Owner::default());
            let timed: Arc<dyn Timed> = owner.clone();
            Self {
                timers: Timers::new(Notes::default()),
                weak: Arc::downgrade(&timed),
                owner,
            }
        }

        fn arm(&self, at: u64) {
            self.timers.arm(&self.owner.slot, &self.weak, Instant(at));
        }

        fn postpone(&self, at: u64) {
            self.timers.postpone(&self.owner.slot, Instant(at));
        }

        fn calls(&self) -> u64 {
            self.owner.calls.load(Ordering::SeqCst)
        }

        /// What the alarm was set to since it was looked at last.
        fn set_to(&self) -> Vec<u64> {
            std::mem::take(&mut *lock(&self.timers.alarm.0))
        }
    }

    const NEVER: u64 = Instant::FAR_FUTURE.0;

    #[test]
    fn stale_entries_neither_fire_nor_multiply() {
        let scene = Scene::new();
        let (timers, slot) = (&scene.timers, &scene.owner.slot);
        timers.fall_asleep();
        assert!(!slot.fires_by(Instant(u64::MAX - 1)));
        scene.arm(10);
        assert!(slot.fires_by(Instant(10)) && !slot.fires_by(Instant(9)));
        scene.arm(12);
        scene.arm(5);
        assert_eq!(scene.set_to(), [10, 5]);
        timers.wake_up(true);
        timers.fire(Instant(5));
        assert_eq!(scene.calls(), 1);
        scene.arm(20);
        assert_eq!(scene.set_to(), [], "nobody sleeps");
        timers.fire(Instant(10));
        assert_eq!(scene.calls(), 1);
        timers.fire(Instant(20));
        assert_eq!(scene.calls(), 2);
        assert_eq!(timers.len(), 0);
        timers.fall_asleep();
        assert_eq!(
            scene.set_to(),
            [],
            "it has rung and there is nothing to ring for"
        );
    }

    #[test]
    fn who_sleeps_is_not_woken_for_what_was_postponed() {
        let scene = Scene::new();
        scene.timers.fall_asleep();
        scene.arm(10);
        scene.postpone(30);
        scene.postpone(20);
        assert_eq!(scene.set_to(), [10, 30], "nothing is brought forward so");
        scene.timers.wake_up(false);
        scene.timers.fire(Instant(29));
        assert_eq!((scene.calls(), scene.set_to()), (0, vec![]));
        scene.timers.fall_asleep();
        assert_eq!(scene.set_to(), [], "it is set to that still");
        scene.arm(25);
        scene.timers.wake_up(true);
        scene.timers.fire(Instant(25));
        assert_eq!((scene.calls(), scene.timers.len()), (1, 0));
        scene.postpone(40);
        assert_eq!(scene.timers.len(), 0, "there is nothing to postpone");
    }

    #[test]
    fn an_alarm_is_taken_back_where_nothing_is_left_to_ring_for() {
        let scene = Scene::new();
        scene.timers.fall_asleep();
        scene.arm(10);
        scene.timers.wake_up(false);
        scene.timers.disarm(&scene.owner.slot);
        scene.timers.fall_asleep();
        assert_eq!(scene.set_to(), [10, NEVER]);
    }

    #[test]
    fn owners_have_one_entry_however_often_they_are_armed() {
        let scene = Scene::new();
        // A lease far away, and something near again and again.
        for near in 1..1000 {
            scene.arm(1_000_000);
            scene.arm(near);
            scene.timers.fire(Instant(near));
            assert_eq!(scene.calls(), near);
        }
        scene.arm(1_000_000);
        scene.postpone(2_000_000);
        assert_eq!(scene.timers.len(), 1);
        scene.timers.disarm(&scene.owner.slot);
        assert_eq!(scene.timers.len(), 0);
    }
}
