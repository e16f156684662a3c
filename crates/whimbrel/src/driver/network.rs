//! Where a participant listens and whom it looks for, by the interfaces there are at the moment.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use whimbrel_base::locator::Locator;
use whimbrel_net::decorate::{Faults, Tap};
use whimbrel_net::interfaces::{Interface, InterfaceFilter};
use whimbrel_proto::InterfaceAddress;

use super::ports;
use crate::domain::{InProcess, SegmentationOffload, Waiting};

/// Largest packet taken for granted on links other than loopback where nothing else is said, in
/// octets: a neighbour may have less than we do.
pub(crate) const PACKET_BYTES_MAX: u32 = 1500;

/// The same on loopback.
const LOOPBACK_MTU_MAX: u32 = 65_535;

/// Wanted size of receive buffers where nothing else is said, in octets.
pub(crate) const RECEIVE_BUFFER_BYTES: usize = 4 << 20;

/// The same of send buffers.
pub(crate) const SEND_BUFFER_BYTES: usize = 1 << 20;

/// Which IP versions a participant uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Families {
    pub(crate) v4: bool,
    pub(crate) v6: bool,
}

/// What the settings say about the network; interfaces come and go, this stays.
pub(crate) struct Network {
    pub(crate) domain: u32,
    pub(crate) filter: InterfaceFilter,
    /// Nothing but loopback can ever be chosen, so no other address is bound.
    pub(crate) loopback_only: bool,
    pub(crate) multicast: bool,
    /// By which group readers are to be reached.
    pub(crate) data_group: DataGroup,
    pub(crate) probing: bool,
    pub(crate) families: Families,
    /// Largest packet for links other than loopback, in octets, as far as they carry it.
    pub(crate) packet_bytes_max: u32,
    /// What threads do that wait.
    pub(crate) waiting: Waiting,
    /// Explicit peers.
    pub(crate) peers: Vec<Locator>,
    /// How samples reach readers of this process.
    pub(crate) in_process: InProcess,
    /// Writers whose bundling is automatic have one.
    pub(crate) bundles: bool,
    pub(crate) fittings: Fittings,
}

/// What every socket is given.
#[derive(Clone, Default)]
pub(crate) struct Fittings {
    pub(crate) tap: Option<Arc<dyn Tap>>,
    pub(crate) faults: Option<Faults>,
    pub(crate) offload: SegmentationOffload,
    /// Addresses to which much is sent get sockets of their own.
    pub(crate) connects: bool,
    /// Parts of large samples leave for other hosts by a socket of low priority.
    pub(crate) sets_bulk_apart: bool,
    /// Several datagrams are received by one call.
    pub(crate) receives_batches: bool,
    /// A message to several addresses leaves by one call.
    pub(crate) sends_batches: bool,
    /// To how many octets buffers are raised; `None` leaves the system's own size.
    pub(crate) receive_buffer_bytes: Option<usize>,
    pub(crate) send_buffer_bytes: Option<usize>,
}

/// The group by which new samples come to readers, one datagram for all of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum DataGroup {
    /// None: they come to each by itself.
    #[default]
    Off,
    /// That of the standard, of each IP version. RTPS 2.5 §9.6.2.4.
    Standard,
    /// This one.
    At(IpAddr),
}

impl std::fmt::Display for DataGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Standard => f.write_str("on"),
            Self::At(group) => group.fmt(f),
        }
    }
}

impl Network {
    /// Those of the `existing` interfaces that are to be used, which may be none at the moment.
    pub(crate) fn select(&self, existing: &[Interface]) -> Vec<Interface> {
        let selection = self.filter.select(existing);
        selection.map_or_else(|_| Vec::new(), |it| it.interfaces)
    }

    /// How samples reach readers of this process: what captures and faults are to see goes by the
    /// network.
    pub(crate) fn in_process(&self) -> InProcess {
        let watched = self.fittings.tap.is_some() || self.fittings.faults.is_some();
        if watched {
            InProcess::Off
        } else {
            self.in_process
        }
    }

    /// The addresses of this host where others may listen.
    pub(crate) fn probe_locators(
        &self,
        interfaces: &[Interface],
        own_index: Option<u32>,
    ) -> Vec<Locator> {
        if !self.probing {
            return Vec::new();
        }
        let has_loopback = interfaces.iter().any(|it| it.is_loopback);
        let first = interfaces
            .iter()
            .find_map(Interface::first_v4)
            .map(IpAddr::V4);
        let v4 = if has_loopback {
            Some(Ipv4Addr::LOCALHOST.into())
        } else {
            first
        };
        let v6 = has_loopback.then_some(IpAddr::V6(Ipv6Addr::LOCALHOST));
        let targets = [
            v4.filter(|_| self.families.v4),
            v6.filter(|_| self.families.v6),
        ];
        (0..ports::INDEX_COUNT)
            .filter(|index| Some(*index) != own_index)
            .flat_map(|index| {
                let port = ports::unicast(self.domain, index);
                targets
                    .into_iter()
                    .flatten()
                    .map(move |ip| SocketAddr::new(ip, port).into())
            })
            .collect()
    }
}

/// Our own addresses as the control machine sees them, with packets of so many octets at most on
/// links other than loopback.
pub(crate) fn interface_addresses(
    interfaces: &[Interface],
    packet_bytes_max: u32,
) -> Vec<InterfaceAddress> {
    interfaces
        .iter()
        .flat_map(|it| {
            let most = if it.is_loopback {
                LOOPBACK_MTU_MAX
            } else {
                packet_bytes_max
            };
            it.addresses.iter().map(move |address| InterfaceAddress {
                ip: address.ip,
                prefix_len: address.prefix_bits,
                mtu: it.mtu_bytes.map_or(most, |mtu| mtu.min(most)),
                loopback: it.is_loopback,
            })
        })
        .collect()
}
