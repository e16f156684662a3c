//! Keeps the rate that was asked for.

use std::hint::{black_box, spin_loop};
use std::thread;
use std::time::{Duration, Instant};

use crate::settings::Pacing;

/// How far behind its schedule a publisher may be: what is beyond is not made up for.
const DEBT_MAX: Duration = Duration::from_millis(10);

/// Waits before each sample.
#[derive(Debug)]
pub(super) struct Pace {
    pacing: Pacing,
    /// When the next sample is due.
    due: Instant,
}

impl Pace {
    pub(super) fn new(pacing: Pacing) -> Self {
        Self {
            pacing,
            due: Instant::now(),
        }
    }

    /// Waits until the next sample is due, a whole sleep at most `longest`; whether it is.
    pub(super) fn wait(&mut self, longest: Duration) -> bool {
        match self.pacing {
            Pacing::None => {}
            Pacing::Spin(loops) => (0..loops).for_each(|it| _ = black_box(it)),
            Pacing::Sleep(time) => thread::sleep(time),
            Pacing::Rate { per_s, spins } => {
                let left = self.due.saturating_duration_since(Instant::now());
                if left > longest {
                    thread::sleep(longest);
                    return false;
                }
                if spins {
                    while Instant::now() < self.due {
                        spin_loop();
                    }
                } else if !left.is_zero() {
                    thread::sleep(left);
                }
                self.due = next_due(self.due, per_s, Instant::now());
            }
        }
        true
    }
}

/// When the sample after that of `due` is due.
fn next_due(due: Instant, per_s: u64, now: Instant) -> Instant {
    let period = Duration::from_nanos(1_000_000_000 / per_s.max(1));
    let earliest = now.checked_sub(DEBT_MAX).unwrap_or(now);
    (due + period).max(earliest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_made_up_for_within_bounds() {
        let begun = Instant::now() + Duration::from_secs(10);
        let after = |ms| begun + Duration::from_millis(ms);
        assert_eq!(next_due(begun, 100, after(1)), after(10));
        assert_eq!(next_due(begun, 1000, after(5)), after(1));
        assert_eq!(next_due(begun, 1000, after(500)), after(490));
    }

    #[test]
    fn a_rate_holds_over_many_samples() {
        let begun = Instant::now();
        let pacing = Pacing::Rate {
            per_s: 10_000,
            spins: true,
        };
        let mut pace = Pace::new(pacing);
        for _ in 0..101 {
            assert!(pace.wait(Duration::from_secs(1)));
        }
        // The first is due at once; nothing makes it faster than asked for.
        assert!(begun.elapsed() >= Duration::from_millis(10));
    }
}
