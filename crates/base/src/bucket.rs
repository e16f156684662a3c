//! A flow controller: how many octets may leave in which time, whatever readers would take.

use crate::time::{Duration, Instant};

/// Limits of a flow controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowLimits {
    /// What is added to the bucket each time, in octets; not zero.
    pub bytes_per_period: u64,
    /// How often; not zero.
    pub period: Duration,
    /// What the bucket holds at most, in octets; not zero.
    pub burst_bytes_max: u64,
}

/// The bucket of a flow controller: full at first, overdrawn by one message at most.
#[derive(Debug)]
pub struct Bucket {
    limits: FlowLimits,
    bytes: i64,
    /// When it was last added to; none before the first use.
    filled_at: Option<Instant>,
}

impl Bucket {
    /// A full one.
    pub fn new(limits: FlowLimits) -> Self {
        Self {
            limits,
            bytes: signed(limits.burst_bytes_max),
            filled_at: None,
        }
    }

    fn fill(&mut self, now: Instant) {
        let filled_at = *self.filled_at.get_or_insert(now);
        let period = self.limits.period.as_nanos().max(1);
        let periods = now.since(filled_at).as_nanos().checked_div(period);
        let periods = periods.unwrap_or(0);
        if periods == 0 {
            return;
        }
        let passed = Duration::from_nanos(periods.saturating_mul(period));
        self.filled_at = Some(filled_at.after(passed));
        let added = signed(self.limits.bytes_per_period).saturating_mul(periods);
        let most = signed(self.limits.burst_bytes_max);
        self.bytes = self.bytes.saturating_add(added).min(most);
    }

    /// Octets that may leave at `now`; the last message of them may be larger.
    #[inline(never)]
    fn room(&mut self, now: Instant) -> u64 {
        self.fill(now);
        u64::try_from(self.bytes).unwrap_or(0)
    }

    /// `bytes` have left.
    #[inline(never)]
    fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// When something may leave again.
    fn next_at(&self) -> Option<Instant> {
        let each = signed(self.limits.bytes_per_period).max(1);
        let missing = 1i64.saturating_sub(self.bytes).max(1);
        let whole = missing.checked_div(each).unwrap_or(0);
        let rest = missing.checked_rem(each).unwrap_or(0);
        let periods = whole.saturating_add(i64::from(rest > 0));
        let wait = self.limits.period.as_nanos().saturating_mul(periods);
        self.filled_at
            .map(|at| at.after(Duration::from_nanos(wait)))
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Octets that may leave at `now`.
pub fn room(bucket: &mut Option<Bucket>, now: Instant) -> u64 {
    bucket.as_mut().map_or(u64::MAX, |it| it.room(now))
}

/// Messages of so many octets have left.
pub fn spend(bucket: &mut Option<Bucket>, bytes: usize) {
    if let Some(bucket) = bucket {
        bucket.spend(bytes);
    }
}

/// Until when nothing may leave; none where something may.
pub fn held_until(bucket: &mut Option<Bucket>, now: Instant) -> Option<Instant> {
    let bucket = bucket.as_mut()?;
    (bucket.room(now) == 0).then(|| bucket.next_at())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: FlowLimits = FlowLimits {
        bytes_per_period: 1000,
        period: Duration::from_millis(10),
        burst_bytes_max: 2500,
    };

    fn at_ms(ms: u64) -> Instant {
        Instant(1_000_000_000 + ms * 1_000_000)
    }

    #[test]
    fn a_full_bucket_then_what_is_added() {
        let mut bucket = Bucket::new(LIMITS);
        assert_eq!(bucket.room(at_ms(0)), 2500);
        bucket.spend(2500);
        assert_eq!(
            (bucket.room(at_ms(9)), bucket.next_at()),
            (0, Some(at_ms(10)))
        );
        assert_eq!(bucket.room(at_ms(10)), 1000);
        assert_eq!(bucket.room(at_ms(29)), 2000);
        // It holds no more than that however long nothing leaves.
        assert_eq!(bucket.room(at_ms(5000)), 2500);
    }

    #[test]
    fn what_was_overdrawn_is_paid_back() {
        let mut bucket = Bucket::new(LIMITS);
        bucket.room(at_ms(0));
        bucket.spend(5500);
        assert_eq!(bucket.next_at(), Some(at_ms(40)));
        assert_eq!((bucket.room(at_ms(39)), bucket.room(at_ms(40))), (0, 1000));
    }

    #[test]
    fn the_greatest_limits_never_hold_anything_back() {
        let mut bucket = Bucket::new(FlowLimits {
            bytes_per_period: u64::MAX,
            burst_bytes_max: u64::MAX,
            ..LIMITS
        });
        for ms in 0..100 {
            assert!(bucket.room(at_ms(ms * 1000)) > 1 << 40);
            bucket.spend(1 << 30);
        }
    }
}
