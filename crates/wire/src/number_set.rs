//! Sets of at most 256 numbers: what a reader asks for and what a gap leaves out.

use core::fmt;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};

use crate::field::{read_sequence_number, write_sequence_number};

/// Numbers that one set can span.
pub const SPAN_MAX: usize = 256;
const WORDS: usize = SPAN_MAX / 32;

/// Sequence numbers. RTPS 2.5 §8.3.5.5, §9.4.2.6.
pub type SequenceNumberSet = NumberSet<SequenceNumber>;

/// Fragment numbers. RTPS 2.5 §8.3.5.7, §9.4.2.8.
pub type FragmentNumberSet = NumberSet<FragmentNumber>;

/// What a set can hold: [`SequenceNumber`] or [`FragmentNumber`].
pub trait SetNumber: Copy + Ord + fmt::Display + private::Travels {
    /// The number `offset` after this one, if there is one.
    fn plus_offset(self, offset: usize) -> Option<Self>;

    /// How far this lies after `base`; `None` before it.
    fn offset_from(self, base: Self) -> Option<usize>;
}

mod private {
    use super::{ReadCursor, Reject, WriteCursor};

    pub trait Travels: Sized {
        fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject>;
        fn write(self, out: &mut WriteCursor<'_>);
        fn can_be_base(self) -> bool;
        fn can_start_nothing(self) -> bool;
    }
}

/// A base and a bitmap of which of the numbers from there on belong to the set.
///
/// It spans at most [`SPAN_MAX`] numbers, so no operation takes longer than that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NumberSet<N> {
    base: N,
    span: u16,
    // Number base + i is bit 31 − i mod 32 of word i / 32; bits from `span` on are 0.
    words: [u32; WORDS],
}

impl<N: SetNumber> NumberSet<N> {
    /// The set without members that starts at `base` and spans nothing.
    pub const fn new(base: N) -> Self {
        Self {
            base,
            span: 0,
            words: [0; WORDS],
        }
    }

    /// The first number that the set speaks about.
    pub const fn base(&self) -> N {
        self.base
    }

    /// How many numbers from the base on the set speaks about (`numBits`).
    pub const fn span(&self) -> usize {
        self.span as usize
    }

    /// True when no number is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many numbers are in the set.
    pub fn len(&self) -> usize {
        self.words.iter().fold(0, |sum, word| {
            sum.saturating_add(word.count_ones() as usize)
        })
    }

    /// Adds `number`, widening the span up to it; false where it lies before the base or more than
    /// 255 after it.
    pub fn insert(&mut self, number: N) -> bool {
        let Some(offset) = number.offset_from(self.base) else {
            return false;
        };
        let Some(word) = self.words.get_mut(offset / 32) else {
            return false;
        };
        *word |= mask(offset);
        self.widen_to(offset.saturating_add(1));
        true
    }

    /// Widens the span to `span` numbers (at most 256) without adding any.
    pub fn widen_to(&mut self, span: usize) {
        let span = span.min(SPAN_MAX) as u16;
        self.span = self.span.max(span);
    }

    /// True when `number` is in the set.
    pub fn contains(&self, number: N) -> bool {
        let Some(offset) = number.offset_from(self.base) else {
            return false;
        };
        let word = self.words.get(offset / 32).copied().unwrap_or(0);
        word & mask(offset) != 0
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = N> + '_ {
        let base = self.base;
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, word)| ones(*word).map(move |bit| index.wrapping_mul(32) | bit))
            .map_while(move |offset| base.plus_offset(offset))
    }

    /// Reads a set in the byte order of `cursor`.
    ///
    /// A base of 0 is accepted only where nothing is spanned: peers send that as "nothing known
    /// yet". Bits past the span and numbers past the greatest one are dropped.
    ///
    /// # Errors
    /// `NumberSet` where the base is below 1 or more than 256 numbers are spanned (RTPS 2.5
    /// §8.3.5.5), `Truncated`.
    pub fn parse(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        let at = cursor.position();
        let base = N::read(cursor)?;
        let span = cursor.u32()? as usize;
        let base_fits = base.can_be_base() || (span == 0 && base.can_start_nothing());
        if span > SPAN_MAX || !base_fits {
            return Err(Reject::new(RejectKind::NumberSet, at));
        }
        let mut set = Self::new(base);
        set.span = span as u16;
        for (index, word) in set.words.iter_mut().take(span.div_ceil(32)).enumerate() {
            *word = cursor.u32()? & leading(span.saturating_sub(index.wrapping_mul(32)));
        }
        Ok(set)
    }

    /// Appends the set in the byte order of `out`.
    pub fn compose(&self, out: &mut WriteCursor<'_>) {
        self.base.write(out);
        out.u32(u32::from(self.span));
        for word in self.words.iter().take(self.span().div_ceil(32)) {
            out.u32(*word);
        }
    }
}

const fn mask(offset: usize) -> u32 {
    0x8000_0000_u32.wrapping_shr((offset % 32) as u32)
}

/// The `count` most significant bits.
const fn leading(count: usize) -> u32 {
    match u32::MAX.checked_shr(count as u32) {
        Some(trailing) if count < 32 => !trailing,
        _ => u32::MAX,
    }
}

/// Positions of the ones in `word` from the most significant bit, which is 0.
fn ones(mut word: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.leading_zeros() as usize;
        word &= !mask(bit);
        (bit < 32).then_some(bit)
    })
}

impl SetNumber for SequenceNumber {
    fn plus_offset(self, offset: usize) -> Option<Self> {
        self.0.checked_add_unsigned(offset as u64).map(Self)
    }

    fn offset_from(self, base: Self) -> Option<usize> {
        (self >= base).then(|| usize::try_from(self.since(base)).unwrap_or(usize::MAX))
    }
}

impl private::Travels for SequenceNumber {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        read_sequence_number(cursor)
    }

    fn write(self, out: &mut WriteCursor<'_>) {
        write_sequence_number(out, self);
    }

    fn can_be_base(self) -> bool {
        self.is_valid()
    }

    fn can_start_nothing(self) -> bool {
        self == Self::ZERO
    }
}

impl SetNumber for FragmentNumber {
    fn plus_offset(self, offset: usize) -> Option<Self> {
        self.0.checked_add(u32::try_from(offset).ok()?).map(Self)
    }

    fn offset_from(self, base: Self) -> Option<usize> {
        self.0.checked_sub(base.0).map(|offset| offset as usize)
    }
}

impl private::Travels for FragmentNumber {
    fn read(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        cursor.u32().map(Self)
    }

    fn write(self, out: &mut WriteCursor<'_>) {
        out.u32(self.0);
    }

    fn can_be_base(self) -> bool {
        self.0 >= 1
    }

    fn can_start_nothing(self) -> bool {
        self.0 == 0
    }
}

/// `base/span{members}`, consecutive members joined: `5/8{5-7 12}`.
impl<N: SetNumber> fmt::Display for NumberSet<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}{{", self.base, self.span)?;
        let mut members = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = members.next() {
            let mut last = first;
            while let Some(next) = members.next_if(|next| next.offset_from(last) == Some(1)) {
                last = next;
            }
            write!(f, "{separator}{first}")?;
            if last != first {
                write!(f, "-{last}")?;
            }
            separator = " ";
        }
        f.write_str("}")
    }
}

impl<N: SetNumber> fmt::Debug for NumberSet<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::string::ToString;
    use whimbrel_base::cursor::Endian;

    use super::*;

    fn set(base: i64, members: &[i64]) -> SequenceNumberSet {
        let mut set = NumberSet::new(SequenceNumber(base));
        for member in members {
            assert!(set.insert(SequenceNumber(*member)));
        }
        set
    }

    fn parse(bytes: &[u8]) -> Result<SequenceNumberSet, Reject> {
        SequenceNumberSet::parse(&mut ReadCursor::new(bytes, Endian::Big))
    }

    #[test]
    fn the_example_of_the_standard() {
        // RTPS 2.5 §9.4.2.6: 1234:/12:00110.
        let golden = [
            0, 0, 0, 0, 0, 0, 0x04, 0xd2, 0, 0, 0, 12, 0x30, 0x00, 0x00, 0x00,
        ];
        let parsed = parse(&golden).unwrap();
        assert_eq!(parsed.span(), 12);
        let members: Vec<_> = parsed.iter().map(|number| number.0).collect();
        assert_eq!(members, [1236, 1237]);
        assert_eq!(parsed.to_string(), "1234/12{1236-1237}");
        let mut out = Vec::new();
        parsed.compose(&mut WriteCursor::new(&mut out, Endian::Big));
        assert_eq!(out, golden);
    }

    #[test]
    fn members_round_trip_in_both_orders() {
        for members in [&[][..], &[7], &[7, 38, 39, 70], &[7, 8, 262], &[262]] {
            let set = set(7, members);
            assert_eq!(set.len(), members.len());
            assert_eq!(set.is_empty(), members.is_empty());
            for endian in [Endian::Big, Endian::Little] {
                let mut out = Vec::new();
                set.compose(&mut WriteCursor::new(&mut out, endian));
                let back = SequenceNumberSet::parse(&mut ReadCursor::new(&out, endian)).unwrap();
                assert_eq!(back, set);
                let read: Vec<_> = back.iter().map(|number| number.0).collect();
                assert_eq!(read, members);
                assert!(read.iter().all(|n| back.contains(SequenceNumber(*n))));
            }
        }
    }

    #[test]
    fn numbers_outside_do_not_enter() {
        let mut set = set(7, &[]);
        assert!(!set.insert(SequenceNumber(6)));
        assert!(!set.insert(SequenceNumber(263)));
        assert!(!set.insert(SequenceNumber::MAX));
        assert!(!set.contains(SequenceNumber(i64::MIN)));
        assert_eq!(set.span(), 0);
        set.widen_to(1000);
        assert_eq!(set.span(), SPAN_MAX);
        assert!(set.is_empty());
    }

    #[test]
    fn impossible_sets_are_refused() {
        let head = |base: i64, bits: u32| {
            let mut bytes = base.to_be_bytes().to_vec();
            bytes.extend_from_slice(&bits.to_be_bytes());
            bytes.resize(bytes.len() + 64, 0xff);
            parse(&bytes).map_err(|reject| reject.kind)
        };
        assert_eq!(head(1, 257), Err(RejectKind::NumberSet));
        assert_eq!(head(1, u32::MAX), Err(RejectKind::NumberSet));
        assert_eq!(head(0, 1), Err(RejectKind::NumberSet));
        assert_eq!(head(-1, 0), Err(RejectKind::NumberSet));
        assert!(head(0, 0).unwrap().is_empty());
        assert_eq!(head(1, 256).unwrap().len(), 256);
        // Only three bits count, whatever the rest of the word says.
        assert_eq!(head(1, 3).unwrap().len(), 3);
        assert_eq!(head(1, 33).unwrap().len(), 33);
        // Nothing lies beyond the greatest number.
        assert_eq!(head(i64::MAX, 256).unwrap().iter().count(), 1);
    }

    #[test]
    fn fragment_sets_end_at_the_greatest_number() {
        let mut bytes = u32::MAX.to_be_bytes().to_vec();
        bytes.extend_from_slice(&2_u32.to_be_bytes());
        bytes.extend_from_slice(&u32::MAX.to_be_bytes());
        let mut cursor = ReadCursor::new(&bytes, Endian::Big);
        let set = FragmentNumberSet::parse(&mut cursor).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), [FragmentNumber(u32::MAX)]);
    }
}
