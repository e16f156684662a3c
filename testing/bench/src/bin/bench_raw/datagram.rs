//! What a datagram of the raw socket is like.

use whimbrel_bench::protocol::{RTPS_BYTES, SAMPLE_BYTES};

/// First of the ports on which processes listen that others send to; the domain is added. Below
/// those at which participants of all domains look for each other (RTPS 2.5 §9.6.2), so that none
/// is heard here.
pub(crate) const PORT: u16 = 6000;

/// What sockets of streams may hold, as far as the system allows it: what the bus asks for to
/// receive into.
pub(crate) const BUFFER_BYTES: usize = 4 << 20;

/// Octets of a datagram that carries `size` octets of payload, as a bus would need them.
pub(crate) fn datagram_bytes(size: usize) -> usize {
    size + SAMPLE_BYTES + RTPS_BYTES
}
