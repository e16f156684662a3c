//! How many wait in this process, at whatever bell.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that wait and tasks that are to be woken. Outlives every model, so it is no part of one.
static AUDIENCE: AtomicUsize = AtomicUsize::new(0);

/// One more waits.
pub(super) fn join() {
    AUDIENCE.fetch_add(1, Ordering::SeqCst);
}

/// So many wait no longer.
pub(super) fn leave(count: usize) {
    AUDIENCE.fetch_sub(count, Ordering::SeqCst);
}

/// True when somebody waits; call it when not waiting oneself.
pub(super) fn others_wait() -> bool {
    AUDIENCE.load(Ordering::SeqCst) > 0
}

/// True when somebody else waits; call it from a thread that waits.
pub(super) fn others_wait_beside_me() -> bool {
    AUDIENCE.load(Ordering::SeqCst) > 1
}
