//! Ping-pong of datagrams.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use whimbrel_bench::protocol::{Order, option, serve, stand_by};

use crate::datagram::{PORT, datagram_bytes};

/// A datagram that is not answered by then was lost.
const PATIENCE: Duration = Duration::from_secs(2);

/// First octet of the last datagram of a block.
const LAST: u8 = 1;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let [_, role, mode, ..] = words else {
        return Err("latency ROLE MODE OPTION...".into());
    };
    let domain: u16 = option(words, "--domain")?
        .parse()
        .map_err(|_| "bad domain")?;
    let spin = mode == "spinning";
    let socket_at = |port: u16| {
        let address = option(words, "--address")?;
        UdpSocket::bind(format!("{address}:{port}")).map_err(|error| error.to_string())
    };
    if role == "pong" {
        let socket = socket_at(PORT + domain)?;
        std::thread::spawn(move || pong(&socket, spin));
        return stand_by();
    }
    let socket = socket_at(0)?;
    let timeout = socket.set_read_timeout(Some(PATIENCE));
    timeout.map_err(|error| error.to_string())?;
    let to = if mode == "calls" {
        socket.local_addr().map_err(|error| error.to_string())?
    } else {
        let peer = option(words, "--peer")?;
        format!("{peer}:{}", PORT + domain)
            .parse()
            .map_err(|_| "bad peer")?
    };
    let ping = Ping {
        socket,
        to,
        spin,
        // A socket that hears itself needs two messages for what is a round trip elsewhere.
        trips: if mode == "calls" { 2 } else { 1 },
    };
    serve(|order| ping.block(order).map_err(|error| error.to_string()))
}

struct Ping {
    socket: UdpSocket,
    to: SocketAddr,
    spin: bool,
    trips: usize,
}

impl Ping {
    fn block(&self, order: Order) -> std::io::Result<Vec<u64>> {
        let mut sent = vec![0; datagram_bytes(order.size)];
        let mut room = vec![0; 65_536];
        let mut ns = Vec::with_capacity(order.count);
        self.socket.set_nonblocking(self.spin)?;
        for turn in 0..order.warm + order.count {
            if turn + 1 == order.warm + order.count {
                sent[0] = LAST;
            }
            let begun = Instant::now();
            for _ in 0..self.trips {
                self.socket.send_to(&sent, self.to)?;
                receive(&self.socket, &mut room, self.spin)?;
            }
            if turn >= order.warm {
                ns.push(begun.elapsed().as_nanos() as u64);
            }
        }
        Ok(ns)
    }
}

/// Receives one datagram; a socket that does not block is asked over and over.
fn receive(
    socket: &UdpSocket,
    room: &mut [u8],
    spin: bool,
) -> std::io::Result<(usize, SocketAddr)> {
    let begun = Instant::now();
    let mut tries = 0_u32;
    loop {
        match socket.recv_from(room) {
            Err(error) if spin && error.kind() == ErrorKind::WouldBlock => {
                tries += 1;
                // The clock is not read each time, or it would be measured.
                if tries.is_multiple_of(65_536) && begun.elapsed() > PATIENCE {
                    return Err(error);
                }
            }
            other => return other,
        }
    }
}

/// Answers everything. Spins only within a block, so that others have the core between blocks.
fn pong(socket: &UdpSocket, spin: bool) {
    let mut room = vec![0; 65_536];
    let mut within = false;
    loop {
        if socket.set_nonblocking(within && spin).is_err() {
            return;
        }
        let mut last = false;
        while let Ok((len, from)) = receive(socket, &mut room, within && spin) {
            // A lost answer is what the other side waits for in vain.
            let _ = socket.send_to(&room[..len], from);
            last = room[0] == LAST;
            if last || !within {
                break;
            }
        }
        within = !last && !within;
    }
}
