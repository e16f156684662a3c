//! A reader's readiness as a file descriptor, for event loops.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use whimbrel_net::poll::Signal;
use whimbrel_types::DdsType;

use super::reader::DataReader;
use crate::error::Error;

/// Readable while its reader holds samples that were not read yet.
///
/// Watch it with `poll`, `epoll` (level-triggered) or whatever the event loop has; never read from
/// it or write to it. Take until nothing is left to make it unreadable again. It stays valid after
/// its reader is gone, but then never changes.
#[derive(Clone, Debug)]
pub struct ReadinessFd {
    signal: Arc<Signal>,
}

impl AsFd for ReadinessFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signal.as_fd()
    }
}

impl<T: DdsType> DataReader<T> {
    /// A descriptor that is readable while samples wait to be read.
    ///
    /// The first call makes it; from then on it costs a system call when the reader becomes empty
    /// or ceases to be, but none per sample in between.
    ///
    /// # Errors
    /// [`Error::Io`] when the system has no descriptors left.
    pub fn readiness_fd(&self) -> Result<ReadinessFd, Error> {
        let signal = self.inner.core.signal();
        let signal = signal.map_err(Error::io("making a descriptor for readiness"))?;
        Ok(ReadinessFd {
            signal: Arc::clone(signal),
        })
    }
}
