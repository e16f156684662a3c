//! How fast fragments may leave.
//!
//! A token bucket whose rate halves when readers report missing fragments and grows again while
//! large samples arrive unharmed, so that neither a default socket buffer nor a slow link is
//! overrun for long.

use whimbrel_base::time::{Duration, Instant, NANOS_PER_SECOND};

const BYTES_PER_SECOND_MIN: u64 = 1_000_000;

/// Token bucket in octets.
#[derive(Debug)]
pub(super) struct Pace {
    bytes_per_second: u64,
    bytes_per_second_max: u64,
    burst_bytes: u64,
    tokens: u64,
    filled_at: Instant,
    slowed_at: Option<Instant>,
}

impl Pace {
    /// A full bucket of `burst_bytes` that refills with at most `bytes_per_second_max`.
    pub(super) fn new(bytes_per_second_max: u64, burst_bytes: u64) -> Self {
        let rate = bytes_per_second_max.max(BYTES_PER_SECOND_MIN);
        Self {
            bytes_per_second: rate,
            bytes_per_second_max: rate,
            burst_bytes: burst_bytes.max(1),
            tokens: burst_bytes.max(1),
            filled_at: Instant::ZERO,
            slowed_at: None,
        }
    }

    fn refill(&mut self, now: Instant) {
        let nanos = now.since(self.filled_at).as_nanos().unsigned_abs();
        let gained = u128::from(nanos)
            .saturating_mul(u128::from(self.bytes_per_second))
            .wrapping_div(1_000_000_000);
        if gained > 0 {
            let gained = u64::try_from(gained).unwrap_or(u64::MAX);
            self.tokens = self.tokens.saturating_add(gained).min(self.burst_bytes);
            self.filled_at = now;
        }
    }

    /// True when something may leave now.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.tokens > 0
    }

    /// Takes `bytes` from the bucket; the last burst may overdraw it down to zero.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.tokens = self
            .tokens
            .saturating_sub(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// When half a burst will be available again.
    pub(super) fn next_at(&self) -> Instant {
        let wanted = u128::from((self.burst_bytes / 2).max(1).saturating_sub(self.tokens));
        let nanos = wanted
            .saturating_mul(NANOS_PER_SECOND.unsigned_abs().into())
            .div_ceil(u128::from(self.bytes_per_second.max(1)));
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX).max(1);
        self.filled_at.after(Duration::from_nanos(nanos))
    }

    /// Readers miss fragments: halves the rate, at most once in 5 ms.
    pub(super) fn slow_down(&mut self, now: Instant) {
        let recently = self
            .slowed_at
            .is_some_and(|at| now.since(at) < Duration::from_millis(5));
        if !recently {
            self.bytes_per_second = (self.bytes_per_second / 2).max(BYTES_PER_SECOND_MIN);
            self.slowed_at = Some(now);
        }
    }

    /// A large sample arrived everywhere: raises the rate by a quarter.
    pub(super) fn speed_up(&mut self) {
        let raised = self
            .bytes_per_second
            .saturating_add(self.bytes_per_second / 4);
        self.bytes_per_second = raised.min(self.bytes_per_second_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let mut pace = Pace::new(1_000_000_000, 100_000);
        assert!(pace.allows(Instant(0)));
        pace.spend(100_000);
        assert!(!pace.allows(Instant(0)));
        let next = pace.next_at();
        assert_eq!(next, Instant(50_000));
        assert!(pace.allows(next));
    }

    #[test]
    fn losses_halve_it_once_and_success_restores_it() {
        let mut pace = Pace::new(64_000_000, 1_000);
        pace.slow_down(Instant(0));
        pace.slow_down(Instant(1_000_000));
        assert_eq!(pace.bytes_per_second, 32_000_000);
        for _ in 0..10 {
            pace.speed_up();
        }
        assert_eq!(pace.bytes_per_second, 64_000_000);
        for millis in 0..1000 {
            pace.slow_down(Instant(millis * 10_000_000 + 10_000_000));
        }
        assert_eq!(pace.bytes_per_second, BYTES_PER_SECOND_MIN);
    }
}
