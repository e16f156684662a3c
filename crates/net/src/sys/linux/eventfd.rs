//! A counter that makes a file descriptor readable.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use libc::c_void;

use super::{Handle, check, timespec};

/// Readable from [`EventFd::notify`] to [`EventFd::drain`].
#[derive(Debug)]
pub(crate) struct EventFd {
    fd: OwnedFd,
}

impl EventFd {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // SAFETY: the call succeeded, so this is an open descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        Ok(Self { fd })
    }

    pub(crate) fn handle(&self) -> Handle<'_> {
        self.fd.as_fd()
    }

    /// Makes it readable, again where it already is. A full counter is readable anyway.
    pub(crate) fn notify(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: `one` has the eight octets stated and lives through the call.
        unsafe { libc::write(self.fd.as_raw_fd(), one.as_ptr().cast::<c_void>(), 8) };
    }

    /// Makes it unreadable. An empty counter is unreadable anyway.
    pub(crate) fn drain(&self) {
        let mut count = [0_u8; 8];
        // SAFETY: `count` has room for the eight octets stated and lives through the call.
        unsafe { libc::read(self.fd.as_raw_fd(), count.as_mut_ptr().cast::<c_void>(), 8) };
    }

    /// Waits until it is readable; false after `timeout` or when interrupted.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<bool> {
        let mut poll = libc::pollfd {
            fd: self.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let limit = timeout.map(timespec);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: one `pollfd` and one `timespec` or none, both of which live through the call; a
        // null signal mask is allowed.
        match check(unsafe { libc::ppoll(&raw mut poll, 1, limit, std::ptr::null()) }) {
            Ok(ready) => Ok(ready > 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }
}
