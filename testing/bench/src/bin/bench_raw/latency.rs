//! Ping-pong of datagrams.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use whimbrel_bench::clock::now_ns;
use whimbrel_bench::protocol::{LAST, Order, option, serve, stand_by};

use crate::datagram::{PORT, datagram_bytes};
use crate::receive::Way;

/// A datagram that is not answered by then was lost.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let [_, role, mode, ..] = words else {
        return Err("latency ROLE MODE OPTION...".into());
    };
    let domain: u16 = option(words, "--domain")?
        .parse()
        .map_err(|_| "bad domain")?;
    let socket_at = |port: u16| {
        let address = option(words, "--address")?;
        UdpSocket::bind(format!("{address}:{port}")).map_err(|error| error.to_string())
    };
    if role == "pong" {
        let socket = socket_at(PORT + domain)?;
        let way = Way::named(mode, &socket)?;
        std::thread::spawn(move || pong(&socket, &way));
        return stand_by();
    }
    let socket = socket_at(0)?;
    let timeout = socket.set_read_timeout(Some(PATIENCE));
    timeout.map_err(|error| error.to_string())?;
    let alone = mode == "calls";
    let to = if alone {
        socket.local_addr().map_err(|error| error.to_string())?
    } else {
        let peer = option(words, "--peer")?;
        let to = format!("{peer}:{}", PORT + domain);
        to.parse().map_err(|_| "bad peer")?
    };
    let ping = Ping {
        way: Way::named(mode, &socket)?,
        socket,
        to,
        // A socket that hears itself needs two messages for what is a round trip elsewhere.
        trips: if alone { 2 } else { 1 },
    };
    serve(|order| ping.block(order).map_err(|error| error.to_string()))
}

struct Ping {
    socket: UdpSocket,
    way: Way,
    to: SocketAddr,
    trips: usize,
}

impl Ping {
    fn block(&self, order: Order) -> std::io::Result<Vec<u64>> {
        let mut sent = vec![0; datagram_bytes(order.size)];
        let mut room = vec![0; 65_536];
        let mut ns = Vec::with_capacity(order.count);
        self.way.begin(&self.socket)?;
        for turn in 0..order.warm + order.count {
            if turn + 1 == order.warm + order.count {
                sent[0] = LAST;
            }
            let begun_ns = now_ns();
            for _ in 0..self.trips {
                self.socket.send_to(&sent, self.to)?;
                self.way.receive(&self.socket, &mut room, PATIENCE)?;
            }
            if turn >= order.warm {
                ns.push(now_ns().saturating_sub(begun_ns));
            }
        }
        Ok(ns)
    }
}

/// Answers everything. The first datagram of a block is waited for by a blocking call, so that who
/// spins leaves the core to others between blocks.
fn pong(socket: &UdpSocket, way: &Way) {
    let mut room = vec![0; 65_536];
    // A lost answer is what the other side waits for in vain.
    let answer = |room: &[u8], len: usize, from| drop(socket.send_to(&room[..len], from));
    loop {
        let first = socket
            .set_nonblocking(false)
            .and_then(|()| socket.recv_from(&mut room));
        let Ok((len, from)) = first else { return };
        answer(&room, len, from);
        let mut last = room[0] == LAST;
        if way.begin(socket).is_err() {
            return;
        }
        while !last {
            let Ok((len, from)) = way.receive(socket, &mut room, PATIENCE) else {
                break;
            };
            answer(&room, len, from);
            last = room[0] == LAST;
        }
    }
}
