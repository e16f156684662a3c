//! Putting fragments together again. RTPS 2.5 §8.4.14.1.
//!
//! Memory grows with what has arrived, never with what a sender claims: the buffer is extended
//! only to about twice the arrived octets; fragments further ahead wait in a stash of their own.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::FragmentNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::number_set::FragmentNumberSet;

use super::ranges::RangeSet;

/// Octets by which the buffer may always run ahead of what has arrived.
const AHEAD_BYTES: usize = 256 * 1024;

/// A writer whose path became narrower divides its samples anew. What arrives in another division
/// counts when nothing has arrived in the present one for this long, so that a single forged
/// fragment does not undo what is there.
const REDIVIDED_PATIENCE: Duration = Duration::from_millis(10);

/// One run of fragments as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct FragmentRun<'a> {
    /// Number of the first fragment.
    pub first: FragmentNumber,
    /// Octets in each fragment but the sample's last.
    pub fragment_bytes: u16,
    /// Octets in the whole sample.
    pub sample_bytes: u32,
    /// The fragments' octets, back to back.
    pub bytes: &'a [u8],
}

/// A sample of which fragments have arrived.
#[derive(Debug)]
pub(super) struct Assembly {
    sample_bytes: usize,
    fragment_bytes: usize,
    buffer: Vec<u8>,
    stash: BTreeMap<usize, Box<[u8]>>,
    stash_bytes: usize,
    received: RangeSet,
    arrived_bytes: usize,
    highest: u32,
    /// Fragments that the writer says it has sent, 0 where it said nothing.
    pub(super) announced: u32,
    pub(super) arrived_at: Instant,
}

impl Assembly {
    /// An assembly for samples like the one `run` belongs to.
    pub(super) fn new(run: &FragmentRun<'_>, sample_bytes_max: usize) -> Result<Self, Reject> {
        let sample_bytes = usize::try_from(run.sample_bytes).unwrap_or(usize::MAX);
        let fragment_bytes = usize::from(run.fragment_bytes);
        if sample_bytes == 0 || fragment_bytes == 0 || fragment_bytes > sample_bytes {
            return Err(Reject::new(RejectKind::Fragment, 0));
        }
        if sample_bytes > sample_bytes_max {
            return Err(Reject::new(RejectKind::Limit, 0));
        }
        Ok(Self {
            sample_bytes,
            fragment_bytes,
            buffer: Vec::new(),
            stash: BTreeMap::new(),
            stash_bytes: 0,
            received: RangeSet::default(),
            arrived_bytes: 0,
            highest: 0,
            announced: 0,
            arrived_at: Instant::ZERO,
        })
    }

    /// Octets held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.buffer.capacity().saturating_add(self.stash_bytes)
    }

    fn fragments(&self) -> u32 {
        let count = self.sample_bytes.div_ceil(self.fragment_bytes.max(1));
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Adds what of `run` is new; true when the sample is complete.
    pub(super) fn insert(&mut self, now: Instant, run: &FragmentRun<'_>) -> Result<bool, Reject> {
        let same_sample = usize::try_from(run.sample_bytes) == Ok(self.sample_bytes);
        let quiet = now.since(self.arrived_at) >= REDIVIDED_PATIENCE;
        if same_sample && quiet && usize::from(run.fragment_bytes) != self.fragment_bytes {
            *self = Self::new(run, self.sample_bytes)?;
        }
        let same = same_sample && usize::from(run.fragment_bytes) == self.fragment_bytes;
        if !same || run.first.0 == 0 || run.bytes.is_empty() {
            return Err(Reject::new(RejectKind::Fragment, 0));
        }
        let mut number = run.first.0;
        for bytes in run.bytes.chunks(self.fragment_bytes) {
            if number > self.fragments() {
                return Err(Reject::new(RejectKind::Fragment, 0));
            }
            self.insert_one(number, bytes)?;
            number = number.saturating_add(1);
        }
        self.arrived_at = now;
        self.highest = self.highest.max(number.saturating_sub(1));
        self.unstash();
        Ok(self.arrived_bytes == self.sample_bytes)
    }

    fn insert_one(&mut self, number: u32, bytes: &[u8]) -> Result<(), Reject> {
        if self.received.contains(i64::from(number)) {
            return Ok(());
        }
        let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let offset = index.saturating_mul(self.fragment_bytes);
        let wanted = self
            .fragment_bytes
            .min(self.sample_bytes.saturating_sub(offset));
        // Padding of the submessage may follow the last fragment.
        let bytes = bytes
            .get(..wanted)
            .ok_or(Reject::new(RejectKind::Fragment, 0))?;
        self.received
            .insert(i64::from(number), i64::from(number).saturating_add(1));
        self.arrived_bytes = self.arrived_bytes.saturating_add(wanted);
        if !self.place(offset, bytes) {
            self.stash_bytes = self.stash_bytes.saturating_add(bytes.len());
            self.stash.insert(offset, bytes.into());
        }
        Ok(())
    }

    fn place(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let end = offset.saturating_add(bytes.len());
        let allowed = self
            .arrived_bytes
            .saturating_mul(2)
            .saturating_add(AHEAD_BYTES);
        if end > self.buffer.len() {
            if end > allowed {
                return false;
            }
            if offset == self.buffer.len() {
                self.buffer.extend_from_slice(bytes);
                return true;
            }
            self.buffer.resize(end, 0);
        }
        if let Some(place) = self.buffer.get_mut(offset..end) {
            place.copy_from_slice(bytes);
        }
        true
    }

    fn unstash(&mut self) {
        while let Some((offset, bytes)) = self.stash.pop_first() {
            if !self.place(offset, &bytes) {
                self.stash.insert(offset, bytes);
                break;
            }
            self.stash_bytes = self.stash_bytes.saturating_sub(bytes.len());
        }
    }

    /// The whole sample, once [`Assembly::insert`] said that it is complete.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.buffer
    }

    /// The next missing fragments, at most 256 numbers wide. While the writer is `still_sending`,
    /// only holes before the last fragment that arrived or was announced count.
    pub(super) fn missing(&self, still_sending: bool) -> Option<FragmentNumberSet> {
        let last = if still_sending {
            self.highest.max(self.announced)
        } else {
            self.fragments()
        };
        let last = last.min(self.fragments());
        let first = u32::try_from(self.received.first_missing(1)).ok()?;
        if first > last {
            return None;
        }
        let mut set = FragmentNumberSet::new(FragmentNumber(first));
        let mut number = first;
        while number <= last {
            match self.received.end_of(i64::from(number)) {
                Some(end) => number = u32::try_from(end).unwrap_or(u32::MAX),
                None => {
                    if !set.insert(FragmentNumber(number)) {
                        break;
                    }
                    number = number.saturating_add(1);
                }
            }
        }
        Some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn run(bytes: &[u8], first: u32, sample_bytes: u32) -> FragmentRun<'_> {
        FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes: 4,
            sample_bytes,
            bytes,
        }
    }

    fn check(order: &[u32]) {
        let sample: Vec<u8> = (0..18).collect();
        let mut assembly = Assembly::new(&run(&[], 1, 18), 1000).unwrap();
        let mut complete = false;
        for number in order {
            let start = (*number as usize - 1) * 4;
            let bytes = &sample[start..(start + 4).min(18)];
            complete = assembly
                .insert(Instant(1), &run(bytes, *number, 18))
                .unwrap();
        }
        assert!(complete);
        assert_eq!(assembly.into_bytes(), sample);
    }

    #[test]
    fn any_order_and_repeats_give_the_sample() {
        check(&[1, 2, 3, 4, 5]);
        check(&[5, 4, 3, 2, 1]);
        check(&[3, 3, 1, 5, 5, 2, 4]);
    }

    #[test]
    fn several_fragments_in_one_run() {
        let sample: Vec<u8> = (0..18).collect();
        let mut assembly = Assembly::new(&run(&[], 1, 18), 1000).unwrap();
        assert!(
            !assembly
                .insert(Instant(1), &run(&sample[8..], 3, 18))
                .unwrap()
        );
        assert_eq!(assembly.missing(true).unwrap().iter().count(), 2);
        assert!(
            assembly
                .insert(Instant(1), &run(&sample[..8], 1, 18))
                .unwrap()
        );
        assert_eq!(assembly.into_bytes(), sample);
    }

    #[test]
    fn claims_cost_nothing() {
        let far = FragmentRun {
            first: FragmentNumber(16_000_000),
            fragment_bytes: 64,
            sample_bytes: 1 << 30,
            bytes: &[7; 64],
        };
        let mut assembly = Assembly::new(&far, 1 << 30).unwrap();
        assembly.insert(Instant(1), &far).unwrap();
        assert!(assembly.memory_bytes() < 1000);
        assert_eq!(assembly.missing(false).unwrap().iter().count(), 256);
    }

    #[test]
    fn a_large_sample_is_complete_in_reverse_order() {
        let sample: Vec<u8> = (0..2_000_000u32).map(|i| (i % 251) as u8).collect();
        let fragment = |number: u32| {
            let start = (number as usize - 1) * 1000;
            FragmentRun {
                first: FragmentNumber(number),
                fragment_bytes: 1000,
                sample_bytes: 2_000_000,
                bytes: &sample[start..start + 1000],
            }
        };
        let mut assembly = Assembly::new(&fragment(1), 1 << 30).unwrap();
        let mut complete = false;
        for number in (1..=2000).rev() {
            complete = assembly.insert(Instant(0), &fragment(number)).unwrap();
            let arrived = (2001 - number as usize) * 1000;
            assert!(assembly.memory_bytes() <= arrived * 5 + 2 * AHEAD_BYTES);
        }
        assert!(complete);
        assert_eq!(assembly.into_bytes(), sample);
    }

    #[test]
    fn impossible_fragments_are_refused() {
        let bytes = vec![0; 4];
        assert!(Assembly::new(&run(&bytes, 1, 0), 1000).is_err());
        assert!(Assembly::new(&run(&bytes, 1, 3), 1000).is_err());
        assert!(Assembly::new(&run(&bytes, 1, 1001), 1000).is_err());
        let mut assembly = Assembly::new(&run(&bytes, 1, 18), 1000).unwrap();
        assert!(assembly.insert(Instant(0), &run(&bytes, 0, 18)).is_err());
        assert!(assembly.insert(Instant(0), &run(&bytes, 6, 18)).is_err());
        assert!(assembly.insert(Instant(0), &run(&bytes, 1, 20)).is_err());
        assert!(
            assembly
                .insert(Instant(0), &run(&bytes[..3], 1, 18))
                .is_err()
        );
        assert!(assembly.insert(Instant(0), &run(&[], 1, 18)).is_err());
    }

    #[test]
    fn another_division_counts_once_the_present_one_is_silent() {
        let sample: Vec<u8> = (0..18).collect();
        let narrow = |first: u32| FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes: 3,
            sample_bytes: 18,
            bytes: &sample[(first as usize - 1) * 3..(first as usize) * 3],
        };
        let mut assembly = Assembly::new(&run(&[], 1, 18), 1000).unwrap();
        let start = Instant(1_000_000_000);
        let at = |ms: i64| start.after(Duration::from_millis(ms));
        assert!(!assembly.insert(at(0), &run(&sample[0..4], 1, 18)).unwrap());
        assert!(assembly.insert(at(9), &narrow(1)).is_err());
        assert!(!assembly.insert(at(10), &narrow(1)).unwrap());
        assert!(assembly.insert(at(11), &run(&sample[0..4], 1, 18)).is_err());
        for number in 2..6 {
            assert!(!assembly.insert(at(12), &narrow(number)).unwrap());
        }
        assert!(assembly.insert(at(12), &narrow(6)).unwrap());
        assert_eq!(assembly.into_bytes(), sample);
    }
}
