//! DATA_FRAG: fragments of a change. RTPS 2.5 §8.3.8.3, §9.4.5.5.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::{Endian, padding};
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};

use super::data::{Content, read_inline_qos, skip_to_known, write_inline_qos};
use super::frame::{SubmessageKind, body_cursor, compose_head, flag};
use crate::field::{read_entity_id, read_valid_sequence_number, write_sequence_number};
use crate::parameter::ParameterList;

const FLAG_INLINE_QOS: u8 = 0x02;
const FLAG_KEY: u8 = 0x04;
const FLAG_NON_STANDARD: u8 = 0x08;

/// Octets from behind the field octetsToInlineQos to the inline QoS.
const TO_INLINE_QOS: u16 = 28;

/// Consecutive fragments of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataFrag<'a> {
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// Number of the change.
    pub number: SequenceNumber,
    /// The first fragment here.
    pub first: FragmentNumber,
    /// How many fragments are here, at least 1.
    pub count: u16,
    /// Octets of every fragment but the change's last, at least 1.
    pub fragment_size: u16,
    /// Octets of the change's whole payload.
    pub sample_size: u32,
    /// QoS and key hash that go with the change, in the byte order of the submessage.
    pub inline_qos: Option<ParameterList<'a>>,
    /// The payload is a key, not a sample.
    pub key: bool,
    /// The payload is not encoded as the standard says.
    pub non_standard_payload: bool,
    /// The octets of these fragments, without padding.
    pub payload: &'a [u8],
}

impl<'a> DataFrag<'a> {
    /// Reads the body of a DATA_FRAG. [`DataFrag::range`] of the result lies inside the sample and
    /// is as long as the payload.
    ///
    /// # Errors
    /// `Fragment` where a number, count or size is 0, the fragments lie outside the sample, or
    /// octets of them are missing; `SequenceNumber`, `Length`, malformed inline QoS, `Truncated` as
    /// for [`Data`](super::Data). RTPS 2.5 §8.3.8.3.3.
    pub fn parse(flags: u8, body: &'a [u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let past_known = skip_to_known(&mut cursor, TO_INLINE_QOS)?;
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let number = read_valid_sequence_number(&mut cursor)?;
        let impossible = cursor.reject(RejectKind::Fragment);
        let mut parsed = Self {
            reader,
            writer,
            number,
            first: FragmentNumber(cursor.u32()?),
            count: cursor.u16()?,
            fragment_size: cursor.u16()?,
            sample_size: cursor.u32()?,
            inline_qos: None,
            key: flags & FLAG_KEY != 0,
            non_standard_payload: flags & FLAG_NON_STANDARD != 0,
            payload: &[],
        };
        let (start, end) = parsed.range().ok_or(impossible)?;
        cursor.skip(past_known)?;
        parsed.inline_qos = read_inline_qos(&mut cursor, flags & FLAG_INLINE_QOS != 0)?;
        let len = end.saturating_sub(start) as usize;
        parsed.payload = cursor.rest().get(..len).ok_or(impossible)?;
        Ok(parsed)
    }

    /// Offsets in the sample where these fragments start and end; `None` where the fields are
    /// impossible.
    pub fn range(&self) -> Option<(u32, u32)> {
        let size = u64::from(self.fragment_size);
        let sample = u64::from(self.sample_size);
        let before = u64::from(self.first.0).checked_sub(1)?;
        let start = before.checked_mul(size)?;
        let last = before.checked_add(u64::from(self.count).checked_sub(1)?)?;
        let last_start = last.checked_mul(size)?;
        if size == 0 || size > sample || last_start >= sample {
            return None;
        }
        let end = last_start.checked_add(size)?.min(sample);
        Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
    }

    /// How many fragments the whole sample has.
    pub const fn fragments_total(&self) -> u32 {
        if self.fragment_size == 0 {
            return 0;
        }
        self.sample_size.div_ceil(self.fragment_size as u32)
    }

    /// What the reassembled payload is.
    pub const fn content(&self) -> Content {
        if self.key {
            Content::Key
        } else {
            Content::Data
        }
    }

    /// Appends everything, with the payload padded to a multiple of four. Byte order as for
    /// [`Data::compose`](super::Data::compose).
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let padding = self.compose_head(out, endian, self.payload.len());
        out.extend_from_slice(self.payload);
        out.resize(out.len().saturating_add(padding), 0);
    }

    /// Appends everything up to the payload, for `payload_len` octets of fragments that the caller
    /// sends behind it from elsewhere. Returns how many octets of padding must follow them. See
    /// [`Data::compose_head`](super::Data::compose_head).
    pub fn compose_head(&self, out: &mut Vec<u8>, endian: Endian, payload_len: usize) -> usize {
        let padding = padding(payload_len, 4);
        let flags = flag(FLAG_INLINE_QOS, self.inline_qos.is_some())
            | flag(FLAG_KEY, self.key)
            | flag(FLAG_NON_STANDARD, self.non_standard_payload);
        let follows = payload_len.saturating_add(padding);
        let endian = self.inline_qos.map_or(endian, |list| list.endian());
        compose_head(
            out,
            endian,
            SubmessageKind::DATA_FRAG,
            flags,
            follows,
            |out| {
                out.u16(0);
                out.u16(TO_INLINE_QOS);
                out.bytes(&self.reader.0);
                out.bytes(&self.writer.0);
                write_sequence_number(out, self.number);
                out.u32(self.first.0);
                out.u16(self.count);
                out.u16(self.fragment_size);
                out.u32(self.sample_size);
                write_inline_qos(out, self.inline_qos);
            },
        );
        padding
    }
}

impl fmt::Display for DataFrag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = u64::from(self.first.0)
            .saturating_add(u64::from(self.count))
            .saturating_sub(1);
        write!(
            f,
            "DATA_FRAG {} -> {} #{} fragments {}-{} of {} ({} octets each, {} in all)",
            self.writer,
            self.reader,
            self.number,
            self.first,
            last,
            self.fragments_total(),
            self.fragment_size,
            self.sample_size,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    // Fragment 3 of 3, fragments of 8, sample of 21 octets: five octets and padding.
    const GOLDEN: &[u8] = &[
        0x16, 0x01, 0x28, 0x00, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x00, 0x07, 0x80, 0x00, 0x00,
        0x02, 0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00,
        0x08, 0x00, 0x15, 0x00, 0x00, 0x00, b'a', b'b', b'c', b'd', b'e', 0x00, 0x00, 0x00,
    ];

    fn golden() -> DataFrag<'static> {
        DataFrag {
            reader: EntityId([0, 0, 0, 7]),
            writer: EntityId([0x80, 0, 0, 2]),
            number: SequenceNumber(9),
            first: FragmentNumber(3),
            count: 1,
            fragment_size: 8,
            sample_size: 21,
            inline_qos: None,
            key: false,
            non_standard_payload: false,
            payload: b"abcde",
        }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(only(GOLDEN), Ok(Submessage::DataFrag(golden())));
        assert_eq!(golden().range(), Some((16, 21)));
        assert_eq!(golden().fragments_total(), 3);
        let mut out = Vec::new();
        golden().compose(&mut out, Endian::Little);
        assert_eq!(out, GOLDEN);
    }

    #[test]
    fn fragments_round_trip() {
        for (first, count, payload) in [(1, 1, &b"12345678"[..]), (2, 2, b"12345678abcde")] {
            let first = FragmentNumber(first);
            let frag = DataFrag {
                first,
                count,
                payload,
                key: true,
                ..golden()
            };
            let compose = |out: &mut Vec<u8>, endian| frag.compose(out, endian);
            round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::DataFrag(frag)
            });
        }
    }

    #[test]
    fn impossible_fragments_are_refused() {
        let with = |changes: &[(usize, u8)]| {
            let mut bytes = GOLDEN.to_vec();
            for (at, value) in changes {
                bytes[*at] = *value;
            }
            bytes
        };
        // First 0, first beyond the sample, count 0, too many, size 0, sample 0, size > sample.
        for changes in [
            &[(24, 0)][..],
            &[(24, 4)],
            &[(27, 0xff)],
            &[(28, 0)],
            &[(28, 2)],
            &[(29, 0xff)],
            &[(30, 0)],
            &[(32, 0)],
            &[(24, 1), (32, 7)],
            // Octets of the fragment are missing.
            &[(24, 1), (30, 21)],
        ] {
            refused(&with(changes), RejectKind::Fragment);
        }
        refused(&with(&[(20, 0)]), RejectKind::SequenceNumber);
        refused(&with(&[(6, 27)]), RejectKind::Length);
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow() {
        for first in [1, 65_537, u32::MAX] {
            for count in [1, u16::MAX] {
                for fragment_size in [1, u16::MAX] {
                    let frag = DataFrag {
                        first: FragmentNumber(first),
                        count,
                        fragment_size,
                        sample_size: u32::MAX,
                        ..golden()
                    };
                    if let Some((start, end)) = frag.range() {
                        assert!(start < end);
                    }
                }
            }
        }
    }
}
