//! Whether changes come faster than they can be sent: those of one writer, and those of all writers
//! of a participant that go to the same addresses.

use alloc::sync::Arc;
use core::ops::Deref;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use whimbrel_base::time::{Duration, Instant};

/// So many changes in a row come faster than they can be sent before any of them waits: few at
/// once, as of several joints of a robot, leave as they come.
const STREAK_MIN: u32 = 8;

/// More of them count no more.
const STREAK_MAX: u32 = 64;

/// After a change that waited for others in vain so many fast ones have to come before the next
/// waits, twice as many each time, at most [`PATIENCE_MAX`]: whoever writes after an answer that
/// came in the middle of the send call, on a processor that both share, only looks fast. They need
/// not come in a row, as those of a stream never do that is interrupted now and then.
const PATIENCE_MIN: u32 = STREAK_MIN;
const PATIENCE_MAX: u32 = 4096;

/// A pause of so many times what sending takes ends a streak; a shorter one halves it, such as
/// while an acknowledgement was handled.
const PAUSE_COSTS: u32 = 16;

/// What sending takes before it was measured, and the bounds of what is believed.
const SEND_COST: Duration = Duration::from_micros(5);
const SEND_COST_MIN: Duration = Duration::from_micros(2);
const SEND_COST_MAX: Duration = Duration::from_micros(10);

/// What is believed of what compressing a change takes before it is sent.
const PACKING_COST_MAX: Duration = Duration::from_micros(100);

/// Of changes that do not come fast, one of so many shows what sending takes: to look at the clock
/// after each would cost more than is learnt from it.
const UNMEASURED_MAX: u32 = 8;

/// Changes that came faster than they can be sent, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Streak {
    len: u32,
    /// Fast ones since one waited in vain.
    since_vain: u32,
    /// How many of these it takes.
    patience: u32,
    burst: Burst,
}

/// Changes between two pauses. Programs that do the same again and again write as many each time,
/// so what waits need not wait for more once that many are there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Burst {
    len: u32,
    /// That of the one before.
    last: u32,
    /// That of two in a row; 0 while there were none.
    usual: u32,
}

impl Burst {
    /// With one more change, after a pause that `ends` the burst, or not.
    fn after(self, ends: bool) -> Self {
        if !ends {
            let len = self.len.saturating_add(1);
            return Self { len, ..self };
        }
        let again = self.len == self.last;
        Self {
            len: 1,
            last: self.len,
            usual: if again { self.len } else { self.usual },
        }
    }

    /// True where the last change was the last of as many as usual.
    fn is_over(self) -> bool {
        self.len == self.usual
    }
}

impl Streak {
    const NONE: Self = Self {
        len: 0,
        since_vain: 0,
        patience: PATIENCE_MIN,
        burst: Burst {
            len: 0,
            last: 0,
            usual: 0,
        },
    };

    /// After a change that came `pause` after the one before had left, which took `cost`.
    fn after(self, pause: Duration, cost: Duration, pressed: bool) -> Self {
        // Whoever waits for an answer before it writes again takes longer.
        let is_fast = pause < cost.divided_by(2);
        let len = if is_fast {
            self.len.saturating_add(1).min(STREAK_MAX)
        } else if pressed {
            self.len
        } else if pause < cost.times(PAUSE_COSTS) {
            self.len / 2
        } else {
            0
        };
        let since_vain = self.since_vain.saturating_add(u32::from(is_fast));
        let ends = !pressed && pause >= cost.times(PAUSE_COSTS);
        Self {
            len,
            since_vain: since_vain.min(PATIENCE_MAX),
            burst: self.burst.after(ends),
            ..self
        }
    }

    /// After a change that waited, and no other came.
    fn alone(self) -> Self {
        Self {
            len: 0,
            since_vain: 0,
            patience: self.patience.saturating_mul(2).min(PATIENCE_MAX),
            ..self
        }
    }

    /// After changes that waited and left together.
    fn company(self) -> Self {
        Self {
            patience: PATIENCE_MIN.max(self.patience / 2),
            ..self
        }
    }

    pub(super) fn is_high(self) -> bool {
        self.is_high_after(0)
    }

    /// True after so many more that come fast.
    fn is_high_after(&self, more: u32) -> bool {
        self.len.saturating_add(more) >= STREAK_MIN
            && self.since_vain.saturating_add(more) >= self.patience
    }

    /// True where the last change came fast.
    pub(super) fn has_begun(self) -> bool {
        self.len > 0
    }

    /// When the next change could come if the last one, of `now`, leaves at once, or waits.
    fn ready_at(self, now: Instant, cost: Duration) -> Instant {
        if self.is_high() { now } else { now.after(cost) }
    }
}

/// How fast changes of a writer come, and how fast they could leave.
#[derive(Debug)]
pub(super) struct Rate {
    /// When the last one was written, or had been sent.
    ready_at: Instant,
    /// What sending takes.
    cost: Duration,
    /// What compressing a change takes that leaves alone.
    packing: Duration,
    /// The last to leave found no room at the socket and had to wait for it.
    was_full: bool,
    /// Changes since that was measured.
    unmeasured: u32,
    streak: Streak,
}

impl Default for Rate {
    fn default() -> Self {
        Self {
            ready_at: Instant::ZERO,
            cost: SEND_COST,
            packing: Duration::ZERO,
            was_full: false,
            unmeasured: UNMEASURED_MAX,
            streak: Streak::NONE,
        }
    }
}

impl Rate {
    /// A change is written, `pressed` where it had to wait for room before; how it goes on.
    pub(super) fn note(&mut self, now: Instant, pressed: bool) -> Streak {
        let pause = if core::mem::take(&mut self.was_full) {
            // However long it was: what came before it still fills the socket.
            Duration::ZERO
        } else {
            now.since(self.ready_at)
        };
        self.streak = self.streak.after(pause, self.cost(), pressed);
        self.ready_at = self.streak.ready_at(now, self.cost);
        self.unmeasured = self.unmeasured.saturating_add(1);
        self.streak
    }

    /// True where what sending takes was not measured for long.
    pub(super) fn wants_measuring(&self) -> bool {
        self.unmeasured >= UNMEASURED_MAX
    }

    /// A change waited, and no other came.
    pub(super) fn note_alone(&mut self) {
        self.streak = self.streak.alone();
    }

    /// Changes waited and left together.
    pub(super) fn note_company(&mut self) {
        self.streak = self.streak.company();
    }

    /// Changes were sent from `began` to `ended`.
    pub(super) fn note_departure(&mut self, began: Instant, ended: Instant) {
        self.ready_at = ended;
        self.unmeasured = 0;
        let took = ended.since(began).min(SEND_COST_MAX).max(SEND_COST_MIN);
        self.cost = self.cost.times(3).plus(took).divided_by(4);
    }

    /// The last to leave found no room at the socket and had to wait for it.
    pub(super) fn note_full(&mut self) {
        self.was_full = true;
    }

    /// What is written next was compressed alone, which took so long: it could not have come
    /// sooner.
    pub(super) fn note_packing(&mut self, took: Duration) {
        if took.is_zero() {
            return;
        }
        self.ready_at = self.ready_at.after(took);
        let took = took.min(PACKING_COST_MAX);
        self.packing = self.packing.times(3).plus(took).divided_by(4);
    }

    /// True where the next change is one too many unless there is a pause before it.
    pub(super) fn is_nearly_high(&self) -> bool {
        self.streak.is_high_after(1)
    }

    pub(super) fn is_high(&self) -> bool {
        self.streak.is_high()
    }

    /// True where no more changes are likely to come for now.
    pub(super) fn is_burst_over(&self) -> bool {
        self.streak.burst.is_over()
    }

    /// What it takes to send a change alone. To compress it counts twice: those that leave
    /// together also come out smaller.
    pub(super) fn cost(&self) -> Duration {
        self.cost.plus(self.packing.times(2))
    }
}

/// How fast those changes of a participant come that do not wait by the rate of their own writer:
/// each of its writers may be slow where all of them together are not. Threads that write at the
/// same time may miss a change of each other here, which does no harm.
#[derive(Debug)]
pub struct SharedRate {
    writers: AtomicU32,
    ready_at: AtomicU64,
    streak_len: AtomicU32,
    since_vain: AtomicU32,
    patience: AtomicU32,
    burst_len: AtomicU32,
    burst_last: AtomicU32,
    burst_usual: AtomicU32,
    /// Stands for the addresses to which the last one went.
    destination: AtomicU64,
}

impl Default for SharedRate {
    fn default() -> Self {
        Self {
            writers: AtomicU32::new(0),
            ready_at: AtomicU64::new(0),
            streak_len: AtomicU32::new(Streak::NONE.len),
            since_vain: AtomicU32::new(Streak::NONE.since_vain),
            patience: AtomicU32::new(Streak::NONE.patience),
            burst_len: AtomicU32::new(0),
            burst_last: AtomicU32::new(0),
            burst_usual: AtomicU32::new(0),
            destination: AtomicU64::new(0),
        }
    }
}

impl SharedRate {
    /// True where there is one writer, which knows its own rate.
    pub(super) fn is_of_one(&self) -> bool {
        self.writers.load(Ordering::Relaxed) <= 1
    }

    /// A change for `destination` is written, and sending it takes `cost`; how it goes on.
    pub(super) fn note(&self, now: Instant, destination: u64, cost: Duration) -> Streak {
        let ready_at = Instant(self.ready_at.load(Ordering::Relaxed));
        let is_same = self.destination.load(Ordering::Relaxed) == destination;
        if !is_same {
            // Nothing that goes elsewhere leaves with it.
            self.destination.store(destination, Ordering::Relaxed);
        }
        let streak = self.change(|streak| match is_same {
            true => streak.after(now.since(ready_at), cost, false),
            false => Streak {
                len: 0,
                burst: Burst {
                    len: 0,
                    ..streak.burst
                },
                ..streak
            },
        });
        let ready_at = streak.ready_at(now, cost);
        self.ready_at.store(ready_at.0, Ordering::Relaxed);
        streak
    }

    /// A change waited, and no other came.
    pub(super) fn note_alone(&self) {
        self.change(Streak::alone);
    }

    /// Changes of several writers waited and left together.
    pub(super) fn note_company(&self) {
        self.change(Streak::company);
    }

    /// True where no more changes are likely to come for now.
    pub(super) fn is_burst_over(&self) -> bool {
        self.streak().burst.is_over()
    }

    fn streak(&self) -> Streak {
        let read = |of: &AtomicU32| of.load(Ordering::Relaxed);
        Streak {
            len: read(&self.streak_len),
            since_vain: read(&self.since_vain),
            patience: read(&self.patience),
            burst: Burst {
                len: read(&self.burst_len),
                last: read(&self.burst_last),
                usual: read(&self.burst_usual),
            },
        }
    }

    /// What `change` makes of the streak; what stays as it is is not written.
    fn change(&self, change: impl FnOnce(Streak) -> Streak) -> Streak {
        let before = self.streak();
        let after = change(before);
        for (to, before, after) in [
            (&self.streak_len, before.len, after.len),
            (&self.since_vain, before.since_vain, after.since_vain),
            (&self.patience, before.patience, after.patience),
            (&self.burst_len, before.burst.len, after.burst.len),
            (&self.burst_last, before.burst.last, after.burst.last),
            (&self.burst_usual, before.burst.usual, after.burst.usual),
        ] {
            if after != before {
                to.store(after, Ordering::Relaxed);
            }
        }
        after
    }

    /// Some have left by `ended`.
    pub(super) fn note_departure(&self, ended: Instant) {
        self.ready_at.store(ended.0, Ordering::Relaxed);
    }
}

/// A writer's part in the rate of its participant.
#[derive(Debug)]
pub(super) struct Share(Arc<SharedRate>);

impl Share {
    pub(super) fn of(rate: Arc<SharedRate>) -> Self {
        rate.writers.fetch_add(1, Ordering::Relaxed);
        Self(rate)
    }
}

impl Deref for Share {
    type Target = SharedRate;

    fn deref(&self) -> &SharedRate {
        &self.0
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.writers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDING: Duration = Duration::from_micros(4);

    /// Whether a stream with such pauses is found to be fast; `adapt` is called before each change.
    fn is_fast(pause: Duration, adapt: impl Fn(&mut Rate)) -> bool {
        let mut rate = Rate::default();
        let mut now = Instant::ZERO.after(Duration::from_secs(1));
        for _ in 0..100 {
            now = now.after(pause);
            adapt(&mut rate);
            if rate.note(now, false).is_high() {
                return true;
            }
            let began = now;
            now = now.after(SENDING);
            rate.note_departure(began, now);
        }
        false
    }

    #[test]
    fn what_compressing_takes_is_part_of_sending() {
        let pause = Duration::from_micros(4);
        assert!(!is_fast(pause, |_| {}));
        assert!(!is_fast(pause, |rate| rate.note_packing(Duration::ZERO)));
        // The loop above would have called at `pause` after the departure but for the packing.
        let took = Duration::from_micros(6);
        assert!(is_fast(pause.plus(took), |rate| rate.note_packing(took)));
        let pause = Duration::from_micros(40);
        assert!(!is_fast(pause.plus(took), |rate| rate.note_packing(took)));
    }

    #[test]
    fn a_stream_that_is_interrupted_waits_again_after_waiting_in_vain() {
        let mut rate = Rate::default();
        // As often as whoever writes was interrupted just then.
        (0..20).for_each(|_| rate.note_alone());
        let mut now = Instant::ZERO.after(Duration::from_secs(1));
        let mut first = None;
        for count in 0..10_000 {
            let interrupted = count % 200 == 0;
            let pause = Duration::from_micros(if interrupted { 500 } else { 1 });
            now = now.after(pause);
            if rate.note(now, false).is_high() {
                first.get_or_insert(count);
                rate.note_company();
                continue;
            }
            let began = now;
            now = now.after(SENDING);
            rate.note_departure(began, now);
        }
        let patience = PATIENCE_MAX..PATIENCE_MAX + 200;
        assert!(first.is_some_and(|it| patience.contains(&it)), "{first:?}");
        assert_eq!(rate.streak.patience, PATIENCE_MIN);
    }

    #[test]
    fn a_socket_that_was_full_is_busy_however_long_the_pause() {
        let pause = Duration::from_millis(1);
        assert!(!is_fast(pause, |_| {}));
        assert!(is_fast(pause, Rate::note_full));
    }
}
