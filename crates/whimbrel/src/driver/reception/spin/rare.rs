//! How much is polled where waits are far apart.
//!
//! Who answers sleeps between them. So polling takes as long as it takes to wake him, which is more
//! than the wake-up that it saves, each time: it is kept to a share of the time that passes.

use whimbrel_base::time::{Duration, Instant};

/// Time that passed without polls is saved up to so much.
const SAVED_MAX_NS: u64 = 10_000_000;

/// Until when the share is used up.
#[derive(Debug)]
pub(super) struct Rare(Instant);

impl Rare {
    pub(super) const fn new() -> Self {
        Self(Instant::ZERO)
    }

    /// Whether there is something left to poll at `now`.
    pub(super) fn may(&self, now: Instant) -> bool {
        self.0 <= now
    }

    /// A poll that ended at `now` uses up the share of so long a time.
    pub(super) fn spend(&mut self, pause: Duration, now: Instant) {
        let saved_since = Instant(now.0.saturating_sub(SAVED_MAX_NS));
        self.0 = self.0.max(saved_since).after(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a thousand waits, one each `period`, how many may be polled, for `took` each.
    fn polled(rare: &mut Rare, period: Duration, took: Duration) -> usize {
        let start = rare.0.after(Duration::from_secs(60));
        let waits = (1..=1000).map(|at| start.after(period.times(at)));
        let may = |now: &Instant| {
            let may = rare.may(*now);
            if may {
                rare.spend(took.times(50), *now);
            }
            may
        };
        waits.filter(may).count()
    }

    #[test]
    fn a_fiftieth_of_the_time_is_polled_and_what_was_saved_up() {
        let mut rare = Rare::new();
        for (period_us, took_us, count) in [
            (1000, 36, 562),
            (1000, 20, 1000),
            (500, 36, 283),
            (1000, 50, 404),
            (4000, 50, 1000),
        ] {
            let [period, took] = [period_us, took_us].map(Duration::from_micros);
            let polled = polled(&mut rare, period, took);
            assert!(polled.abs_diff(count) <= 2, "{polled} at {period_us} us");
        }
    }
}
