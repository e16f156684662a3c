//! A socket as one sends by it: with a place to wait for room in its send buffer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use whimbrel_net::interfaces::Interface;
use whimbrel_net::socket::{OversizePolicy, PortUse, UdpSocket};

use super::network::{Fittings, Offload};
use super::sync::{Arc, Mutex, OnceLock, lock};

/// Wanted size of receive buffers, in octets.
const RECV_BUFFER_BYTES: usize = 4 << 20;

/// Wanted size of send buffers, in octets.
const SEND_BUFFER_BYTES: usize = 1 << 20;

/// How long room is waited for at a time.
const FULL_WAIT: Duration = Duration::from_millis(2);

/// What becomes of a message that is too large for the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Oversize {
    /// It is dropped; its writer hears of the path and sends smaller fragments.
    Drop,
    /// It leaves as IP fragments: announcements of participants cannot be divided otherwise.
    InPieces,
}

/// How all that leaves at once is sent.
pub(crate) struct Way {
    pub(crate) oversize: Oversize,
    pub(crate) waits_left: usize,
}

/// A socket by which one sends.
pub(crate) struct Outgoing {
    pub(crate) socket: Arc<UdpSocket>,
    /// Index and address of the interface out of which multicast goes.
    aim: Mutex<Option<(u32, Option<Ipv4Addr>)>>,
}

impl Outgoing {
    /// Sends by `socket`.
    pub(crate) fn new(socket: Arc<UdpSocket>) -> Self {
        Self {
            socket,
            aim: Mutex::default(),
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

    /// Waits for room a little.
    pub(crate) fn wait_for_room(&self) {
        // A wait that fails only makes the next try come sooner.
        let _ = self.socket.wait_writable(FULL_WAIT);
    }

    /// Where it is bound.
    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }
}

/// Sockets by which parts of large samples leave to other hosts, opened when there are such. They
/// receive nothing.
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
    pub(crate) fn beside(&self, main: &Outgoing) -> Option<&Outgoing> {
        let ip = main.local_addr().ip();
        let opened = if ip.is_ipv4() { &self.v4 } else { &self.v6 };
        let open = || {
            let local = SocketAddr::new(ip, 0);
            let socket = bind(&self.fittings, local, PortUse::Exclusive).ok()?;
            socket.set_bulk_priority().ok()?;
            Some(Outgoing::new(socket))
        };
        opened.get_or_init(open).as_ref()
    }
}

/// Opens a socket at `addr`.
///
/// # Errors
/// The address is taken or the system refuses.
pub(crate) fn bind(
    fittings: &Fittings,
    addr: SocketAddr,
    port_use: PortUse,
) -> io::Result<Arc<UdpSocket>> {
    let mut socket = UdpSocket::bind(addr, port_use)?;
    socket.raise_recv_buffer(RECV_BUFFER_BYTES)?;
    socket.raise_send_buffer(SEND_BUFFER_BYTES)?;
    if fittings.offload != Offload::Never {
        // One by one they arrive as well.
        let _ = socket.receive_joined();
    }
    // Where the system leaves no choice it fragments.
    let _ = socket.set_oversize_policy(OversizePolicy::Refuse);
    if let Some(tap) = &fittings.tap {
        socket = socket.with_tap(Arc::clone(tap));
    } else {
        // Only captures show where a datagram was meant to go.
        let _ = socket.set_packet_info(false);
    }
    if let Some(faults) = fittings.faults.filter(|_| port_use == PortUse::Exclusive) {
        socket = socket.with_faults(faults);
    }
    Ok(Arc::new(socket))
}
