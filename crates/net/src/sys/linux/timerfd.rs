//! A file descriptor that becomes readable at a moment.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::{Handle, check, timespec};

/// Readable once the time that was set last is over, until it is set again.
#[derive(Debug)]
pub(crate) struct TimerFd {
    fd: OwnedFd,
}

impl TimerFd {
    pub(crate) fn new() -> io::Result<Self> {
        const FLAGS: i32 = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: no pointers.
        let fd = check(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, FLAGS) })?;
        // SAFETY: the call succeeded, so this is an open descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        Ok(Self { fd })
    }

    pub(crate) fn handle(&self) -> Handle<'_> {
        self.fd.as_fd()
    }

    /// Forgets what was set; readable in `left` from now, or never.
    pub(crate) fn set(&self, left: Option<Duration>) {
        // All zeros would mean never.
        let left = left.map(|it| it.max(Duration::from_nanos(1)));
        let value = libc::itimerspec {
            it_interval: timespec(Duration::ZERO),
            it_value: timespec(left.unwrap_or_default()),
        };
        // SAFETY: `value` lives through the call; nobody asks for the old one. The call fails only
        // for descriptors and values other than these.
        unsafe {
            libc::timerfd_settime(
                self.fd.as_raw_fd(),
                0,
                &raw const value,
                std::ptr::null_mut(),
            )
        };
    }
}
