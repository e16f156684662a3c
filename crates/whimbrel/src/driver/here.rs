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
    /// Tells the listener of data, if that is still news.
    fn dispatch_data(&self);

    /// Has the callback thread do that.
    fn leave_to_callbacks(&self);
}

/// Listeners called for one write at most, one after the other.
const CHAIN_MAX: u32 = 16;

thread_local! {
    /// How many have been called so far by the loop under way; 0 where there is none.
    static CALLED: Cell<u32> = const { Cell::new(0) };
    static NEXT: RefCell<VecDeque<Arc<dyn Hears>>> =
        const { RefCell::new(VecDeque::new()) };
}

/// Has the listener of `status` called for its data: before this returns, after the listener that
/// is under way on this thread, or by another thread.
pub(super) fn call(status: Arc<dyn Hears>) {
    let called = CALLED.with(Cell::get);
    if called >= CHAIN_MAX || role::is_driver() {
        return status.leave_to_callbacks();
    }
    if called > 0 {
        if let Some(refused) = NEXT.with(|next| call_later(&mut next.borrow_mut(), status)) {
            refused.leave_to_callbacks();
        }
        return;
    }
    let _turn = Turn::begin();
    status.dispatch_data();
    while let Some(next) = NEXT.with(|next| next.borrow_mut().pop_front()) {
        if CALLED.with(Cell::get) < CHAIN_MAX {
            CALLED.with(|it| it.set(it.get().saturating_add(1)));
            // The last handle of an entity may go here, and with it user code that panics.
            let _ = contain(|| {
                next.dispatch_data();
                drop(next);
            });
        } else {
            next.leave_to_callbacks();
        }
    }
}

/// Gives `status` back where another thread is to call its listener.
fn call_later(
    next: &mut VecDeque<Arc<dyn Hears>>,
    status: Arc<dyn Hears>,
) -> Option<Arc<dyn Hears>> {
    let is_known = |it: &Arc<dyn Hears>| std::ptr::addr_eq(Arc::as_ptr(it), Arc::as_ptr(&status));
    if next.iter().any(is_known) {
        return None;
    }
    if next.len() >= CHAIN_MAX as usize {
        return Some(status);
    }
    next.push_back(status);
    None
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
