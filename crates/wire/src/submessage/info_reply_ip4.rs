//! INFO_REPLY_IP4: where to answer, in the short form for IPv4. RTPS 2.5 §9.4.5.13.

use alloc::vec::Vec;
use core::fmt;
use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor};
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::Reject;

use super::frame::{SubmessageKind, body_cursor, compose, flag};

const FLAG_MULTICAST: u8 = 0x02;

/// An IPv4 address and port. RTPS 2.5 §9.3.2.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocatorUdpV4 {
    /// The address, its first octet the most significant one.
    pub address: u32,
    /// The port.
    pub port: u32,
}

impl LocatorUdpV4 {
    /// The same as a general locator; `None` for ports over 65,535.
    pub fn to_locator(self) -> Option<Locator> {
        let port = u16::try_from(self.port).ok()?;
        let address = SocketAddrV4::new(Ipv4Addr::from(self.address), port);
        Some(SocketAddr::V4(address).into())
    }

    fn parse(cursor: &mut ReadCursor<'_>) -> Result<Self, Reject> {
        Ok(Self {
            address: cursor.u32()?,
            port: cursor.u32()?,
        })
    }

    fn compose(self, out: &mut WriteCursor<'_>) {
        out.u32(self.address);
        out.u32(self.port);
    }
}

/// Where to answer the submessages that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InfoReplyIp4 {
    /// Unicast address.
    pub unicast: LocatorUdpV4,
    /// Multicast address.
    pub multicast: Option<LocatorUdpV4>,
}

impl InfoReplyIp4 {
    /// Reads the body of an INFO_REPLY_IP4.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let mut cursor = body_cursor(flags, body);
        Ok(Self {
            unicast: LocatorUdpV4::parse(&mut cursor)?,
            multicast: match flags & FLAG_MULTICAST {
                0 => None,
                _ => Some(LocatorUdpV4::parse(&mut cursor)?),
            },
        })
    }

    /// Appends the submessage.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let flags = flag(FLAG_MULTICAST, self.multicast.is_some());
        compose(out, endian, SubmessageKind::INFO_REPLY_IP4, flags, |out| {
            self.unicast.compose(out);
            if let Some(multicast) = self.multicast {
                multicast.compose(out);
            }
        });
    }
}

impl fmt::Display for InfoReplyIp4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("INFO_REPLY_IP4")?;
        for locator in [Some(self.unicast), self.multicast].into_iter().flatten() {
            write!(f, " {}:{}", Ipv4Addr::from(locator.address), locator.port)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, round_trip};

    const GOLDEN: &[u8] = &[
        0x0d, 0x00, 0x00, 0x08, 0x7f, 0x00, 0x00, 0x01, 0x00, 0x00, 0x1c, 0xf2,
    ];

    #[test]
    fn golden_bytes_and_round_trip() {
        let unicast = LocatorUdpV4 {
            address: 0x7f00_0001,
            port: 7410,
        };
        let info = InfoReplyIp4 {
            unicast,
            multicast: None,
        };
        assert_eq!(only(GOLDEN), Ok(Submessage::InfoReplyIp4(info)));
        let address = unicast.to_locator().and_then(Locator::to_socket_addr);
        assert_eq!(address, "127.0.0.1:7410".parse().ok());
        let both = InfoReplyIp4 {
            multicast: Some(unicast),
            ..info
        };
        for (info, golden) in [(info, Some(GOLDEN)), (both, None)] {
            let mut big = Vec::new();
            let compose = |out: &mut Vec<u8>, endian| info.compose(out, endian);
            round_trip([&mut big, &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::InfoReplyIp4(info)
            });
            assert!(golden.is_none_or(|golden| big == golden));
        }
    }
}
