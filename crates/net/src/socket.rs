//! UDP sockets: gathered sends, batched receives, multicast.
//!
//! A socket never blocks: sends that find no room say [`SendOutcome::Full`], receives that find
//! nothing return 0; wait with [`crate::poll`]. In steady state neither allocates. An IPv6 socket
//! carries IPv6 only, so a participant of both worlds needs two.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockAddr, Socket, Type};

use crate::decorate::{Fate, FaultInjector, Faults, Tap};
use crate::interfaces::Interface;
use crate::poll::sealed;
use crate::sys;

mod receive;
pub use crate::datagram::Datagram;
pub use receive::RecvBatch;

/// The largest UDP payload over IPv4, in octets.
pub const PAYLOAD_BYTES_MAX: usize = 65_507;

/// Messages up to this many octets are put together here: copying this little costs less than
/// having the system gather the parts (by 0.2 µs a message, on the machine where it was tried).
pub const GATHERED_BYTES_MAX: usize = 1_536;

/// Whether other sockets may use the same port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortUse {
    /// The port is ours alone; binding fails where somebody has it.
    Exclusive,
    /// Shared with other sockets that share: for multicast ports, where each receives all.
    Shared,
}

/// What became of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum SendOutcome {
    /// The system took this many octets.
    Sent(usize),
    /// No room in the send buffer now: the same datagram may be sent later.
    Full,
    /// The destination host says (ICMP) that nobody listens there, also at the second try.
    Refused,
    /// Larger than any datagram, or than the path carries whole while
    /// [`OversizePolicy::Refuse`] is in force.
    TooLarge,
}

/// What became of the same datagram towards several destinations.
#[derive(Debug, Default)]
#[must_use]
pub struct SendReport {
    /// Destinations that were served.
    pub sent: usize,
    /// Destinations that were passed over because the system refused them.
    pub failed: usize,
    /// The first refusal, with the index of its destination.
    pub first_error: Option<(usize, io::Error)>,
    /// No room in the send buffer: the destinations from `sent + failed` on were not tried.
    pub full: bool,
}

/// What the system does with datagrams larger than the path allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OversizePolicy {
    /// Fragment, here and on the way.
    Fragment,
    /// Fragment here, after what was learned about the path; the default of Linux.
    System,
    /// Refuse to send what the path does not carry whole.
    Refuse,
    /// Send whole whatever was learned, to probe the path.
    Probe,
}

/// A non-blocking UDP socket.
pub struct UdpSocket {
    socket: Socket,
    local: SocketAddr,
    tap: Option<Arc<dyn Tap>>,
    faults: Option<FaultInjector>,
}

impl UdpSocket {
    /// Binds `addr`; port 0 takes any free one.
    ///
    /// Multicast arrives only from groups that this socket joined itself, on the interfaces where
    /// it joined them.
    ///
    /// # Errors
    /// The port is taken ([`io::ErrorKind::AddrInUse`]), the address is not ours
    /// ([`io::ErrorKind::AddrNotAvailable`]), or the system has no such address family.
    pub fn bind(addr: SocketAddr, port_use: PortUse) -> io::Result<Self> {
        let v6 = addr.is_ipv6();
        let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
        if v6 {
            socket.set_only_v6(true)?;
        }
        if port_use == PortUse::Shared {
            socket.set_reuse_address(true)?;
            // Some peers share ports by one option and some by the other; setting both meets all.
            #[cfg(unix)]
            let _ = socket.set_reuse_port(true);
        }
        #[cfg(target_os = "linux")]
        if v6 {
            // Linux before 4.20 does not know it.
            let _ = socket.set_multicast_all_v6(false);
        } else {
            socket.set_multicast_all_v4(false)?;
        }
        sys::set_packet_info(&socket, v6, true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SockAddr::from(addr))?;
        let local = socket.local_addr()?.as_socket().unwrap_or(addr);
        Ok(Self {
            socket,
            local,
            tap: None,
            faults: None,
        })
    }

    /// Shows every datagram sent and received to `tap`.
    #[must_use]
    pub fn with_tap(mut self, tap: Arc<dyn Tap>) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Disturbs what is sent, for tests.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = Some(FaultInjector::new(faults));
        self
    }

    /// The address to which it is bound.
    pub const fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Sends `parts`, one after the other, as one datagram: one system call, and no copy of
    /// messages over [`GATHERED_BYTES_MAX`].
    ///
    /// # Errors
    /// The system refuses this destination or size; other datagrams may still pass.
    pub fn send(&self, to: SocketAddr, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        let fate = self
            .faults
            .as_ref()
            .map_or(Fate::Deliver, FaultInjector::next);
        if fate == Fate::Drop {
            return Ok(SendOutcome::Sent(parts.iter().map(|part| part.len()).sum()));
        }
        if let Some(tap) = &self.tap {
            tap.sent(self.local, to, parts);
        }
        if fate == Fate::Duplicate {
            let _ = self.send_once(to, parts);
        }
        self.send_once(to, parts)
    }

    /// Sends `parts` as one datagram to each of `to`, where the platform can with one system call
    /// for many. A destination that the system refuses is passed over.
    pub fn send_many(&self, to: &[SocketAddr], parts: &[&[u8]]) -> SendReport {
        if self.faults.is_some() {
            return report(to.len(), |done| {
                Ok(match self.send(to[done], parts)? {
                    SendOutcome::Sent(_) => SendOutcome::Sent(1),
                    other => other,
                })
            });
        }
        if let Some(tap) = &self.tap {
            to.iter().for_each(|to| tap.sent(self.local, *to, parts));
        }
        with_slices(parts, |slices| {
            report(to.len(), |done| {
                try_send(|| sys::send_many(&self.socket, &to[done..], slices))
            })
        })
    }

    /// Whether received datagrams tell their destination and interface; they do from the start.
    /// Telling takes the system about 0.2 µs a datagram.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_packet_info(&self, on: bool) -> io::Result<()> {
        sys::set_packet_info(&self.socket, self.local.is_ipv6(), on)
    }

    /// Receives what is there, at most as many datagrams as `batch` has room for, and returns how
    /// many; 0 when nothing is there. Forgets what `batch` still held.
    ///
    /// # Errors
    /// The system refuses to receive. ICMP errors about earlier sends are not reported here.
    pub fn recv_batch(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        let count = batch.receive(&self.socket)?;
        if let Some(tap) = &self.tap {
            for datagram in batch.iter() {
                tap.received(self.local, datagram);
            }
        }
        Ok(count)
    }

    /// Joins the multicast group `group` on `interface`; joining again is no error.
    ///
    /// # Errors
    /// Not a multicast address of this socket's family, or the interface is gone or has none.
    pub fn join(&self, group: IpAddr, interface: &Interface) -> io::Result<()> {
        let result = match group {
            IpAddr::V4(group) => {
                let at = v4_interface(interface)?;
                self.socket.join_multicast_v4_n(&group, &at)
            }
            IpAddr::V6(group) => self.socket.join_multicast_v6(&group, interface.index),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(()),
            other => other,
        }
    }

    /// Leaves the multicast group `group` on `interface`.
    ///
    /// # Errors
    /// It was not joined.
    pub fn leave(&self, group: IpAddr, interface: &Interface) -> io::Result<()> {
        match group {
            IpAddr::V4(group) => {
                let at = v4_interface(interface)?;
                self.socket.leave_multicast_v4_n(&group, &at)
            }
            IpAddr::V6(group) => self.socket.leave_multicast_v6(&group, interface.index),
        }
    }

    /// Sends multicast out of `interface` from now on.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn set_multicast_interface(&self, interface: &Interface) -> io::Result<()> {
        if self.local.is_ipv6() {
            self.socket.set_multicast_if_v6(interface.index)
        } else {
            let address = interface.first_v4();
            sys::set_multicast_interface_v4(&self.socket, interface.index, address)
        }
    }

    /// Lets multicast pass at most `hops` routers and hosts: 1 stays on the local network.
    ///
    /// # Errors
    /// More than 255.
    pub fn set_multicast_hops(&self, hops: u32) -> io::Result<()> {
        if self.local.is_ipv6() {
            self.socket.set_multicast_hops_v6(hops)
        } else {
            self.socket.set_multicast_ttl_v4(hops)
        }
    }

    /// Whether sockets on this host hear the multicast that this one sends.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_multicast_loop(&self, on: bool) -> io::Result<()> {
        if self.local.is_ipv6() {
            self.socket.set_multicast_loop_v6(on)
        } else {
            self.socket.set_multicast_loop_v4(on)
        }
    }

    /// Room for received datagrams, in octets.
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn recv_buffer_bytes(&self) -> io::Result<usize> {
        Ok(self.socket.recv_buffer_size()? / sys::BUFFER_REPORT_FACTOR)
    }

    /// Room for datagrams being sent, in octets.
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn send_buffer_bytes(&self) -> io::Result<usize> {
        Ok(self.socket.send_buffer_size()? / sys::BUFFER_REPORT_FACTOR)
    }

    /// Raises the receive buffer to `wanted` octets as far as the system lets us, and returns its
    /// size now. Never shrinks it.
    ///
    /// # Errors
    /// The system refuses to tell the size.
    pub fn raise_recv_buffer(&self, wanted: usize) -> io::Result<usize> {
        if self.recv_buffer_bytes()? < wanted {
            // Refusals show in the size reported below.
            let _ = self.socket.set_recv_buffer_size(wanted);
            if self.recv_buffer_bytes()? < wanted {
                let _ = sys::force_recv_buffer(&self.socket, wanted);
            }
        }
        self.recv_buffer_bytes()
    }

    /// Raises the send buffer to `wanted` octets as far as the system lets us, and returns its
    /// size now. Never shrinks it.
    ///
    /// # Errors
    /// The system refuses to tell the size.
    pub fn raise_send_buffer(&self, wanted: usize) -> io::Result<usize> {
        if self.send_buffer_bytes()? < wanted {
            // Refusals show in the size reported below.
            let _ = self.socket.set_send_buffer_size(wanted);
            if self.send_buffer_bytes()? < wanted {
                let _ = sys::force_send_buffer(&self.socket, wanted);
            }
        }
        self.send_buffer_bytes()
    }

    /// Lets what this socket sends wait behind what others send, in the queues of this host's
    /// interfaces where they know priorities.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_bulk_priority(&self) -> io::Result<()> {
        sys::set_bulk_priority(&self.socket)
    }

    /// Chooses what happens to datagrams larger than the path allows.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the platform leaves no choice.
    pub fn set_oversize_policy(&self, policy: OversizePolicy) -> io::Result<()> {
        let mode = match policy {
            OversizePolicy::Fragment => sys::MtuMode::Fragment,
            OversizePolicy::System => sys::MtuMode::System,
            OversizePolicy::Refuse => sys::MtuMode::Refuse,
            OversizePolicy::Probe => sys::MtuMode::Probe,
        };
        sys::set_mtu_mode(&self.socket, self.local.is_ipv6(), mode)
    }

    /// The largest UDP payload that the system believes to reach `to` whole, in octets.
    ///
    /// # Errors
    /// There is no way to `to`, or the platform does not tell.
    pub fn path_payload_bytes(to: SocketAddr) -> io::Result<u32> {
        let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
        socket.connect(&SockAddr::from(to))?;
        let headers = if to.is_ipv6() { 48 } else { 28 };
        let mtu = sys::path_mtu_bytes(&socket, to.is_ipv6())?;
        Ok(mtu.saturating_sub(headers))
    }

    /// How many datagrams the system dropped because nobody received them in time; `None` where
    /// it does not count.
    ///
    /// # Errors
    /// The system refuses to tell.
    pub fn datagrams_dropped(&self) -> io::Result<Option<u64>> {
        sys::datagrams_dropped(&self.socket)
    }
}

impl UdpSocket {
    fn send_once(&self, to: SocketAddr, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        let name = SockAddr::from(to);
        if let [only] = parts {
            return try_send(|| self.socket.send_to(only, &name));
        }
        let mut room = [0; GATHERED_BYTES_MAX];
        if let Some(len) = gather(parts, &mut room) {
            return try_send(|| self.socket.send_to(&room[..len], &name));
        }
        with_slices(parts, |slices| {
            try_send(|| self.socket.send_to_vectored(slices, &name))
        })
    }
}

impl std::fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UdpSocket({})", self.local)
    }
}

impl sealed::Sealed for UdpSocket {
    fn handle(&self) -> sys::Handle<'_> {
        sys::socket_handle(&self.socket)
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for UdpSocket {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn v4_interface(interface: &Interface) -> io::Result<InterfaceIndexOrAddress> {
    if cfg!(target_os = "linux") {
        return Ok(InterfaceIndexOrAddress::Index(interface.index));
    }
    let address = interface
        .first_v4()
        .ok_or(io::ErrorKind::AddrNotAvailable)?;
    Ok(InterfaceIndexOrAddress::Address(address))
}

/// Puts `parts` one after the other into `room` and returns their length, if they fit.
fn gather(parts: &[&[u8]], room: &mut [u8]) -> Option<usize> {
    let mut len = 0;
    for part in parts {
        room.get_mut(len..len + part.len())?.copy_from_slice(part);
        len += part.len();
    }
    Some(len)
}

/// Hands `parts` on as the system wants them. Only messages of more than 64 parts are copied.
fn with_slices<R>(parts: &[&[u8]], run: impl FnOnce(&[IoSlice<'_>]) -> R) -> R {
    fn fill<'a, R, const N: usize>(parts: &[&'a [u8]], run: impl FnOnce(&[IoSlice<'a>]) -> R) -> R {
        let mut slices = [IoSlice::new(&[]); N];
        for (slice, part) in slices.iter_mut().zip(parts) {
            *slice = IoSlice::new(part);
        }
        run(&slices[..parts.len()])
    }
    match parts.len() {
        0..=4 => fill::<R, 4>(parts, run),
        5..=64 => fill::<R, 64>(parts, run),
        _ => run(&[IoSlice::new(&parts.concat())]),
    }
}

/// Runs `send` and sorts its errors. An ICMP error about an earlier datagram is reported once by
/// the next call, whose own datagram is not sent: so once more.
fn try_send(mut send: impl FnMut() -> io::Result<usize>) -> io::Result<SendOutcome> {
    let mut refused = false;
    loop {
        match send() {
            Ok(count) => return Ok(SendOutcome::Sent(count)),
            Err(error) if sys::is_full(&error) => return Ok(SendOutcome::Full),
            Err(error) if sys::is_echo_of_icmp(&error) => {
                if refused {
                    return Ok(SendOutcome::Refused);
                }
                refused = true;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if sys::is_too_large(&error) => return Ok(SendOutcome::TooLarge),
            Err(error) => return Err(error),
        }
    }
}

/// Works through `count` destinations: `next` serves some from the one given on, or fails for
/// that one.
fn report(count: usize, mut next: impl FnMut(usize) -> io::Result<SendOutcome>) -> SendReport {
    let mut report = SendReport::default();
    while report.sent + report.failed < count {
        let done = report.sent + report.failed;
        let error = match next(done) {
            Ok(SendOutcome::Sent(served)) => {
                report.sent += served;
                continue;
            }
            Ok(SendOutcome::Full) => {
                report.full = true;
                break;
            }
            Ok(SendOutcome::Refused) => io::ErrorKind::ConnectionRefused.into(),
            Ok(SendOutcome::TooLarge) => io::Error::from_raw_os_error(sys::MESSAGE_SIZE),
            Err(error) => error,
        };
        report.failed += 1;
        report.first_error.get_or_insert((done, error));
    }
    report
}

#[cfg(test)]
mod tests;
