//! What a thread is to the driver.

use std::cell::Cell;

use super::sync::thread_local;

thread_local! {
    static DRIVES: Cell<bool> = const { Cell::new(false) };
}

/// This thread is the driver's own from now on.
pub(super) fn note_driver() {
    DRIVES.with(|it| it.set(true));
}

/// True on the driver's own threads, which listeners of writes must not hold up.
pub(super) fn is_driver() -> bool {
    DRIVES.with(Cell::get)
}
