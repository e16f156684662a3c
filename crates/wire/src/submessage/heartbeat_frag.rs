//! HEARTBEAT_FRAG: which fragments of a change a writer has. RTPS 2.5 §8.3.8.7, §9.4.5.8.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};

use super::frame::{SubmessageKind, body_cursor, compose};
use crate::field::{read_entity_id, read_valid_sequence_number, write_sequence_number};

/// Which fragments of a change a writer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeartbeatFrag {
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// Number of the change.
    pub number: SequenceNumber,
    /// All fragments up to this one are available; at least 1.
    pub last: FragmentNumber,
    /// Grows with every new heartbeat of fragments.
    pub count: Count,
}

impl HeartbeatFrag {
    /// Reads the body of a HEARTBEAT_FRAG.
    ///
    /// # Errors
    /// `SequenceNumber` or `Fragment` for numbers below 1 (RTPS 2.5 §8.3.8.7.3), `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let number = read_valid_sequence_number(&mut cursor)?;
        let impossible = cursor.reject(RejectKind::Fragment);
        let last = FragmentNumber(cursor.u32()?);
        if last < FragmentNumber::FIRST {
            return Err(impossible);
        }
        let count = Count(cursor.i32()?);
        Ok(Self {
            reader,
            writer,
            number,
            last,
            count,
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        compose(out, endian, SubmessageKind::HEARTBEAT_FRAG, 0, |out| {
            out.bytes(&self.reader.0);
            out.bytes(&self.writer.0);
            write_sequence_number(out, self.number);
            out.u32(self.last.0);
            out.i32(self.count.0);
        });
    }
}

impl fmt::Display for HeartbeatFrag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "HEARTBEAT_FRAG {} -> {} #{} fragments 1-{} count {}",
            self.writer, self.reader, self.number, self.last, self.count.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    const GOLDEN: &[u8] = &[
        0x13, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x07, 0x80, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x03,
    ];

    fn golden() -> HeartbeatFrag {
        HeartbeatFrag {
            reader: EntityId([0, 0, 0, 7]),
            writer: EntityId([0x80, 0, 0, 2]),
            number: SequenceNumber((1 << 32) + 2),
            last: FragmentNumber(16),
            count: Count(3),
        }
    }

    #[test]
    fn golden_bytes_and_round_trip() {
        assert_eq!(only(GOLDEN), Ok(Submessage::HeartbeatFrag(golden())));
        let mut big = Vec::new();
        let compose = |out: &mut Vec<u8>, endian| golden().compose(out, endian);
        round_trip([&mut big, &mut Vec::new()], compose, &|parsed| {
            *parsed == Submessage::HeartbeatFrag(golden())
        });
        assert_eq!(big, GOLDEN);
    }

    #[test]
    fn numbers_below_1_are_refused() {
        let mut bytes = GOLDEN.to_vec();
        bytes[23] = 0;
        refused(&bytes, RejectKind::Fragment);
        bytes[12] = 0xff;
        refused(&bytes, RejectKind::SequenceNumber);
    }
}
