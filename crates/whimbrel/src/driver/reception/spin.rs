//! Whether it pays to poll a socket before blocking.

use whimbrel_base::time::{Duration, Instant};

use crate::domain::Waiting;

/// A wait that took up to so many budgets while blocked might be short enough when polled: waking
/// a thread takes most of that time.
const SOON_BUDGETS: i64 = 2;

/// For so many budgets polling stops after it was in vain once; twice as long after each more.
const PAUSE_BUDGETS: i64 = 50;

/// How often the pause doubles at most.
const DOUBLINGS_MAX: u32 = 7;

/// Decides before each wait at a socket how long it is polled.
#[derive(Debug)]
pub(super) struct Spin {
    waiting: Waiting,
    /// The last wait ended about as soon as polling would go on.
    is_soon: bool,
    /// Polls in vain since the last that were not.
    misses: u32,
    paused_until: Instant,
}

impl Spin {
    pub(super) const fn new(waiting: Waiting) -> Self {
        Self {
            waiting,
            is_soon: false,
            misses: 0,
            paused_until: Instant::ZERO,
        }
    }

    /// Until when to poll from `now` on; `None` for not at all.
    pub(super) fn until(&self, now: Instant) -> Option<Instant> {
        match self.waiting {
            Waiting::Sleep | Waiting::Receive => None,
            Waiting::Spin => Some(Instant::FAR_FUTURE),
            Waiting::Automatic { .. } => {
                let tries = self.is_soon && now >= self.paused_until;
                tries.then(|| now.after(self.budget()))
            }
        }
    }

    /// Polling found something.
    pub(super) const fn note_found(&mut self) {
        self.misses = 0;
    }

    /// Polling until `now` found nothing.
    pub(super) fn note_missed(&mut self, now: Instant) {
        let doublings = self.misses.min(DOUBLINGS_MAX);
        let pause = self.budget().as_nanos().saturating_mul(PAUSE_BUDGETS);
        let pause = pause.saturating_mul(1 << doublings);
        self.paused_until = now.after(Duration::from_nanos(pause));
        self.misses = self.misses.saturating_add(1);
        self.is_soon = false;
    }

    /// A wait without polling took so long.
    pub(super) fn note_blocked(&mut self, took: Duration) {
        self.is_soon = took.as_nanos() <= self.budget().as_nanos().saturating_mul(SOON_BUDGETS);
    }

    fn budget(&self) -> Duration {
        match self.waiting {
            Waiting::Automatic { budget } => budget.into(),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_micros(50);

    fn automatic() -> Spin {
        Spin::new(Waiting::default())
    }

    #[test]
    fn it_is_polled_only_where_the_last_wait_was_short() {
        let mut spin = automatic();
        let now = Instant(1_000_000);
        assert_eq!(spin.until(now), None);
        spin.note_blocked(Duration::from_micros(101));
        assert_eq!(spin.until(now), None);
        spin.note_blocked(Duration::from_micros(100));
        assert_eq!(spin.until(now), Some(now.after(BUDGET)));
        spin.note_found();
        assert_eq!(spin.until(now), Some(now.after(BUDGET)));
        spin.note_blocked(Duration::from_millis(1));
        assert_eq!(spin.until(now), None, "a stream of 1 kHz");
    }

    #[test]
    fn polls_in_vain_take_at_most_a_fiftieth_of_the_time_and_ever_less() {
        let mut spin = automatic();
        let mut now = Instant(1_000_000);
        let start = now;
        let mut polled = 0;
        while now.since(start) < Duration::from_secs(1) {
            // Whoever answers can only run while this thread is blocked.
            spin.note_blocked(Duration::from_micros(20));
            now = now.after(Duration::from_micros(20));
            if let Some(until) = spin.until(now) {
                polled += until.since(now).as_nanos();
                now = until;
                spin.note_missed(now);
            }
        }
        let share = polled * 1_000 / now.since(start).as_nanos();
        assert!(polled > 0 && share < 5, "{share} of a thousand");
        spin.note_blocked(Duration::from_micros(20));
        now = now.after(Duration::from_secs(1));
        spin.note_found();
        spin.note_missed(now);
        let pause = Duration::from_nanos(BUDGET.as_nanos() * PAUSE_BUDGETS);
        spin.note_blocked(Duration::from_micros(20));
        assert!(spin.until(now).is_none());
        assert!(spin.until(now.after(pause)).is_some());
    }

    #[test]
    fn the_other_ways_are_kept_to() {
        let now = Instant(7);
        for (waiting, until) in [
            (Waiting::Sleep, None),
            (Waiting::Receive, None),
            (Waiting::Spin, Some(Instant::FAR_FUTURE)),
        ] {
            let mut spin = Spin::new(waiting);
            spin.note_blocked(Duration::ZERO);
            assert_eq!(spin.until(now), until, "{waiting}");
        }
    }
}
