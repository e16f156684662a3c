//! Which fragments were asked for, and when: what is on its way is not asked for again.

use alloc::collections::BTreeMap;

use whimbrel_base::sequence::FragmentNumber;
use whimbrel_base::time::{Duration, Instant};

/// Fragments of one sample remembered.
const ASKED_MAX: usize = 4096;

/// The wait before the same fragment is asked for again doubles so many times.
const DOUBLINGS_MAX: u32 = 5;

/// No fragment is waited for longer: a path that was cut works again.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// The fragments of one sample that were asked for and have not arrived.
#[derive(Debug, Default)]
pub(super) struct Asked {
    fragments: BTreeMap<u32, (Instant, u32)>,
}

impl Asked {
    /// When `number` may be asked for: at once where it never was, otherwise `repeat` later, which
    /// doubles with each time.
    pub(super) fn due_at(&self, number: FragmentNumber, repeat: Duration) -> Instant {
        let Some((at, times)) = self.fragments.get(&number.0) else {
            return Instant::ZERO;
        };
        let doublings = times.saturating_sub(1).min(DOUBLINGS_MAX);
        at.after(repeat.times(1 << doublings).min(WAIT_MAX))
    }

    /// `number` is asked for.
    pub(super) fn note(&mut self, now: Instant, number: FragmentNumber) {
        if self.fragments.len() >= ASKED_MAX && !self.fragments.contains_key(&number.0) {
            return;
        }
        let known = self.fragments.entry(number.0).or_insert((now, 0));
        *known = (now, known.1.saturating_add(1));
    }

    /// `number` has arrived; how long that took when it was asked for exactly once.
    pub(super) fn arrived(&mut self, now: Instant, number: FragmentNumber) -> Option<Duration> {
        let (at, times) = self.fragments.remove(&number.0)?;
        (times == 1).then(|| now.since(at))
    }

    /// Numbers mean something else from now on.
    pub(super) fn clear(&mut self) {
        self.fragments.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_asked_for_once_while_it_is_on_its_way() {
        let at = |ms: u64| Instant(ms * 1_000_000);
        let (number, repeat) = (FragmentNumber(7), Duration::from_millis(5));
        let mut asked = Asked::default();
        assert!(asked.due_at(number, repeat) <= at(1));
        asked.note(at(1), number);
        assert!(asked.due_at(number, repeat) > at(5));
        assert!(asked.due_at(number, repeat) <= at(6));
        asked.note(at(6), number);
        assert!(asked.due_at(number, repeat) > at(15));
        assert!(asked.due_at(number, repeat) <= at(16));
        assert_eq!(asked.arrived(at(17), number), None);
        assert!(asked.due_at(number, repeat) <= at(17));
        asked.note(at(20), number);
        assert!(asked.due_at(number, Duration::from_secs(9)) <= at(520));
        let took = asked.arrived(at(22), number);
        assert_eq!(took, Some(Duration::from_millis(2)));
    }
}
