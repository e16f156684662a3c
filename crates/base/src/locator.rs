//! Addresses on which participants and endpoints listen.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Transport of a [`Locator`]. RTPS 2.5 §9.3.2.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocatorKind(pub i32);

impl LocatorKind {
    /// Not usable.
    pub const INVALID: Self = Self(-1);
    /// Reserved.
    pub const RESERVED: Self = Self(0);
    /// UDP over IPv4.
    pub const UDP_V4: Self = Self(1);
    /// UDP over IPv6.
    pub const UDP_V6: Self = Self(2);
}

/// An address on which somebody listens. RTPS 2.5 §8.3.5.11, §9.3.2.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// Transport.
    pub kind: LocatorKind,
    /// Port; 0 is not usable.
    pub port: u32,
    /// IPv6 address, or IPv4 address in the last four octets.
    pub address: [u8; 16],
}

impl Locator {
    /// LOCATOR_INVALID.
    pub const INVALID: Self = Self {
        kind: LocatorKind::INVALID,
        port: 0,
        address: [0; 16],
    };

    /// The address as the sockets know it; `None` for other transports, port 0 or ports over
    /// 65,535.
    pub fn to_socket_addr(self) -> Option<SocketAddr> {
        let port = u16::try_from(self.port).ok().filter(|port| *port != 0)?;
        let ip = match self.kind {
            LocatorKind::UDP_V4 => {
                let [.., a, b, c, d] = self.address;
                IpAddr::V4(Ipv4Addr::new(a, b, c, d))
            }
            LocatorKind::UDP_V6 => IpAddr::V6(Ipv6Addr::from(self.address)),
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    }

    /// True for UDP multicast groups.
    pub fn is_multicast(self) -> bool {
        self.ip().is_some_and(|ip| ip.is_multicast())
    }

    /// True for addresses that mean this host.
    pub fn is_loopback(self) -> bool {
        self.ip().is_some_and(|ip| ip.is_loopback())
    }

    /// The IP address, whatever the port; `None` for other transports.
    pub fn ip(self) -> Option<IpAddr> {
        Self { port: 1, ..self }
            .to_socket_addr()
            .map(|addr| addr.ip())
    }
}

impl From<SocketAddr> for Locator {
    fn from(value: SocketAddr) -> Self {
        let (kind, address) = match value.ip() {
            IpAddr::V4(ip) => {
                let [a, b, c, d] = ip.octets();
                (
                    LocatorKind::UDP_V4,
                    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d],
                )
            }
            IpAddr::V6(ip) => (LocatorKind::UDP_V6, ip.octets()),
        };
        Self {
            kind,
            port: u32::from(value.port()),
            address,
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.ip()) {
            (LocatorKind::UDP_V4, Some(ip)) => write!(f, "udp/{ip}:{}", self.port),
            (LocatorKind::UDP_V6, Some(ip)) => write!(f, "udp/[{ip}]:{}", self.port),
            _ => write!(f, "kind{}/port{}", self.kind.0, self.port),
        }
    }
}

impl fmt::Debug for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn socket_addresses_round_trip() {
        for text in ["127.0.0.1:7410", "239.255.0.1:7400", "[::1]:9000"] {
            let addr: SocketAddr = text.parse().unwrap();
            assert_eq!(Locator::from(addr).to_socket_addr(), Some(addr));
        }
        let multicast = Locator::from("239.255.0.1:7400".parse::<SocketAddr>().unwrap());
        assert!(multicast.is_multicast());
        assert_eq!(multicast.to_string(), "udp/239.255.0.1:7400");
    }

    #[test]
    fn unusable_locators_have_no_address() {
        let good = Locator::from("127.0.0.1:7410".parse::<SocketAddr>().unwrap());
        assert_eq!(Locator { port: 0, ..good }.to_socket_addr(), None);
        assert_eq!(
            Locator {
                port: 65_536,
                ..good
            }
            .to_socket_addr(),
            None
        );
        assert_eq!(Locator::INVALID.to_socket_addr(), None);
    }
}
