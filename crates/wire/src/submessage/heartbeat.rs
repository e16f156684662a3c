//! HEARTBEAT: what a writer has. RTPS 2.5 §8.3.8.6, §9.4.5.7.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor};
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{Count, SequenceNumber};

use super::frame::{SubmessageKind, body_cursor, compose, flag};
use crate::field::{read_entity_id, read_sequence_number, write_sequence_number};

const FLAG_FINAL: u8 = 0x02;
const FLAG_LIVELINESS: u8 = 0x04;
const FLAG_GROUP: u8 = 0x08;

/// Which changes a writer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heartbeat {
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// The first number available, at least 1.
    pub first: SequenceNumber,
    /// The last number available; `first` − 1 where the writer has nothing.
    pub last: SequenceNumber,
    /// Grows with every new heartbeat.
    pub count: Count,
    /// No answer is needed.
    pub is_final: bool,
    /// Asserts that the writer is alive.
    pub liveliness: bool,
    /// What the publisher has as a whole.
    pub group: Option<HeartbeatGroup>,
}

/// What the publisher of a writer has as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeartbeatGroup {
    /// Last group number of the publisher.
    pub current: SequenceNumber,
    /// First group number that the writer has.
    pub first: SequenceNumber,
    /// Last group number that the writer has.
    pub last: SequenceNumber,
    /// Digest of the writers' entity ids.
    pub writer_set: [u8; 4],
    /// Digest of the secure writers' entity ids.
    pub secure_writer_set: [u8; 4],
}

impl Heartbeat {
    /// Reads the body of a HEARTBEAT.
    ///
    /// # Errors
    /// `SequenceNumber` where the range is impossible (RTPS 2.5 §8.3.8.6.3), `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let at = cursor.position();
        let first = read_sequence_number(&mut cursor)?;
        let last = read_sequence_number(&mut cursor)?;
        if !first.is_valid() || last < first.previous() {
            return Err(Reject::new(RejectKind::SequenceNumber, at));
        }
        Ok(Self {
            reader,
            writer,
            first,
            last,
            count: Count(cursor.i32()?),
            is_final: flags & FLAG_FINAL != 0,
            liveliness: flags & FLAG_LIVELINESS != 0,
            group: match flags & FLAG_GROUP {
                0 => None,
                _ => Some(HeartbeatGroup::parse(&mut cursor)?),
            },
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let flags = flag(FLAG_FINAL, self.is_final)
            | flag(FLAG_LIVELINESS, self.liveliness)
            | flag(FLAG_GROUP, self.group.is_some());
        compose(out, endian, SubmessageKind::HEARTBEAT, flags, |out| {
            out.bytes(&self.reader.0);
            out.bytes(&self.writer.0);
            write_sequence_number(out, self.first);
            write_sequence_number(out, self.last);
            out.i32(self.count.0);
            if let Some(group) = self.group {
                group.compose(out);
            }
        });
    }

    /// True where the writer has nothing.
    pub fn is_empty(&self) -> bool {
        self.last < self.first
    }
}

impl HeartbeatGroup {
    fn parse(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        Ok(Self {
            current: read_sequence_number(cursor)?,
            first: read_sequence_number(cursor)?,
            last: read_sequence_number(cursor)?,
            writer_set: cursor.array()?,
            secure_writer_set: cursor.array()?,
        })
    }

    fn compose(&self, out: &mut WriteCursor<'_>) {
        write_sequence_number(out, self.current);
        write_sequence_number(out, self.first);
        write_sequence_number(out, self.last);
        out.bytes(&self.writer_set);
        out.bytes(&self.secure_writer_set);
    }
}

impl fmt::Display for Heartbeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "HEARTBEAT {} -> {} #{}..#{} count {}",
            self.writer, self.reader, self.first, self.last, self.count.0
        )?;
        f.write_str(if self.is_final { " final" } else { "" })?;
        f.write_str(if self.liveliness { " liveliness" } else { "" })?;
        f.write_str(if self.group.is_some() { " group" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    const GOLDEN: &[u8] = &[
        0x07, 0x03, 0x1c, 0x00, 0x00, 0x00, 0x04, 0xc7, 0x00, 0x00, 0x04, 0xc2, 0x00, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x02, 0x00,
        0x00, 0x00,
    ];

    fn golden() -> Heartbeat {
        Heartbeat {
            reader: EntityId::SEDP_SUBSCRIPTIONS_READER,
            writer: EntityId::SEDP_SUBSCRIPTIONS_WRITER,
            first: SequenceNumber(1),
            last: SequenceNumber(5),
            count: Count(2),
            is_final: true,
            liveliness: false,
            group: None,
        }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(only(GOLDEN), Ok(Submessage::Heartbeat(golden())));
        let mut out = Vec::new();
        golden().compose(&mut out, Endian::Little);
        assert_eq!(out, GOLDEN);
    }

    #[test]
    fn heartbeats_round_trip() {
        let group = HeartbeatGroup {
            current: SequenceNumber(9),
            first: SequenceNumber(3),
            last: SequenceNumber(8),
            writer_set: [1, 2, 3, 4],
            secure_writer_set: [5, 6, 7, 8],
        };
        for heartbeat in [
            Heartbeat {
                last: SequenceNumber(0),
                count: Count(-7),
                ..golden()
            },
            Heartbeat {
                last: SequenceNumber::MAX,
                first: SequenceNumber::MAX,
                ..golden()
            },
            Heartbeat {
                group: Some(group),
                liveliness: true,
                is_final: false,
                ..golden()
            },
        ] {
            let compose = |out: &mut Vec<u8>, endian| heartbeat.compose(out, endian);
            round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::Heartbeat(heartbeat)
            });
        }
    }

    #[test]
    fn impossible_ranges_are_refused() {
        for (first, last) in [
            (0, 0),
            (-1, 5),
            (i64::MIN, 0),
            (5, 3),
            (1, -1),
            (i64::MAX, 1),
        ] {
            let mut out = Vec::new();
            let (first, last) = (SequenceNumber(first), SequenceNumber(last));
            Heartbeat {
                first,
                last,
                ..golden()
            }
            .compose(&mut out, Endian::Little);
            refused(&out, RejectKind::SequenceNumber);
        }
    }
}
