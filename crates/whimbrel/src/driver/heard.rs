//! What arrived at a thread, as far as it matters to what it writes: that may be an answer.

use std::cell::Cell;

use super::sync::thread_local;

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// Something arrived at this thread for a reader.
#[inline(always)]
pub(super) fn note() {
    COUNT.with(|it| it.set(it.get().wrapping_add(1)));
}

/// How often something did.
#[inline(always)]
pub(super) fn count() -> u32 {
    COUNT.with(Cell::get)
}
