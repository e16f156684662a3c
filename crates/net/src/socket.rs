//! UDP sockets: gathered sends, batched receives, multicast.
//!
//! A socket does not block but in [`UdpSocket::recv_waiting`]: sends that find no room say
//! [`SendOutcome::Full`], receives that find nothing return 0; wait with [`crate::poll`]. In steady
//! state neither allocates. An IPv6 socket carries IPv6 only, so a participant of both worlds needs
//! two.

use std::hint::cold_path;
use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::decorate::{Fate, FaultInjector, Faults, Tap};
use crate::marks;
use crate::poll::sealed;
use crate::sys::{self, Wait};
use joining::Joining;

mod joining;
mod many;
mod options;
mod placing;
mod receive;
mod segments;
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

/// A UDP socket.
pub struct UdpSocket {
    socket: Socket,
    local: SocketAddr,
    tap: Option<Arc<dyn Tap>>,
    faults: Option<FaultInjector>,
    /// The system does not know how to send several datagrams as one.
    segments_refused: AtomicBool,
    /// Where it is connected.
    peer: Option<SocketAddr>,
    /// The system tells the destination of what it receives.
    tells_destination: AtomicBool,
    joining: Joining,
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
        sys::set_waiting(&socket)?;
        socket.bind(&SockAddr::from(addr))?;
        let local = socket.local_addr()?.as_socket().unwrap_or(addr);
        Ok(Self {
            socket,
            local,
            tap: None,
            faults: None,
            segments_refused: AtomicBool::new(false),
            peer: None,
            tells_destination: AtomicBool::new(true),
            joining: Joining::default(),
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

    /// What is sent to `to` from now on takes the way there that is found now, which is quicker
    /// (by 0.5 µs a datagram, on the machine where it was tried) until ways change; nothing is
    /// received from anybody else.
    ///
    /// # Errors
    /// There is no way to `to`.
    pub fn connected(mut self, to: SocketAddr) -> io::Result<Self> {
        self.socket.connect(&SockAddr::from(to))?;
        self.peer = Some(to);
        Ok(self)
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
    #[inline(always)]
    pub fn send(&self, to: SocketAddr, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        if self.faults.is_some() || self.tap.is_some() {
            return self.send_watched(to, parts);
        }
        self.send_once(to, parts)
    }

    /// As [`UdpSocket::send`], to where the socket is connected.
    ///
    /// # Errors
    /// As there; [`io::ErrorKind::NotConnected`] where it is not.
    #[inline(always)]
    pub fn send_to_peer(&self, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        let Some(peer) = self.peer else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if self.faults.is_some() || self.tap.is_some() {
            return self.send_watched(peer, parts);
        }
        self.send_named(None, parts)
    }

    #[cold]
    fn send_watched(&self, to: SocketAddr, parts: &[&[u8]]) -> io::Result<SendOutcome> {
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

    /// Whether received datagrams tell their destination and interface; they do from the start.
    /// Telling takes the system about 0.2 µs a datagram.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_packet_info(&self, on: bool) -> io::Result<()> {
        sys::set_packet_info(&self.socket, self.local.is_ipv6(), on)?;
        self.tells_destination.store(on, Ordering::Relaxed);
        Ok(())
    }

    /// Receives what is there, at most as many datagrams as `batch` has room for, and returns how
    /// many; 0 when nothing is there. Forgets what `batch` still held.
    ///
    /// # Errors
    /// The system refuses to receive. ICMP errors about earlier sends are not reported here.
    pub fn recv_batch(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        self.receive(batch, Wait::No)
    }

    /// As [`UdpSocket::recv_batch`], but waits for a first datagram. Returns 0 when the wait was
    /// ended by [`UdpSocket::interrupt`] or by a signal.
    ///
    /// Waiting in the receive call itself is the quickest way to learn of a datagram; there is no
    /// time limit, as that alone would make it slower.
    ///
    /// # Errors
    /// The system refuses to receive, or [`io::ErrorKind::Unsupported`] where
    /// [`UdpSocket::CAN_WAIT`] is false.
    pub fn recv_waiting(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        self.receive(batch, Wait::ForOne)
    }

    /// Ends one [`UdpSocket::recv_waiting`] of another thread, now or the next time one waits, by a
    /// datagram without octets to this socket itself. Receivers of this socket never see it.
    ///
    /// # Errors
    /// This host has no way to itself: its loopback interface is down.
    pub fn interrupt(&self) -> io::Result<()> {
        let mut to = self.local;
        if to.ip().is_unspecified() {
            to.set_ip(match to {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        match attempt(|| sys::send(&self.socket, &[], Some(&SockAddr::from(to))))? {
            // Where there is no room for it the receiver has other datagrams to wake up to.
            SendOutcome::Sent(_) | SendOutcome::Full => Ok(()),
            SendOutcome::Refused | SendOutcome::TooLarge => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Waits until there is something to receive; false when nothing came within `timeout`, or
    /// after a signal.
    ///
    /// # Errors
    /// The system refuses, or [`io::ErrorKind::Unsupported`] where [`UdpSocket::CAN_WAIT`] is
    /// false.
    pub fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        sys::wait_readable(&self.socket, timeout)
    }

    /// Waits until there may be room to send; false when none came within `timeout`, or after a
    /// signal.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        sys::wait_writable(&self.socket, timeout)
    }

    /// Whether threads can wait in the receive call.
    pub const CAN_WAIT: bool = sys::CAN_WAIT;

    #[inline(always)]
    fn receive(&self, batch: &mut RecvBatch, wait: Wait) -> io::Result<usize> {
        let plainly =
            !self.tells_destination.load(Ordering::Relaxed) && !self.joining.is_in_force();
        let count = batch.receive(&self.socket, self.local.port(), wait, plainly)?;
        if count > 0 {
            marks::received();
        }
        if batch.has_parts() {
            self.join_if_wanted();
        }
        if let Some(tap) = &self.tap {
            cold_path();
            for datagram in batch.iter() {
                tap.received(self.local, datagram);
            }
        }
        Ok(count)
    }
}

impl UdpSocket {
    /// What to tell the system of `to`; nothing where the socket is connected to it.
    fn name_of(&self, to: SocketAddr) -> Option<SockAddr> {
        (self.peer != Some(to)).then(|| named(to))
    }

    #[inline(always)]
    fn send_once(&self, to: SocketAddr, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        self.send_named(self.name_of(to).as_ref(), parts)
    }

    #[inline(always)]
    fn send_named(&self, name: Option<&SockAddr>, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        if let [only] = parts
            && placing::is_short(only)
        {
            return try_send(|| sys::send(&self.socket, only, name));
        }
        self.send_arranged(name, parts)
    }

    #[inline(never)]
    fn send_arranged(&self, name: Option<&SockAddr>, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        arranged(parts, |parts| {
            if let [only] = parts {
                return try_send(|| sys::send(&self.socket, only, name));
            }
            with_slices(parts, |slices| {
                try_send(|| sys::send_gathered(&self.socket, slices, name))
            })
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

#[cold]
fn named(to: SocketAddr) -> SockAddr {
    SockAddr::from(to)
}

/// Hands `parts` to `send` as the system takes them most quickly: few octets as one part, and many
/// from where it copies them quickly.
#[inline]
fn arranged<R>(parts: &[&[u8]], send: impl FnOnce(&[&[u8]]) -> R) -> R {
    if !placing::is_read_quickly(parts) {
        return placing::with_copy(parts, |whole| send(&[whole]));
    }
    let len = parts.iter().map(|part| part.len()).sum::<usize>();
    if parts.len() > 1 && len <= GATHERED_BYTES_MAX {
        let mut room = [0; GATHERED_BYTES_MAX];
        if let Some(len) = gather(parts, &mut room) {
            return send(&[&room[..len]]);
        }
    }
    send(parts)
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

/// As [`attempt`], marked.
#[inline(always)]
fn try_send(send: impl FnMut() -> io::Result<usize>) -> io::Result<SendOutcome> {
    marks::sending(|| attempt(send))
}

/// Runs `send` and sorts its errors. An ICMP error about an earlier datagram is reported once by
/// the next call, whose own datagram is not sent: so once more.
fn attempt(mut send: impl FnMut() -> io::Result<usize>) -> io::Result<SendOutcome> {
    let mut refused = false;
    loop {
        match send() {
            Ok(count) => return Ok(SendOutcome::Sent(count)),
            Err(error) => {
                if let Some(outcome) = after_error(error, &mut refused) {
                    return outcome;
                }
            }
        }
    }
}

/// What becomes of a datagram whose call met `error`, as one did before that where it was
/// `refused`; `None` where it is to be sent once more.
#[cold]
fn after_error(error: io::Error, refused: &mut bool) -> Option<io::Result<SendOutcome>> {
    if sys::is_full(&error) {
        return Some(Ok(SendOutcome::Full));
    }
    if sys::is_echo_of_icmp(&error) {
        let again = std::mem::replace(refused, true);
        return again.then_some(Ok(SendOutcome::Refused));
    }
    if error.kind() == io::ErrorKind::Interrupted {
        return None;
    }
    let too_large = sys::is_too_large(&error);
    Some(too_large.then_some(SendOutcome::TooLarge).ok_or(error))
}

#[cfg(test)]
mod tests;
