//! Numbers of changes, fragments and messages.

use core::fmt;

/// Number of a change within its writer, from 1. RTPS 2.5 §8.3.5.5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SequenceNumber(pub i64);

impl SequenceNumber {
    /// The first number a writer gives.
    pub const FIRST: Self = Self(1);
    /// Before the first: nothing written yet.
    pub const ZERO: Self = Self(0);
    /// SEQUENCENUMBER_UNKNOWN: {-1, 0}. RTPS 2.5 §9.4.2.
    pub const UNKNOWN: Self = Self(-(1 << 32));
    /// The greatest number.
    pub const MAX: Self = Self(i64::MAX);

    /// The next number; the greatest one stays.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number before; the smallest one stays.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// This number moved up by `count`, stopping at the greatest.
    #[must_use]
    pub const fn plus(self, count: u64) -> Self {
        Self(self.0.saturating_add_unsigned(count))
    }

    /// How many numbers lie from `earlier` up to this one, 0 where `earlier` is later.
    pub const fn since(self, earlier: Self) -> u64 {
        if self.0 > earlier.0 {
            self.0.abs_diff(earlier.0)
        } else {
            0
        }
    }

    /// True for numbers that a writer may give to a change: 1 and up.
    pub const fn is_valid(self) -> bool {
        self.0 >= 1
    }
}

impl fmt::Display for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Number of a fragment within its change, from 1. RTPS 2.5 §8.3.5.7.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FragmentNumber(pub u32);

impl FragmentNumber {
    /// The first fragment.
    pub const FIRST: Self = Self(1);

    /// The next number; the greatest one stays.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for FragmentNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for FragmentNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frag{}", self.0)
    }
}

/// Counter carried by heartbeats and acknowledgements so that a receiver can drop repeated ones.
/// It wraps. RTPS 2.5 §8.3.5.10.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Count(pub i32);

impl Count {
    /// How many counts up to the last one are taken for repeated or overtaken. Anything else is
    /// news: a wrapped count, a sender that began anew, or the true sender after a forged count.
    pub const REMEMBERED: i32 = 64;

    /// The count after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// True when this count is none of those remembered by one who heard `last` last.
    pub const fn is_news_after(self, last: Self) -> bool {
        let behind = last.0.wrapping_sub(self.0);
        behind < 0 || behind >= Self::REMEMBERED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_saturate() {
        assert_eq!(SequenceNumber::MAX.next(), SequenceNumber::MAX);
        assert_eq!(
            SequenceNumber(i64::MIN).previous(),
            SequenceNumber(i64::MIN)
        );
        assert_eq!(SequenceNumber(5).plus(u64::MAX), SequenceNumber::MAX);
        assert_eq!(
            SequenceNumber(i64::MAX).since(SequenceNumber(i64::MIN)),
            u64::MAX
        );
        assert_eq!(SequenceNumber(3).since(SequenceNumber(9)), 0);
        assert_eq!(SequenceNumber::UNKNOWN.0, -4_294_967_296);
    }

    #[test]
    fn counts_wrap() {
        assert!(Count(i32::MIN).is_news_after(Count(i32::MAX)));
        assert!(!Count(i32::MAX).is_news_after(Count(i32::MIN)));
        assert!(!Count(7).is_news_after(Count(7)));
        assert!(!Count(6).is_news_after(Count(7)));
    }

    #[test]
    fn a_forged_count_does_not_silence_the_true_sender() {
        for forged in [
            i32::MAX,
            i32::MIN,
            -1000,
            5 + Count::REMEMBERED,
            i32::MAX - 3,
        ] {
            assert!(Count(forged).is_news_after(Count(5)));
            assert!(Count(6).is_news_after(Count(forged)) || forged == 69);
        }
        // Within the window it takes no more than its width.
        let silenced = (6..200).filter(|count| !Count(*count).is_news_after(Count(69)));
        assert!(silenced.count() <= Count::REMEMBERED as usize);
    }
}
