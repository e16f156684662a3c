//! A stream of datagrams, one for each sample: each by calls of its own, or many by one. Sockets
//! have the room that the bus asks for, and those that send are connected, which is quicker.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use whimbrel_bench::protocol::{option, serve_lines};
use whimbrel_bench::stream::{Arrivals, Burst};

use crate::datagram::{BUFFER_BYTES, PORT, datagram_bytes};
use crate::joined;

pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let [_, role, mode, ..] = words else {
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
    let address: IpAddr = address.parse().map_err(|_| "bad address")?;
    let is_joined = match mode.as_str() {
        "best-effort" => false,
        "batched" => true,
        _ => return Err(format!("no mode {mode}")),
    };
    if role == "sub" {
        let address = SocketAddr::new(address, port(number));
        return if is_joined {
            joined::receive(address)
        } else {
            receive(address)
        };
    }
    let peer = option(words, "--peer")?;
    let to: Result<Vec<SocketAddr>, _> = (0..number)
        .map(|it| format!("{peer}:{}", port(it)).parse())
        .collect();
    let to = to.map_err(|_| "bad peer")?;
    let address = SocketAddr::new(address, 0);
    let datagram = vec![0x55; datagram_bytes(size)];
    if is_joined {
        return joined::send(address, &to, &datagram);
    }
    let sockets: io::Result<Vec<UdpSocket>> = to.iter().map(|to| sender(address, *to)).collect();
    let sockets = sockets.map_err(|error| error.to_string())?;
    serve_lines(|line| {
        let burst: Burst = line.parse()?;
        let sent = burst.run(|| sockets.iter().all(|it| it.send(&datagram).is_ok()));
        Ok(sent.to_string())
    })
}

fn sender(address: SocketAddr, to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    set_socket_send_buffer_size(&socket, BUFFER_BYTES)?;
    socket.connect(to)?;
    Ok(socket)
}

fn receiver(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    set_socket_recv_buffer_size(&socket, BUFFER_BYTES)?;
    Ok(socket)
}

fn receive(address: SocketAddr) -> Result<(), String> {
    let socket = receiver(address).map_err(|error| error.to_string())?;
    let mut room = vec![0; 65_536];
    count(move || socket.recv(&mut room).ok().map(|_| 1))
}

/// Counts what each call of `receive` gives until that is nothing, and says at each line of the
/// input how many there were.
pub(crate) fn count(
    mut receive: impl FnMut() -> Option<u64> + Send + 'static,
) -> Result<(), String> {
    let arrivals = Arc::new(Arrivals::default());
    let counted = Arc::clone(&arrivals);
    std::thread::spawn(move || {
        while let Some(count) = receive() {
            counted.note(count);
        }
    });
    serve_lines(|_| Ok(arrivals.take().to_string()))
}
