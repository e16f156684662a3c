//! Listeners that the writing thread calls itself.
//!
//! What a listener writes is told to other listeners once it has returned, by the same loop: the
//! stack does not grow, and no two are under way at once on a thread. A chain that goes on and on
//! is left to the callback thread, so that the write that began it returns.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::contain::contain;
use super::role;
use super::sync::{Arc, thread_local};

/// Whose listener can be called here.
pub(super) trait Hears {
    /// Tells the listener of data.
    fn dispatch_data(&self);

    /// Has the callback thread do that.
    fn leave_to_callbacks(&self);

    /// To be kept until it is its turn.
    fn myself(&self) -> Option<Arc<dyn Hears>>;
}

/// Listeners called for one write at most, one after the other.
const CHAIN_MAX: u32 = 16;

thread_local! {
    /// How many have been called so far by the loop under way; 0 where there is none.
    static CALLED: Cell<u32> = const { Cell::new(0) };
    static NEXT: RefCell<VecDeque<Arc<dyn Hears>>> =
        const { RefCell::new(VecDeque::new()) };
}

/// Calls the listener of `status` for its data, before this returns or after the listener that is
/// under way on this thread. False where another thread is to do that.
pub(super) fn call(status: &dyn Hears) -> bool {
    let called = CALLED.with(Cell::get);
    if called >= CHAIN_MAX || role::is_driver() {
        return false;
    }
    if called > 0 {
        let Some(status) = status.myself() else {
            return false;
        };
        NEXT.with(|next| next.borrow_mut().push_back(status));
        return true;
    }
    let _turn = Turn::begin();
    call_one(status);
    while let Some(next) = NEXT.with(|next| next.borrow_mut().pop_front()) {
        if CALLED.with(Cell::get) < CHAIN_MAX {
            CALLED.with(|it| it.set(it.get().saturating_add(1)));
            call_one(&*next);
        } else {
            next.leave_to_callbacks();
        }
    }
    true
}

fn call_one(status: &dyn Hears) {
    // The last handle of an entity may go here, and with it user code that panics.
    let _ = contain(|| status.dispatch_data());
}

/// The loop under way on this thread.
struct Turn;

impl Turn {
    fn begin() -> Self {
        CALLED.with(|it| it.set(1));
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        CALLED.with(|it| it.set(0));
    }
}
