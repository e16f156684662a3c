//! Time: spans, the monotonic clock's instants and the wall clock's timestamps.
//!
//! Nothing in this workspace's core reads a clock: instants and timestamps come in as arguments.

use core::fmt;

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A span of time in nanoseconds, or infinite. DDS 1.4 §2.3.2 (Duration_t).
///
/// Never negative when made by the constructors here; parsers refuse negative spans.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// DURATION_INFINITE.
    pub const INFINITE: Self = Self(i64::MAX);

    /// `nanos` nanoseconds; negative values become 0.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(if nanos < 0 { 0 } else { nanos })
    }

    /// `micros` microseconds; overflow becomes infinite.
    pub const fn from_micros(micros: i64) -> Self {
        Self::from_nanos(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds; overflow becomes infinite.
    pub const fn from_millis(millis: i64) -> Self {
        Self::from_nanos(millis.saturating_mul(1_000_000))
    }

    /// `seconds` seconds; overflow becomes infinite.
    pub const fn from_secs(seconds: i64) -> Self {
        Self::from_nanos(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// In nanoseconds; `i64::MAX` for infinite.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// True for [`Duration::INFINITE`].
    pub const fn is_infinite(self) -> bool {
        self.0 == i64::MAX
    }

    /// True for [`Duration::ZERO`].
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Both together; infinite stays infinite.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        if self.is_infinite() || more.is_infinite() {
            return Self::INFINITE;
        }
        Self(self.0.saturating_add(more.0))
    }

    /// This span `factor` times; infinite where it overflows.
    #[must_use]
    pub const fn times(self, factor: u32) -> Self {
        Self(self.0.saturating_mul(factor as i64))
    }

    /// This span divided by `divisor` (0 counts as 1); infinite stays infinite.
    #[must_use]
    pub const fn divided_by(self, divisor: u32) -> Self {
        if self.is_infinite() {
            return self;
        }
        match self.0.checked_div(divisor as i64) {
            Some(nanos) => Self(nanos),
            None => self,
        }
    }

    /// From the wire's seconds and 2⁻³² fractions. {0x7fffffff, 0xffffffff} is infinite; negative
    /// seconds give `None`. RTPS 2.5 §9.3.2.3.
    pub const fn from_wire(seconds: i32, fraction: u32) -> Option<Self> {
        if seconds < 0 {
            return None;
        }
        // 0x7fffffff seconds are 68 years: with any fraction they are meant as infinite
        // (some peers send 0x7fffffff nanoseconds-style fractions).
        if seconds == i32::MAX {
            return Some(Self::INFINITE);
        }
        let nanos = (seconds as i64)
            .saturating_mul(NANOS_PER_SECOND)
            .saturating_add(fraction_to_nanos(fraction));
        // The last fraction below 0x7fffffff seconds rounds up to what travels as infinite.
        if nanos >= NANOS_PER_SECOND.saturating_mul(i32::MAX as i64) {
            return Some(Self::INFINITE);
        }
        Some(Self(nanos))
    }

    /// The wire's seconds and 2⁻³² fractions; spans over 2³¹−2 seconds travel as infinite.
    pub const fn to_wire(self) -> (i32, u32) {
        let (seconds, nanos) = split(self.0);
        if self.is_infinite() || seconds >= i32::MAX as i64 {
            return (i32::MAX, u32::MAX);
        }
        (seconds as i32, nanos_to_fraction(nanos))
    }
}

impl From<core::time::Duration> for Duration {
    fn from(value: core::time::Duration) -> Self {
        i64::try_from(value.as_nanos()).map_or(Self::INFINITE, Self)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_infinite() {
            f.write_str("infinite")
        } else {
            fmt::Debug::fmt(&core::time::Duration::from_nanos(self.0.unsigned_abs()), f)
        }
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A point on the monotonic clock, in nanoseconds from a start that the driver chooses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(pub u64);

impl Instant {
    /// The clock's start.
    pub const ZERO: Self = Self(0);
    /// Later than every instant a clock gives: never.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// This instant moved on by `span`; infinite spans give [`Instant::FAR_FUTURE`].
    #[must_use]
    pub const fn after(self, span: Duration) -> Self {
        if span.is_infinite() {
            return Self::FAR_FUTURE;
        }
        Self(self.0.saturating_add_signed(span.0))
    }

    /// The span from `earlier` to this instant, zero where `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        let nanos = self.0.saturating_sub(earlier.0);
        Duration(if nanos > i64::MAX as u64 {
            i64::MAX
        } else {
            nanos as i64
        })
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{:?}", core::time::Duration::from_nanos(self.0))
    }
}

/// A point on the wall clock, in nanoseconds since 1970-01-01 UTC. DDS 1.4 §2.3.2 (Time_t).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// TIME_INVALID: not known.
    pub const INVALID: Self = Self(i64::MIN);

    /// True for [`Timestamp::INVALID`].
    pub const fn is_invalid(self) -> bool {
        self.0 == i64::MIN
    }

    /// From the wire's seconds and 2⁻³² fractions; {-1, 0xffffffff} is invalid.
    /// RTPS 2.5 §9.3.2.1.
    pub const fn from_wire(seconds: i32, fraction: u32) -> Self {
        if seconds == -1 && fraction == u32::MAX {
            return Self::INVALID;
        }
        // RTPS 2.2 and later count the seconds as unsigned.
        let seconds = seconds.cast_unsigned() as i64;
        Self(
            seconds
                .saturating_mul(NANOS_PER_SECOND)
                .saturating_add(fraction_to_nanos(fraction)),
        )
    }

    /// The wire's seconds and 2⁻³² fractions. Times before 1970 or after 2106 travel as invalid.
    pub const fn to_wire(self) -> (i32, u32) {
        if self.0 < 0 {
            return (-1, u32::MAX);
        }
        let (seconds, nanos) = split(self.0);
        // No nanosecond of the last second has the fraction of TIME_INVALID.
        if seconds > u32::MAX as i64 {
            return (-1, u32::MAX);
        }
        ((seconds as u32).cast_signed(), nanos_to_fraction(nanos))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_invalid() {
            return f.write_str("invalid");
        }
        let (seconds, nanos) = split(self.0);
        write!(f, "{seconds}.{nanos:09}")
    }
}

const fn split(nanos: i64) -> (i64, u32) {
    (
        nanos.div_euclid(NANOS_PER_SECOND),
        nanos.rem_euclid(NANOS_PER_SECOND) as u32,
    )
}

const fn fraction_to_nanos(fraction: u32) -> i64 {
    // (fraction · 10⁹ + 2³¹) / 2³²: the nearest nanosecond, at most 10⁹.
    ((fraction as u64)
        .wrapping_mul(NANOS_PER_SECOND as u64)
        .wrapping_add(1 << 31)
        >> 32) as i64
}

const fn nanos_to_fraction(nanos: u32) -> u32 {
    // nanos < 10⁹, so the quotient stays below 2³².
    (((nanos as u64) << 32) / 1_000_000_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_survive_the_wire() {
        for nanos in [0, 1, 2, 999, 123_456_789, 500_000_000, 999_999_999] {
            let stamp = Timestamp(1_700_000_000 * NANOS_PER_SECOND + nanos);
            let (seconds, fraction) = stamp.to_wire();
            assert_eq!(Timestamp::from_wire(seconds, fraction), stamp);
            let span = Duration::from_nanos(7 * NANOS_PER_SECOND + nanos);
            let (seconds, fraction) = span.to_wire();
            assert_eq!(Duration::from_wire(seconds, fraction), Some(span));
        }
    }

    #[test]
    fn edges_of_durations() {
        assert_eq!(
            Duration::from_wire(i32::MAX, u32::MAX),
            Some(Duration::INFINITE)
        );
        let almost = Duration::from_wire(i32::MAX - 1, u32::MAX);
        assert_eq!(almost, Some(Duration::INFINITE));
        assert_eq!(Duration::from_wire(-1, 0), None);
        assert_eq!(Duration::INFINITE.to_wire(), (i32::MAX, u32::MAX));
        assert_eq!(Duration::from_secs(i64::MAX), Duration::INFINITE);
        assert_eq!(Duration::INFINITE.divided_by(3), Duration::INFINITE);
        assert_eq!(Instant(5).after(Duration::INFINITE), Instant::FAR_FUTURE);
        assert_eq!(Instant(5).since(Instant(9)), Duration::ZERO);
    }

    #[test]
    fn edges_of_timestamps() {
        assert!(Timestamp::from_wire(-1, u32::MAX).is_invalid());
        assert_eq!(Timestamp::INVALID.to_wire(), (-1, u32::MAX));
        assert_eq!(Timestamp(-5).to_wire(), (-1, u32::MAX));
        assert_eq!(Timestamp(i64::MAX).to_wire(), (-1, u32::MAX));
        // 2038 and later are representable.
        assert_eq!(
            Timestamp::from_wire(i32::MIN, 0).0 / NANOS_PER_SECOND,
            1 << 31
        );
    }
}
