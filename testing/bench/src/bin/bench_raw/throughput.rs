//! A stream of datagrams, one for each sample.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use whimbrel_bench::protocol::{option, serve_lines};
use whimbrel_bench::stream::{Arrivals, Burst};

use crate::datagram::{PORT, datagram_bytes};

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let [_, role, ..] = words else {
        return Err("throughput ROLE MODE OPTION...".into());
    };
    let domain: u16 = option(words, "--domain")?
        .parse()
        .map_err(|_| "bad domain")?;
    let size: usize = option(words, "--size")?.parse().map_err(|_| "bad size")?;
    let address = option(words, "--address")?;
    let number: u16 = option(words, "--number")?
        .parse()
        .map_err(|_| "bad number")?;
    // Readers differ in their port.
    let port = |number| PORT + domain * 8 + number;
    if role == "sub" {
        let socket = UdpSocket::bind((address, port(number))).map_err(|error| error.to_string())?;
        return receive(socket);
    }
    let peer = option(words, "--peer")?;
    let to: Result<Vec<SocketAddr>, _> = (0..number)
        .map(|it| format!("{peer}:{}", port(it)).parse())
        .collect();
    let to = to.map_err(|_| "bad peer")?;
    let socket = UdpSocket::bind((address, 0)).map_err(|error| error.to_string())?;
    let datagram = vec![0x55; datagram_bytes(size)];
    serve_lines(|line| {
        let burst: Burst = line.parse()?;
        let sent = burst.run(|| to.iter().all(|to| socket.send_to(&datagram, to).is_ok()));
        Ok(sent.to_string())
    })
}

fn receive(socket: UdpSocket) -> Result<(), String> {
    let arrivals = Arc::new(Arrivals::default());
    let counted = Arc::clone(&arrivals);
    std::thread::spawn(move || {
        let mut room = vec![0; 65_536];
        while socket.recv_from(&mut room).is_ok() {
            counted.note(1);
        }
    });
    serve_lines(|_| Ok(arrivals.take().to_string()))
}
