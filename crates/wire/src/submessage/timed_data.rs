//! The usual message: nothing but INFO_TS and a DATA with a sample, little-endian, without inline
//! QoS. RTPS 2.5 §9.4.5.12, §9.4.5.4.
//!
//! It is put together and read in one piece, which takes a third of the time of its parts one after
//! the other.

use whimbrel_base::cursor::{Endian, padding};
use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;

use super::data::{FLAG_DATA, TO_INLINE_QOS};
use super::frame::{FLAG_ENDIAN, SubmessageKind, stated_len};
use crate::field::{sequence_number_words, timestamp_words};

const LITTLE: Endian = Endian::Little;

/// The header of INFO_TS.
const TIME: [u8; 4] = [SubmessageKind::INFO_TS.0, FLAG_ENDIAN, 8, 0];

/// How the header of DATA begins.
const DATA: [u8; 2] = [SubmessageKind::DATA.0, FLAG_ENDIAN | FLAG_DATA];

/// extraFlags and octetsToInlineQos.
const OFFSET: [u8; 4] = [0, 0, TO_INLINE_QOS as u8, 0];

/// Octets of the body of a DATA before its payload.
const BODY_HEAD_LEN: usize = 20;

/// INFO_TS with `time` and the head of a DATA of `writer` to all readers, with nothing but a sample
/// of `payload_len` octets that the caller sends behind it: what
/// [`InfoTimestamp::compose`](super::InfoTimestamp::compose) and
/// [`Data::compose_head`](super::Data::compose_head) append. The payload is to be padded to a
/// multiple of four.
#[inline(always)]
pub fn timed_head(
    time: Timestamp,
    writer: EntityId,
    number: SequenceNumber,
    payload_len: usize,
) -> [[u8; 4]; 9] {
    let [seconds, fraction] = timestamp_words(LITTLE, time);
    let [high, low] = sequence_number_words(LITTLE, number);
    let padded = payload_len.saturating_add(padding(payload_len, 4));
    let [first, second] = LITTLE.u16_bytes(stated_len(padded.saturating_add(BODY_HEAD_LEN)));
    let data = [DATA[0], DATA[1], first, second];
    let readers = EntityId::UNKNOWN.0;
    [
        TIME, seconds, fraction, data, OFFSET, readers, writer.0, high, low,
    ]
}

/// A message that is nothing but INFO_TS and a DATA with a sample, as most are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimedData<'a> {
    /// Participant it comes from.
    pub source: GuidPrefix,
    /// Its timestamp; invalid where it says that there is none.
    pub timestamp: Timestamp,
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// Number of the change.
    pub number: SequenceNumber,
    /// The payload with its encapsulation header and up to three octets of padding.
    pub payload: &'a [u8],
}

impl<'a> TimedData<'a> {
    /// Reads `datagram`, where it is such a message; `None` where it is anything else, whether or
    /// not that is well formed: then it is to be read part by part.
    #[inline(always)]
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (head, payload) = datagram.split_first_chunk::<56>()?;
        let (words, []) = head.as_chunks::<4>() else {
            return None;
        };
        let [
            rtps,
            [major, _, _, _],
            p0,
            p1,
            p2,
            time,
            seconds,
            fraction,
            [kind, flags, first, second],
            offset,
            reader,
            writer,
            high,
            low,
        ] = words
        else {
            return None;
        };
        let body_len = payload.len().checked_add(BODY_HEAD_LEN)?;
        let is_usual = rtps == b"RTPS"
            && *major == 2
            && *time == TIME
            && [*kind, *flags] == DATA
            && usize::from(u16::from_le_bytes([*first, *second])) == body_len
            && *offset == OFFSET;
        let [high, low] = [high, low].map(|it| u64::from(u32::from_le_bytes(*it)));
        let number = SequenceNumber(((high << 32) | low).cast_signed());
        if !is_usual || !number.is_valid() {
            return None;
        }
        let mut source = GuidPrefix::UNKNOWN;
        source
            .0
            .as_chunks_mut::<4>()
            .0
            .copy_from_slice(&[*p0, *p1, *p2]);
        let seconds = u32::from_le_bytes(*seconds).cast_signed();
        Some(Self {
            source,
            timestamp: Timestamp::from_wire(seconds, u32::from_le_bytes(*fraction)),
            reader: EntityId(*reader),
            writer: EntityId(*writer),
            number,
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::submessage::{Content, Data, InfoTimestamp};
    use crate::testing::MESSAGE_HEADER;

    fn data(number: i64) -> Data<'static> {
        Data {
            reader: EntityId::UNKNOWN,
            writer: EntityId([0x80, 0, 0, 2]),
            number: SequenceNumber(number),
            inline_qos: None,
            content: Content::Data,
            non_standard_payload: false,
            payload: &[],
        }
    }

    /// A message of INFO_TS with `time` and `data`, whose payload is of `len` octets.
    fn message(time: Timestamp, data: &Data<'_>, len: usize) -> Vec<u8> {
        let mut out = MESSAGE_HEADER.to_vec();
        InfoTimestamp { time: Some(time) }.compose(&mut out, LITTLE);
        let padding = data.compose_head(&mut out, LITTLE, len);
        out.resize(out.len() + len + padding, 7);
        out
    }

    #[test]
    fn a_head_is_what_the_two_append_one_after_the_other_and_read_as_it_was() {
        let times = [0, 1, 1_500_000_000, -1, i64::MAX].map(Timestamp);
        let lens = [1, 4, 4095, 65_515, 65_516, 70_000];
        for (time, len) in times.into_iter().zip(lens).chain([(times[2], lens[5])]) {
            let data = data(0x1_0000_0000 + time.0 % 1000);
            let out = message(time, &data, len);
            let head = timed_head(time, data.writer, data.number, len);
            assert_eq!(*head.as_flattened(), out[20..56], "{time:?} {len}");
            let read = TimedData::parse(&out);
            assert_eq!(read.is_some(), len <= 65_512, "{time:?} {len}");
            let Some(read) = read else { continue };
            let of = (read.source.0, read.reader, read.writer, read.number);
            let prefix = *b"abcdefghijkl";
            assert_eq!(of, (prefix, data.reader, data.writer, data.number));
            let kept = time.0 >= 0 && time.0 < i64::MAX;
            assert_eq!(read.timestamp.is_invalid(), !kept, "{time:?}");
            assert_eq!(read.payload, &out[56..]);
        }
    }

    #[test]
    fn anything_else_is_left_to_be_read_part_by_part() {
        let usual = message(Timestamp(1_500_000_000), &data(1), 8);
        assert!(TimedData::parse(&usual).is_some());
        let free = [5, 6, 7]
            .into_iter()
            .chain(8..20)
            .chain(24..32)
            .chain(40..48);
        let free: Vec<usize> = free.chain(48..64).collect();
        for at in 0..usual.len() {
            let mut other = usual.clone();
            other[at] ^= 0x80;
            let is_usual = TimedData::parse(&other).is_some();
            // The sign of the number.
            let is_free = free.contains(&at) && at != 51;
            assert_eq!(is_usual, is_free, "octet {at}");
        }
        for len in 0..usual.len() {
            assert!(TimedData::parse(&usual[..len]).is_none(), "{len}");
        }
        let zero = message(Timestamp(1), &data(0), 8);
        assert!(TimedData::parse(&zero).is_none());
        let more = [usual.as_slice(), &[1, 1, 0, 0]].concat();
        assert!(TimedData::parse(&more).is_none());
    }
}
