//! A socket as one sends by it: with a place to wait for room in its send buffer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use whimbrel_net::interfaces::Interface;
use whimbrel_net::socket::{PortUse, SendOutcome, UdpSocket};

use super::connected::{Connected, Line};
use super::network::Fittings;
use super::opening::bind;
use super::sync::{Arc, Mutex, OnceLock, lock};

/// How long room is waited for at a time.
const FULL_WAIT: Duration = Duration::from_millis(2);

/// What becomes of a message that is too large for the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Oversize {
    /// It is dropped; its writer hears of the path and sends smaller fragments.
    Drop,
    /// It leaves as IP fragments: announcements of participants and DATA_BATCH cannot be divided
    /// otherwise.
    InPieces,
}

/// How all that leaves at once is sent.
pub(crate) struct Way {
    pub(crate) oversize: Oversize,
    pub(crate) waits_left: usize,
    /// Something found no room in a send buffer.
    pub(crate) was_full: bool,
}

impl Way {
    /// Waits a little for room on the way to `to` by `by`, for the same datagram before where
    /// `has_waited`. Only waits in vain count: room that comes is used for as long as it comes.
    pub(crate) fn wait_for_room(&mut self, by: &Outgoing, to: SocketAddr, has_waited: &mut bool) {
        self.waits_left -= usize::from(std::mem::replace(has_waited, true));
        self.was_full = true;
        by.wait_for_room(to);
    }
}

/// A socket by which one sends.
pub(crate) struct Outgoing {
    pub(crate) socket: Arc<UdpSocket>,
    /// Index and address of the interface out of which multicast goes.
    aim: Mutex<Option<(u32, Option<Ipv4Addr>)>>,
    /// Others, for addresses to which much is sent.
    connected: Option<Connected>,
}

impl Outgoing {
    /// All leaves by `socket`.
    fn alone(socket: Arc<UdpSocket>) -> Self {
        Self {
            socket,
            aim: Mutex::default(),
            connected: None,
        }
    }

    /// Much of what is sent to one address leaves by a socket beside `socket`, unless `fittings`
    /// say that none does.
    pub(crate) fn new(socket: Arc<UdpSocket>, fittings: &Fittings) -> Self {
        Self {
            connected: fittings.connects.then(|| Connected::new(fittings)),
            ..Self::alone(socket)
        }
    }

    /// Sends multicast out of `interface` from now on; false where it is gone.
    pub(super) fn aim(&self, interface: &Interface) -> bool {
        let at = Some((interface.index, interface.first_v4()));
        let mut aim = lock(&self.aim);
        if *aim != at {
            let done = self.socket.set_multicast_interface(interface).is_ok();
            *aim = at.filter(|_| done);
        }
        aim.is_some()
    }

    /// Sends as `oversize` says.
    ///
    /// # Errors
    /// As of [`UdpSocket::send`].
    #[inline(always)]
    pub(crate) fn send(
        &self,
        to: SocketAddr,
        parts: &[&[u8]],
        oversize: Oversize,
    ) -> io::Result<SendOutcome> {
        match self.by_connected(to, oversize, |socket| socket.send(to, parts)) {
            Some(outcome) => Ok(outcome),
            None => self.send_by_main(to, parts),
        }
    }

    #[inline(never)]
    fn send_by_main(&self, to: SocketAddr, parts: &[&[u8]]) -> io::Result<SendOutcome> {
        self.socket.send(to, parts)
    }

    /// As [`Outgoing::send`], by the socket that is connected to `to` alone; `None` where it is to
    /// leave by the main one.
    pub(crate) fn send_connected(
        &self,
        to: SocketAddr,
        parts: &[&[u8]],
        oversize: Oversize,
    ) -> Option<SendOutcome> {
        self.by_connected(to, oversize, |socket| socket.send(to, parts))
    }

    /// Sends datagrams of `segment_bytes` each, and a shorter last one, as `oversize` says.
    ///
    /// # Errors
    /// As of [`UdpSocket::send_segments`].
    pub(crate) fn send_segments(
        &self,
        to: SocketAddr,
        (bytes, segment_bytes): (&[u8], u16),
        oversize: Oversize,
    ) -> io::Result<SendOutcome> {
        let send = |socket: &UdpSocket| socket.send_segments(to, bytes, segment_bytes);
        let sent = self.by_connected(to, oversize, send);
        sent.map_or_else(|| send(&self.socket), Ok)
    }

    /// The socket that is connected to `to`, if there is one.
    pub(crate) fn line_to(&self, to: SocketAddr) -> Option<Arc<Line>> {
        self.connected.as_ref()?.line_to(to)
    }

    /// Sends by `line` no more.
    pub(crate) fn give_up(&self, line: &Arc<Line>) {
        if let Some(connected) = &self.connected {
            connected.give_up(line);
        }
    }

    #[inline(always)]
    fn by_connected(
        &self,
        to: SocketAddr,
        oversize: Oversize,
        send: impl Fn(&UdpSocket) -> io::Result<SendOutcome>,
    ) -> Option<SendOutcome> {
        // Only the main socket is ever told to send in pieces.
        let connected = self.connected.as_ref();
        let connected = connected.filter(|_| oversize == Oversize::Drop);
        connected.and_then(|it| it.send(&self.socket, to, send))
    }

    /// Waits for room on the way to `to` a little.
    pub(crate) fn wait_for_room(&self, to: SocketAddr) {
        let wait = |socket: &UdpSocket| socket.wait_writable(FULL_WAIT);
        let connected = self.connected.as_ref();
        // A wait that fails only makes the next try come sooner.
        let _ = connected
            .and_then(|it| it.with(to, wait))
            .unwrap_or_else(|| wait(&self.socket));
    }

    /// Ways may have changed.
    pub(crate) fn forget_ways(&self) {
        if let Some(connected) = &self.connected {
            connected.clear();
        }
    }

    /// Nobody is reached at `addresses` any more.
    pub(crate) fn forget_ways_to(&self, addresses: &[SocketAddr]) {
        if let Some(connected) = &self.connected {
            connected.forget(addresses);
        }
    }

    /// Where it is bound.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }
}

/// Sockets by which parts of large samples leave to other hosts, opened when there are such, unless
/// those are to leave by the main one. They receive nothing.
#[derive(Default)]
pub(crate) struct Bulk {
    fittings: Fittings,
    v4: OnceLock<Option<Outgoing>>,
    v6: OnceLock<Option<Outgoing>>,
}

impl Bulk {
    /// Sockets with `fittings`.
    pub(crate) fn new(fittings: &Fittings) -> Self {
        Self {
            fittings: fittings.clone(),
            ..Self::default()
        }
    }

    /// The one for what would else leave by `main`, if the system gives one.
    pub(crate) fn beside<'a>(&'a self, main: &'a Outgoing) -> Option<&'a Outgoing> {
        if !self.fittings.sets_bulk_apart {
            return Some(main);
        }
        let ip = main.local_addr().ip();
        let opened = if ip.is_ipv4() { &self.v4 } else { &self.v6 };
        let open = || {
            let local = SocketAddr::new(ip, 0);
            let socket = bind(&self.fittings, local, PortUse::Exclusive).ok()?;
            socket.set_bulk_priority().ok()?;
            Some(Outgoing::alone(socket))
        };
        opened.get_or_init(open).as_ref()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
