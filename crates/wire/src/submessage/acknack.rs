//! ACKNACK: what a reader has and lacks. RTPS 2.5 §8.3.8.1, §9.4.5.3.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::Reject;
use whimbrel_base::sequence::Count;

use super::frame::{SubmessageKind, body_cursor, compose, flag};
use crate::field::read_entity_id;
use crate::number_set::SequenceNumberSet;

const FLAG_FINAL: u8 = 0x02;

/// What a reader has and lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckNack {
    /// Reader it comes from.
    pub reader: EntityId,
    /// Writer it is meant for.
    pub writer: EntityId,
    /// Everything below the base is acknowledged; the members are asked for. The base is 0 where
    /// the reader only asks for a heartbeat.
    pub state: SequenceNumberSet,
    /// Grows with every new acknowledgement.
    pub count: Count,
    /// No heartbeat is needed in answer.
    pub is_final: bool,
}

impl AckNack {
    /// Reads the body of an ACKNACK.
    ///
    /// # Errors
    /// `NumberSet` as [`NumberSet::parse`](crate::number_set::NumberSet::parse) says, `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        Ok(Self {
            reader: read_entity_id(&mut cursor)?,
            writer: read_entity_id(&mut cursor)?,
            state: SequenceNumberSet::parse(&mut cursor)?,
            count: Count(cursor.i32()?),
            is_final: flags & FLAG_FINAL != 0,
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let flags = flag(FLAG_FINAL, self.is_final);
        compose(out, endian, SubmessageKind::ACKNACK, flags, |out| {
            out.bytes(&self.reader.0);
            out.bytes(&self.writer.0);
            self.state.compose(out);
            out.i32(self.count.0);
        });
    }
}

impl fmt::Display for AckNack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ACKNACK {} -> {} {} count {}",
            self.reader, self.writer, self.state, self.count.0
        )?;
        f.write_str(if self.is_final { " final" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::reject::RejectKind;
    use whimbrel_base::sequence::SequenceNumber;

    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    // Acknowledges 1 and 2, asks for 3 and 4.
    const GOLDEN: &[u8] = &[
        0x06, 0x01, 0x1c, 0x00, 0x00, 0x00, 0x03, 0xc7, 0x00, 0x00, 0x03, 0xc2, 0x00, 0x00, 0x00,
        0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x01, 0x00,
        0x00, 0x00,
    ];

    fn acknack(base: i64, members: &[i64]) -> AckNack {
        let mut state = SequenceNumberSet::new(SequenceNumber(base));
        for member in members {
            assert!(state.insert(SequenceNumber(*member)));
        }
        AckNack {
            reader: EntityId::SEDP_PUBLICATIONS_READER,
            writer: EntityId::SEDP_PUBLICATIONS_WRITER,
            state,
            count: Count(1),
            is_final: false,
        }
    }

    #[test]
    fn golden_bytes() {
        let golden = acknack(3, &[3, 4]);
        assert_eq!(only(GOLDEN), Ok(Submessage::AckNack(golden)));
        let mut out = Vec::new();
        golden.compose(&mut out, Endian::Little);
        assert_eq!(out, GOLDEN);
    }

    #[test]
    fn acknowledgements_round_trip() {
        for acknack in [
            acknack(0, &[]),
            acknack(i64::MAX, &[i64::MAX]),
            AckNack {
                is_final: true,
                count: Count(i32::MIN),
                ..acknack(100, &[355])
            },
        ] {
            let compose = |out: &mut Vec<u8>, endian| acknack.compose(out, endian);
            round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::AckNack(acknack)
            });
        }
    }

    #[test]
    fn impossible_sets_are_refused() {
        for (at, value) in [(15, 0xff), (16, 0), (21, 2), (23, 0xff)] {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] = value;
            refused(&bytes, RejectKind::NumberSet);
        }
        let mut bytes = GOLDEN.to_vec();
        bytes[21] = 1;
        bytes[20] = 0;
        refused(&bytes, RejectKind::Truncated);
    }
}
