//! Readiness of many descriptors: epoll.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libc::{c_int, c_long};

use super::{EventFd, Handle, check, timespec};
use crate::sys::{Ready, Watch};

/// Set once the kernel (before 5.11) or a sandbox turned out not to know `epoll_pwait2`.
static WITHOUT_PWAIT2: AtomicBool = AtomicBool::new(false);

/// Room for the answers of one wait.
pub(crate) struct EventBuffer {
    raw: Vec<libc::epoll_event>,
}

impl EventBuffer {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            raw: Vec::with_capacity(capacity.clamp(1, 1024)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        // Errors and hang-ups are found by reading or writing.
        const BROKEN: c_int = libc::EPOLLERR | libc::EPOLLHUP;
        self.raw.iter().map(|event| {
            let happened = event.events.cast_signed();
            Ready {
                token: event.u64,
                readable: happened & (libc::EPOLLIN | BROKEN) != 0,
                writable: happened & (libc::EPOLLOUT | BROKEN) != 0,
            }
        })
    }
}

/// An epoll set.
#[derive(Debug)]
pub(crate) struct Poller {
    fd: OwnedFd,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the call succeeded, so this is an open descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as i32) };
        Ok(Self { fd })
    }

    pub(crate) fn handle(&self) -> Handle<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn add(&self, source: Handle<'_>, watch: Watch) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, source, watch)
    }

    pub(crate) fn change(&self, source: Handle<'_>, watch: Watch) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, source, watch)
    }

    /// Edge-triggered, every notification counts anew and nobody needs to drain it.
    pub(crate) fn add_waker(&self, waker: &Arc<EventFd>, token: u64) -> io::Result<()> {
        let watch = Watch {
            token,
            readable: true,
            writable: false,
            edge: true,
        };
        self.add(waker.handle(), watch)
    }

    pub(crate) fn remove(&self, source: Handle<'_>, token: u64) -> io::Result<()> {
        let watch = Watch {
            token,
            readable: false,
            writable: false,
            edge: false,
        };
        self.control(libc::EPOLL_CTL_DEL, source, watch)
    }

    pub(crate) fn wait(
        &self,
        timeout: Option<Duration>,
        events: &mut EventBuffer,
    ) -> io::Result<usize> {
        events.raw.clear();
        let count = match self.wait_raw(timeout, &mut events.raw) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => other?.min(events.raw.capacity()),
        };
        // SAFETY: the kernel wrote `count` events into the buffer and was told its capacity.
        unsafe { events.raw.set_len(count) };
        Ok(count)
    }

    fn wait_raw(
        &self,
        timeout: Option<Duration>,
        into: &mut Vec<libc::epoll_event>,
    ) -> io::Result<usize> {
        let room = c_int::try_from(into.capacity()).unwrap_or(c_int::MAX);
        let whole = timeout.is_none_or(|limit| limit.subsec_nanos().is_multiple_of(1_000_000));
        // On 32-bit systems the call wants another `timespec` than the C library's.
        let known = cfg!(target_pointer_width = "64") && !WITHOUT_PWAIT2.load(Ordering::Relaxed);
        if !whole && known {
            let limit = timeout.map(timespec);
            let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: `into` has room for `room` events, `limit` is null or points to a `timespec`
            // that lives through the call, and a null signal mask (of any size) is allowed.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    c_long::from(self.fd.as_raw_fd()),
                    into.as_mut_ptr(),
                    c_long::from(room),
                    limit,
                    std::ptr::null::<libc::sigset_t>(),
                    0_usize,
                )
            };
            match check(result) {
                Err(error) if is_unknown_call(&error) => {
                    WITHOUT_PWAIT2.store(true, Ordering::Relaxed);
                }
                other => return other,
            }
        }
        // SAFETY: `into` has room for `room` events.
        check(unsafe {
            libc::epoll_wait(
                self.fd.as_raw_fd(),
                into.as_mut_ptr(),
                room,
                millis(timeout),
            )
        })
    }

    fn control(&self, operation: c_int, source: Handle<'_>, watch: Watch) -> io::Result<()> {
        let mut wanted = 0;
        for (on, flag) in [
            (watch.readable, libc::EPOLLIN),
            (watch.writable, libc::EPOLLOUT),
            (watch.edge, libc::EPOLLET),
        ] {
            if on {
                wanted |= flag;
            }
        }
        let mut event = libc::epoll_event {
            events: wanted.cast_unsigned(),
            u64: watch.token,
        };
        let set = self.fd.as_raw_fd();
        // SAFETY: both descriptors are open while borrowed; `event` lives through the call.
        let result = unsafe { libc::epoll_ctl(set, operation, source.as_raw_fd(), &raw mut event) };
        check(result).map(|_| ())
    }
}

/// Whole milliseconds, rounded up so that nobody wakes before the deadline; -1 for ever.
fn millis(timeout: Option<Duration>) -> c_int {
    timeout.map_or(-1, |limit| {
        let millis = limit.as_nanos().div_ceil(1_000_000);
        c_int::try_from(millis).unwrap_or(c_int::MAX)
    })
}

fn is_unknown_call(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_rounded_up() {
        assert_eq!(millis(None), -1);
        assert_eq!(millis(Some(Duration::ZERO)), 0);
        assert_eq!(millis(Some(Duration::from_nanos(1))), 1);
        assert_eq!(millis(Some(Duration::from_micros(1_001))), 2);
        assert_eq!(millis(Some(Duration::MAX)), c_int::MAX);
        assert_eq!(timespec(Duration::MAX).tv_sec, libc::time_t::MAX);
        assert_eq!(timespec(Duration::from_nanos(2_000_000_005)).tv_nsec, 5);
    }
}
