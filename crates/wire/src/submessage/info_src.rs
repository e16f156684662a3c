//! INFO_SRC: sender of the submessages that follow. RTPS 2.5 §8.3.8.9.5, §9.4.5.11.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::reject::Reject;
use whimbrel_base::vendor::{ProtocolVersion, VendorId};

use super::frame::{SubmessageKind, body_cursor, compose};
use crate::field::read_guid_prefix;

/// Sender of the submessages that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InfoSource {
    /// Protocol version of the sender.
    pub version: ProtocolVersion,
    /// Implementation of the sender.
    pub vendor: VendorId,
    /// Participant of the sender.
    pub prefix: GuidPrefix,
}

impl InfoSource {
    /// Reads the body of an INFO_SRC.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        cursor.skip(4)?;
        let [major, minor] = cursor.array()?;
        Ok(Self {
            version: ProtocolVersion { major, minor },
            vendor: VendorId(cursor.array()?),
            prefix: read_guid_prefix(&mut cursor)?,
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        compose(out, endian, SubmessageKind::INFO_SRC, 0, |out| {
            out.u32(0);
            out.bytes(&[self.version.major, self.version.minor]);
            out.bytes(&self.vendor.0);
            out.bytes(&self.prefix.0);
        });
    }
}

impl fmt::Display for InfoSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "INFO_SRC {} version {}.{} vendor {}",
            self.prefix,
            self.version.major,
            self.version.minor,
            self.vendor.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, round_trip};

    #[test]
    fn golden_bytes_and_round_trip() {
        let golden = *b"\x0c\x01\x14\x00\x00\x00\x00\x00\x02\x03\x01\x0fabcdefghijkl";
        let info = InfoSource {
            version: ProtocolVersion { major: 2, minor: 3 },
            vendor: VendorId::FAST_DDS,
            prefix: GuidPrefix(*b"abcdefghijkl"),
        };
        assert_eq!(only(&golden), Ok(Submessage::InfoSource(info)));
        let mut little = Vec::new();
        let compose = |out: &mut Vec<u8>, endian| info.compose(out, endian);
        round_trip([&mut Vec::new(), &mut little], compose, &|parsed| {
            *parsed == Submessage::InfoSource(info)
        });
        assert_eq!(little, golden);
    }
}
