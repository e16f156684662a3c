//! Whether datagrams of one size arrive as one.

use std::sync::atomic::{AtomicU8, Ordering};

const NEVER: u8 = 0;
const ONCE_USEFUL: u8 = 1;
const IN_FORCE: u8 = 2;

/// Whether the system joins datagrams of one size.
#[derive(Debug, Default)]
pub(super) struct Joining(AtomicU8);

impl Joining {
    pub(super) fn is_in_force(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IN_FORCE
    }

    /// It is wanted, and not in force yet.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ONCE_USEFUL
    }

    pub(super) fn set_in_force(&self) {
        self.0.store(IN_FORCE, Ordering::Relaxed);
    }

    pub(super) fn want_once_useful(&self) {
        self.0.store(ONCE_USEFUL, Ordering::Relaxed);
    }

    /// The system cannot.
    pub(super) fn give_up(&self) {
        self.0.store(NEVER, Ordering::Relaxed);
    }
}
