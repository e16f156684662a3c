//! How long others take to answer, so that a busy one is not asked again before it can have
//! answered.

use crate::time::Duration;

/// How long answers have been taking.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patience(Duration);

impl Patience {
    /// Somebody took `span` to answer. Longer ones count at once by half, shorter ones little by
    /// little.
    pub fn note(&mut self, span: Duration) {
        let share = if span > self.0 { 2 } else { 8 };
        let difference = span.as_nanos().saturating_sub(self.0.as_nanos());
        let step = difference.checked_div(share).unwrap_or(0);
        self.0 = Duration::from_nanos(self.0.as_nanos().saturating_add(step));
    }

    /// How long to wait for an answer: twice as long as they have been taking, at least
    /// `shortest` and at most `longest`.
    pub fn wait(self, shortest: Duration, longest: Duration) -> Duration {
        self.0.times(2).min(longest).max(shortest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_answers_are_waited_for_and_quick_ones_slowly_trusted_again() {
        let ms = Duration::from_millis;
        let mut patience = Patience::default();
        assert_eq!(patience.wait(ms(50), ms(2000)), ms(50));
        for _ in 0..10 {
            patience.note(ms(400));
        }
        let waits = patience.wait(ms(50), ms(2000));
        assert!(waits > ms(795) && waits <= ms(800), "{waits:?}");
        assert_eq!(patience.wait(ms(50), ms(500)), ms(500));
        patience.note(ms(1));
        assert!(patience.wait(ms(50), ms(2000)) > ms(650));
        for _ in 0..50 {
            patience.note(ms(1));
        }
        assert_eq!(patience.wait(ms(50), ms(2000)), ms(50));
    }
}
