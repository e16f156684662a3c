//! Readiness: waiting for many sockets at once, waking who waits, and descriptors that a user's
//! own loop can watch.
//!
//! A [`Poller`] may be waited on by several threads at the same time; with [`Trigger::Edge`] one
//! event wakes one of them, the one that came last. A [`Signal`] is a level: set until cleared. A
//! [`Waker`] is a bell: each ring ends one wait.

#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use crate::sys;

/// What the caller calls a source of events; events carry it back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(pub u64);

/// When a source is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// As long as it is ready, to everybody who waits.
    Level,
    /// Once each time something arrives, to one of those who wait. Whoever is woken must read
    /// until nothing is left. Where the platform cannot do this it is treated as
    /// [`Trigger::Level`].
    Edge,
}

/// For what a source is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// Something to receive.
    Read,
    /// Room to send.
    Write,
    /// Both.
    ReadWrite,
}

/// Something that a [`Poller`] can watch: [`crate::socket::UdpSocket`], [`Signal`], and on Linux
/// any borrowed file descriptor.
pub trait Source: sealed::Sealed {}

impl<T: sealed::Sealed> Source for T {}

pub(crate) mod sealed {
    pub trait Sealed {
        #[allow(private_interfaces, reason = "the trait is sealed")]
        fn handle(&self) -> crate::sys::Handle<'_>;
    }
}

#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
impl sealed::Sealed for BorrowedFd<'_> {
    fn handle(&self) -> sys::Handle<'_> {
        *self
    }
}

/// One source that is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The token with which the source was added.
    pub token: Token,
    /// There is something to receive, or an error to learn.
    pub readable: bool,
    /// There is room to send, or an error to learn.
    pub writable: bool,
}

/// Room for the events of one wait, used again for the next.
pub struct Events {
    buffer: sys::EventBuffer,
}

impl Events {
    /// Room for `capacity` events (1 to 1,024) per wait; what does not fit is reported next time.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            buffer: sys::EventBuffer::with_capacity(capacity),
        }
    }

    /// The events of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        self.buffer.iter().map(|ready| Event {
            token: Token(ready.token),
            readable: ready.readable,
            writable: ready.writable,
        })
    }

    /// How many events the last wait gave.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// True when the last wait gave none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A set of sources to wait for. All methods may be called from any thread at any time.
#[derive(Debug)]
pub struct Poller {
    set: sys::Poller,
}

impl Poller {
    /// An empty set.
    ///
    /// # Errors
    /// The system has no descriptors left.
    pub fn new() -> io::Result<Self> {
        sys::Poller::new().map(|set| Self { set })
    }

    /// Watches `source`. It must be removed before it is closed where clones of it stay open.
    ///
    /// # Errors
    /// The source is watched already, or the system refuses.
    pub fn add(
        &self,
        source: &impl Source,
        token: Token,
        interest: Interest,
        trigger: Trigger,
    ) -> io::Result<()> {
        self.set
            .add(source.handle(), watch(token, interest, trigger))
    }

    /// Watches a source that was added with `token` for something else from now on.
    ///
    /// # Errors
    /// The source is not watched.
    pub fn change(
        &self,
        source: &impl Source,
        token: Token,
        interest: Interest,
        trigger: Trigger,
    ) -> io::Result<()> {
        self.set
            .change(source.handle(), watch(token, interest, trigger))
    }

    /// Stops watching `source`, which was added with `token`.
    ///
    /// # Errors
    /// The source is not watched.
    pub fn remove(&self, source: &impl Source, token: Token) -> io::Result<()> {
        self.set.remove(source.handle(), token.0)
    }

    /// Waits until a source is ready or `timeout` is over (`None`: for ever), and fills `events`.
    ///
    /// Precise to what the system's timers give, never early but for signals: then it returns
    /// without events. On kernels before 5.11, rounds up to milliseconds.
    ///
    /// # Errors
    /// The system refuses; not for signals.
    pub fn wait(&self, timeout: Option<Duration>, events: &mut Events) -> io::Result<usize> {
        self.set.wait(timeout, &mut events.buffer)
    }
}

/// Readable when [`Poller::wait`] would return at once, so that a set nests in a user's own loop.
#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.set.handle()
    }
}

/// Lets waits of the calling thread, and of threads that it starts later, end as exactly as the
/// timers allow. Without it Linux adds up to 50 µs to save power. Only for threads of our own.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] where the platform leaves no choice.
pub fn use_precise_timers() -> io::Result<()> {
    sys::use_precise_timers()
}

fn watch(token: Token, interest: Interest, trigger: Trigger) -> sys::Watch {
    sys::Watch {
        token: token.0,
        readable: matches!(interest, Interest::Read | Interest::ReadWrite),
        writable: matches!(interest, Interest::Write | Interest::ReadWrite),
        edge: trigger == Trigger::Edge,
    }
}

/// Ends the wait of one thread, now or the next time one waits. Clones ring the same bell.
#[derive(Clone, Debug)]
pub struct Waker {
    bell: Arc<sys::EventFd>,
}

impl Waker {
    /// A bell in `poller` whose events carry `token`. It is gone with its last clone.
    ///
    /// # Errors
    /// The system has no descriptors left.
    pub fn new(poller: &Poller, token: Token) -> io::Result<Self> {
        let bell = Arc::new(sys::EventFd::new()?);
        poller.set.add_waker(&bell, token.0)?;
        Ok(Self { bell })
    }

    /// Ends one wait, or the next one where nobody waits.
    pub fn wake(&self) {
        self.bell.notify();
    }
}

/// A level that threads can wait for and that a file descriptor shows: readable while set.
///
/// Setting what is set and clearing what is clear costs no system call.
#[derive(Debug)]
pub struct Signal {
    event: sys::EventFd,
    is_set: AtomicBool,
    /// Whether the descriptor is readable; follows `is_set`.
    shown: Mutex<bool>,
}

impl Signal {
    /// A signal that is clear.
    ///
    /// # Errors
    /// The system has no descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            event: sys::EventFd::new()?,
            is_set: AtomicBool::new(false),
            shown: Mutex::new(false),
        })
    }

    /// Sets it; whoever waits returns.
    pub fn set(&self) {
        if !self.is_set.swap(true, Ordering::AcqRel) {
            self.show();
        }
    }

    /// Clears it. What was written before a [`Signal::set`] that this clears is visible after it.
    pub fn clear(&self) {
        if self.is_set.swap(false, Ordering::AcqRel) {
            self.show();
        }
    }

    /// True while set.
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Waits until it is set, at most `timeout` (`None`: for ever); tells whether it is. Does not
    /// clear it.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<bool> {
        if self.is_set() {
            return Ok(true);
        }
        let started = Instant::now();
        loop {
            let left = timeout.map(|limit| limit.saturating_sub(started.elapsed()));
            self.event.wait(left)?;
            if self.is_set() {
                return Ok(true);
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
        }
    }

    /// Brings the descriptor in line with the flag. Every change of the flag is followed by this,
    /// so the last one through the lock leaves both equal.
    fn show(&self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.is_set();
        if wanted != *shown {
            if wanted {
                self.event.notify();
            } else {
                self.event.drain();
            }
            *shown = wanted;
        }
    }
}

impl sealed::Sealed for Signal {
    #[allow(private_interfaces, reason = "the trait is sealed")]
    fn handle(&self) -> sys::Handle<'_> {
        self.event.handle()
    }
}

/// Readable while set; only to be watched, never to be read.
#[cfg(all(target_os = "linux", not(whimbrel_portable)))]
impl AsFd for Signal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.handle()
    }
}

#[cfg(test)]
mod tests;
