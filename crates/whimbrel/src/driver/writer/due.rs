//! When a writer is looked at though nobody writes.

use whimbrel_base::time::{Duration, Instant};

use super::WriterCore;
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Weak, try_lock};
use crate::driver::timers::{Timed, TimerSlot};

/// Whoever writes just then has its lock for less than this, mostly.
pub(super) const PUT_OFF: Duration = Duration::from_micros(50);

/// So often a look is put off before the lock is waited for.
const PUT_OFF_MAX: u32 = 3;

impl WriterCore {
    /// Has the machine looked at by the thread that fires timers, at `at` at the latest.
    pub(super) fn arm(&self, at: Instant) {
        self.due_at.fetch_min(at.0, Ordering::SeqCst);
        self.have_called(at);
    }

    /// As [`WriterCore::arm`] where the deadline is noted already.
    pub(super) fn have_called(&self, at: Instant) {
        if self.timer.fires_by(at) {
            return;
        }
        self.arm_anew(at);
    }

    #[cold]
    fn arm_anew(&self, at: Instant) {
        let me: Weak<dyn Timed> = self.me.clone();
        self.engine.arm(&self.timer, &me, at);
    }
}

impl Timed for WriterCore {
    fn on_timer(&self, now: Instant) {
        let due_at = Instant(self.due_at.load(Ordering::SeqCst));
        if due_at > now && !self.answers.are_there() {
            self.put_off.store(0, Ordering::Relaxed);
            self.look_later(due_at);
            return;
        }
        let mut state = match try_lock(&self.state) {
            Some(state) => state,
            // Not to wait saves two system calls here, and whoever writes the one that wakes us.
            None if self.put_off.fetch_add(1, Ordering::Relaxed) < PUT_OFF_MAX => {
                return self.have_called(now.after(PUT_OFF));
            }
            None => self.lock(),
        };
        self.put_off.store(0, Ordering::Relaxed);
        self.see_to_answers(&mut state);
        let waited = state.machine.is_waiting();
        state.machine.handle_timeout(now);
        if waited && !state.machine.is_waiting() {
            self.leave_together(state, now);
        } else {
            self.drain(state, now);
        }
    }

    fn timer(&self) -> &TimerSlot {
        &self.timer
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration as StdDuration;

    use super::*;
    use crate::driver::clock;
    use crate::{DataWriterQos, DdsType, DomainParticipant};

    #[derive(DdsType, Clone, Debug)]
    struct Word {
        word: u32,
    }

    #[test]
    fn a_look_at_a_writer_that_writes_is_put_off_a_few_times() {
        let participant = DomainParticipant::builder(76).interfaces("lo").build();
        let participant = participant.unwrap();
        let topic = participant.create_topic::<Word>("looks").unwrap();
        let writer = participant.create_datawriter(&topic, DataWriterQos::default());
        let core = Arc::clone(&writer.unwrap().inner.core);
        let (looked, looks) = mpsc::channel();
        let look = || {
            let (core, looked) = (Arc::clone(&core), looked.clone());
            thread::spawn(move || {
                core.on_timer(clock::now());
                looked.send(()).unwrap();
            })
        };
        let writing = core.lock();
        core.due_at.store(0, Ordering::SeqCst);
        let first = look();
        let done = looks.recv_timeout(StdDuration::from_secs(20));
        assert!(done.is_ok(), "it waits for who writes");
        // The driver's thread looks too by now, and with the last of these somebody waits.
        let others: Vec<_> = (0..PUT_OFF_MAX).map(|_| look()).collect();
        while core.put_off.load(Ordering::Relaxed) <= PUT_OFF_MAX {
            thread::yield_now();
        }
        drop(writing);
        others
            .into_iter()
            .chain([first])
            .for_each(|it| it.join().unwrap());
        while core.put_off.load(Ordering::Relaxed) != 0 {
            thread::yield_now();
        }
    }
}
