//! GAP: what a reader need not wait for. RTPS 2.5 §8.3.8.4, §9.4.5.6.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;

use super::frame::{SubmessageKind, body_cursor, compose, flag};
use crate::field::{read_entity_id, read_sequence_number, write_sequence_number};
use crate::number_set::SequenceNumberSet;

const FLAG_GROUP: u8 = 0x02;
const FLAG_FILTERED_COUNT: u8 = 0x04;

/// What a reader need not wait for: all numbers from `start` up to but not including the base of
/// `list`, and the members of `list`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// First number of the gap.
    pub start: SequenceNumber,
    /// End of the gap's first part, and further numbers.
    pub list: SequenceNumberSet,
    /// First and last group number of the gap.
    pub group: Option<(SequenceNumber, SequenceNumber)>,
    /// How many of the numbers were left out by a filter.
    pub filtered_count: Option<u64>,
}

impl Gap {
    /// Reads the body of a GAP. A start of 0 is read as 1: Connext sends it.
    ///
    /// # Errors
    /// `SequenceNumber` for a start below 0 (RTPS 2.5 §8.3.8.4.3), `NumberSet` as
    /// [`NumberSet::parse`](crate::number_set::NumberSet::parse) says, `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let impossible = cursor.reject(RejectKind::SequenceNumber);
        let start = read_sequence_number(&mut cursor)?;
        if start < SequenceNumber::ZERO {
            return Err(impossible);
        }
        let list = SequenceNumberSet::parse(&mut cursor)?;
        let group = match flags & FLAG_GROUP {
            0 => None,
            _ => Some((
                read_sequence_number(&mut cursor)?,
                read_sequence_number(&mut cursor)?,
            )),
        };
        let filtered_count = match flags & FLAG_FILTERED_COUNT {
            0 => None,
            _ => Some(read_sequence_number(&mut cursor)?.0.cast_unsigned()),
        };
        Ok(Self {
            reader,
            writer,
            start: start.max(SequenceNumber::FIRST),
            list,
            group,
            filtered_count,
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let flags = flag(FLAG_GROUP, self.group.is_some())
            | flag(FLAG_FILTERED_COUNT, self.filtered_count.is_some());
        compose(out, endian, SubmessageKind::GAP, flags, |out| {
            out.bytes(&self.reader.0);
            out.bytes(&self.writer.0);
            write_sequence_number(out, self.start);
            self.list.compose(out);
            if let Some((first, last)) = self.group {
                write_sequence_number(out, first);
                write_sequence_number(out, last);
            }
            if let Some(count) = self.filtered_count {
                write_sequence_number(out, SequenceNumber(count.cast_signed()));
            }
        });
    }

    /// True where `number` belongs to the gap.
    pub fn contains(&self, number: SequenceNumber) -> bool {
        (self.start <= number && number < self.list.base()) || self.list.contains(number)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GAP {} -> {} ", self.writer, self.reader)?;
        write!(f, "from #{} to before {}", self.start, self.list)?;
        if let Some((first, last)) = self.group {
            write!(f, " group #{first}..#{last}")?;
        }
        match self.filtered_count {
            Some(count) => write!(f, " filtered {count}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    // Connext to a new reader: start 0, list base 153, nothing spanned.
    const CONNEXT: &[u8] = &[
        0x08, 0x01, 0x1c, 0x00, 0x80, 0x00, 0x00, 0x04, 0x80, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x99, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00,
    ];

    fn gap(start: i64, base: i64, members: &[i64]) -> Gap {
        let mut list = SequenceNumberSet::new(SequenceNumber(base));
        for member in members {
            assert!(list.insert(SequenceNumber(*member)));
        }
        Gap {
            reader: EntityId([0x80, 0, 0, 4]),
            writer: EntityId([0x80, 0, 0, 3]),
            start: SequenceNumber(start),
            list,
            group: None,
            filtered_count: None,
        }
    }

    #[test]
    fn a_start_of_0_is_tolerated() {
        assert_eq!(only(CONNEXT), Ok(Submessage::Gap(gap(1, 153, &[]))));
        let mut out = Vec::new();
        gap(0, 153, &[]).compose(&mut out, Endian::Little);
        assert_eq!(out, CONNEXT);
    }

    #[test]
    fn gaps_round_trip() {
        let group = Some((SequenceNumber(4), SequenceNumber(8)));
        for gap in [
            gap(1, i64::MAX, &[i64::MAX]),
            gap(7, 7, &[7]),
            Gap {
                group,
                ..gap(3, 9, &[11])
            },
            Gap {
                filtered_count: Some(u64::MAX),
                ..gap(3, 9, &[])
            },
            Gap {
                group,
                filtered_count: Some(2),
                ..gap(3, 9, &[])
            },
        ] {
            let compose = |out: &mut Vec<u8>, endian| gap.compose(out, endian);
            round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::Gap(gap)
            });
        }
    }

    #[test]
    fn members() {
        let gap = gap(3, 6, &[7]);
        let inside: Vec<_> = (1..10)
            .filter(|n| gap.contains(SequenceNumber(*n)))
            .collect();
        assert_eq!(inside, [3, 4, 5, 7]);
    }

    #[test]
    fn impossible_gaps_are_refused() {
        let mut bytes = CONNEXT.to_vec();
        bytes[15] = 0x80;
        refused(&bytes, RejectKind::SequenceNumber);
        let mut bytes = CONNEXT.to_vec();
        bytes[23] = 0x80;
        refused(&bytes, RejectKind::NumberSet);
    }
}
