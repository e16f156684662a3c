//! A sample that arrives in fragments, and what to do when its fragments contradict each other.
//!
//! Nobody can tell a forged fragment from a true one, nor whether a writer divided its sample anew
//! because its path became narrower. So what has arrived in one division is kept beside what
//! arrives in another, a few of them, and the first that is complete is the sample.

use alloc::vec::Vec;

use whimbrel_base::reject::Reject;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::number_set::FragmentNumberSet;

use super::asked::Asked;
use super::reassembly::{Division, FragmentRun};

/// Divisions of one sample kept at a time; a further one takes the place of that of which least
/// has arrived.
const DIVISIONS_MAX: usize = 3;

/// Numbers that one request covers. RTPS 2.5 §9.4.2.8.
const SPAN: u32 = 256;

/// Spans looked through for one answer.
const SPANS_MAX: usize = 64;

/// A sample of which fragments have arrived.
#[derive(Debug)]
pub(super) struct Assembly {
    divisions: Vec<Division>,
    sample_bytes_max: usize,
    /// Which division is asked for next.
    turn: usize,
    asked: Asked,
    repair_time: Option<Duration>,
    /// Fragments that the writer says it has sent, 0 where it said nothing.
    pub(super) announced: u32,
    pub(super) arrived_at: Instant,
}

impl Assembly {
    /// Nothing yet of a sample of at most `sample_bytes_max`.
    pub(super) fn new(sample_bytes_max: usize) -> Self {
        Self {
            divisions: Vec::new(),
            sample_bytes_max,
            turn: 0,
            asked: Asked::default(),
            repair_time: None,
            announced: 0,
            arrived_at: Instant::ZERO,
        }
    }

    /// Octets held.
    pub(super) fn memory_bytes(&self) -> usize {
        let held = self.divisions.iter().map(Division::memory_bytes);
        held.fold(0, usize::saturating_add)
    }

    /// Adds what of `run` is new; the whole sample when that completes it.
    ///
    /// # Errors
    /// Impossible fragments, and samples over the limit.
    pub(super) fn insert(
        &mut self,
        now: Instant,
        run: &FragmentRun<'_>,
    ) -> Result<Option<Vec<u8>>, Reject> {
        let index = match self.divisions.iter().position(|it| it.is_of(run)) {
            Some(index) => index,
            None => return self.divide_anew(now, run),
        };
        let Some(division) = self.divisions.get_mut(index) else {
            return Ok(None);
        };
        let complete = division.insert(now, run)?;
        self.arrived_at = now;
        if let Some(took) = self.asked.arrived(now, run.first) {
            self.repair_time = Some(took);
        }
        Ok(complete.then(|| self.divisions.swap_remove(index).into_bytes()))
    }

    fn divide_anew(
        &mut self,
        now: Instant,
        run: &FragmentRun<'_>,
    ) -> Result<Option<Vec<u8>>, Reject> {
        let mut division = Division::new(run, self.sample_bytes_max)?;
        let complete = division.insert(now, run)?;
        self.arrived_at = now;
        if complete {
            return Ok(Some(division.into_bytes()));
        }
        let full = self.divisions.len() >= DIVISIONS_MAX;
        let kept = self.divisions.iter_mut();
        match kept.min_by_key(|it| (it.arrived_bytes(), it.arrived_at)) {
            Some(least) if full => *least = division,
            _ => self.divisions.push(division),
        }
        Ok(None)
    }

    /// Lets go of all divisions but the one of which most has arrived.
    pub(super) fn keep_largest(&mut self) {
        self.divisions
            .sort_by_key(|it| core::cmp::Reverse(it.arrived_bytes()));
        self.divisions.truncate(1);
    }

    /// True when fragments are missing. While the writer is `still_sending`, only holes before the
    /// last fragment that arrived or was announced count.
    pub(super) fn lacks(&self, still_sending: bool) -> bool {
        let missing = |it: &Division| it.missing(self.announced, still_sending, 1);
        self.division().and_then(missing).is_some()
    }

    fn division(&self) -> Option<&Division> {
        let index = self.turn.checked_rem(self.divisions.len())?;
        self.divisions.get(index)
    }

    /// What to ask for, in order: the missing fragments, as in [`Assembly::lacks`], that were not
    /// asked for within `repeat`. At most `sets_max` sets.
    pub(super) fn wanted(
        &self,
        now: Instant,
        still_sending: bool,
        repeat: Duration,
        sets_max: usize,
    ) -> Vec<FragmentNumberSet> {
        let mut sets = Vec::new();
        let Some(division) = self.division() else {
            return sets;
        };
        let mut from = 1;
        for _ in 0..SPANS_MAX {
            let span = division.missing(self.announced, still_sending, from);
            let Some(span) = span.filter(|_| sets.len() < sets_max) else {
                break;
            };
            from = span.base().0.saturating_add(SPAN);
            let mut due = span
                .iter()
                .filter(|it| self.asked.due_at(*it, repeat) <= now);
            if let Some(first) = due.next() {
                let mut set = FragmentNumberSet::new(first);
                set.insert(first);
                for number in due {
                    set.insert(number);
                }
                sets.push(set);
            }
        }
        sets
    }

    /// When the first missing fragment, as in [`Assembly::lacks`], may be asked for.
    pub(super) fn due_at(&self, still_sending: bool, repeat: Duration) -> Option<Instant> {
        let division = self.division()?;
        let (mut from, mut first) = (1, None);
        for _ in 0..SPANS_MAX {
            let Some(span) = division.missing(self.announced, still_sending, from) else {
                break;
            };
            from = span.base().0.saturating_add(SPAN);
            let due = span.iter().map(|it| self.asked.due_at(it, repeat)).min();
            first = [first, due].into_iter().flatten().min();
        }
        first
    }

    /// These fragments are asked for; next time it is those of another division, if there is one.
    pub(super) fn ask(&mut self, now: Instant, set: &FragmentNumberSet) {
        if self.divisions.len() > 1 {
            self.asked.clear();
        } else {
            set.iter().for_each(|number| self.asked.note(now, number));
        }
        self.turn = self.turn.wrapping_add(1);
    }

    /// How long the last fragment that was asked for took to arrive, once.
    pub(super) fn take_repair_time(&mut self) -> Option<Duration> {
        self.repair_time.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use whimbrel_base::sequence::FragmentNumber;

    const SAMPLE: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

    fn run(first: u32, fragment_bytes: u16, sample_bytes: u32, bytes: &[u8]) -> FragmentRun<'_> {
        FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes,
            sample_bytes,
            bytes,
        }
    }

    #[test]
    fn a_forged_fragment_does_not_keep_out_the_true_ones() {
        for forged in [
            run(1, 8, 100, &[9; 8]),
            run(2, 2, 12, &[9; 2]),
            run(1, 4, 13, &[9; 4]),
        ] {
            let mut assembly = Assembly::new(1000);
            assert_eq!(assembly.insert(Instant(1), &forged), Ok(None));
            let halves = [run(1, 6, 12, &SAMPLE[..6]), run(2, 6, 12, &SAMPLE[6..])];
            assert_eq!(assembly.insert(Instant(1), &halves[0]), Ok(None));
            assert_eq!(assembly.insert(Instant(1), &forged), Ok(None));
            assert_eq!(
                assembly.insert(Instant(1), &halves[1]),
                Ok(Some(SAMPLE.to_vec()))
            );
        }
    }

    #[test]
    fn forged_divisions_without_end_do_not_push_out_what_has_grown() {
        let first = run(1, 4, 12, &SAMPLE[..8]);
        let mut assembly = Assembly::new(1 << 20);
        assert_eq!(assembly.insert(Instant(1), &first), Ok(None));
        for forged in 20..1000 {
            let forged = run(1, 4, forged, &[9; 4]);
            assert_eq!(assembly.insert(Instant(2), &forged), Ok(None));
        }
        assert!(assembly.divisions.len() <= DIVISIONS_MAX);
        let last = run(3, 4, 12, &SAMPLE[8..]);
        assert_eq!(
            assembly.insert(Instant(3), &last),
            Ok(Some(SAMPLE.to_vec()))
        );
    }

    #[test]
    fn every_division_is_asked_for_in_its_turn() {
        let true_one = run(1, 4, 12, &SAMPLE[..4]);
        let mut assembly = Assembly::new(1000);
        assembly.insert(Instant(1), &run(3, 1, 3, &[9])).unwrap();
        assembly.insert(Instant(1), &true_one).unwrap();
        let mut asked = vec![];
        for _ in 0..2 {
            let wanted = assembly.wanted(Instant(1), false, Duration::ZERO, 4);
            asked.push(wanted[0].iter().map(|it| it.0).collect::<Vec<_>>());
            assembly.ask(Instant(1), &wanted[0]);
        }
        assert_eq!(asked, [[1, 2], [2, 3]]);
    }
}
