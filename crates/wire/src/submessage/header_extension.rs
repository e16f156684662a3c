//! Header extension: more about a message, directly behind its header. RTPS 2.5 §8.3.7, §9.4.5.2.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Timestamp;

use super::data::{read_inline_qos, write_inline_qos};
use super::frame::{SUBMESSAGE_HEADER_LEN, SubmessageKind, body_cursor, compose, flag};
use crate::checksum::crc32c;
use crate::field::{read_timestamp, write_timestamp};
use crate::header::Header;
use crate::parameter::ParameterList;

const FLAG_LENGTH: u8 = 0x02;
const FLAG_TIMESTAMP: u8 = 0x04;
const FLAG_U_EXTENSION: u8 = 0x08;
const FLAG_W_EXTENSION: u8 = 0x10;
const FLAGS_CHECKSUM: u8 = 0x60;
const FLAG_CRC_32C: u8 = 0x20;
const FLAG_CRC_64: u8 = 0x40;
const FLAG_PARAMETERS: u8 = 0x80;

/// More about a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeaderExtension<'a> {
    /// Octets of the whole message.
    pub message_len: Option<u32>,
    /// When the message was sent.
    pub timestamp: Option<Timestamp>,
    /// Four octets free to use.
    pub u_extension: Option<[u8; 4]>,
    /// Eight octets free to use.
    pub w_extension: Option<[u8; 8]>,
    /// Checksum over the whole message with the checksum's own octets 0.
    pub checksum: Option<Checksum>,
    /// Further parameters, in the byte order of the submessage.
    pub parameters: Option<ParameterList<'a>>,
}

/// Checksum of a message. RTPS 2.5 §8.3.7.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// CRC-32C, most significant octet first.
    Crc32c([u8; 4]),
    /// CRC-64/XZ.
    Crc64([u8; 8]),
    /// MD5.
    Md5([u8; 16]),
}

impl Checksum {
    const fn flags(&self) -> u8 {
        match self {
            Self::Crc32c(_) => FLAG_CRC_32C,
            Self::Crc64(_) => FLAG_CRC_64,
            Self::Md5(_) => FLAGS_CHECKSUM,
        }
    }

    const fn octets(&self) -> &[u8] {
        match self {
            Self::Crc32c(octets) => octets,
            Self::Crc64(octets) => octets,
            Self::Md5(octets) => octets,
        }
    }
}

impl<'a> HeaderExtension<'a> {
    /// Reads the body of a header extension. Parameters that must be understood are refused: none
    /// is defined yet.
    ///
    /// # Errors
    /// `MustUnderstand`, malformed parameters (see [`ParameterList::parse`]), `Truncated`.
    pub fn parse(flags: u8, body: &'a [u8]) -> Result<Self, Reject> {
        Self::parse_located(flags, body).map(|(extension, _)| extension)
    }

    /// Also says where in the body the checksum starts.
    fn parse_located(flags: u8, body: &'a [u8]) -> Result<(Self, usize), Reject> {
        let mut cursor = body_cursor(flags, body);
        let mut parsed = Self::default();
        if flags & FLAG_LENGTH != 0 {
            parsed.message_len = Some(cursor.u32()?);
        }
        if flags & FLAG_TIMESTAMP != 0 {
            parsed.timestamp = Some(read_timestamp(&mut cursor)?);
        }
        if flags & FLAG_U_EXTENSION != 0 {
            parsed.u_extension = Some(cursor.array()?);
        }
        if flags & FLAG_W_EXTENSION != 0 {
            parsed.w_extension = Some(cursor.array()?);
        }
        let checksum_at = cursor.position();
        parsed.checksum = match flags & FLAGS_CHECKSUM {
            0 => None,
            FLAG_CRC_32C => Some(Checksum::Crc32c(cursor.array()?)),
            FLAG_CRC_64 => Some(Checksum::Crc64(cursor.array()?)),
            _ => Some(Checksum::Md5(cursor.array()?)),
        };
        let at = cursor.position();
        parsed.parameters = read_inline_qos(&mut cursor, flags & FLAG_PARAMETERS != 0)?;
        let mut parameters = parsed.parameters.into_iter().flatten();
        if parameters.any(|parameter| parameter.id.must_be_understood()) {
            return Err(Reject::new(RejectKind::MustUnderstand, at));
        }
        Ok((parsed, checksum_at))
    }

    /// Appends the submessage. Byte order as for [`Data::compose`](super::Data::compose), with the
    /// parameters in place of inline QoS. An extension that says nothing is left out.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let flags = flag(FLAG_LENGTH, self.message_len.is_some())
            | flag(FLAG_TIMESTAMP, self.timestamp.is_some())
            | flag(FLAG_U_EXTENSION, self.u_extension.is_some())
            | flag(FLAG_W_EXTENSION, self.w_extension.is_some())
            | self.checksum.as_ref().map_or(0, Checksum::flags)
            | flag(FLAG_PARAMETERS, self.parameters.is_some());
        if flags == 0 {
            return;
        }
        let endian = self.parameters.map_or(endian, |list| list.endian());
        compose(
            out,
            endian,
            SubmessageKind::HEADER_EXTENSION,
            flags,
            |out| {
                if let Some(len) = self.message_len {
                    out.u32(len);
                }
                if let Some(timestamp) = self.timestamp {
                    write_timestamp(out, timestamp);
                }
                out.bytes(self.u_extension.as_ref().map_or(&[], |octets| octets));
                out.bytes(self.w_extension.as_ref().map_or(&[], |octets| octets));
                out.bytes(self.checksum.as_ref().map_or(&[], Checksum::octets));
                write_inline_qos(out, self.parameters);
            },
        );
    }

    /// Checks the stated length and CRC-32C of `message`, of which this extension is the first
    /// submessage. Other checksums are not checked: their algorithms stay out of this crate.
    ///
    /// # Errors
    /// `Integrity`.
    pub(crate) fn verify(flags: u8, body: &'a [u8], message: &[u8]) -> Result<(), Reject> {
        let (parsed, checksum_at) = Self::parse_located(flags, body)?;
        let wrong = Reject::new(RejectKind::Integrity, Header::LEN);
        if parsed
            .message_len
            .is_some_and(|len| len as usize != message.len())
        {
            return Err(wrong);
        }
        let Some(Checksum::Crc32c(stated)) = parsed.checksum else {
            return Ok(());
        };
        let at = checksum_at.saturating_add(Header::LEN.saturating_add(SUBMESSAGE_HEADER_LEN));
        let before = message.get(..at).unwrap_or_default();
        let behind = message.get(at.saturating_add(4)..).unwrap_or_default();
        let computed = crc32c([before, &[0; 4], behind]);
        // Peers differ in the order of the four octets.
        if [computed, computed.swap_bytes()].contains(&u32::from_be_bytes(stated)) {
            Ok(())
        } else {
            Err(wrong)
        }
    }
}

impl fmt::Display for HeaderExtension<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HEADER_EXTENSION")?;
        if let Some(len) = self.message_len {
            write!(f, " {len} octets")?;
        }
        if let Some(timestamp) = self.timestamp {
            write!(f, " sent {timestamp:?}")?;
        }
        if let Some(checksum) = self.checksum {
            write!(f, " {checksum:02x?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Submessage, Submessages};
    use crate::parameter::{ParameterId, ParameterListWriter};
    use crate::testing::{MESSAGE_HEADER, refused, round_trip};

    #[test]
    fn every_field_round_trips() {
        let full = HeaderExtension {
            message_len: Some(77),
            timestamp: Some(Timestamp(1_700_000_000_500_000_000)),
            u_extension: Some([1, 2, 3, 4]),
            w_extension: Some([1, 2, 3, 4, 5, 6, 7, 8]),
            checksum: None,
            parameters: None,
        };
        for endian in [Endian::Big, Endian::Little] {
            let mut list = Vec::new();
            let mut writer = ParameterListWriter::new(&mut list, endian);
            writer.put(ParameterId(0x8005), |out| out.u32(5));
            writer.finish().unwrap();
            let parameters = Some(ParameterList::parse(&list, endian).unwrap());
            for extension in [
                full,
                HeaderExtension {
                    checksum: Some(Checksum::Crc64([9; 8])),
                    ..full
                },
                HeaderExtension {
                    checksum: Some(Checksum::Md5([9; 16])),
                    parameters,
                    ..full
                },
                HeaderExtension {
                    w_extension: Some([7; 8]),
                    ..HeaderExtension::default()
                },
            ] {
                let compose = |out: &mut Vec<u8>, endian| extension.compose(out, endian);
                round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                    *parsed == Submessage::HeaderExtension(extension)
                });
            }
        }
    }

    #[test]
    fn parameters_that_must_be_understood_are_refused() {
        let bytes = [0x00, 0x81, 8, 0, 0x01, 0x40, 0, 0, 1, 0, 0, 0];
        refused(&bytes, RejectKind::MustUnderstand);
    }

    fn message(len: u32, checksum: [u8; 4]) -> Vec<u8> {
        let mut message = Vec::from(MESSAGE_HEADER);
        let extension = HeaderExtension {
            message_len: Some(len),
            checksum: Some(Checksum::Crc32c(checksum)),
            ..HeaderExtension::default()
        };
        extension.compose(&mut message, Endian::Little);
        message
    }

    #[test]
    fn length_and_checksum_are_verified() {
        let crc = crc32c([message(32, [0; 4]).as_slice()]);
        for octets in [crc.to_be_bytes(), crc.to_le_bytes()] {
            let good = message(32, octets);
            let (_, submessages) = Submessages::new(&good).unwrap();
            assert_eq!(submessages.count(), 1);
            for at in (8..good.len()).filter(|at| !(20..24).contains(at)) {
                let mut bad = good.clone();
                bad[at] ^= 0x10;
                let reject = Submessages::new(&bad).unwrap_err();
                assert_eq!(reject.kind, RejectKind::Integrity, "{at}");
            }
        }
        let mut longer = message(32, crc.to_be_bytes());
        longer.extend_from_slice(&[1, 1, 0, 0]);
        let reject = Submessages::new(&longer).unwrap_err();
        assert_eq!(reject.kind, RejectKind::Integrity);
    }
}
