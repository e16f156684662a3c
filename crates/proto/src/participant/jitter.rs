//! Repeatable randomness for times that must not fall together.

use whimbrel_base::time::Duration;

/// A small generator of random numbers (SplitMix64), good enough to spread timers.
#[derive(Clone, Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// `span` give or take 10 %.
    pub(super) fn spread(&mut self, span: Duration) -> Duration {
        if span.is_infinite() {
            return span;
        }
        let random = self.next();
        let tenth = u64::try_from(span.as_nanos() / 10).unwrap_or(0);
        let more = random.checked_rem(tenth.saturating_mul(2)).unwrap_or(0);
        let nanos = span
            .as_nanos()
            .saturating_sub_unsigned(tenth)
            .saturating_add_unsigned(more);
        Duration::from_nanos(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_stay_within_a_tenth_and_repeat() {
        let span = Duration::from_secs(1);
        let (mut a, mut b) = (Jitter::new(7), Jitter::new(7));
        let mut different = 0;
        for _ in 0..100 {
            let spread = a.spread(span);
            assert!(spread >= Duration::from_millis(900) && spread < Duration::from_millis(1100));
            assert_eq!(spread, b.spread(span));
            different += usize::from(spread != span);
        }
        assert!(different > 90);
        assert!(a.spread(Duration::INFINITE).is_infinite());
        assert!(a.spread(Duration::ZERO).is_zero());
    }
}
