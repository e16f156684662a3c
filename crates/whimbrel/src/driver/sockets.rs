//! The sockets of a participant, and where they listen.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use whimbrel_base::locator::Locator;
use whimbrel_net::decorate::{Faults, Tap};
use whimbrel_net::interfaces::Interface;
use whimbrel_net::poll::{Events, Interest, Poller, Token, Trigger};
use whimbrel_net::socket::{PortUse, SendOutcome, UdpSocket};
use whimbrel_proto::Outbox;

use super::ports;
use super::wake::lock;

/// The group of discovery multicast. RTPS 2.5 §9.6.2.4.3.
const GROUP_V4: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);

/// The same for IPv6, on which the standard is silent; other implementations use it too.
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0xffff, 0xefff, 1);

/// Wanted size of receive buffers, in octets.
const RECV_BUFFER_BYTES: usize = 4 << 20;

/// Wanted size of send buffers, in octets.
const SEND_BUFFER_BYTES: usize = 1 << 20;

/// How long a full send buffer is waited for before the datagram is given up to repair.
const FULL_WAIT: Duration = Duration::from_millis(2);

/// How often that wait is repeated.
const FULL_WAITS_MAX: usize = 5;

/// Which IP versions a participant uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Families {
    pub(crate) v4: bool,
    pub(crate) v6: bool,
}

/// What to open.
pub(crate) struct SocketPlan<'a> {
    pub(crate) domain: u32,
    pub(crate) interfaces: &'a [Interface],
    pub(crate) loopback_only: bool,
    pub(crate) multicast: bool,
    pub(crate) families: Families,
    pub(crate) tap: Option<Arc<dyn Tap>>,
    pub(crate) faults: Option<Faults>,
}

/// The open sockets of a participant.
pub(crate) struct Sockets {
    v4: Option<Arc<UdpSocket>>,
    v6: Option<Arc<UdpSocket>>,
    groups: Vec<Group>,
    /// Held while the outgoing multicast interface is switched.
    multicasting: Mutex<()>,
    /// Waits for room in the send buffer, one for each IP version.
    writable_v4: Mutex<(Poller, Events)>,
    writable_v6: Mutex<(Poller, Events)>,
    /// Datagrams that found no room in a send buffer for too long.
    pub(crate) dropped: AtomicU64,
    /// Datagrams sent, and their octets.
    pub(crate) sent: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
    /// The participant index whose ports are in use; `None` where all were taken.
    pub(crate) index: Option<u32>,
}

impl Sockets {
    /// Opens sockets on the first free participant index, or on any free port.
    ///
    /// # Errors
    /// No address family is usable or the system refuses.
    pub(crate) fn open(plan: &SocketPlan<'_>) -> io::Result<Self> {
        let (v4, v6, index) = open_unicast(plan)?;
        let groups = [GROUP_V4.into(), GROUP_V6.into()];
        Ok(Self {
            writable_v4: writable(v4.as_deref())?,
            writable_v6: writable(v6.as_deref())?,
            v4,
            v6,
            groups: groups
                .into_iter()
                .filter_map(|addr| Group::join(plan, addr))
                .collect(),
            multicasting: Mutex::new(()),
            dropped: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            index,
        })
    }

    /// Every socket that receives.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<UdpSocket>> {
        let groups = self.groups.iter().map(|group| &group.socket);
        self.v4.iter().chain(&self.v6).chain(groups)
    }

    /// The groups joined for discovery.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The unicast addresses to announce: each address of `interfaces` with our port.
    pub(crate) fn locators(&self, interfaces: &[Interface]) -> Vec<Locator> {
        let port = |socket: &Option<Arc<UdpSocket>>| {
            socket.as_ref().map(|socket| socket.local_addr().port())
        };
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

    fn send_one(&self, to: SocketAddr, parts: &[&[u8]]) {
        let socket = if to.is_ipv4() { &self.v4 } else { &self.v6 };
        let Some(socket) = socket else { return };
        if to.ip().is_multicast() {
            let _held = lock(&self.multicasting);
            let group = self.groups.iter().find(|group| group.addr == to.ip());
            for interface in group.map_or(&[][..], |group| &group.interfaces) {
                if socket.set_multicast_interface(interface).is_ok() {
                    self.send_waiting(socket, to, parts);
                }
            }
        } else {
            self.send_waiting(socket, to, parts);
        }
    }

    fn send_waiting(&self, socket: &UdpSocket, to: SocketAddr, parts: &[&[u8]]) {
        for _ in 0..FULL_WAITS_MAX {
            match socket.send(to, parts) {
                Ok(SendOutcome::Sent(bytes)) => {
                    self.sent.fetch_add(1, Ordering::Relaxed);
                    self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                    return;
                }
                Ok(SendOutcome::Full) => {
                    let of_family = if to.is_ipv4() {
                        &self.writable_v4
                    } else {
                        &self.writable_v6
                    };
                    let mut writable = lock(of_family);
                    let (poller, events) = &mut *writable;
                    // A wait that fails only makes the next try come sooner.
                    let _ = poller.wait(Some(FULL_WAIT), events);
                }
                // Nobody listens there, or there is no way: discovery will find out.
                Ok(SendOutcome::Refused) | Err(_) => return,
            }
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Sockets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.all().map(|socket| socket.local_addr()))
            .finish()
    }
}

/// Sends messages at once.
pub(crate) struct SocketOutbox<'a>(pub(crate) &'a Sockets);

impl Outbox for SocketOutbox<'_> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        for locator in to {
            if let Some(addr) = locator.to_socket_addr() {
                self.0.send_one(addr, parts);
            }
        }
    }
}

fn writable(socket: Option<&UdpSocket>) -> io::Result<Mutex<(Poller, Events)>> {
    let poller = Poller::new()?;
    if let Some(socket) = socket {
        poller.add(socket, Token(0), Interest::Write, Trigger::Level)?;
    }
    Ok(Mutex::new((poller, Events::with_capacity(1))))
}

type Unicast = (Option<Arc<UdpSocket>>, Option<Arc<UdpSocket>>, Option<u32>);

fn open_unicast(plan: &SocketPlan<'_>) -> io::Result<Unicast> {
    for index in 0..ports::INDEX_COUNT {
        let port = ports::unicast(plan.domain, index);
        match bind_pair(plan, port) {
            Ok((v4, v6)) => return Ok((v4, v6, Some(index))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    // The index is a convenience: others learn any port from our announcements.
    let (v4, v6) = bind_pair(plan, 0)?;
    Ok((v4, v6, None))
}

/// One socket for each IP version in use.
type PerVersion = (Option<Arc<UdpSocket>>, Option<Arc<UdpSocket>>);

fn bind_pair(plan: &SocketPlan<'_>, port: u16) -> io::Result<PerVersion> {
    let (any_v4, any_v6): (IpAddr, IpAddr) = if plan.loopback_only {
        (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into())
    } else {
        (Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into())
    };
    let open = |ip: IpAddr, wanted: bool| {
        wanted
            .then(|| bind(plan, SocketAddr::new(ip, port), PortUse::Exclusive))
            .transpose()
    };
    let v4 = open(any_v4, plan.families.v4)?;
    let v6 = open(any_v6, plan.families.v6)?;
    if v4.is_none() && v6.is_none() {
        return Err(io::Error::new(
            io::ErrorKind::AddrNotAvailable,
            "no IP version is in use",
        ));
    }
    Ok((v4, v6))
}

fn bind(plan: &SocketPlan<'_>, addr: SocketAddr, port_use: PortUse) -> io::Result<Arc<UdpSocket>> {
    let mut socket = UdpSocket::bind(addr, port_use)?;
    socket.raise_recv_buffer(RECV_BUFFER_BYTES)?;
    socket.raise_send_buffer(SEND_BUFFER_BYTES)?;
    if let Some(tap) = &plan.tap {
        socket = socket.with_tap(Arc::clone(tap));
    }
    if let Some(faults) = plan.faults.filter(|_| port_use == PortUse::Exclusive) {
        socket = socket.with_faults(faults);
    }
    Ok(Arc::new(socket))
}

/// A multicast group that was joined for discovery.
pub(crate) struct Group {
    addr: IpAddr,
    socket: Arc<UdpSocket>,
    /// Where it was joined.
    pub(crate) interfaces: Vec<Interface>,
}

impl Group {
    /// Joins `addr` wherever that works; `None` where it works nowhere.
    fn join(plan: &SocketPlan<'_>, addr: IpAddr) -> Option<Self> {
        let v4 = addr.is_ipv4();
        let wanted = if v4 {
            plan.families.v4
        } else {
            plan.families.v6
        };
        if !plan.multicast || !wanted {
            return None;
        }
        let has_family = |it: &Interface| it.addresses.iter().any(|own| own.ip.is_ipv4() == v4);
        let candidates: Vec<&Interface> = plan
            .interfaces
            .iter()
            .filter(|it| it.is_multicast && !it.is_loopback && has_family(it))
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let any: IpAddr = if v4 {
            Ipv4Addr::UNSPECIFIED.into()
        } else {
            Ipv6Addr::UNSPECIFIED.into()
        };
        let local = SocketAddr::new(any, ports::multicast(plan.domain));
        let socket = bind(plan, local, PortUse::Shared).ok()?;
        let joined = candidates
            .into_iter()
            .filter(|it| socket.join(addr, it).is_ok());
        let interfaces: Vec<Interface> = joined.cloned().collect();
        (!interfaces.is_empty()).then_some(Self {
            addr,
            socket,
            interfaces,
        })
    }

    /// Where announcements to the group go in `domain`.
    pub(crate) fn locator(&self, domain: u32) -> Locator {
        SocketAddr::new(self.addr, ports::multicast(domain)).into()
    }
}
