//! Cuts a datagram into submessages and parses them.
//!
//! ```text
//! Submessages::new(datagram) -> Header, then RawSubmessage … -> RawSubmessage::parse -> Submessage
//! ```
//!
//! RTPS 2.5 §8.3.4.1: submessages of unknown kinds are skipped ([`Submessage::Unknown`], to be
//! counted); a submessage that is not valid ends the message for its receiver.

use core::fmt;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::header::Header;
use crate::submessage::frame::{FLAG_ENDIAN, SUBMESSAGE_HEADER_LEN};
use crate::submessage::{
    AckNack, Data, DataBatch, DataFrag, Gap, HeaderExtension, Heartbeat, HeartbeatBatch,
    HeartbeatFrag, InfoDestination, InfoReply, InfoReplyIp4, InfoSource, InfoTimestamp, NackFrag,
    Pad, SubmessageKind,
};

/// Iterates over the submessages of a datagram without parsing their bodies.
///
/// Ends behind the first submessage whose stated length does not fit.
#[derive(Clone, Debug)]
pub struct Submessages<'a> {
    datagram: &'a [u8],
    position: usize,
}

impl<'a> Submessages<'a> {
    /// Reads the header of `datagram`; where a header extension follows it, also checks the length
    /// and the CRC-32C that it states.
    ///
    /// # Errors
    /// Those of [`Header::parse`], and `Integrity`.
    #[inline(always)]
    pub fn new(datagram: &'a [u8]) -> Result<(Header, Self), Reject> {
        let header = Header::parse(datagram)?;
        let submessages = Self {
            datagram,
            position: Header::LEN,
        };
        if datagram.get(Header::LEN) == Some(&SubmessageKind::HEADER_EXTENSION.0) {
            // A malformed extension is refused where it is iterated over.
            if let Some(Ok(first)) = submessages.clone().next() {
                match HeaderExtension::verify(first.flags, first.body, datagram) {
                    Err(reject) if reject.kind == RejectKind::Integrity => return Err(reject),
                    _ => {}
                }
            }
        }
        Ok((header, submessages))
    }

    /// True when no submessage is left.
    #[inline]
    pub const fn is_at_end(&self) -> bool {
        self.position >= self.datagram.len()
    }

    #[inline(always)]
    fn read(&mut self) -> Result<RawSubmessage<'a>, Reject> {
        let rest = self.datagram.get(self.position..).unwrap_or_default();
        let mut cursor = ReadCursor::new(rest, Endian::Big);
        let kind = SubmessageKind(cursor.u8()?);
        let flags = cursor.u8()?;
        cursor.set_endian(Endian::from_flag(flags & FLAG_ENDIAN != 0));
        let len = match cursor.u16()? {
            0 if !kind.may_be_empty() => cursor.remaining(),
            len => usize::from(len),
        };
        let body = cursor.bytes(len)?;
        let offset = self.position.saturating_add(SUBMESSAGE_HEADER_LEN);
        self.position = self.position.saturating_add(cursor.position());
        Ok(RawSubmessage {
            kind,
            flags,
            body,
            offset,
        })
    }
}

impl<'a> Iterator for Submessages<'a> {
    type Item = Result<RawSubmessage<'a>, Reject>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_at_end() {
            return None;
        }
        let at = self.position;
        let outcome = self.read().map_err(|reject| reject.shifted(at));
        if outcome.is_err() {
            self.position = self.datagram.len();
        }
        Some(outcome)
    }
}

/// A submessage whose body was not parsed yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawSubmessage<'a> {
    /// What it is.
    pub kind: SubmessageKind,
    /// Its flags, the meaning of which depends on the kind.
    pub flags: u8,
    /// What follows the submessage header.
    pub body: &'a [u8],
    /// Where in the datagram the body starts.
    pub offset: usize,
}

impl<'a> RawSubmessage<'a> {
    /// Parses the body.
    ///
    /// # Errors
    /// Those of the kind's own `parse`, with offsets from the start of the datagram.
    #[inline]
    pub fn parse(&self) -> Result<Submessage<'a>, Reject> {
        Submessage::parse(self.kind, self.flags, self.body)
            .map_err(|reject| reject.shifted(self.offset))
    }

    /// As one of a kind that is not known.
    pub const fn unparsed(&self) -> Submessage<'a> {
        Submessage::Unknown {
            kind: self.kind,
            flags: self.flags,
            body: self.body,
        }
    }
}

/// A parsed submessage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Submessage<'a> {
    /// A change.
    Data(Data<'a>),
    /// Many changes.
    DataBatch(DataBatch<'a>),
    /// Fragments of a change.
    DataFrag(DataFrag<'a>),
    /// What a writer has.
    Heartbeat(Heartbeat),
    /// Which batches a writer has.
    HeartbeatBatch(HeartbeatBatch),
    /// Which fragments of a change a writer has.
    HeartbeatFrag(HeartbeatFrag),
    /// What a reader has and lacks.
    AckNack(AckNack),
    /// Which fragments of a change a reader lacks.
    NackFrag(NackFrag),
    /// What a reader need not wait for.
    Gap(Gap),
    /// Time of what follows.
    InfoTimestamp(InfoTimestamp),
    /// Receiver of what follows.
    InfoDestination(InfoDestination),
    /// Sender of what follows.
    InfoSource(InfoSource),
    /// Where to answer.
    InfoReply(InfoReply),
    /// Where to answer, IPv4 only.
    InfoReplyIp4(InfoReplyIp4),
    /// More about the message.
    HeaderExtension(HeaderExtension<'a>),
    /// Nothing.
    Pad(Pad),
    /// A kind that this crate does not know, to be skipped and counted. RTPS 2.5 §8.3.4.1.
    Unknown {
        /// Which kind.
        kind: SubmessageKind,
        /// Its flags.
        flags: u8,
        /// What follows the submessage header.
        body: &'a [u8],
    },
}

impl<'a> Submessage<'a> {
    /// Parses the body of a submessage.
    ///
    /// # Errors
    /// Those of the kind's own `parse`, with offsets from the start of the body.
    pub fn parse(kind: SubmessageKind, flags: u8, body: &'a [u8]) -> Result<Self, Reject> {
        Ok(match kind {
            SubmessageKind::DATA => Self::Data(Data::parse(flags, body)?),
            SubmessageKind::DATA_FRAG => Self::DataFrag(DataFrag::parse(flags, body)?),
            SubmessageKind::DATA_BATCH => Self::DataBatch(DataBatch::parse(flags, body)?),
            SubmessageKind::HEARTBEAT_BATCH => {
                Self::HeartbeatBatch(HeartbeatBatch::parse(flags, body)?)
            }
            SubmessageKind::HEARTBEAT => Self::Heartbeat(Heartbeat::parse(flags, body)?),
            SubmessageKind::HEARTBEAT_FRAG => {
                Self::HeartbeatFrag(HeartbeatFrag::parse(flags, body)?)
            }
            SubmessageKind::ACKNACK => Self::AckNack(AckNack::parse(flags, body)?),
            SubmessageKind::NACK_FRAG => Self::NackFrag(NackFrag::parse(flags, body)?),
            SubmessageKind::GAP => Self::Gap(Gap::parse(flags, body)?),
            SubmessageKind::INFO_TS => Self::InfoTimestamp(InfoTimestamp::parse(flags, body)?),
            SubmessageKind::INFO_DST => Self::InfoDestination(InfoDestination::parse(flags, body)?),
            SubmessageKind::INFO_SRC => Self::InfoSource(InfoSource::parse(flags, body)?),
            SubmessageKind::INFO_REPLY => Self::InfoReply(InfoReply::parse(flags, body)?),
            SubmessageKind::INFO_REPLY_IP4 => Self::InfoReplyIp4(InfoReplyIp4::parse(flags, body)?),
            SubmessageKind::HEADER_EXTENSION => {
                Self::HeaderExtension(HeaderExtension::parse(flags, body)?)
            }
            SubmessageKind::PAD => Self::Pad(Pad::parse(body)),
            kind => Self::Unknown { kind, flags, body },
        })
    }
}

impl fmt::Display for Submessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(it) => it.fmt(f),
            Self::DataBatch(it) => it.fmt(f),
            Self::DataFrag(it) => it.fmt(f),
            Self::Heartbeat(it) => it.fmt(f),
            Self::HeartbeatBatch(it) => it.fmt(f),
            Self::HeartbeatFrag(it) => it.fmt(f),
            Self::AckNack(it) => it.fmt(f),
            Self::NackFrag(it) => it.fmt(f),
            Self::Gap(it) => it.fmt(f),
            Self::InfoTimestamp(it) => it.fmt(f),
            Self::InfoDestination(it) => it.fmt(f),
            Self::InfoSource(it) => it.fmt(f),
            Self::InfoReply(it) => it.fmt(f),
            Self::InfoReplyIp4(it) => it.fmt(f),
            Self::HeaderExtension(it) => it.fmt(f),
            Self::Pad(it) => it.fmt(f),
            Self::Unknown { kind, flags, body } => {
                write!(f, "{kind} flags {flags:#04x} {} octets", body.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::testing::MESSAGE_HEADER;

    fn message(submessages: &[u8]) -> Vec<u8> {
        [&MESSAGE_HEADER, submessages].concat()
    }

    fn kinds(submessages: &[u8]) -> Vec<Result<(u8, usize), Reject>> {
        let message = message(submessages);
        let (_, submessages) = Submessages::new(&message).unwrap();
        let summary = |raw: RawSubmessage<'_>| (raw.kind.0, raw.body.len());
        submessages.map(|raw| raw.map(summary)).collect()
    }

    #[test]
    fn byte_order_may_change_within_a_message() {
        let found = kinds(&[
            0x80, 0x00, 0, 4, 1, 2, 3, 4, // vendor's, big-endian
            0x44, 0x01, 3, 0, 1, 2, 3, // unknown, little-endian, not aligned
            0x01, 0x00, 0, 0, // pad without body
            0x09, 0x03, 0, 0, // info_ts without body
        ]);
        let expected = [(0x80, 4), (0x44, 3), (0x01, 0), (0x09, 0)].map(Ok);
        assert_eq!(found, expected);
    }

    #[test]
    fn length_0_means_up_to_the_end() {
        let found = kinds(&[0x15, 0x05, 0, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(found, [Ok((0x15, 6))]);
    }

    #[test]
    fn lengths_past_the_end_are_refused_once() {
        let found = kinds(&[0x01, 0x01, 0, 0, 0x15, 0x05, 3, 0, 1, 2]);
        let refusal = Reject::new(RejectKind::Truncated, 28);
        assert_eq!(found, [Ok((1, 0)), Err(refusal)]);
        let found = kinds(&[0x01, 0x01, 0]);
        assert_eq!(found.len(), 1);
        assert!(found[0].is_err());
    }

    #[test]
    fn refusals_say_where_in_the_datagram() {
        let mut bytes = message(&[0x01, 0x01, 0, 0, 0x0e, 0x01, 4, 0]);
        bytes.extend_from_slice(&[0; 4]);
        let (_, mut submessages) = Submessages::new(&bytes).unwrap();
        submessages.next();
        let raw = submessages.next().unwrap().unwrap();
        assert_eq!(raw.parse(), Err(Reject::new(RejectKind::Truncated, 28)));
    }
}
