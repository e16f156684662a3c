//! HEARTBEAT_BATCH: which batches a writer has. Not of the standard, see [`super::data_batch`].

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{Count, SequenceNumber};

use super::Heartbeat;
use super::frame::{SubmessageKind, body_cursor, compose, flag};
use crate::field::{read_entity_id, read_sequence_number, write_sequence_number};

const FLAG_FINAL: u8 = 0x02;
const FLAG_LIVELINESS: u8 = 0x04;

/// Which batches a writer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeartbeatBatch {
    /// What an ordinary one would say, of batches instead of changes.
    pub batches: Heartbeat,
    /// The first change available, at least 1.
    pub first: SequenceNumber,
    /// The last change available; `first` − 1 where the writer has nothing.
    pub last: SequenceNumber,
}

impl HeartbeatBatch {
    /// Reads the body of a HEARTBEAT_BATCH.
    ///
    /// # Errors
    /// `SequenceNumber` where a range is impossible, `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let mut range = || {
            let at = cursor.position();
            let first = read_sequence_number(&mut cursor)?;
            let last = read_sequence_number(&mut cursor)?;
            match first.is_valid() && last >= first.previous() {
                true => Ok((first, last)),
                false => Err(Reject::new(RejectKind::SequenceNumber, at)),
            }
        };
        let (first_batch, last_batch) = range()?;
        let (first, last) = range()?;
        let batches = Heartbeat {
            reader,
            writer,
            first: first_batch,
            last: last_batch,
            count: Count(cursor.i32()?),
            is_final: flags & FLAG_FINAL != 0,
            liveliness: flags & FLAG_LIVELINESS != 0,
            group: None,
        };
        Ok(Self {
            batches,
            first,
            last,
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let batches = &self.batches;
        let flags = flag(FLAG_FINAL, batches.is_final) | flag(FLAG_LIVELINESS, batches.liveliness);
        compose(out, endian, SubmessageKind::HEARTBEAT_BATCH, flags, |out| {
            out.bytes(&batches.reader.0);
            out.bytes(&batches.writer.0);
            write_sequence_number(out, batches.first);
            write_sequence_number(out, batches.last);
            write_sequence_number(out, self.first);
            write_sequence_number(out, self.last);
            out.i32(batches.count.0);
        });
    }
}

impl fmt::Display for HeartbeatBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batches = &self.batches;
        write!(
            f,
            "HEARTBEAT_BATCH {} -> {} batches #{}..#{} of #{}..#{} count {}",
            batches.writer,
            batches.reader,
            batches.first,
            batches.last,
            self.first,
            self.last,
            batches.count.0
        )?;
        if batches.is_final {
            f.write_str(" final")?;
        }
        if batches.liveliness {
            f.write_str(" liveliness")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::guid::EntityId;

    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    // What Connext 5.1 sent: batch 1 holds the changes 1 to 10.
    const CONNEXT: &[u8] = &[
        0x19, 0x01, 0x2c, 0, 0x80, 0, 0, 4, 0x80, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,
        0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 6, 0, 0, 0,
    ];

    fn connext() -> HeartbeatBatch {
        HeartbeatBatch {
            batches: Heartbeat {
                reader: EntityId([0x80, 0, 0, 4]),
                writer: EntityId([0x80, 0, 0, 3]),
                first: SequenceNumber(1),
                last: SequenceNumber(1),
                count: Count(6),
                is_final: false,
                liveliness: false,
                group: None,
            },
            first: SequenceNumber(1),
            last: SequenceNumber(10),
        }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(only(CONNEXT), Ok(Submessage::HeartbeatBatch(connext())));
        let mut out = Vec::new();
        connext().compose(&mut out, Endian::Little);
        assert_eq!(out, CONNEXT);
    }

    #[test]
    fn heartbeats_round_trip() {
        let mut heartbeat = connext();
        heartbeat.batches.is_final = true;
        heartbeat.batches.liveliness = true;
        heartbeat.batches.last = SequenceNumber(0);
        heartbeat.last = SequenceNumber(0x2_0000_0001);
        let compose = |out: &mut Vec<u8>, endian| heartbeat.compose(out, endian);
        round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
            *parsed == Submessage::HeartbeatBatch(heartbeat)
        });
    }

    #[test]
    fn impossible_ranges_are_refused() {
        for (at, value) in [(16, 0), (15, 0x80), (16, 3), (32, 0), (32, 12)] {
            let mut bytes = CONNEXT.to_vec();
            bytes[at] = value;
            refused(&bytes, RejectKind::SequenceNumber);
        }
    }
}
