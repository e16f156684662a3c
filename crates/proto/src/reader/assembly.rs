//! A sample that arrives in fragments, and what to do when its fragments contradict each other.
//!
//! Nobody can tell a forged fragment from a true one, nor whether a writer divided its sample anew
//! because its path became narrower. So what has arrived in one division is kept beside what
//! arrives in another, a few of them, and the first that is complete is the sample.

use alloc::vec::Vec;

use whimbrel_base::buffer::BufferMut;
use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::FragmentNumber;
use whimbrel_base::time::Instant;
use whimbrel_wire::number_set::FragmentNumberSet;

use super::reassembly::{Division, FragmentRun};

/// Divisions of one sample kept at a time; a further one takes the place of that of which least
/// has arrived.
const DIVISIONS_MAX: usize = 3;

/// A sample of which fragments have arrived.
#[derive(Debug)]
pub(super) struct Assembly {
    /// Mostly there is no other.
    first: Option<Division>,
    others: Vec<Division>,
    sample_bytes_max: usize,
    /// For the first division.
    buffer: Option<BufferMut>,
    /// Which division is asked for next.
    turn: usize,
    /// Fragments that the writer says it has sent, 0 where it said nothing.
    pub(super) announced: u32,
    pub(super) arrived_at: Instant,
}

impl Assembly {
    /// Nothing yet of a sample of at most `sample_bytes_max`, which may be put together in
    /// `buffer`.
    pub(super) fn new(sample_bytes_max: usize, buffer: BufferMut) -> Self {
        Self {
            first: None,
            others: Vec::new(),
            sample_bytes_max,
            buffer: Some(buffer),
            turn: 0,
            announced: 0,
            arrived_at: Instant::ZERO,
        }
    }

    fn divisions(&self) -> impl Iterator<Item = &Division> {
        self.first.iter().chain(&self.others)
    }

    /// Octets held.
    pub(super) fn memory_bytes(&self) -> usize {
        let held = self.divisions().map(Division::memory_bytes);
        held.fold(0, usize::saturating_add)
    }

    /// Adds what of `run` is new; the whole sample when that completes it, and all else is to be
    /// forgotten.
    ///
    /// # Errors
    /// Impossible fragments, and samples over the limit.
    pub(super) fn insert(
        &mut self,
        now: Instant,
        run: &FragmentRun<'_>,
    ) -> Result<Option<BufferMut>, Reject> {
        if let Some(first) = self.first.as_mut().filter(|it| it.is_of(run)) {
            let complete = first.insert(now, run)?;
            self.arrived_at = now;
            let whole = self.first.take_if(|_| complete);
            return Ok(whole.map(Division::into_buffer));
        }
        let Some(at) = self.others.iter().position(|it| it.is_of(run)) else {
            return self.divide_anew(now, run);
        };
        let Some(division) = self.others.get_mut(at) else {
            return Ok(None);
        };
        let complete = division.insert(now, run)?;
        self.arrived_at = now;
        Ok(complete.then(|| self.others.swap_remove(at).into_buffer()))
    }

    fn divide_anew(
        &mut self,
        now: Instant,
        run: &FragmentRun<'_>,
    ) -> Result<Option<BufferMut>, Reject> {
        let buffer = self.buffer.take().unwrap_or_default();
        let mut division = Division::new(run, self.sample_bytes_max, buffer)?;
        let complete = division.insert(now, run)?;
        self.arrived_at = now;
        if complete {
            return Ok(Some(division.into_buffer()));
        }
        let full = self.divisions().count() >= DIVISIONS_MAX;
        let kept = self.first.iter_mut().chain(&mut self.others);
        match kept.min_by_key(|it| (it.arrived_bytes(), it.arrived_at)) {
            Some(least) if full => *least = division,
            Some(_) => self.others.push(division),
            None => self.first = Some(division),
        }
        Ok(None)
    }

    /// Lets go of all divisions but the one of which most has arrived.
    pub(super) fn keep_largest(&mut self) {
        let all = self.first.take().into_iter().chain(self.others.drain(..));
        // Of several the one that came first.
        let all = all.reduce(|one, other| {
            if other.arrived_bytes() > one.arrived_bytes() {
                other
            } else {
                one
            }
        });
        self.first = all;
    }

    /// Octets of the whole sample, by the division that has the fewest.
    pub(super) fn sample_bytes(&self) -> usize {
        let all = self.divisions().map(Division::sample_bytes);
        all.min().unwrap_or(0)
    }

    /// The missing fragments, each time at most 256 numbers wide. While the writer is
    /// `still_sending`, only holes before the last fragment that arrived or was announced count.
    pub(super) fn missing(&self, still_sending: bool) -> impl Iterator<Item = FragmentNumberSet> {
        let index = self.turn.checked_rem(self.divisions().count());
        let division = index.and_then(|index| self.divisions().nth(index));
        let mut start = FragmentNumber::FIRST;
        core::iter::from_fn(move || {
            let set = division?.missing(start, self.announced, still_sending)?;
            let span = u32::try_from(set.span()).unwrap_or(u32::MAX);
            start = FragmentNumber(set.base().0.saturating_add(span));
            Some(set)
        })
    }

    /// What is missing was asked for: next time it is that of another division, if there is one.
    pub(super) fn asked(&mut self) {
        self.turn = self.turn.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

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
            let mut assembly = Assembly::new(1000, BufferMut::default());
            assert_eq!(assembly.insert(Instant(1), &forged), Ok(None));
            let halves = [run(1, 6, 12, &SAMPLE[..6]), run(2, 6, 12, &SAMPLE[6..])];
            assert_eq!(assembly.insert(Instant(1), &halves[0]), Ok(None));
            assert_eq!(assembly.insert(Instant(1), &forged), Ok(None));
            assert_eq!(
                assembly.insert(Instant(1), &halves[1]),
                Ok(Some(SAMPLE.to_vec().into()))
            );
        }
    }

    #[test]
    fn forged_divisions_without_end_do_not_push_out_what_has_grown() {
        let first = run(1, 4, 12, &SAMPLE[..8]);
        let mut assembly = Assembly::new(1 << 20, BufferMut::default());
        assert_eq!(assembly.insert(Instant(1), &first), Ok(None));
        for forged in 20..1000 {
            let forged = run(1, 4, forged, &[9; 4]);
            assert_eq!(assembly.insert(Instant(2), &forged), Ok(None));
        }
        assert!(assembly.divisions().count() <= DIVISIONS_MAX);
        let last = run(3, 4, 12, &SAMPLE[8..]);
        assert_eq!(
            assembly.insert(Instant(3), &last),
            Ok(Some(SAMPLE.to_vec().into()))
        );
    }

    #[test]
    fn every_division_is_asked_for_in_its_turn() {
        let true_one = run(1, 4, 12, &SAMPLE[..4]);
        let mut assembly = Assembly::new(1000, BufferMut::default());
        assembly.insert(Instant(1), &run(3, 1, 3, &[9])).unwrap();
        assembly.insert(Instant(1), &true_one).unwrap();
        let mut asked = vec![];
        for _ in 0..2 {
            let missing = assembly.missing(false).next().unwrap();
            asked.push(missing.iter().map(|it| it.0).collect::<Vec<_>>());
            assembly.asked();
        }
        assert_eq!(asked, [[1, 2], [2, 3]]);
    }
}
