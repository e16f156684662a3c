//! The header that every RTPS message begins with.

use alloc::vec::Vec;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::vendor::{ProtocolVersion, VendorId};

/// Sender of a message and the protocol it speaks. RTPS 2.5 §8.3.3, §9.4.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Protocol version of the sender.
    pub version: ProtocolVersion,
    /// Implementation of the sender.
    pub vendor: VendorId,
    /// Participant of the sender.
    pub prefix: GuidPrefix,
}

impl Header {
    /// Octets of an encoded header.
    pub const LEN: usize = 20;

    /// Reads the header at the start of `datagram`.
    ///
    /// # Errors
    /// `Truncated`, `NotRtps`, or `ProtocolVersion` for a major version other than 2.
    /// RTPS 2.5 §8.3.6.3.
    pub fn parse(datagram: &[u8]) -> Result<Self, Reject> {
        // The header's fields are octets, so the byte order does not matter.
        let mut cursor = ReadCursor::new(datagram, Endian::Big);
        if cursor.array()? != *b"RTPS" {
            return Err(Reject::new(RejectKind::NotRtps, 0));
        }
        let [major, minor] = cursor.array()?;
        if major != 2 {
            return Err(Reject::new(RejectKind::ProtocolVersion, 4));
        }
        Ok(Self {
            version: ProtocolVersion { major, minor },
            vendor: VendorId(cursor.array()?),
            prefix: GuidPrefix(cursor.array()?),
        })
    }

    /// Appends the twenty octets to `out`.
    pub fn compose(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"RTPS");
        out.extend_from_slice(&[self.version.major, self.version.minor]);
        out.extend_from_slice(&self.vendor.0);
        out.extend_from_slice(&self.prefix.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLONE: [u8; 20] = [
        0x52, 0x54, 0x50, 0x53, 2, 1, 1, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ];

    #[test]
    fn a_header_round_trips() {
        let header = Header::parse(&CYCLONE).unwrap();
        assert_eq!(header.vendor, VendorId::CYCLONE_DDS);
        assert_eq!(header.version, ProtocolVersion { major: 2, minor: 1 });
        let mut out = Vec::new();
        header.compose(&mut out);
        assert_eq!(out, CYCLONE);
    }

    #[test]
    fn what_is_not_rtps_2_is_refused() {
        for len in 0..CYCLONE.len() {
            let kind = Header::parse(&CYCLONE[..len]).unwrap_err().kind;
            assert_eq!(kind, RejectKind::Truncated);
        }
        let mut other = CYCLONE;
        other[3] = b'X';
        assert_eq!(Header::parse(&other).unwrap_err().kind, RejectKind::NotRtps);
        for major in [0, 1, 3, 255] {
            let mut other = CYCLONE;
            other[4] = major;
            let reject = Header::parse(&other).unwrap_err();
            assert_eq!(reject, Reject::new(RejectKind::ProtocolVersion, 4));
        }
    }
}
