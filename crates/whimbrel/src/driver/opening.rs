//! How sockets are opened.

use std::io;
use std::net::SocketAddr;

use whimbrel_net::socket::{OversizePolicy, PortUse, UdpSocket};

use super::network::{Fittings, Offload};
use super::sync::Arc;

/// Wanted size of receive buffers, in octets.
const RECV_BUFFER_BYTES: usize = 4 << 20;

/// Wanted size of send buffers, in octets.
const SEND_BUFFER_BYTES: usize = 1 << 20;

/// Opens a socket at `addr`.
///
/// # Errors
/// The address is taken or the system refuses.
pub(crate) fn bind(
    fittings: &Fittings,
    addr: SocketAddr,
    port_use: PortUse,
) -> io::Result<Arc<UdpSocket>> {
    open(fittings, addr, port_use).map(Arc::new)
}

/// As [`bind`], of a socket that nobody shares yet.
///
/// # Errors
/// As of [`bind`].
pub(super) fn open(
    fittings: &Fittings,
    addr: SocketAddr,
    port_use: PortUse,
) -> io::Result<UdpSocket> {
    let mut socket = UdpSocket::bind(addr, port_use)?;
    socket.raise_recv_buffer(RECV_BUFFER_BYTES)?;
    socket.raise_send_buffer(SEND_BUFFER_BYTES)?;
    if fittings.offload != Offload::Never {
        socket.receive_joined_once_useful();
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
    Ok(socket)
}
