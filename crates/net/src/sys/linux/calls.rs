//! The calls that move datagrams, as the kernel has them.
//!
//! In a program with threads the C library wraps each in two atomic changes, so that the thread can
//! be cancelled meanwhile, as none of ours ever is: a fiftieth of the way of a short datagram
//! between two processes of one core.

use std::io::{self, IoSlice};
use std::os::fd::AsRawFd;
use std::ptr;

use libc::{c_int, c_long, c_void, mmsghdr, msghdr, sockaddr, socklen_t};
use socket2::{SockAddr, Socket};

use super::check;

/// The header of `parts`, which leave as one for `to`, or for where the socket is connected. It
/// points to both.
pub(super) fn header_of(to: Option<&SockAddr>, parts: &[IoSlice<'_>]) -> msghdr {
    // SAFETY: all zeros is a valid `msghdr`: null pointers and zero lengths.
    let mut header: msghdr = unsafe { std::mem::zeroed() };
    if let Some(name) = to {
        header.msg_name = name.as_ptr().cast::<c_void>().cast_mut();
        header.msg_namelen = name.len();
    }
    // `IoSlice` is promised to be an `iovec` on Unix.
    header.msg_iov = parts.as_ptr().cast::<libc::iovec>().cast_mut();
    header.msg_iovlen = parts.len() as _;
    header
}

/// As recvfrom(2).
///
/// # Safety
/// `room` may be written to for `len` octets, `name` for `*name_len`, and `name_len` itself.
pub(super) unsafe fn receive_from(
    socket: &Socket,
    (room, len): (*mut c_void, usize),
    flags: c_int,
    (name, name_len): (*mut sockaddr, *mut socklen_t),
) -> io::Result<usize> {
    let (fd, flags) = (c_long::from(socket.as_raw_fd()), c_long::from(flags));
    // SAFETY: these are the arguments of the call, and by this function's contract they are good.
    check(unsafe { libc::syscall(libc::SYS_recvfrom, fd, room, len, flags, name, name_len) })
}

/// As recvmsg(2).
///
/// # Safety
/// `header` is whole, and what it points to may be written to.
pub(super) unsafe fn receive_message(
    socket: &Socket,
    header: *mut msghdr,
    flags: c_int,
) -> io::Result<usize> {
    let (fd, flags) = (c_long::from(socket.as_raw_fd()), c_long::from(flags));
    // SAFETY: as above.
    check(unsafe { libc::syscall(libc::SYS_recvmsg, fd, header, flags) })
}

/// As recvmmsg(2), without a limit of time.
///
/// # Safety
/// `headers` points to `count` that are whole, and what they point to may be written to.
pub(super) unsafe fn receive_messages(
    socket: &Socket,
    (headers, count): (*mut mmsghdr, usize),
    flags: c_int,
) -> io::Result<usize> {
    let (fd, flags) = (c_long::from(socket.as_raw_fd()), c_long::from(flags));
    let count = count as c_long;
    let forever = ptr::null_mut::<libc::timespec>();
    // SAFETY: as above.
    check(unsafe { libc::syscall(libc::SYS_recvmmsg, fd, headers, count, flags, forever) })
}

/// As sendto(2), and where `to` is `None` as send(2).
pub(super) fn send_to(
    socket: &Socket,
    bytes: &[u8],
    flags: c_int,
    to: Option<&SockAddr>,
) -> io::Result<usize> {
    let (fd, flags) = (c_long::from(socket.as_raw_fd()), c_long::from(flags));
    let name = to.map_or(ptr::null(), |to| to.as_ptr().cast::<c_void>());
    let name_len = to.map_or(0, |to| c_long::from(to.len()));
    let (bytes, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: these are the arguments of the call, which only reads, and all that they point to
    // lives through it.
    check(unsafe { libc::syscall(libc::SYS_sendto, fd, bytes, len, flags, name, name_len) })
}

/// As sendmsg(2).
///
/// # Safety
/// `header` is whole, and what it points to may be read.
pub(super) unsafe fn send_message(
    socket: &Socket,
    header: *const msghdr,
    flags: c_int,
) -> io::Result<usize> {
    let (fd, flags) = (c_long::from(socket.as_raw_fd()), c_long::from(flags));
    // SAFETY: these are the arguments of the call, and by this function's contract they are good.
    check(unsafe { libc::syscall(libc::SYS_sendmsg, fd, header, flags) })
}

/// As sendmmsg(2).
///
/// # Safety
/// `headers` points to `count` that are whole and may be written to, and what they point to may be
/// read.
pub(super) unsafe fn send_messages(
    socket: &Socket,
    (headers, count): (*mut mmsghdr, usize),
    flags: c_int,
) -> io::Result<usize> {
    let (fd, flags) = (c_long::from(socket.as_raw_fd()), c_long::from(flags));
    // SAFETY: as above.
    check(unsafe { libc::syscall(libc::SYS_sendmmsg, fd, headers, count as c_long, flags) })
}
