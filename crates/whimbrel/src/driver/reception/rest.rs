//! How long whoever polls leaves a socket alone while a stream arrives.
//!
//! Each look at a socket takes the memory that says what is in it away from the core that puts more
//! into it, and a call costs about the same for one datagram as for several. Where they come
//! quicker than anybody could answer them, to look for each slows down who sends them.

use std::mem;

use whimbrel_base::time::{Duration, Instant};

use crate::domain::Waiting;

/// Datagrams further apart than this are looked for at once: the next one may be sent only after
/// this one was answered.
const INTERVAL_MAX: Duration = Duration::from_micros(4);

/// About so many are let arrive.
const TOGETHER: u32 = 4;

/// But not for longer than this.
const REST_MAX: Duration = Duration::from_micros(12);

/// So many more receives that followed the one before quickly than others before the first rest.
const WANTED_MIN: u32 = 32;

/// As many at most are wanted after rests that were in vain: in which no more than half came.
const WANTED_MAX: u32 = 4096;

/// A receive that did not follow quickly outweighs so many that did.
const SLOW_WEIGHT: u32 = 4;

/// The interval is the mean of about so many.
const MEAN_OF: u32 = 8;

/// What is known of how quickly datagrams follow each other.
#[derive(Debug)]
pub(super) struct Rest {
    /// Polling is automatic, and one call gives several: whoever always polls wants each as soon as
    /// it comes.
    is_allowed: bool,
    quick: u32,
    wanted: u32,
    /// From one datagram to the next.
    interval: Duration,
    received_at: Instant,
    has_rested: bool,
    /// The last rest was in vain.
    was_vain: bool,
    /// The last call gave as many as one can.
    is_behind: bool,
}

impl Rest {
    pub(super) const fn new(waiting: Waiting, in_batches: bool) -> Self {
        Self {
            is_allowed: in_batches && matches!(waiting, Waiting::Automatic { .. }),
            quick: 0,
            wanted: WANTED_MIN,
            interval: INTERVAL_MAX,
            received_at: Instant::ZERO,
            has_rested: false,
            was_vain: false,
            is_behind: false,
        }
    }

    /// Until when whoever polls now is to leave the socket alone first, if so.
    #[inline(always)]
    pub(super) fn until(&self) -> Option<Instant> {
        if self.quick < self.wanted || self.is_behind || !self.is_allowed {
            return None;
        }
        let rest = self.interval.times(TOGETHER).min(REST_MAX);
        Some(self.received_at.after(rest))
    }

    /// Whether the socket was left alone before the poll that begins now.
    #[inline(always)]
    pub(super) fn note_rest(&mut self, has_rested: bool) {
        self.has_rested = has_rested;
    }

    /// A poll gave `count` datagrams at `now`, at least one; as many as one call can, where it
    /// `is_full`.
    #[inline(always)]
    pub(super) fn note(&mut self, now: Instant, count: usize, is_full: bool) {
        let took = now.since(self.received_at);
        self.received_at = now;
        self.is_behind = is_full;
        let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let is_slow = took > INTERVAL_MAX.times(count);
        if self.has_rested {
            self.learn_of_rest(count);
        } else if is_slow {
            self.quick = self.quick.saturating_sub(SLOW_WEIGHT);
        }
        // Who sends may have waited for an answer during a rest.
        let may_be_late = mem::take(&mut self.has_rested) && count < TOGETHER;
        if !is_slow {
            self.learn_of_quick(took.divided_by(count), may_be_late);
        }
    }

    /// During the last rest `count` came.
    fn learn_of_rest(&mut self, count: u32) {
        let is_vain = count <= TOGETHER / 2;
        if !is_vain {
            self.wanted = WANTED_MIN;
        } else if self.was_vain {
            self.quick = 0;
            self.wanted = self.wanted.saturating_mul(2).min(WANTED_MAX);
        }
        self.was_vain = is_vain;
    }

    /// What was received followed at an interval of `interval`, or of less where it
    /// `may_be_late`.
    fn learn_of_quick(&mut self, interval: Duration, may_be_late: bool) {
        let most = self.wanted.saturating_mul(2);
        self.quick = self.quick.saturating_add(1).min(most);
        if self.is_behind || (may_be_late && interval > self.interval) {
            return;
        }
        let before = self.interval.times(MEAN_OF - 1);
        self.interval = before.plus(interval).divided_by(MEAN_OF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTOMATIC: Waiting = Waiting::Automatic {
        budget: std::time::Duration::from_micros(50),
    };

    /// What polls at `interval`, each without a rest, have been told of.
    fn streaming(interval: Duration) -> (Rest, Instant) {
        let (mut rest, mut now) = (Rest::new(AUTOMATIC, true), Instant::ZERO);
        for _ in 0..WANTED_MIN {
            assert_eq!(rest.until(), None);
            now = now.after(interval);
            rest.note(now, 1, false);
        }
        // One more, as the clock began far from the first.
        now = now.after(interval);
        rest.note(now, 1, false);
        (rest, now)
    }

    /// Rests in 10,000 polls where datagrams come at `interval`, as long as `others` says of each.
    fn rests(interval: Duration, others: impl Fn(usize) -> Option<Duration>) -> usize {
        let (mut rest, mut now) = (Rest::new(AUTOMATIC, true), Instant::ZERO);
        let mut rests = 0;
        for at in 0..10_000 {
            let next = now.after(others(at).unwrap_or(interval));
            let until = rest.until();
            rests += usize::from(until.is_some());
            rest.note_rest(until.is_some());
            let looked_at = until.map_or(next, |it| it.max(next));
            let more = looked_at.since(next).as_nanos() / interval.as_nanos();
            now = next.after(Duration::from_nanos(more * interval.as_nanos()));
            rest.note(looked_at, 1 + more as usize, false);
        }
        rests
    }

    #[test]
    fn a_stream_is_let_arrive_several_at_a_time() {
        let interval = Duration::from_micros(2);
        let (rest, now) = streaming(interval);
        let until = rest.until().unwrap();
        assert!(until > now.after(interval.times(TOGETHER - 1)), "{rest:?}");
        assert!(until < now.after(REST_MAX));
        let rests = rests(interval, |_| None);
        assert!(rests > 9_900, "{rests}");
    }

    #[test]
    fn what_may_be_answers_is_looked_for_at_once() {
        assert_eq!(
            rests(INTERVAL_MAX.plus(Duration::from_nanos(1)), |_| None),
            0
        );
    }

    #[test]
    fn who_always_polls_never_rests() {
        let (mut rest, mut now) = (Rest::new(Waiting::Spin, true), Instant::ZERO);
        for _ in 0..10_000 {
            assert_eq!(rest.until(), None);
            now = now.after(Duration::from_micros(1));
            rest.note(now, 1, false);
        }
    }

    #[test]
    fn one_pause_of_ten_ends_no_stream_and_many_do() {
        let pause = |at: usize, of: usize| at.is_multiple_of(of).then(|| Duration::from_micros(20));
        let interval = Duration::from_micros(1);
        assert!(rests(interval, |at| pause(at, 10)) > 5_000);
        let rests = rests(Duration::from_micros(3), |at| pause(at, 3));
        assert_eq!(rests, 0);
    }

    #[test]
    fn where_one_comes_at_a_time_rests_become_rare() {
        let (mut rest, mut now) = (Rest::new(AUTOMATIC, true), Instant::ZERO);
        let mut rests = 0;
        for _ in 0..100_000 {
            // As one answers who is answered, quicker than any two can that we know.
            rest.note_rest(rest.until().is_some());
            now = rest
                .until()
                .unwrap_or(now)
                .max(now.after(Duration::from_micros(3)));
            rests += usize::from(rest.has_rested);
            rest.note(now, 1, false);
        }
        assert!((1..40).contains(&rests), "{rests}");
        // Until several come.
        while rest.until().is_none() {
            now = now.after(Duration::from_micros(3));
            rest.note(now, 1, false);
        }
        rest.note_rest(true);
        rest.note(now.after(REST_MAX), 5, false);
        assert_eq!(rest.wanted, WANTED_MIN);
    }

    #[test]
    fn nobody_rests_while_more_waits_than_a_call_gives() {
        let (mut rest, now) = streaming(Duration::from_micros(1));
        assert!(rest.until().is_some());
        rest.note_rest(true);
        let now = now.after(REST_MAX);
        rest.note(now, 8, true);
        assert_eq!(rest.until(), None);
        rest.note(now.after(Duration::from_micros(1)), 2, false);
        assert!(rest.until().is_some());
    }

    #[test]
    fn whose_answers_are_waited_for_rests_no_longer_and_soon_not_at_all() {
        let (mut rest, mut now) = streaming(Duration::from_micros(1));
        let long = rest.until().unwrap().since(now);
        // Who sends three waits for an answer then.
        for _ in 0..1000 {
            now = rest.until().unwrap();
            rest.note_rest(true);
            rest.note(now, 3, false);
        }
        assert_eq!(rest.until().unwrap().since(now), long);
        // Who sends two.
        for _ in 0..2 {
            now = rest.until().unwrap();
            rest.note_rest(true);
            rest.note(now, 2, false);
        }
        assert_eq!(rest.until(), None);
    }
}
