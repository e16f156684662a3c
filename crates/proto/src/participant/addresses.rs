//! Where a participant is on the network.

use alloc::vec::Vec;
use core::net::IpAddr;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::locator::Locator;

use crate::discovery::locators::InterfaceAddress;

/// Where a participant listens, whom it announces itself to, and how far its packets reach.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Addresses {
    /// Where our sockets listen.
    pub unicast: Vec<Locator>,
    /// Groups that we have joined for discovery traffic.
    pub multicast: Vec<Locator>,
    /// Groups that we have joined for data; empty unless that is wanted.
    pub user_multicast: Vec<Locator>,
    /// Multicast leaves by loopback only, so that it proves nothing of other hosts, and multicast
    /// that came from elsewhere proves nothing of ours.
    pub multicast_on_host: bool,
    /// Where every announcement goes: multicast groups and explicit peers.
    pub announce_to: Vec<Locator>,
    /// Addresses of this host where other participants may listen.
    pub probe: Vec<Locator>,
    /// Our own addresses.
    pub interfaces: Vec<InterfaceAddress>,
    /// Addresses that are not reached by what our link carries, and the largest UDP payload that
    /// reaches them without IP fragmentation, in octets.
    pub paths: Vec<(IpAddr, u32)>,
    /// Every address of this host, also those that we do not use but other programs may.
    pub own: Vec<IpAddr>,
}

/// What we announced and where we were before the last change: echoes of it still arrive.
#[derive(Debug, Default)]
pub(super) struct Former {
    pub(super) interfaces: Vec<InterfaceAddress>,
    pub(super) announcement: SharedBytes,
}
