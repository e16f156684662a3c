//! What the operating system does for us, one module per way of asking. Each offers the same
//! names: `recv_many`, `send_to_many`, the socket options, `Poller`, `EventFd` and `counter`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
pub(crate) use linux::*;

#[cfg(not(all(target_os = "linux", not(whimbrel_portable))))]
mod portable;
#[cfg(not(all(target_os = "linux", not(whimbrel_portable))))]
pub(crate) use portable::*;

/// The most datagrams that one call receives, and the most addresses that one call sends to.
pub(crate) const BATCH_MAX: usize = 32;

/// Whether a receive call waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    No,
    /// For a first datagram.
    ForOne,
}

/// What the system says about one received datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecvMeta {
    pub(crate) source: SocketAddr,
    pub(crate) destination: Option<IpAddr>,
    pub(crate) interface_index: Option<u32>,
    pub(crate) truncated: bool,
    /// Octets of each of several datagrams that came as one; 0 for one alone.
    pub(crate) joined_bytes: usize,
}

impl RecvMeta {
    pub(crate) const EMPTY: Self = Self {
        source: SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        destination: None,
        interface_index: None,
        truncated: false,
        joined_bytes: 0,
    };
}

/// Flags of an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InterfaceFlags {
    pub(crate) is_up: bool,
    pub(crate) is_loopback: bool,
    pub(crate) is_multicast: bool,
}

/// A way of treating datagrams larger than the path allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MtuMode {
    Fragment,
    System,
    Refuse,
    Probe,
}

/// One readiness report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ready {
    pub(crate) token: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
}

/// What to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watch {
    pub(crate) token: u64,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) edge: bool,
}

/// True where the system refused for want of room and will take the same datagram later.
pub(crate) fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(NO_BUFFERS)
}

/// True where a datagram is larger than the path carries and must not be fragmented.
pub(crate) fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(MESSAGE_SIZE)
}

/// True for errors that tell of an earlier datagram, to which a host answered by ICMP.
pub(crate) fn is_echo_of_icmp(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}
