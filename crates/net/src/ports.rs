//! Which ports of this host are somebody's.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};

/// Room for the sockets of a quiet host.
const TABLE_BYTES: usize = 16 * 1024;

/// The UDP ports at which anybody listens on this host, by either IP version, as this thread's
/// network has them.
///
/// # Errors
/// Where the system does not tell.
pub fn udp_ports() -> io::Result<BTreeSet<u16>> {
    let mut ports = listed(&table("/proc/thread-self/net/udp")?);
    // There is no such table without IPv6.
    if let Ok(table) = table("/proc/thread-self/net/udp6") {
        ports.extend(listed(&table));
    }
    Ok(ports)
}

/// What the system writes anew for each reader, in few pieces.
fn table(path: &str) -> io::Result<String> {
    let mut text = String::with_capacity(TABLE_BYTES);
    fs::File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The local ports in a table of sockets: lines `SLOT: ADDRESS:PORT REMOTE ...` under a headline.
fn listed(table: &str) -> BTreeSet<u16> {
    let port = |line: &str| {
        let (_, port) = line.split_whitespace().nth(1)?.rsplit_once(':')?;
        u16::from_str_radix(port, 16).ok()
    };
    table.lines().skip(1).filter_map(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_and_what_is_no_line_is_passed_over() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr\n\
            2409: 0100007F:1CF2 00000000:0000 07 00000000:00000000 00:00000000\n\
            2410: 00000000000000000000000001000000:0035 00000000:0000 07\n\
            nonsense\n 7: x:y\n";
        assert_eq!(listed(table), [7410, 53].into());
        assert!(listed("").is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_port_is_known_while_somebody_listens_there() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        assert!(udp_ports().unwrap().contains(&port));
    }
}
