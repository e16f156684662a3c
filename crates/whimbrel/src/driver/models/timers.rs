//! No deadline is slept through, however arming, firing and falling asleep interleave.

use whimbrel_base::time::Instant;

use crate::driver::sync::{Arc, Condvar, Mutex, Weak, lock, thread};
use crate::driver::timers::{Timed, TimerSlot, Timers};

use super::explore;

/// What the io thread sleeps on: rings are kept until somebody sleeps.
#[derive(Default)]
struct Pillow {
    rung: Mutex<bool>,
    condvar: Condvar,
}

impl Pillow {
    fn ring(&self) {
        *lock(&self.rung) = true;
        self.condvar.notify_one();
    }

    fn sleep(&self) {
        let mut rung = lock(&self.rung);
        while !*rung {
            rung = self.condvar.wait(rung).unwrap();
        }
        *rung = false;
    }

    fn forget(&self) {
        *lock(&self.rung) = false;
    }
}

/// A machine with deadlines, driven as the driver drives them.
struct Machine {
    me: Weak<Self>,
    deadlines: Mutex<Vec<Instant>>,
    slot: TimerSlot,
    timers: Arc<Timers>,
    pillow: Arc<Pillow>,
    met: Mutex<usize>,
    all_met: Condvar,
}

impl Machine {
    fn change(&self, f: impl FnOnce(&mut Vec<Instant>)) {
        let next = {
            let mut deadlines = lock(&self.deadlines);
            f(&mut deadlines);
            deadlines.iter().min().copied()
        };
        if let Some(at) = next {
            let me: Weak<dyn Timed> = self.me.clone();
            if self.timers.arm(&self.slot, &me, at) {
                self.pillow.ring();
            }
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

fn sleeper(timers: &Timers, pillow: &Pillow, stop: &Mutex<bool>) {
    let mut now = Instant(0);
    while !*lock(stop) {
        match timers.fall_asleep() {
            None => pillow.sleep(),
            // Time passes, or somebody wakes us: whatever comes first.
            Some(at) => {
                pillow.forget();
                now = now.max(at);
            }
        }
        timers.wake_up();
        timers.fire(now);
    }
}

#[test]
fn deadlines_armed_from_many_threads_are_all_met() {
    explore(|| {
        let (timers, pillow) = (Arc::new(Timers::default()), Arc::new(Pillow::default()));
        let machines: Vec<_> = (0..2)
            .map(|_| {
                Arc::new_cyclic(|me| Machine {
                    me: me.clone(),
                    deadlines: Mutex::default(),
                    slot: TimerSlot::default(),
                    timers: Arc::clone(&timers),
                    pillow: Arc::clone(&pillow),
                    met: Mutex::default(),
                    all_met: Condvar::default(),
                })
            })
            .collect();
        let stop = Arc::new(Mutex::new(false));
        let io = thread::spawn({
            let (timers, pillow, stop) = (timers.clone(), pillow.clone(), stop.clone());
            move || sleeper(&timers, &pillow, &stop)
        });
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
        *lock(&stop) = true;
        pillow.ring();
        io.join().unwrap();
    });
}
