//! The sockets of a participant, where they listen, and how one sends by them.

mod many;
mod sending;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use whimbrel_base::locator::Locator;
use whimbrel_base::sorted::SortedMap;
use whimbrel_net::interfaces::Interface;
use whimbrel_net::socket::{PortUse, UdpSocket};
use whimbrel_proto::Addresses;

use super::network::{DataGroup, Network, interface_addresses};
use super::opening::bind;
use super::outgoing::{Bulk, Outgoing};
use super::ports;
use super::sharing::Waiting;
use super::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use super::sync::{Arc, Mutex, Snapshot, lock};
use crate::domain::SegmentationOffload;

/// The group of discovery multicast. RTPS 2.5 §9.6.2.4.3.
const GROUP_V4: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

/// The same for IPv6, on which the standard is silent; other implementations use it too.
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0xffff, 0xefff, 1);

/// Paths remembered that carry less than their first link does.
const PATHS_MAX: usize = 1024;

/// Of so many messages to a group one leaves by loopback too where other interfaces carry it.
const LOOPBACK_TURNS: u64 = 5;

/// The open sockets of a participant.
pub(crate) struct Sockets {
    v4: Option<Outgoing>,
    v6: Option<Outgoing>,
    groups: Snapshot<Vec<Group>>,
    /// Held while an option of a socket is switched for one datagram.
    switching: Mutex<()>,
    /// The largest UDP payload that some addresses can be sent, in octets, found out by sending.
    paths: Mutex<SortedMap<IpAddr, u32>>,
    /// `paths` has changed since anybody looked.
    paths_changed: AtomicBool,
    bulk: Bulk,
    /// How much of a sample leaves by one call.
    pub(super) offload: SegmentationOffload,
    /// A message to several addresses leaves by one call.
    pub(super) sends_batches: bool,
    /// Datagrams that found no room in a send buffer for too long.
    pub(crate) dropped: AtomicU64,
    /// Datagrams that were too large for their path.
    pub(crate) oversize: AtomicU64,
    /// Datagrams sent, and their octets.
    pub(crate) sent: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
    /// The participant index whose ports are in use; `None` where all were taken.
    pub(crate) index: Option<u32>,
    /// Writers whose samples wait for others.
    pub(super) waiting: Waiting,
}

impl Sockets {
    /// Opens sockets on the first free participant index, or on any free port.
    ///
    /// # Errors
    /// No address family is usable or the system refuses.
    pub(crate) fn open(network: &Network, interfaces: &[Interface]) -> io::Result<Self> {
        let (v4, v6, index) = open_unicast(network)?;
        let sockets = Self {
            bulk: Bulk::new(&network.fittings),
            offload: network.fittings.offload,
            sends_batches: network.fittings.sends_batches,
            v4,
            v6,
            groups: Snapshot::default(),
            switching: Mutex::new(()),
            paths: Mutex::default(),
            paths_changed: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            oversize: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            index,
            waiting: Waiting::default(),
        };
        sockets.follow(network, interfaces);
        Ok(sockets)
    }

    /// Takes part in the groups on `interfaces` and no longer elsewhere, and forgets what was
    /// found out about paths. Returns sockets that are new.
    pub(crate) fn follow(
        &self,
        network: &Network,
        interfaces: &[Interface],
    ) -> Vec<Arc<UdpSocket>> {
        lock(&self.paths).clear();
        let unicast = self.v4.iter().chain(&self.v6);
        unicast.for_each(Outgoing::forget_ways);
        let old = self.groups();
        let mut new = Vec::new();
        let groups = group_addresses(network).filter_map(|at| {
            let addr = at.ip();
            let candidates = group_interfaces(network, interfaces, at);
            let known = old.iter().find(|group| group.at == at);
            if known.is_none() && candidates.is_empty() {
                return None;
            }
            let socket = match known {
                Some(known) => Arc::clone(&known.socket),
                None => {
                    let socket = open_group(network, at).ok()?;
                    new.push(Arc::clone(&socket));
                    socket
                }
            };
            let before = known.map_or(&[][..], |known| &known.interfaces);
            for gone in before {
                if !candidates.iter().any(|it| it.index == gone.index) {
                    // Of an interface that no longer exists the system has let go itself.
                    let _ = socket.leave(addr, gone);
                }
            }
            let joined = candidates.into_iter();
            let joined = joined.filter(|it| socket.join(addr, it).is_ok());
            Some(Group {
                at,
                interfaces: joined.cloned().collect(),
                socket,
                sent: AtomicU64::new(0),
            })
        });
        self.groups.store(Arc::new(groups.collect()));
        new
    }

    /// Nobody is reached at `addresses` any more.
    pub(crate) fn forget_ways_to(&self, addresses: &[SocketAddr]) {
        let unicast = self.v4.iter().chain(&self.v6);
        unicast.for_each(|it| it.forget_ways_to(addresses));
    }

    /// Every socket that receives.
    pub(crate) fn all(&self) -> Vec<Arc<UdpSocket>> {
        let groups = self.groups();
        let groups = groups.iter().map(|group| &group.socket);
        let unicast = self.v4.iter().chain(&self.v6).map(|it| &it.socket);
        unicast.chain(groups).cloned().collect()
    }

    /// The port of unicast messages.
    pub(crate) fn unicast_port(&self) -> Option<u16> {
        let first = self.v4.as_ref().or(self.v6.as_ref());
        first.map(|socket| socket.local_addr().port())
    }

    /// The groups joined for discovery.
    pub(crate) fn groups(&self) -> Arc<Vec<Group>> {
        self.groups.load_full()
    }

    /// The largest UDP payload for addresses that are known not to be reached by what their first
    /// link carries, in octets.
    fn paths(&self) -> Vec<(IpAddr, u32)> {
        lock(&self.paths)
            .iter()
            .map(|(ip, it)| (*ip, *it))
            .collect()
    }

    /// [`Sockets::paths`] has changed since news of it was taken.
    pub(crate) fn has_path_news(&self) -> bool {
        self.paths_changed.load(Ordering::Relaxed)
    }

    /// As [`Sockets::has_path_news`], once.
    pub(crate) fn take_path_news(&self) -> bool {
        self.paths_changed.swap(false, Ordering::SeqCst)
    }

    /// What the control machine is told while `interfaces` are in use.
    pub(crate) fn addresses(&self, network: &Network, interfaces: &[Interface]) -> Addresses {
        let groups = self.groups();
        let usable = groups.iter().filter(|group| !group.interfaces.is_empty());
        let (usable, for_data): (Vec<&Group>, Vec<&Group>) =
            usable.partition(|group| group.at.port() == ports::multicast(network.domain));
        let mut announce_to: Vec<Locator> = usable.iter().map(|it| it.at.into()).collect();
        // A group of this host means nothing to others, who would send to their own.
        let on_host = interfaces.iter().all(|it| it.is_loopback);
        let abroad = |groups: Vec<&Group>| -> Vec<Locator> {
            let groups = groups.iter().filter(|it| it.leaves_host() || on_host);
            groups.map(|it| it.at.into()).collect()
        };
        let multicast_on_host = !groups.iter().any(Group::leaves_host);
        announce_to.extend(&network.peers);
        let all = whimbrel_net::interfaces::list().unwrap_or_default();
        let own = all.iter().flat_map(|it| &it.addresses);
        let own = own.map(|address| address.ip).collect();
        Addresses {
            unicast: self.locators(interfaces),
            multicast: abroad(usable),
            user_multicast: abroad(for_data),
            multicast_on_host,
            announce_to,
            probe: network.probe_locators(interfaces, self.index),
            interfaces: interface_addresses(interfaces, network.packet_bytes_max),
            paths: self.paths(),
            own,
        }
    }

    /// Octets that the receive buffers hold, the smallest of them; zero where the system does not
    /// say.
    pub(crate) fn receive_buffer_bytes(&self) -> u32 {
        let sockets = self.all();
        let bytes = sockets.iter().map(|it| it.recv_buffer_bytes().unwrap_or(0));
        u32::try_from(bytes.min().unwrap_or(0)).unwrap_or(u32::MAX)
    }

    /// The unicast addresses to announce: each address of `interfaces` with our port.
    fn locators(&self, interfaces: &[Interface]) -> Vec<Locator> {
        let port =
            |socket: &Option<Outgoing>| socket.as_ref().map(|socket| socket.local_addr().port());
        let (v4, v6) = (port(&self.v4), port(&self.v6));
        let addresses = interfaces.iter().flat_map(|it| &it.addresses);
        addresses
            .filter(|address| !address.is_link_local())
            .filter_map(|address| {
                let port = if address.ip.is_ipv4() { v4 } else { v6 };
                port.map(|port| Locator::from(SocketAddr::new(address.ip, port)))
            })
            .collect()
    }
}

impl std::fmt::Debug for Sockets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.all().iter().map(|socket| socket.local_addr()))
            .finish()
    }
}

type Unicast = (Option<Outgoing>, Option<Outgoing>, Option<u32>);

fn open_unicast(network: &Network) -> io::Result<Unicast> {
    for index in 0..ports::INDEX_COUNT {
        let port = ports::unicast(network.domain, index);
        match bind_pair(network, port) {
            Ok((v4, v6)) => return Ok((v4, v6, Some(index))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    // The index is a convenience: others learn any port from our announcements.
    let (v4, v6) = bind_pair(network, 0)?;
    Ok((v4, v6, None))
}

/// One socket for each IP version in use.
type PerVersion = (Option<Outgoing>, Option<Outgoing>);

fn bind_pair(network: &Network, port: u16) -> io::Result<PerVersion> {
    let (any_v4, any_v6): (IpAddr, IpAddr) = if network.loopback_only {
        (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into())
    } else {
        (Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into())
    };
    let open = |ip: IpAddr, wanted: bool| {
        wanted
            .then(|| {
                bind(
                    &network.fittings,
                    SocketAddr::new(ip, port),
                    PortUse::Exclusive,
                )
            })
            .map(|bound| bound.map(|socket| Outgoing::new(socket, &network.fittings)))
            .transpose()
    };
    let v4 = open(any_v4, network.families.v4)?;
    let v6 = open(any_v6, network.families.v6)?;
    if v4.is_none() && v6.is_none() {
        return Err(io::Error::new(
            io::ErrorKind::AddrNotAvailable,
            "no IP version is in use",
        ));
    }
    Ok((v4, v6))
}

/// A multicast group that was joined for discovery, or for data.
pub(crate) struct Group {
    at: SocketAddr,
    socket: Arc<UdpSocket>,
    /// Where it was joined; may be nowhere at the moment.
    pub(crate) interfaces: Vec<Interface>,
    /// Messages sent to it.
    sent: AtomicU64,
}

impl Group {
    /// Others than those on this host may hear what is sent to it.
    fn leaves_host(&self) -> bool {
        self.interfaces.iter().any(|it| !it.is_loopback)
    }

    /// Where the next message to the group leaves. Participants on this host hear what leaves
    /// elsewhere too, unless they keep to loopback, so that is used now and then only.
    fn next_interfaces(&self) -> impl Iterator<Item = &Interface> {
        let turn = self.sent.fetch_add(1, Ordering::Relaxed);
        let loopback = !self.leaves_host() || turn.is_multiple_of(LOOPBACK_TURNS);
        self.interfaces
            .iter()
            .filter(move |it| loopback || !it.is_loopback)
    }
}

/// The groups to be joined where that is possible. RTPS 2.5 §9.6.2.4.
fn group_addresses(network: &Network) -> impl Iterator<Item = SocketAddr> {
    let standard = [IpAddr::from(GROUP_V4), IpAddr::from(GROUP_V6)];
    let data: &[IpAddr] = match &network.data_group {
        DataGroup::Off => &[],
        DataGroup::Standard => &standard,
        DataGroup::At(group) => std::slice::from_ref(group),
    };
    let (discovery, user) = (
        ports::multicast(network.domain),
        ports::user_multicast(network.domain),
    );
    let discovery = standard.map(|ip| SocketAddr::new(ip, discovery));
    let data: Vec<_> = data.iter().map(|ip| SocketAddr::new(*ip, user)).collect();
    discovery.into_iter().chain(data)
}

/// Those of `interfaces` on which the group `at` is to be joined. Data leaves once, so by loopback
/// only where there is nothing else.
fn group_interfaces<'a>(
    network: &Network,
    interfaces: &'a [Interface],
    at: SocketAddr,
) -> Vec<&'a Interface> {
    let v4 = at.is_ipv4();
    let families = network.families;
    let wanted = if v4 { families.v4 } else { families.v6 };
    let has_family = |it: &Interface| it.addresses.iter().any(|own| own.ip.is_ipv4() == v4);
    let mut chosen: Vec<&Interface> = interfaces
        .iter()
        .filter(|it| network.multicast && wanted && it.is_multicast && (v4 || !it.is_loopback))
        .filter(|it| has_family(it))
        .collect();
    if at.port() != ports::multicast(network.domain) && chosen.iter().any(|it| !it.is_loopback) {
        chosen.retain(|it| !it.is_loopback);
    }
    chosen
}

fn open_group(network: &Network, at: SocketAddr) -> io::Result<Arc<UdpSocket>> {
    let data = at.port() != ports::multicast(network.domain);
    let any: IpAddr = if network.loopback_only || (data && at.is_ipv4()) {
        // Nothing but what is sent to the group: other hosts can reach no socket of ours.
        at.ip()
    } else if at.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let local = SocketAddr::new(any, at.port());
    bind(&network.fittings, local, PortUse::Shared)
}
