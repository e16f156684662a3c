//! Whether changes come faster than they can be sent: those of one writer, and those of all writers
//! of a participant that go to the same addresses.

use alloc::sync::Arc;
use core::ops::Deref;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::streak::Streak;
use crate::time::{Duration, Instant};

/// What sending takes before it was measured, and the bounds of what is believed.
const SEND_COST: Duration = Duration::from_micros(5);
const SEND_COST_MIN: Duration = Duration::from_micros(2);
const SEND_COST_MAX: Duration = Duration::from_micros(10);

/// What is believed of what compressing a change takes before it is sent.
const PACKING_COST_MAX: Duration = Duration::from_micros(100);

/// Of changes that do not come fast, one of so many shows what sending takes: to look at the clock
/// after each would cost more than is learnt from it.
const UNMEASURED_MAX: u32 = 8;

/// When the next change could come if the last one, of `now`, leaves at once, or waits.
fn ready_at(streak: Streak, now: Instant, cost: Duration) -> Instant {
    if streak.is_high() {
        now
    } else {
        now.after(cost)
    }
}

/// How fast changes of a writer come, and how fast they could leave.
#[derive(Debug)]
pub struct Rate {
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
    /// A change is written, `pressed` where it had to wait for room before, and by now `heard` has
    /// arrived there, see [`Streak::with_heard`]; how it goes on.
    pub fn note(&mut self, now: Instant, pressed: bool, heard: u32) -> Streak {
        let pause = if core::mem::take(&mut self.was_full) {
            // However long it was: what came before it still fills the socket.
            Duration::ZERO
        } else {
            now.since(self.ready_at)
        };
        let streak = self.streak.after(pause, self.cost(), pressed);
        self.streak = streak.with_heard(heard);
        self.ready_at = ready_at(self.streak, now, self.cost);
        self.unmeasured = self.unmeasured.saturating_add(1);
        self.streak
    }

    /// True where what sending takes was not measured for long.
    pub fn wants_measuring(&self) -> bool {
        self.unmeasured >= UNMEASURED_MAX
    }

    /// A change waited, and no other came.
    pub fn note_alone(&mut self) {
        self.streak = self.streak.alone();
    }

    /// Changes waited and left together.
    pub fn note_company(&mut self) {
        self.streak = self.streak.company();
    }

    /// Changes were sent from `began` to `ended`.
    pub fn note_departure(&mut self, began: Instant, ended: Instant) {
        self.ready_at = ended;
        self.unmeasured = 0;
        let took = ended.since(began).min(SEND_COST_MAX).max(SEND_COST_MIN);
        self.cost = self.cost.times(3).plus(took).divided_by(4);
    }

    /// The last to leave found no room at the socket and had to wait for it.
    pub fn note_full(&mut self) {
        self.was_full = true;
    }

    /// What is written next was compressed alone, which took so long: it could not have come
    /// sooner.
    pub fn note_packing(&mut self, took: Duration) {
        if took.is_zero() {
            return;
        }
        self.ready_at = self.ready_at.after(took);
        let took = took.min(PACKING_COST_MAX);
        self.packing = self.packing.times(3).plus(took).divided_by(4);
    }

    /// True where the next change is one too many unless there is a pause before it.
    pub fn is_nearly_high(&self) -> bool {
        self.streak.is_high_after(1)
    }

    /// True where changes come faster than they can be sent.
    pub fn is_high(&self) -> bool {
        self.streak.is_high()
    }

    /// True where no more changes are likely to come for now.
    pub fn is_burst_over(&self) -> bool {
        self.streak.is_burst_over()
    }

    /// What it takes to send a change alone. To compress it counts twice: those that leave
    /// together also come out smaller.
    pub fn cost(&self) -> Duration {
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
    /// The streak, in pieces.
    words: [AtomicU32; 9],
    /// Stands for the addresses to which the last one went.
    destination: AtomicU64,
}

impl Default for SharedRate {
    fn default() -> Self {
        Self {
            writers: AtomicU32::new(0),
            ready_at: AtomicU64::new(0),
            words: Streak::NONE.to_words().map(AtomicU32::new),
            destination: AtomicU64::new(0),
        }
    }
}

impl SharedRate {
    /// True where there is one writer, which knows its own rate.
    pub fn is_of_one(&self) -> bool {
        self.writers.load(Ordering::Relaxed) <= 1
    }

    /// A change for `destination` is written, sending it takes `cost`, and by now `heard` has
    /// arrived there; how it goes on.
    pub fn note(&self, now: Instant, destination: u64, cost: Duration, heard: u32) -> Streak {
        let before = Instant(self.ready_at.load(Ordering::Relaxed));
        let is_same = self.destination.load(Ordering::Relaxed) == destination;
        if !is_same {
            // Nothing that goes elsewhere leaves with it.
            self.destination.store(destination, Ordering::Relaxed);
        }
        let streak = self.change(|streak| {
            let streak = match is_same {
                true => streak.after(now.since(before), cost, false),
                false => streak.anew(),
            };
            streak.with_heard(heard)
        });
        let ready_at = ready_at(streak, now, cost);
        self.ready_at.store(ready_at.0, Ordering::Relaxed);
        streak
    }

    /// A change waited, and no other came.
    pub fn note_alone(&self) {
        self.change(Streak::alone);
    }

    /// Changes of several writers waited and left together.
    pub fn note_company(&self) {
        self.change(Streak::company);
    }

    /// True where no more changes are likely to come for now.
    pub fn is_burst_over(&self) -> bool {
        Streak::of_words(self.words()).is_burst_over()
    }

    fn words(&self) -> [u32; 9] {
        self.words.each_ref().map(|it| it.load(Ordering::Relaxed))
    }

    /// What `change` makes of the streak; what stays as it is is not written.
    fn change(&self, change: impl FnOnce(Streak) -> Streak) -> Streak {
        let before = self.words();
        let after = change(Streak::of_words(before));
        let words = before.iter().zip(after.to_words());
        for (to, (before, after)) in self.words.iter().zip(words) {
            if after != *before {
                to.store(after, Ordering::Relaxed);
            }
        }
        after
    }

    /// Some have left by `ended`.
    pub fn note_departure(&self, ended: Instant) {
        self.ready_at.store(ended.0, Ordering::Relaxed);
    }
}

/// A writer's part in the rate of its participant.
#[derive(Debug)]
pub struct Share(Arc<SharedRate>);

impl Share {
    /// One more writer has a part in `rate`, while the value lives.
    pub fn of(rate: Arc<SharedRate>) -> Self {
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
    use crate::streak::{PATIENCE_MAX, PATIENCE_MIN};

    use super::*;

    const SENDING: Duration = Duration::from_micros(4);

    /// Whether a stream with such pauses is found to be fast; `adapt` is called before each change.
    fn is_fast(pause: Duration, adapt: impl Fn(&mut Rate)) -> bool {
        let mut rate = Rate::default();
        let mut now = Instant::ZERO.after(Duration::from_secs(1));
        for _ in 0..100 {
            now = now.after(pause);
            adapt(&mut rate);
            if rate.note(now, false, 0).is_high() {
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
            if rate.note(now, false, 0).is_high() {
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
        // It was right so often that the patience is the least again.
        rate.note_alone();
        let fast = (1..=PATIENCE_MAX).find(|_| {
            now = now.after(Duration::from_micros(1));
            rate.note(now, false, 0).is_high()
        });
        assert_eq!(fast, Some(2 * PATIENCE_MIN));
    }

    #[test]
    fn a_socket_that_was_full_is_busy_however_long_the_pause() {
        let pause = Duration::from_millis(1);
        assert!(!is_fast(pause, |_| {}));
        assert!(is_fast(pause, Rate::note_full));
    }
}
