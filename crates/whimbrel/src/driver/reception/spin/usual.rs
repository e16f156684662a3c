//! How long a wait usually takes that is blocked and ends soon.

use whimbrel_base::time::Duration;

/// A wait that took no more than this share of the usual is a quick one.
const QUICKER: (i64, i64) = (2, 3);

/// One of so many waits makes the usual one.
const USUAL_OF: u32 = 8;

/// A wait counts for so many times the usual at most: one that was held up says nothing of those
/// after it.
const TIMES_MAX: u32 = 2;

/// The mean of the last waits, zero before the first.
#[derive(Debug)]
pub(super) struct Usual(Duration);

impl Usual {
    pub(super) const fn new() -> Self {
        Self(Duration::ZERO)
    }

    /// A wait took so long; whether that was quick beside the ones before.
    pub(super) fn note(&mut self, took: Duration) -> bool {
        let Self(usual) = *self;
        let (quick, of) = QUICKER;
        let is_quick = took.as_nanos().saturating_mul(of) <= usual.as_nanos() * quick;
        self.0 = if usual.is_zero() {
            took
        } else {
            let counted = took.min(usual.times(TIMES_MAX));
            usual.times(USUAL_OF - 1).plus(counted).divided_by(USUAL_OF)
        };
        is_quick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick_ones<const COUNT: usize>(waits_us: [i64; COUNT]) -> [bool; COUNT] {
        let mut usual = Usual::new();
        waits_us.map(|took| usual.note(Duration::from_micros(took)))
    }

    #[test]
    fn a_third_less_than_usual_is_quick() {
        assert_eq!(quick_ones([390, 390, 261]), [false; 3]);
        assert_eq!(quick_ones([390, 390, 260]), [false, false, true]);
    }

    #[test]
    fn what_takes_as_long_as_most_is_not_quick_after_one_that_was_held_up() {
        assert_eq!(quick_ones([13, 390, 13, 14, 390, 12, 8]), {
            [false, false, false, false, false, false, true]
        });
    }
}
