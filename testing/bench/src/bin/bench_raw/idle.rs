//! What waiting costs where hardly anything happens: a call or two for each time a thread is woken.

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use whimbrel_bench::protocol::{option, stand_by};

/// Between two datagrams: two waits end then, the sender's and the receiver's.
const PERIOD: Duration = Duration::from_secs(3);

/// About as much as an announcement.
const DATAGRAM_BYTES: usize = 300;

/// Says `ready`; one thread sends a datagram now and then, another receives it, until the input
/// ends.
///
/// # Errors
/// No socket at `--address`.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let address = option(words, "--address")?;
    let bind = || UdpSocket::bind(format!("{address}:0")).map_err(|error| error.to_string());
    let (near, far) = (bind()?, bind()?);
    let to = far.local_addr().map_err(|error| error.to_string())?;
    thread::spawn(move || {
        let mut room = [0; DATAGRAM_BYTES];
        while far.recv_from(&mut room).is_ok() {}
    });
    thread::spawn(move || {
        let datagram = [0; DATAGRAM_BYTES];
        while near.send_to(&datagram, to).is_ok() {
            thread::sleep(PERIOD);
        }
    });
    stand_by()
}
