//! No deadline is slept through, however arming, firing and falling asleep interleave.

use whimbrel_base::time::Instant;

use crate::driver::sync::{Arc, Condvar, Mutex, Weak, lock, thread};
use crate::driver::timers::{Alarm, Timed, TimerSlot, Timers};

use super::explore;

/// What the io thread sleeps on: an alarm, and rings that are kept until somebody sleeps.
struct Pillow {
    state: Mutex<(Instant, bool)>,
    condvar: Condvar,
}

impl Default for Pillow {
    fn default() -> Self {
        Self {
            state: Mutex::new((Instant::FAR_FUTURE, false)),
            condvar: Condvar::new(),
        }
    }
}

impl Pillow {
    fn ring(&self) {
        lock(&self.state).1 = true;
        self.condvar.notify_one();
    }

    /// Sleeps until somebody rings or the alarm does, for which time passes: when that is.
    fn sleep(&self) -> Option<Instant> {
        let mut state = lock(&self.state);
        while *state == (Instant::FAR_FUTURE, false) {
            state = self.condvar.wait(state).unwrap();
        }
        state.1 = false;
        let at = std::mem::replace(&mut state.0, Instant::FAR_FUTURE);
        (at != Instant::FAR_FUTURE).then_some(at)
    }
}

impl Alarm for Arc<Pillow> {
    fn set(&self, at: Instant) {
        lock(&self.state).0 = at;
        self.condvar.notify_one();
    }
}

/// A machine with deadlines, driven as the driver drives them.
struct Machine {
    me: Weak<Self>,
    deadlines: Mutex<Vec<Instant>>,
    slot: TimerSlot,
    timers: Arc<Timers<Arc<Pillow>>>,
    met: Mutex<usize>,
    all_met: Condvar,
}

impl Machine {
    fn new(timers: &Arc<Timers<Arc<Pillow>>>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            deadlines: Mutex::default(),
            slot: TimerSlot::default(),
            timers: Arc::clone(timers),
            met: Mutex::default(),
            all_met: Condvar::default(),
        })
    }

    fn change(&self, f: impl FnOnce(&mut Vec<Instant>)) {
        let next = {
            let mut deadlines = lock(&self.deadlines);
            f(&mut deadlines);
            deadlines.iter().min().copied()
        };
        if let Some(at) = next {
            let me: Weak<dyn Timed> = self.me.clone();
            self.timers.arm(&self.slot, &me, at);
        }
    }

    fn wait_for(&self, count: usize) {
        let mut met = lock(&self.met);
        while *met < count {
            met = self.all_met.wait(met).unwrap();
        }
    }
}

impl Timed for Machine {
    fn on_timer(&self, now: Instant) {
        let mut met = 0;
        self.change(|deadlines| {
            let before = deadlines.len();
            deadlines.retain(|at| *at > now);
            met = before - deadlines.len();
        });
        *lock(&self.met) += met;
        self.all_met.notify_all();
    }

    fn timer(&self) -> &TimerSlot {
        &self.slot
    }
}

/// Plays `act` while the io thread sleeps and fires.
fn with_sleeper(act: impl FnOnce(&Arc<Timers<Arc<Pillow>>>)) {
    let pillow = Arc::new(Pillow::default());
    let timers = Arc::new(Timers::new(Arc::clone(&pillow)));
    let stop = Arc::new(Mutex::new(false));
    let io = thread::spawn({
        let (timers, pillow, stop) = (timers.clone(), pillow.clone(), stop.clone());
        move || {
            let mut now = Instant(0);
            while !*lock(&stop) {
                timers.fall_asleep();
                let rang = pillow.sleep();
                timers.wake_up(rang.is_some());
                now = now.max(rang.unwrap_or(now));
                timers.fire(now);
            }
        }
    });
    act(&timers);
    *lock(&stop) = true;
    pillow.ring();
    io.join().unwrap();
}

#[test]
fn deadlines_armed_from_many_threads_are_all_met() {
    explore(|| {
        with_sleeper(|timers| {
            let machines = [(); 2].map(|()| Machine::new(timers));
            let armers = [[30, 10], [20, 40]].map(|ats| {
                let machines = machines.clone();
                thread::spawn(move || {
                    for (machine, at) in machines.iter().cycle().zip([ats, ats].concat()) {
                        machine.change(|deadlines| deadlines.push(Instant(at)));
                    }
                })
            });
            armers.into_iter().for_each(|it| it.join().unwrap());
            machines.iter().for_each(|it| it.wait_for(4));
        });
    });
}

#[test]
fn a_deadline_that_is_postponed_is_met_and_so_are_later_ones_of_others() {
    explore(|| {
        with_sleeper(|timers| {
            let (machine, other) = (Machine::new(timers), Machine::new(timers));
            let putter = thread::spawn({
                let machine = Arc::clone(&machine);
                move || {
                    machine.change(|deadlines| deadlines.push(Instant(10)));
                    // Unless it was met already there is none at 10 any more.
                    lock(&machine.deadlines).retain_mut(|at| {
                        *at = (*at).max(Instant(20));
                        true
                    });
                    machine.timers.postpone(&machine.slot, Instant(20));
                    machine.change(|_| ());
                }
            });
            let armer = thread::spawn({
                let machines = [Arc::clone(&machine), Arc::clone(&other)];
                move || {
                    for (machine, at) in machines.iter().zip([25, 15]) {
                        machine.change(|deadlines| deadlines.push(Instant(at)));
                    }
                }
            });
            [putter, armer].map(|it| it.join().unwrap());
            machine.wait_for(2);
            other.wait_for(1);
        });
    });
}

#[test]
fn a_deadline_is_met_though_others_arm_for_sooner_looks_at_the_same_time() {
    explore(|| {
        with_sleeper(|timers| {
            let machine = Machine::new(timers);
            machine.change(|deadlines| deadlines.push(Instant(20)));
            let lookers = [10, 5].map(|at| {
                let machine = Arc::clone(&machine);
                thread::spawn(move || {
                    let me: Weak<dyn Timed> = machine.me.clone();
                    machine.timers.arm(&machine.slot, &me, Instant(at));
                    machine.timers.postpone(&machine.slot, Instant(20));
                })
            });
            lookers.map(|it| it.join().unwrap());
            machine.wait_for(1);
        });
    });
}
