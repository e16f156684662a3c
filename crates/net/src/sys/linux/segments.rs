//! Datagrams of one size to one destination that pass the system as one: UDP_SEGMENT and UDP_GRO.

use std::io::{self, IoSlice};
use std::mem::{MaybeUninit, size_of};

use libc::{c_int, c_uint, c_void};
use socket2::{SockAddr, Socket};

use super::calls;
use super::options::set_int;

/// Room for one control message with a `u16`, aligned as control messages are.
type Control = [u64; 3];

/// Sends `bytes` as datagrams of `segment_bytes` each, the last of what is left, to `to` or where
/// the socket is connected.
pub(crate) fn send_segments(
    socket: &Socket,
    to: Option<&SockAddr>,
    bytes: &[u8],
    segment_bytes: u16,
) -> io::Result<usize> {
    let parts = [IoSlice::new(bytes)];
    let mut control = MaybeUninit::<Control>::zeroed();
    let mut header = calls::header_of(to, &parts);
    header.msg_control = control.as_mut_ptr().cast::<c_void>();
    let data_bytes = size_of::<u16>() as c_uint;
    // SAFETY: this only computes; the result, 24 octets at most, fits the room for it.
    header.msg_controllen = unsafe { libc::CMSG_SPACE(data_bytes) } as _;
    // SAFETY: the header has a zeroed control buffer of that length, so the first message and its
    // data lie within it.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        (*message).cmsg_level = libc::SOL_UDP;
        (*message).cmsg_type = libc::UDP_SEGMENT;
        (*message).cmsg_len = libc::CMSG_LEN(data_bytes) as _;
        libc::CMSG_DATA(message)
            .cast::<u16>()
            .write_unaligned(segment_bytes);
    }
    // SAFETY: everything to which the header points lives through the call, which only reads it.
    unsafe { calls::send_message(socket, &raw const header, libc::MSG_DONTWAIT) }
}

/// Has datagrams of one size from one sender received as one.
pub(crate) fn receive_joined(socket: &Socket) -> io::Result<()> {
    const ON: c_int = 1;
    set_int(socket, libc::SOL_UDP, libc::UDP_GRO, ON)
}
