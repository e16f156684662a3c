//! How sockets are opened.

use std::io;
use std::net::SocketAddr;

use whimbrel_net::socket::{OversizePolicy, PortUse, UdpSocket};

use super::network::Fittings;
use super::sync::Arc;
use crate::domain::SegmentationOffload;

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
    if let Some(bytes) = fittings.receive_buffer_bytes {
        socket.raise_recv_buffer(bytes)?;
    }
    if let Some(bytes) = fittings.send_buffer_bytes {
        socket.raise_send_buffer(bytes)?;
    }
    if fittings.offload != SegmentationOffload::Off {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_as_wanted_or_the_systems_own() {
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        let plain = UdpSocket::bind(here, PortUse::Exclusive).unwrap();
        let size = |bytes: Option<usize>| {
            let fittings = Fittings {
                receive_buffer_bytes: bytes,
                send_buffer_bytes: bytes,
                ..Fittings::default()
            };
            let socket = open(&fittings, here, PortUse::Exclusive).unwrap();
            [
                socket.recv_buffer_bytes().unwrap(),
                socket.send_buffer_bytes().unwrap(),
            ]
        };
        let own = [
            plain.recv_buffer_bytes().unwrap(),
            plain.send_buffer_bytes().unwrap(),
        ];
        assert_eq!(size(None), own);
        // The same as `raise_…` comes to, which is as far as the system lets this process.
        let wanted = own[0].max(own[1]) + 4096;
        let raised = [
            plain.raise_recv_buffer(wanted).unwrap(),
            plain.raise_send_buffer(wanted).unwrap(),
        ];
        assert_eq!(size(Some(wanted)), raised);
    }
}
