//! The network interfaces of this host, and choosing among them.
//!
//! This module looks at the host once per call and keeps nothing. Whoever reads the environment
//! hands the text to [`InterfaceFilter`]'s `FromStr`.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

mod filter;
mod watch;
pub use filter::{FilterError, InterfaceFilter, NothingSelected, Selection};
pub use watch::InterfaceWatch;

use crate::sys;

/// An address of an interface, with its network.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InterfaceAddress {
    /// The address.
    pub ip: IpAddr,
    /// How many leading bits of it name the network.
    pub prefix_bits: u8,
}

impl InterfaceAddress {
    /// True for IPv6 addresses that mean something only together with their interface.
    pub fn is_link_local(&self) -> bool {
        matches!(self.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
    }
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix_bits)
    }
}

/// A network interface that has at least one address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its name: `lo`, `eth0`.
    pub name: String,
    /// Its number in this system, also the scope of its link-local IPv6 addresses.
    pub index: u32,
    /// Its addresses, IPv4 first.
    pub addresses: Vec<InterfaceAddress>,
    /// It stays inside this host.
    pub is_loopback: bool,
    /// It is switched on and has a carrier.
    pub is_up: bool,
    /// It says that it can carry multicast. Loopback interfaces of Linux do not unless they are
    /// told to (`ip link set lo multicast on`).
    pub is_multicast: bool,
    /// The largest IP packet on its link, in octets; `None` where the platform does not tell.
    pub mtu_bytes: Option<u32>,
}

impl Interface {
    /// Its first IPv4 address.
    pub fn first_v4(&self) -> Option<Ipv4Addr> {
        self.addresses.iter().find_map(|address| match address.ip {
            IpAddr::V4(ip) => Some(ip),
            IpAddr::V6(_) => None,
        })
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.name)?;
        if !self.is_up {
            f.write_str("down, ")?;
        }
        for (position, address) in self.addresses.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{address}")?;
        }
        f.write_str(")")
    }
}

/// All interfaces of this host that have an address, also those that are down, ordered by index.
///
/// # Errors
/// The system does not tell.
pub fn list() -> io::Result<Vec<Interface>> {
    let mut interfaces: Vec<Interface> = Vec::new();
    for found in if_addrs::get_if_addrs()? {
        let address = InterfaceAddress {
            ip: found.ip(),
            prefix_bits: match &found.addr {
                if_addrs::IfAddr::V4(v4) => v4.prefixlen,
                if_addrs::IfAddr::V6(v6) => v6.prefixlen,
            },
        };
        if let Some(known) = interfaces.iter_mut().find(|known| known.name == found.name) {
            known.addresses.push(address);
            continue;
        }
        let flags = sys::interface_flags(&found.name).unwrap_or(sys::InterfaceFlags {
            is_up: !matches!(
                found.oper_status,
                if_addrs::IfOperStatus::Down | if_addrs::IfOperStatus::NotPresent
            ),
            is_loopback: found.is_loopback(),
            is_multicast: !found.is_p2p(),
        });
        let mtu_bytes = sys::interface_mtu_bytes(&found.name);
        interfaces.push(Interface {
            index: found.index.unwrap_or(0),
            name: found.name,
            addresses: vec![address],
            is_loopback: flags.is_loopback,
            is_up: flags.is_up,
            is_multicast: flags.is_multicast,
            mtu_bytes,
        });
    }
    for interface in &mut interfaces {
        interface
            .addresses
            .sort_by_key(|address| address.ip.is_ipv6());
    }
    interfaces.sort_by_key(|interface| interface.index);
    Ok(interfaces)
}

#[cfg(test)]
mod tests;
