//! How fast fragments may leave.
//!
//! A token bucket with two taps. One is the readers: whenever all of them have answered, what was
//! sent before has left their sockets, and the bucket is full again. The other is time, for
//! readers that answer late or never; its rate falls while readers report a considerable share of
//! what was sent as missing and rises again while they do not. So neither a default socket buffer
//! nor a slow link is overrun for long, and a link that merely loses a little is not slowed down.

use whimbrel_base::time::{Duration, Instant};

const BYTES_PER_SECOND_MIN: u64 = 4_000_000;

/// How often the rate is judged.
const JUDGED_EVERY: Duration = Duration::from_millis(5);

/// One part in so many may be lost without slowing down.
const LOSS_TOLERATED: u64 = 8;

/// Token bucket in octets.
#[derive(Debug)]
pub(super) struct Pace {
    bytes_per_second: u64,
    bytes_per_second_max: u64,
    burst_bytes: u64,
    tokens: u64,
    filled_at: Instant,
    judged_at: Instant,
    sent_bytes: u64,
    lost_bytes: u64,
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
            judged_at: Instant::ZERO,
            sent_bytes: 0,
            lost_bytes: 0,
        }
    }

    fn refill(&mut self, now: Instant) {
        self.judge(now);
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

    fn judge(&mut self, now: Instant) {
        let since = now.since(self.judged_at);
        if since < JUDGED_EVERY {
            return;
        }
        self.judged_at = now;
        if self.lost_bytes.saturating_mul(LOSS_TOLERATED) > self.sent_bytes {
            let slower = self
                .bytes_per_second
                .saturating_sub(self.bytes_per_second / 4);
            self.bytes_per_second = slower.max(BYTES_PER_SECOND_MIN);
        } else {
            let faster = self
                .bytes_per_second
                .saturating_add(self.bytes_per_second / 4);
            self.bytes_per_second = faster.min(self.bytes_per_second_max);
        }
        self.sent_bytes = 0;
        self.lost_bytes = 0;
    }

    /// True when something may leave now.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.tokens > 0
    }

    /// Takes `bytes` from the bucket; the last burst may overdraw it down to zero.
    pub(super) fn spend(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.tokens = self.tokens.saturating_sub(bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes);
    }

    /// Everything sent so far has been taken in: the next burst may leave.
    pub(super) fn taken_in(&mut self, now: Instant) {
        self.tokens = self.burst_bytes;
        self.filled_at = now;
    }

    /// A reader reports `bytes` as missing.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.lost_bytes = self.lost_bytes.saturating_add(bytes);
    }

    /// Octets reported as missing since the rate was last judged.
    #[cfg(test)]
    pub(super) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// When half a burst will be available again.
    pub(super) fn next_at(&self) -> Instant {
        let wanted = u128::from((self.burst_bytes / 2).max(1).saturating_sub(self.tokens));
        let nanos = wanted
            .saturating_mul(1_000_000_000)
            .div_ceil(u128::from(self.bytes_per_second.max(1)));
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX).max(1);
        self.filled_at.after(Duration::from_nanos(nanos))
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

    /// The rate after `steps` of 10 ms in each of which one part in `one_in` is lost.
    fn after(pace: &mut Pace, from_ms: u64, steps: u64, one_in: u64) -> u64 {
        for step in 0..steps {
            pace.spend(10_000);
            pace.lose(10_000 / one_in);
            pace.allows(Instant((from_ms + step * 10) * 1_000_000));
        }
        pace.bytes_per_second
    }

    #[test]
    fn heavy_loss_slows_down_and_light_loss_does_not() {
        let mut pace = Pace::new(1 << 30, 1_000_000);
        assert_eq!(after(&mut pace, 10, 100, 20), 1 << 30);
        assert_eq!(after(&mut pace, 2000, 100, 2), BYTES_PER_SECOND_MIN);
        // Without loss it is back within a second.
        assert_eq!(after(&mut pace, 4000, 100, 100_000), 1 << 30);
    }
}
