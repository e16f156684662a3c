//! Putting fragments together again. RTPS 2.5 §8.4.14.1.
//!
//! Memory grows with what has arrived, never with what a sender claims: the buffer is extended
//! only to about twice the arrived octets; fragments further ahead wait in a stash of their own.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use whimbrel_base::buffer::BufferMut;
use whimbrel_base::copying;
use whimbrel_base::ranges::GrowingSet;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::FragmentNumber;
use whimbrel_base::time::Instant;
use whimbrel_wire::number_set::FragmentNumberSet;
use whimbrel_wire::submessage::DataFrag;

/// Octets by which the buffer may always run ahead of what has arrived.
const AHEAD_BYTES: usize = 256 * 1024;

/// What an entry of the stash or a separate range costs besides its octets, about.
const ENTRY_BYTES: usize = 64;

/// Octets that entries may always take. Beyond, they take no more than the sample's octets that
/// have arrived, so that tiny fragments far apart cost no multiple of what was sent.
const ENTRIES_FREE_BYTES: usize = 4096;

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

impl<'a> FragmentRun<'a> {
    /// What `frag` carries.
    pub(crate) fn of(frag: &DataFrag<'a>) -> Self {
        let bytes = usize::from(frag.count).saturating_mul(usize::from(frag.fragment_size));
        Self {
            first: frag.first,
            fragment_bytes: frag.fragment_size,
            sample_bytes: frag.sample_size,
            bytes: frag.payload.get(..bytes).unwrap_or(frag.payload),
        }
    }
}

/// A sample in one division of which fragments have arrived.
#[derive(Debug)]
pub(super) struct Division {
    sample_bytes: usize,
    fragment_bytes: usize,
    buffer: BufferMut,
    stash: BTreeMap<usize, Box<[u8]>>,
    stash_bytes: usize,
    received: GrowingSet,
    arrived_bytes: usize,
    highest: u32,
    pub(super) arrived_at: Instant,
}

impl Division {
    /// Nothing yet of a sample like the one `run` belongs to.
    pub(super) fn new(
        run: &FragmentRun<'_>,
        sample_bytes_max: usize,
        buffer: BufferMut,
    ) -> Result<Self, Reject> {
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
            buffer,
            stash: BTreeMap::new(),
            stash_bytes: 0,
            received: GrowingSet::default(),
            arrived_bytes: 0,
            highest: 0,
            arrived_at: Instant::ZERO,
        })
    }

    /// Octets of the whole sample.
    pub(super) fn sample_bytes(&self) -> usize {
        self.sample_bytes
    }

    /// True when `run` divides its sample in the same way.
    pub(super) fn is_of(&self, run: &FragmentRun<'_>) -> bool {
        usize::from(run.fragment_bytes) == self.fragment_bytes
            && usize::try_from(run.sample_bytes) == Ok(self.sample_bytes)
    }

    /// Octets held.
    pub(super) fn memory_bytes(&self) -> usize {
        let octets = self.buffer.capacity().saturating_add(self.stash_bytes);
        octets.saturating_add(self.entries_bytes())
    }

    fn entries_bytes(&self) -> usize {
        let entries = self.stash.len().saturating_add(self.received.range_count());
        entries.saturating_mul(ENTRY_BYTES)
    }

    /// Octets of the sample that have arrived.
    pub(super) fn arrived_bytes(&self) -> usize {
        self.arrived_bytes
    }

    fn fragments(&self) -> u32 {
        let count = self.sample_bytes.div_ceil(self.fragment_bytes.max(1));
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Adds what of `run` is new; true when the sample is complete.
    pub(super) fn insert(&mut self, now: Instant, run: &FragmentRun<'_>) -> Result<bool, Reject> {
        let fault = Reject::new(RejectKind::Fragment, 0);
        if !self.is_of(run) || run.first.0 == 0 || run.bytes.is_empty() {
            return Err(fault);
        }
        let start = self.offset_of(run.first.0);
        let count = run.bytes.len().div_ceil(self.fragment_bytes.max(1));
        let end = run
            .first
            .0
            .saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        let bytes_end = self.offset_of(end).min(self.sample_bytes);
        // Only the sample's last fragment is shorter; padding of the submessage may follow it.
        let wanted = bytes_end.checked_sub(start).ok_or(fault)?;
        let bytes = run.bytes.get(..wanted).ok_or(fault)?;
        if end.saturating_sub(1) > self.fragments() {
            return Err(fault);
        }
        let allowed = self.arrived_bytes.saturating_add(ENTRIES_FREE_BYTES);
        let touches = self
            .received
            .contains(i64::from(run.first.0).saturating_sub(1));
        if !touches && self.entries_bytes() > allowed {
            return Err(Reject::new(RejectKind::Limit, 0));
        }
        let mut number = run.first.0;
        while number < end {
            if let Some(known) = self.received.end_of(i64::from(number)) {
                number = u32::try_from(known).unwrap_or(u32::MAX);
                continue;
            }
            let known = self.received.next_start(i64::from(number));
            let stop = known.and_then(|known| u32::try_from(known).ok());
            let stop = stop.map_or(end, |stop| stop.min(end));
            let from = self.offset_of(number);
            let to = self.offset_of(stop).min(self.sample_bytes);
            let part = from.saturating_sub(start)..to.saturating_sub(start);
            self.add(from, bytes.get(part).unwrap_or_default());
            self.received.insert(i64::from(number), i64::from(stop));
            number = stop;
        }
        self.arrived_at = now;
        self.highest = self.highest.max(end.saturating_sub(1));
        self.unstash();
        Ok(self.arrived_bytes == self.sample_bytes)
    }

    /// Where a fragment begins in the sample.
    fn offset_of(&self, number: u32) -> usize {
        let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        index.saturating_mul(self.fragment_bytes)
    }

    fn add(&mut self, offset: usize, bytes: &[u8]) {
        self.arrived_bytes = self.arrived_bytes.saturating_add(bytes.len());
        if !self.place(offset, bytes) {
            self.stash_bytes = self.stash_bytes.saturating_add(bytes.len());
            self.stash.insert(offset, bytes.into());
        }
    }

    fn place(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let end = offset.saturating_add(bytes.len());
        let allowed = self
            .arrived_bytes
            .saturating_mul(2)
            .saturating_add(AHEAD_BYTES);
        let sample_bytes = self.sample_bytes;
        let buffer = self.buffer.bytes();
        if end > buffer.len() {
            if end > allowed {
                return false;
            }
            grow(buffer, end, sample_bytes);
            if offset == buffer.len() {
                copying::append(buffer, bytes);
                return true;
            }
            buffer.resize(end, 0);
        }
        if let Some(place) = buffer.get_mut(offset..end) {
            copying::overwrite(place, bytes);
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

    /// The whole sample, once [`Division::insert`] said that it is complete.
    pub(super) fn into_buffer(self) -> BufferMut {
        self.buffer
    }

    /// The missing fragments from `start` on, at most 256 numbers wide. While the writer is
    /// `still_sending`, only holes before the last fragment that arrived or was `announced` count.
    pub(super) fn missing(
        &self,
        start: FragmentNumber,
        announced: u32,
        still_sending: bool,
    ) -> Option<FragmentNumberSet> {
        let last = if still_sending {
            self.highest.max(announced)
        } else {
            self.fragments()
        };
        let last = last.min(self.fragments());
        let first = self.received.first_missing(i64::from(start.0));
        let first = u32::try_from(first).ok()?;
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

/// Makes room in `buffer` for `len` octets and a quarter of what is there, within a sample of
/// `sample_bytes`.
fn grow(buffer: &mut Vec<u8>, len: usize, sample_bytes: usize) {
    if len > buffer.capacity() {
        let quarter = buffer.len().saturating_add(buffer.len() / 4);
        let room = len.max(quarter.min(sample_bytes));
        buffer.reserve_exact(room.saturating_sub(buffer.len()));
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
        let mut assembly = Division::new(&run(&[], 1, 18), 1000, BufferMut::default()).unwrap();
        let mut complete = false;
        for number in order {
            let start = (*number as usize - 1) * 4;
            let bytes = &sample[start..(start + 4).min(18)];
            complete = assembly
                .insert(Instant(1), &run(bytes, *number, 18))
                .unwrap();
        }
        assert!(complete);
        assert_eq!(assembly.into_buffer(), BufferMut::from(sample));
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
        let mut assembly = Division::new(&run(&[], 1, 18), 1000, BufferMut::default()).unwrap();
        assert!(
            !assembly
                .insert(Instant(1), &run(&sample[8..], 3, 18))
                .unwrap()
        );
        assert_eq!(
            assembly
                .missing(FragmentNumber::FIRST, 0, true)
                .unwrap()
                .iter()
                .count(),
            2
        );
        assert!(
            assembly
                .insert(Instant(1), &run(&sample[..8], 1, 18))
                .unwrap()
        );
        assert_eq!(assembly.into_buffer(), BufferMut::from(sample));
    }

    #[test]
    fn claims_cost_nothing() {
        let far = FragmentRun {
            first: FragmentNumber(16_000_000),
            fragment_bytes: 64,
            sample_bytes: 1 << 30,
            bytes: &[7; 64],
        };
        let mut assembly = Division::new(&far, 1 << 30, BufferMut::default()).unwrap();
        assembly.insert(Instant(1), &far).unwrap();
        assert!(assembly.memory_bytes() < 1000);
        assert_eq!(
            assembly
                .missing(FragmentNumber::FIRST, 0, false)
                .unwrap()
                .iter()
                .count(),
            256
        );
    }

    #[test]
    fn many_tiny_fragments_cost_what_they_say() {
        let far = |first: u32, bytes: &'static [u8]| FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes: 1,
            sample_bytes: 1 << 30,
            bytes,
        };
        let mut one_run = Division::new(&far(1, &[]), 1 << 30, BufferMut::default()).unwrap();
        one_run
            .insert(Instant(1), &far(1 << 20, &[7; 60_000]))
            .unwrap();
        assert!(one_run.memory_bytes() < 61_000);
        assert_eq!(one_run.stash.len(), 1);
        let mut apart = Division::new(&far(1, &[]), 1 << 30, BufferMut::default()).unwrap();
        let refused = (0..1000).filter(|number| {
            apart
                .insert(Instant(1), &far((1 << 20) + 2 * number, &[7]))
                .is_err()
        });
        assert!(refused.count() > 900);
        assert!(apart.memory_bytes() <= 2 * ENTRIES_FREE_BYTES);
        // What goes on where something ends is taken.
        assert!(apart.insert(Instant(1), &far((1 << 20) + 1, &[7])).is_ok());
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
        let mut assembly = Division::new(&fragment(1), 1 << 30, BufferMut::default()).unwrap();
        let mut complete = false;
        for number in (1..=2000).rev() {
            complete = assembly.insert(Instant(0), &fragment(number)).unwrap();
            let arrived = 2001 - number as usize;
            let entries = arrived * ENTRY_BYTES;
            assert!(assembly.memory_bytes() <= arrived * 5000 + 2 * AHEAD_BYTES + entries);
        }
        assert!(complete);
        assert_eq!(assembly.into_buffer(), BufferMut::from(sample));
    }

    #[test]
    fn impossible_fragments_are_refused() {
        let bytes = vec![0; 4];
        assert!(Division::new(&run(&bytes, 1, 0), 1000, BufferMut::default()).is_err());
        assert!(Division::new(&run(&bytes, 1, 3), 1000, BufferMut::default()).is_err());
        assert!(Division::new(&run(&bytes, 1, 1001), 1000, BufferMut::default()).is_err());
        let mut assembly = Division::new(&run(&bytes, 1, 18), 1000, BufferMut::default()).unwrap();
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
}
