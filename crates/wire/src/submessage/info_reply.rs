//! INFO_REPLY: where to answer. RTPS 2.5 §8.3.8.9.3, §9.4.5.10.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::Reject;

use super::frame::{SubmessageKind, body_cursor, compose, flag};
use crate::field::{read_locator_list, write_locator_list};

const FLAG_MULTICAST: u8 = 0x02;

/// Where to answer the submessages that follow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InfoReply {
    /// Unicast addresses, at most 256.
    pub unicast: Vec<Locator>,
    /// Multicast addresses, at most 256.
    pub multicast: Option<Vec<Locator>>,
}

impl InfoReply {
    /// Reads the body of an INFO_REPLY.
    ///
    /// # Errors
    /// `Limit` for a list of more than 256 locators, `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        Ok(Self {
            unicast: read_locator_list(&mut cursor)?,
            multicast: match flags & FLAG_MULTICAST {
                0 => None,
                _ => Some(read_locator_list(&mut cursor)?),
            },
        })
    }

    /// Appends the submessage; locators past the 256th of a list are left out.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let flags = flag(FLAG_MULTICAST, self.multicast.is_some());
        compose(out, endian, SubmessageKind::INFO_REPLY, flags, |out| {
            write_locator_list(out, &self.unicast);
            if let Some(multicast) = &self.multicast {
                write_locator_list(out, multicast);
            }
        });
    }
}

impl fmt::Display for InfoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("INFO_REPLY")?;
        for locator in self.unicast.iter().chain(self.multicast.iter().flatten()) {
            write!(f, " {locator}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::net::SocketAddr;

    use whimbrel_base::reject::RejectKind;

    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    const GOLDEN: &[u8] = &[
        0x0f, 0x01, 0x1c, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xf2, 0x1c, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f, 0x00,
        0x00, 0x01,
    ];

    fn locator(text: &str) -> Locator {
        text.parse::<SocketAddr>().unwrap().into()
    }

    #[test]
    fn golden_bytes() {
        let unicast = Vec::from([locator("127.0.0.1:7410")]);
        let info = InfoReply {
            unicast,
            multicast: None,
        };
        let mut out = Vec::new();
        info.compose(&mut out, Endian::Little);
        assert_eq!(out, GOLDEN);
        assert_eq!(only(GOLDEN), Ok(Submessage::InfoReply(info)));
    }

    #[test]
    fn lists_round_trip() {
        let info = InfoReply {
            unicast: Vec::from([locator("[::1]:7411"), Locator::INVALID]),
            multicast: Some(Vec::from([locator("239.255.0.1:7400")])),
        };
        let compose = |out: &mut Vec<u8>, endian| info.compose(out, endian);
        round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
            *parsed == Submessage::InfoReply(info.clone())
        });
    }

    #[test]
    fn counts_are_not_trusted() {
        let mut bytes = GOLDEN.to_vec();
        bytes[4] = 2;
        refused(&bytes, RejectKind::Truncated);
        bytes[7] = 0xff;
        refused(&bytes, RejectKind::Limit);
    }
}
