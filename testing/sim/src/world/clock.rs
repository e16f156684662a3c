//! What the clocks of a node show.

use whimbrel_base::time::Instant;

use crate::scenario::{ClockPlan, START};

const MILLION: i128 = 1_000_000;

impl ClockPlan {
    /// What the node's clock shows at the world's `at`.
    pub(super) fn shown(&self, at: Instant) -> Instant {
        let passed = i128::from(at.0) - i128::from(START.0);
        let counted = passed * (MILLION + i128::from(self.drift_ppm)) / MILLION;
        Instant((i128::from(START.0) + i128::from(self.origin_ns) + counted) as u64)
    }

    /// When the node's clock shows `shown` or more for the first time.
    pub(super) fn reached(&self, shown: Instant) -> Instant {
        let counted = i128::from(shown.0) - i128::from(START.0) - i128::from(self.origin_ns);
        let speed = MILLION + i128::from(self.drift_ppm);
        let passed = (counted.max(0) * MILLION + speed - 1) / speed;
        let at = i128::from(START.0) + passed;
        Instant(u64::try_from(at).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_reached_and_not_before() {
        for drift_ppm in [-500_000, -73, 0, 1, 400, 1_000_000] {
            let clock = ClockPlan {
                origin_ns: 77_000_000_123,
                drift_ppm,
            };
            for wait in [0, 1, 999, 12_345_678_901, 3_600_000_000_000] {
                let shown = Instant(START.0 + clock.origin_ns + wait);
                let at = clock.reached(shown);
                assert!(clock.shown(at) >= shown, "{drift_ppm} {wait}");
                assert!(at == START || clock.shown(Instant(at.0 - 1)) < shown);
            }
        }
        assert_eq!(
            ClockPlan::default().shown(Instant(5_000_000_000)).0,
            5_000_000_000
        );
    }
}
