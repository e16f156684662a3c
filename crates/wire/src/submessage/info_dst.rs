//! INFO_DST: receiver of the submessages that follow. RTPS 2.5 §8.3.8.9.2, §9.4.5.9.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::reject::Reject;

use super::frame::{SubmessageKind, body_cursor, compose};
use crate::field::read_guid_prefix;

/// Receiver of the submessages that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InfoDestination {
    /// The participant meant; unknown means everybody who receives the message.
    pub prefix: GuidPrefix,
}

impl InfoDestination {
    /// Reads the body of an INFO_DST.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let prefix = read_guid_prefix(&mut body_cursor(flags, body))?;
        Ok(Self { prefix })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        compose(out, endian, SubmessageKind::INFO_DST, 0, |out| {
            out.bytes(&self.prefix.0);
        });
    }
}

impl fmt::Display for InfoDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "INFO_DST {}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, round_trip};

    #[test]
    fn golden_bytes_and_round_trip() {
        let golden = *b"\x0e\x01\x0c\x00abcdefghijkl";
        let info = InfoDestination {
            prefix: GuidPrefix(*b"abcdefghijkl"),
        };
        assert_eq!(only(&golden), Ok(Submessage::InfoDestination(info)));
        let mut little = Vec::new();
        let compose = |out: &mut Vec<u8>, endian| info.compose(out, endian);
        round_trip([&mut Vec::new(), &mut little], compose, &|parsed| {
            *parsed == Submessage::InfoDestination(info)
        });
        assert_eq!(little, golden);
    }
}
