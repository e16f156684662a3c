//! Hearing from the system that interfaces or their addresses have changed.

use std::io;

use crate::poll::sealed;
use crate::sys;

/// Becomes readable, for [`crate::poll::Poller`], when an interface appears, disappears, goes up
/// or down, changes its MTU, or gains or loses an address. It does not say which: look again with
/// [`super::list`].
#[derive(Debug)]
pub struct InterfaceWatch {
    source: sys::InterfaceWatch,
}

impl InterfaceWatch {
    /// Watches the interfaces of this host.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] where the platform does not tell; otherwise the system
    /// refuses. Look every few seconds then.
    pub fn open() -> io::Result<Self> {
        let source = sys::InterfaceWatch::open()?;
        Ok(Self { source })
    }

    /// Takes every report there is, so that it is no longer readable; true when there were any.
    pub fn drain(&self) -> bool {
        self.source.drain()
    }
}

impl sealed::Sealed for InterfaceWatch {
    fn handle(&self) -> sys::Handle<'_> {
        self.source.handle()
    }
}
