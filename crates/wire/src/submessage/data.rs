//! DATA: a change of a data object. RTPS 2.5 §8.3.8.2, §9.4.5.4.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor, padding};
use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;

use super::frame::{SubmessageKind, body_cursor, compose_words, flag};
use crate::field::{read_entity_id, read_valid_sequence_number, sequence_number_words};
use crate::parameter::ParameterList;

const FLAG_INLINE_QOS: u8 = 0x02;
pub(super) const FLAG_DATA: u8 = 0x04;
const FLAG_KEY: u8 = 0x08;
const FLAG_NON_STANDARD: u8 = 0x10;

/// Octets from behind the field octetsToInlineQos to the inline QoS.
pub(super) const TO_INLINE_QOS: u16 = 16;

/// What the payload of a [`Data`] or [`DataFrag`](super::DataFrag) is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Content {
    /// There is no payload.
    #[default]
    None,
    /// A serialized sample.
    Data,
    /// A serialized key.
    Key,
}

/// A change of a data object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data<'a> {
    /// Reader it is meant for; unknown means every matched one.
    pub reader: EntityId,
    /// Writer it comes from.
    pub writer: EntityId,
    /// Number of the change.
    pub number: SequenceNumber,
    /// QoS and key hash that go with the change, in the byte order of the submessage.
    pub inline_qos: Option<ParameterList<'a>>,
    /// What the payload is.
    pub content: Content,
    /// The payload is not encoded as the standard says.
    pub non_standard_payload: bool,
    /// The payload with its encapsulation header and up to three octets of padding; empty for
    /// [`Content::None`].
    pub payload: &'a [u8],
}

impl<'a> Data<'a> {
    /// Reads the body of a DATA.
    ///
    /// # Errors
    /// Where both or impossible contents are flagged `EnumValue`, where octetsToInlineQos is too
    /// small `Length`, a number below 1 `SequenceNumber`, malformed inline QoS (see
    /// [`ParameterList::parse`]), `Truncated`. RTPS 2.5 §8.3.8.2.3.
    #[inline(always)]
    pub fn parse(flags: u8, body: &'a [u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        let content = match (flags & FLAG_DATA != 0, flags & FLAG_KEY != 0) {
            (false, false) => Content::None,
            (true, false) => Content::Data,
            (false, true) => Content::Key,
            (true, true) => return Err(cursor.reject(RejectKind::EnumValue)),
        };
        let past_known = skip_to_known(&mut cursor, TO_INLINE_QOS)?;
        let reader = read_entity_id(&mut cursor)?;
        let writer = read_entity_id(&mut cursor)?;
        let number = read_valid_sequence_number(&mut cursor)?;
        cursor.skip(past_known)?;
        let inline_qos = read_inline_qos(&mut cursor, flags & FLAG_INLINE_QOS != 0)?;
        Ok(Self {
            reader,
            writer,
            number,
            inline_qos,
            content,
            non_standard_payload: flags & FLAG_NON_STANDARD != 0,
            payload: match content {
                Content::None => &[],
                Content::Data | Content::Key => cursor.rest(),
            },
        })
    }

    /// Appends everything, with the payload padded to a multiple of four.
    ///
    /// The byte order is `endian` unless inline QoS in the other order goes with the change: then
    /// it is that one.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let padding = self.compose_head(out, endian, self.payload.len());
        out.extend_from_slice(self.payload);
        out.resize(out.len().saturating_add(padding), 0);
    }

    /// Appends everything up to the payload, for a payload of `payload_len` octets that the caller
    /// sends behind it from elsewhere ([`Data::payload`] is not looked at). Returns how many octets
    /// of padding must follow that payload. Byte order as for [`Data::compose`].
    ///
    /// A payload that makes the submessage longer than 65,535 octets makes it the last one of its
    /// message. RTPS 2.5 §9.4.5.1.3.
    pub fn compose_head(&self, out: &mut Vec<u8>, endian: Endian, payload_len: usize) -> usize {
        let padding = padding(payload_len, 4);
        let content_flag = match self.content {
            Content::None => 0,
            Content::Data => FLAG_DATA,
            Content::Key => FLAG_KEY,
        };
        let flags = content_flag
            | flag(FLAG_INLINE_QOS, self.inline_qos.is_some())
            | flag(FLAG_NON_STANDARD, self.non_standard_payload);
        let follows = payload_len.saturating_add(padding);
        let endian = self.inline_qos.map_or(endian, |list| list.endian());
        let list = self.inline_qos.map_or(&[][..], |list| list.as_bytes());
        let follows = follows.saturating_add(list.len());
        let [high, low] = sequence_number_words(endian, self.number);
        let [[a, b], [c, d]] = [0, TO_INLINE_QOS].map(|it| endian.u16_bytes(it));
        let words = [[a, b, c, d], self.reader.0, self.writer.0, high, low];
        compose_words(out, endian, SubmessageKind::DATA, flags, follows, words);
        out.extend_from_slice(list);
        padding
    }
}

/// Reads extraFlags and octetsToInlineQos; returns how many octets beyond the `known` ones lie
/// in front of the inline QoS: fields of a later minor version, to be skipped. RTPS 2.5 §9.4.5.4.2.
pub(super) fn skip_to_known(cursor: &mut ReadCursor<'_>, known: u16) -> Result<usize, Reject> {
    cursor.u16()?;
    let at = cursor.position();
    let octets = cursor.u16()?;
    match octets.checked_sub(known) {
        Some(unknown) => Ok(usize::from(unknown)),
        None => Err(Reject::new(RejectKind::Length, at)),
    }
}

#[inline(always)]
pub(super) fn read_inline_qos<'a>(
    cursor: &mut ReadCursor<'a>,
    present: bool,
) -> Result<Option<ParameterList<'a>>, Reject> {
    if !present {
        return Ok(None);
    }
    let at = cursor.position();
    let list = ParameterList::parse(cursor.rest(), cursor.endian())
        .map_err(|reject| reject.shifted(at))?;
    cursor.skip(list.encoded_len())?;
    Ok(Some(list))
}

pub(super) fn write_inline_qos(out: &mut WriteCursor<'_>, list: Option<ParameterList<'_>>) {
    if let Some(list) = list {
        out.bytes(list.as_bytes());
    }
}

impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DATA {} -> {} #{}",
            self.writer, self.reader, self.number
        )?;
        match self.content {
            Content::None => f.write_str(" no payload"),
            Content::Data => write!(f, " data {} octets", self.payload.len()),
            Content::Key => write!(f, " key {} octets", self.payload.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::parameter::{ParameterId, ParameterListWriter};
    use crate::testing::{only, refused, round_trip};

    // The plain sample of a Connext-style writer: user writer 0x80000002 to anybody, number 1.
    const GOLDEN: &[u8] = &[
        0x15, 0x05, 0x1c, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00,
        0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x2a, 0x00,
        0x00, 0x00,
    ];

    fn golden() -> Data<'static> {
        Data {
            reader: EntityId::UNKNOWN,
            writer: EntityId([0x80, 0, 0, 2]),
            number: SequenceNumber(1),
            inline_qos: None,
            content: Content::Data,
            non_standard_payload: false,
            payload: &[0, 1, 0, 0, 0x2a, 0, 0, 0],
        }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(only(GOLDEN), Ok(Submessage::Data(golden())));
        let mut out = Vec::new();
        golden().compose(&mut out, Endian::Little);
        assert_eq!(out, GOLDEN);
    }

    #[test]
    fn a_gathered_head_is_the_same_message() {
        for len in 0..9 {
            let payload = &b"01234567"[..len];
            let data = Data {
                payload,
                ..golden()
            };
            let mut whole = Vec::new();
            data.compose(&mut whole, Endian::Little);
            let mut gathered = Vec::new();
            let head = Data {
                payload: &[],
                ..data
            };
            let padding = head.compose_head(&mut gathered, Endian::Little, len);
            gathered.extend_from_slice(payload);
            gathered.resize(gathered.len() + padding, 0);
            assert_eq!(gathered, whole);
        }
    }

    #[test]
    fn every_content_round_trips() {
        for content in [Content::None, Content::Data, Content::Key] {
            for endian in [Endian::Big, Endian::Little] {
                let mut qos = Vec::new();
                let mut list = ParameterListWriter::new(&mut qos, endian);
                list.put(ParameterId::STATUS_INFO, |out| out.bytes(&[0, 0, 0, 1]));
                list.finish().unwrap();
                let data = Data {
                    inline_qos: Some(ParameterList::parse(&qos, endian).unwrap()),
                    number: SequenceNumber(0x1_0000_0002),
                    content,
                    non_standard_payload: true,
                    payload: if content == Content::None {
                        &[]
                    } else {
                        b"payload!"
                    },
                    ..golden()
                };
                let compose = |out: &mut Vec<u8>, endian| data.compose(out, endian);
                round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                    *parsed == Submessage::Data(data)
                });
            }
        }
    }

    #[test]
    fn fields_of_the_future_are_skipped() {
        let mut bytes = GOLDEN.to_vec();
        bytes[2] += 4;
        bytes[6] += 4;
        for _ in 0..4 {
            bytes.insert(24, 0xee);
        }
        assert_eq!(only(&bytes), Ok(Submessage::Data(golden())));
    }

    #[test]
    fn impossible_data_is_refused() {
        let with = |at: usize, value: u8| {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] = value;
            bytes
        };
        refused(&with(1, 0x0d), RejectKind::EnumValue);
        refused(&with(6, 15), RejectKind::Length);
        refused(&with(7, 0xff), RejectKind::Truncated);
        refused(&with(20, 0), RejectKind::SequenceNumber);
        refused(&with(19, 0x80), RejectKind::SequenceNumber);
        // The payload is no inline QoS.
        refused(&with(1, 0x07), RejectKind::MissingSentinel);
    }

    #[test]
    fn a_giant_states_length_0() {
        let mut out = Vec::new();
        assert_eq!(golden().compose_head(&mut out, Endian::Little, 1 << 20), 0);
        assert_eq!(out[2..4], [0, 0]);
    }
}
