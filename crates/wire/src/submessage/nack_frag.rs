//! NACK_FRAG: which fragments of a change a reader lacks. RTPS 2.5 §8.3.8.10, §9.4.5.14.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::{Count, SequenceNumber};

use super::frame::{SubmessageKind, body_cursor, compose};
use crate::field::{read_entity_id, read_valid_sequence_number, write_sequence_number};
use crate::number_set::FragmentNumberSet;

/// Which fragments of a change a reader lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NackFrag {
    /// Reader it comes from.
    pub reader: EntityId,
    /// Writer it is meant for.
    pub writer: EntityId,
    /// Number of the change.
    pub number: SequenceNumber,
    /// The fragments asked for.
    pub state: FragmentNumberSet,
    /// Grows with every new request for fragments.
    pub count: Count,
}

impl NackFrag {
    /// Reads the body of a NACK_FRAG.
    ///
    /// # Errors
    /// `SequenceNumber` for numbers below 1 (RTPS 2.5 §8.3.8.10.3), `NumberSet` as
    /// [`NumberSet::parse`](crate::number_set::NumberSet::parse) says, `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        Ok(Self {
            reader: read_entity_id(&mut cursor)?,
            writer: read_entity_id(&mut cursor)?,
            number: read_valid_sequence_number(&mut cursor)?,
            state: FragmentNumberSet::parse(&mut cursor)?,
            count: Count(cursor.i32()?),
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        compose(out, endian, SubmessageKind::NACK_FRAG, 0, |out| {
            out.bytes(&self.reader.0);
            out.bytes(&self.writer.0);
            write_sequence_number(out, self.number);
            self.state.compose(out);
            out.i32(self.count.0);
        });
    }
}

impl fmt::Display for NackFrag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "NACK_FRAG {} -> {} #{} {} count {}",
            self.reader, self.writer, self.number, self.state, self.count.0
        )
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::reject::RejectKind;
    use whimbrel_base::sequence::FragmentNumber;

    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    // Of change 7: fragments 2 and 4.
    const GOLDEN: &[u8] = &[
        0x12, 0x01, 0x20, 0x00, 0x00, 0x00, 0x00, 0x07, 0x80, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
        0x00, 0x07, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0xa0, 0x09, 0x00, 0x00, 0x00,
    ];

    #[test]
    fn golden_bytes_and_round_trip() {
        let mut state = FragmentNumberSet::new(FragmentNumber(2));
        assert!(state.insert(FragmentNumber(2)) && state.insert(FragmentNumber(4)));
        let golden = NackFrag {
            reader: EntityId([0, 0, 0, 7]),
            writer: EntityId([0x80, 0, 0, 2]),
            number: SequenceNumber(7),
            state,
            count: Count(9),
        };
        assert_eq!(only(GOLDEN), Ok(Submessage::NackFrag(golden)));
        let mut little = Vec::new();
        let compose = |out: &mut Vec<u8>, endian| golden.compose(out, endian);
        round_trip([&mut Vec::new(), &mut little], compose, &|parsed| {
            *parsed == Submessage::NackFrag(golden)
        });
        assert_eq!(little, GOLDEN);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let with = |at: usize| {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] = 0;
            bytes
        };
        refused(&with(16), RejectKind::SequenceNumber);
        refused(&with(20), RejectKind::NumberSet);
    }
}
