//! Waiting at one socket.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::Socket;

use super::{check, timespec};

/// Threads can wait in the receive call.
pub(crate) const CAN_WAIT: bool = true;

/// Makes a new socket one that may be waited at: calls that must not wait say so each time.
pub(crate) fn set_waiting(socket: &Socket) -> io::Result<()> {
    socket.set_nonblocking(false)
}

/// Waits at most `timeout` for something to receive.
pub(crate) fn wait_readable(socket: &Socket, timeout: Duration) -> io::Result<bool> {
    wait_for(libc::POLLIN, socket, timeout)
}

/// Waits at most `timeout` for room to send.
pub(crate) fn wait_writable(socket: &Socket, timeout: Duration) -> io::Result<bool> {
    wait_for(libc::POLLOUT, socket, timeout)
}

fn wait_for(events: libc::c_short, socket: &Socket, timeout: Duration) -> io::Result<bool> {
    let mut watched = libc::pollfd {
        fd: socket.as_raw_fd(),
        events,
        revents: 0,
    };
    let limit = timespec(timeout);
    // SAFETY: one `pollfd` and one `timespec` that live through the call; no signal mask.
    let found = check(unsafe {
        libc::ppoll(
            &raw mut watched,
            1,
            &raw const limit,
            std::ptr::null::<libc::sigset_t>(),
        )
    });
    match found {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other.map(|count| count > 0),
    }
}
