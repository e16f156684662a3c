//! Packet captures: writing pcapng that Wireshark reads, reading the UDP of other captures.
//!
//! The writer makes up the IP and UDP headers that a datagram had or would have had. The reader
//! knows classic pcap and pcapng with the usual link types, takes bytes from anywhere, and never
//! panics, loops or allocates by what they claim.

mod packet;
mod reader;
mod writer;

pub use reader::{CaptureReader, CapturedUdp};
pub use writer::CaptureWriter;

/// Link types that are read. <https://www.tcpdump.org/linktypes.html>
mod link_type {
    pub(super) const NULL: u32 = 0;
    pub(super) const ETHERNET: u32 = 1;
    pub(super) const RAW: u32 = 101;
    pub(super) const LOOP: u32 = 108;
    pub(super) const LINUX_SLL: u32 = 113;
    pub(super) const IPV4: u32 = 228;
    pub(super) const IPV6: u32 = 229;
    pub(super) const LINUX_SLL2: u32 = 276;
}

/// Blocks of pcapng. IETF draft-ietf-opsawg-pcapng §4.
mod block {
    pub(super) const SECTION: u32 = 0x0a0d_0d0a;
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const SIMPLE_PACKET: u32 = 3;
    pub(super) const ENHANCED_PACKET: u32 = 6;
    pub(super) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
    pub(super) const OPTION_END: u16 = 0;
    pub(super) const OPTION_RESOLUTION: u16 = 9;
}

#[cfg(test)]
mod tests;
