//! Ping-pong of datagrams.

use std::fs::File;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

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
        thread::spawn(move || pong(&socket, &way));
        return stand_by();
    }
    let socket = socket_at(0)?;
    set_patience(&socket)?;
    let with = if mode == "calls" {
        With::itself(&socket, far_end(words, &socket)?)?
    } else {
        let peer = option(words, "--peer")?;
        let to = format!("{peer}:{}", PORT + domain);
        With::Process(to.parse().map_err(|_| "bad peer")?)
    };
    let ping = Ping {
        way: Way::named(mode, &socket)?,
        with,
        socket,
    };
    serve(|order| ping.block(order).map_err(|error| error.to_string()))
}

fn set_patience(socket: &UdpSocket) -> Result<(), String> {
    let set = socket.set_read_timeout(Some(PATIENCE));
    set.map_err(|error| error.to_string())
}

/// The other end of `near` in the same process: itself, or one on the other host where there are
/// two.
fn far_end(words: &[String], near: &UdpSocket) -> Result<UdpSocket, String> {
    let (address, peer) = (option(words, "--address")?, option(words, "--peer")?);
    if address == peer {
        return near.try_clone().map_err(|error| error.to_string());
    }
    let host = option(words, "--peer-host")?;
    let bind = || -> std::io::Result<UdpSocket> {
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(File::open(host)?.as_fd(), network)?;
        UdpSocket::bind(format!("{peer}:0"))
    };
    // Only that thread enters the other host; what it opens there stays there.
    let bound = thread::scope(|scope| scope.spawn(bind).join());
    let bound = bound.map_err(|_| "panicked".to_owned())?;
    let far = bound.map_err(|error| format!("{host}: {error}"))?;
    set_patience(&far)?;
    Ok(far)
}

struct Ping {
    socket: UdpSocket,
    way: Way,
    with: With,
}

/// Who answers.
enum With {
    Process(SocketAddr),
    /// Nobody: what leaves one end is received at the other by the same thread. The address of the
    /// far end, and of the near one.
    Itself(UdpSocket, [SocketAddr; 2]),
}

impl With {
    fn itself(near: &UdpSocket, far: UdpSocket) -> Result<Self, String> {
        let at = |socket: &UdpSocket| socket.local_addr().map_err(|error| error.to_string());
        let addresses = [at(&far)?, at(near)?];
        Ok(Self::Itself(far, addresses))
    }
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
            self.trip(&sent, &mut room)?;
            if turn >= order.warm {
                ns.push(now_ns().saturating_sub(begun_ns));
            }
        }
        Ok(ns)
    }

    fn trip(&self, sent: &[u8], room: &mut [u8]) -> std::io::Result<()> {
        let receive = |socket: &UdpSocket, room: &mut [u8]| {
            self.way.receive(socket, room, PATIENCE).map(drop)
        };
        match &self.with {
            With::Process(to) => {
                self.socket.send_to(sent, to)?;
                receive(&self.socket, room)
            }
            With::Itself(far, [to_far, to_near]) => {
                self.socket.send_to(sent, to_far)?;
                receive(far, room)?;
                far.send_to(sent, to_near)?;
                receive(&self.socket, room)
            }
        }
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
