//! The UDP socket of the operating system and nothing else: the noise floor.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use whimbrel_bench::clock::now_ns;
use whimbrel_bench::protocol::{Order, RTPS_BYTES, SAMPLE_BYTES, option, serve_lines, stand_by};
use whimbrel_bench::stream::{Arrivals, Burst};

use super::words::number;

/// Lowest port.
const PORT: u16 = 17_400;
/// A datagram that is not answered by then was lost.
const PATIENCE: Duration = Duration::from_secs(2);
/// The largest datagram of IPv4.
const DATAGRAM_MAX: usize = 65_507;

pub(super) struct Ping {
    socket: UdpSocket,
    to: SocketAddr,
}

impl Ping {
    pub(super) fn new(words: &[String]) -> Result<Self, String> {
        let socket = bind(words, 0)?;
        let timeout = socket.set_read_timeout(Some(PATIENCE));
        timeout.map_err(|error| error.to_string())?;
        let to = format!("{}:{}", option(words, "--peer")?, port(words)?);
        let to = to.parse().map_err(|_| format!("no address: {to}"))?;
        Ok(Self { socket, to })
    }

    /// As many octets leave as RTPS would send for the sample. One that is lost is sent again.
    pub(super) fn block(&self, order: Order) -> Result<Vec<u64>, String> {
        let sent = vec![0x55; datagram_bytes(order.size)];
        let mut room = vec![0; 65_536];
        let mut ns = Vec::with_capacity(order.count);
        let mut turn = 0;
        while ns.len() < order.count {
            let begun_ns = now_ns();
            let trip = self
                .socket
                .send_to(&sent, self.to)
                .and_then(|_| self.socket.recv_from(&mut room));
            match trip {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.to_string()),
            }
            turn += 1;
            if turn > order.warm {
                ns.push(now_ns().saturating_sub(begun_ns));
            }
        }
        Ok(ns)
    }
}

/// Answers everything.
pub(super) fn pong(words: &[String]) -> Result<(), String> {
    let socket = bind(words, port(words)?)?;
    thread::spawn(move || {
        let mut room = vec![0; 65_536];
        while let Ok((len, from)) = socket.recv_from(&mut room) {
            // A lost answer is what the other side waits for in vain.
            let _ = socket.send_to(&room[..len], from);
        }
    });
    stand_by()
}

fn bind(words: &[String], port: u16) -> Result<UdpSocket, String> {
    let address = option(words, "--address")?;
    UdpSocket::bind(format!("{address}:{port}"))
        .map_err(|error| format!("UDP port {port} of {address}: {error}"))
}

fn port(words: &[String]) -> Result<u16, String> {
    Ok(PORT + (number(words, "--domain")? as u16) % 1000)
}

fn datagram_bytes(size: usize) -> usize {
    (size + SAMPLE_BYTES + RTPS_BYTES).min(DATAGRAM_MAX)
}

/// Sends datagrams as fast as it goes.
pub(super) fn blast(words: &[String]) -> Result<(), String> {
    let socket = bind(words, 0)?;
    let to = format!("{}:{}", option(words, "--peer")?, port(words)?);
    let datagram = vec![0x55; datagram_bytes(number(words, "--size")?)];
    serve_lines(|line| {
        let burst: Burst = line.parse()?;
        let sent = burst.run(|| socket.send_to(&datagram, &to).is_ok());
        Ok(sent.to_string())
    })
}

/// Counts them.
pub(super) fn count(words: &[String]) -> Result<(), String> {
    let socket = bind(words, port(words)?)?;
    let arrivals = Arc::new(Arrivals::default());
    let counted = Arc::clone(&arrivals);
    thread::spawn(move || {
        let mut room = vec![0; 65_536];
        while socket.recv_from(&mut room).is_ok() {
            counted.note(1);
        }
    });
    serve_lines(|_| Ok(arrivals.take().to_string()))
}
