//! What a socket hands over: payload and addresses of one received datagram.

use std::net::{IpAddr, SocketAddr};

use whimbrel_base::buffer::SharedBytes;

/// A received datagram.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Its payload; the slab goes back to the pool when the last slice of it is dropped.
    pub payload: SharedBytes,
    /// Who sent it.
    pub source: SocketAddr,
    /// The address to which it was sent, a group for multicast; `None` where the platform does
    /// not tell.
    pub destination: Option<IpAddr>,
    /// The interface on which it arrived; `None` where the platform does not tell.
    pub interface_index: Option<u32>,
    /// Slabs like that of `payload` are held elsewhere: what is to stay had better be copied out of
    /// it, where it is small.
    pub is_held_up: bool,
    /// It was larger than a slab and its end is lost.
    pub truncated: bool,
}
