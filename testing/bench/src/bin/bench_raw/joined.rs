//! A stream of datagrams, one for each sample, many of which leave by one call and are received by
//! one: segmentation and receive offload, as the bus itself asks the system for them.

use std::io;
use std::net::SocketAddr;

use whimbrel_bench::protocol::serve_lines;
use whimbrel_bench::stream::Burst;
use whimbrel_net::socket::{PortUse, RecvBatch, SendOutcome, UdpSocket};

use crate::datagram::BUFFER_BYTES;
use crate::throughput::count;

/// What the system takes by one call: segments, and octets of all together.
const SEGMENTS_MAX: usize = 64;
const CALL_BYTES_MAX: usize = 65_000;

/// Calls of the receiver take so many packets, each with the segments of a call that sent.
const PACKETS: usize = 8;

fn sender(address: SocketAddr, to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address, PortUse::Exclusive)?;
    socket.raise_send_buffer(BUFFER_BYTES)?;
    socket.connected(to)
}

fn receiver(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address, PortUse::Exclusive)?;
    socket.raise_recv_buffer(BUFFER_BYTES)?;
    socket.receive_joined()?;
    Ok(socket)
}

/// Sends copies of `datagram` from `address` to all of `to`, as each line of the input says.
pub(crate) fn send(address: SocketAddr, to: &[SocketAddr], datagram: &[u8]) -> Result<(), String> {
    let sockets: io::Result<Vec<UdpSocket>> = to.iter().map(|to| sender(address, *to)).collect();
    let sockets = sockets.map_err(|error| error.to_string())?;
    let length = datagram.len();
    let segment = u16::try_from(length).map_err(|_| "too large for a segment")?;
    let most = (CALL_BYTES_MAX / length.max(1)).clamp(1, SEGMENTS_MAX);
    let bytes = datagram.repeat(most);
    let send = |count: usize| {
        to.iter().zip(&sockets).all(|(to, socket)| {
            let sent = socket.send_segments(*to, &bytes[..count * length], segment);
            matches!(sent, Ok(SendOutcome::Sent(octets)) if octets == count * length)
        })
    };
    serve_lines(|line| {
        let burst: Burst = line.parse()?;
        let mut waiting = 0;
        let sent = burst.run(|| {
            waiting += 1;
            if waiting < most {
                return true;
            }
            let sent = send(waiting);
            waiting = if sent { 0 } else { waiting - 1 };
            sent
        });
        if waiting > 0 && !send(waiting) {
            return Err("the last of them did not leave".to_owned());
        }
        Ok(sent.to_string())
    })
}

/// Counts what arrives at `address`, and says at each line of the input how many there were.
pub(crate) fn receive(address: SocketAddr) -> Result<(), String> {
    let socket = receiver(address).map_err(|error| error.to_string())?;
    let mut batch = RecvBatch::new(PACKETS, 2 * PACKETS);
    count(move || socket.recv_waiting(&mut batch).ok().map(|it| it as u64))
}
