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
use crate::end::End;
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
    let connected = mode.strip_suffix("-connected");
    let (mode, connects) = (connected.unwrap_or(mode), connected.is_some());
    if role == "pong" {
        let socket = socket_at(PORT + domain)?;
        let way = Way::named(mode, &socket)?;
        thread::spawn(move || pong(End::new(socket), &way, connects));
        return stand_by();
    }
    let socket = socket_at(0)?;
    set_patience(&socket)?;
    let way = Way::named(mode, &socket)?;
    let ping = if mode == "calls" {
        Ping::itself(socket, words, way)
    } else {
        let peer = option(words, "--peer")?;
        let peer = format!("{peer}:{}", PORT + domain);
        let peer = peer.parse().map_err(|_| "bad peer")?;
        Ping::process(socket, connects, peer, way).map_err(|error| error.to_string())
    }?;
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
    end: End,
    way: Way,
    with: With,
}

/// Who answers.
enum With {
    /// Where it is, unless this end is connected with it.
    Process(Option<SocketAddr>),
    /// Nobody: what leaves one end is received at the other, this one, by the same thread.
    Itself(End),
}

impl Ping {
    fn process(
        socket: UdpSocket,
        connects: bool,
        peer: SocketAddr,
        way: Way,
    ) -> std::io::Result<Self> {
        let mut end = End::new(socket);
        let mut to = Some(peer);
        if connects {
            end.connect(peer)?;
            to = None;
        }
        let with = With::Process(to);
        Ok(Self { end, way, with })
    }

    fn itself(near: UdpSocket, words: &[String], way: Way) -> Result<Self, String> {
        let far = far_end(words, &near)?;
        let connect = || -> std::io::Result<[End; 2]> {
            let addresses = [far.local_addr()?, near.local_addr()?];
            let mut ends = [near, far].map(End::new);
            for (end, other) in ends.iter_mut().zip(addresses) {
                end.connect(other)?;
            }
            Ok(ends)
        };
        let [end, far] = connect().map_err(|error| error.to_string())?;
        let with = With::Itself(far);
        Ok(Self { end, way, with })
    }

    fn block(&self, order: Order) -> std::io::Result<Vec<u64>> {
        let mut sent = vec![0; datagram_bytes(order.size)];
        let mut room = vec![0; 65_536];
        let mut ns = Vec::with_capacity(order.count);
        self.way.begin(&self.end)?;
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
        let receive = |end: &End, room: &mut [u8]| self.way.receive(end, room, PATIENCE).map(drop);
        match &self.with {
            With::Process(to) => {
                self.end.send(sent, *to)?;
                receive(&self.end, room)
            }
            With::Itself(far) => {
                self.end.send(sent, None)?;
                receive(far, room)?;
                far.send(sent, None)?;
                receive(&self.end, room)
            }
        }
    }
}

/// Answers everything. The first datagram of a block is waited for by a blocking call, so that who
/// spins leaves the core to others between blocks. Who connects does with the first who asks.
fn pong(mut end: End, way: &Way, connects: bool) {
    let mut room = vec![0; 65_536];
    loop {
        let first = end.socket.set_nonblocking(false);
        let Ok((len, from)) = first.and_then(|()| end.receive(&mut room)) else {
            return;
        };
        // Before the answer: what comes while a socket connects may find nobody.
        let connected = match from {
            Some(from) if connects => end.connect(from),
            _ => Ok(()),
        };
        answer(&end, &room, (len, from));
        let mut last = room[0] == LAST;
        if connected.and_then(|()| way.begin(&end)).is_err() {
            return;
        }
        while !last {
            let Ok(received) = way.receive(&end, &mut room, PATIENCE) else {
                break;
            };
            answer(&end, &room, received);
            last = room[0] == LAST;
        }
    }
}

/// A lost answer is what the other side waits for in vain.
fn answer(end: &End, room: &[u8], (len, from): (usize, Option<SocketAddr>)) {
    drop(end.send(&room[..len], from));
}
