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
pub(crate) trait Hears {
    /// Tells the listener of data, if that is still news, and lets go by [`finish`].
    fn dispatch_data(self: Arc<Self>);

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

/// Has the listener of `entity` called for its data: before this returns, after the listener that
/// is under way on this thread, or by another thread.
pub(super) fn call(entity: Arc<dyn Hears>) {
    let called = CALLED.with(Cell::get);
    if called >= CHAIN_MAX || role::is_driver() {
        return finish(entity, |it| it.leave_to_callbacks());
    }
    if called > 0 {
        if let Some(refused) = NEXT.with(|next| call_later(&mut next.borrow_mut(), entity)) {
            finish(refused, |it| it.leave_to_callbacks());
        }
        return;
    }
    let _turn = Turn::begin();
    entity.dispatch_data();
    while let Some(next) = NEXT.with(|next| next.borrow_mut().pop_front()) {
        if CALLED.with(Cell::get) < CHAIN_MAX {
            CALLED.with(|it| it.set(it.get().saturating_add(1)));
            next.dispatch_data();
        } else {
            finish(next, |it| it.leave_to_callbacks());
        }
    }
}

/// Does `what` with `entity` and lets go of it: its last handle may go here, and with it user code
/// that panics.
#[inline(always)]
pub(super) fn finish<E: ?Sized>(entity: Arc<E>, what: impl FnOnce(&Arc<E>)) {
    let _ = contain(|| what(&entity));
    let _ = contain(|| drop(entity));
}

/// Gives `entity` back where another thread is to call its listener, or this one soon will.
fn call_later(
    next: &mut VecDeque<Arc<dyn Hears>>,
    entity: Arc<dyn Hears>,
) -> Option<Arc<dyn Hears>> {
    let is_known = |it: &Arc<dyn Hears>| std::ptr::addr_eq(Arc::as_ptr(it), Arc::as_ptr(&entity));
    if next.iter().any(is_known) {
        return None;
    }
    if next.len() >= CHAIN_MAX as usize {
        return Some(entity);
    }
    next.push_back(entity);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Of an entity that panics when it is told and when it goes, and which this is the last handle
    /// of.
    struct Last {
        called: Arc<AtomicUsize>,
        next: usize,
    }

    impl Hears for Last {
        fn dispatch_data(self: Arc<Self>) {
            finish(self, |it| {
                it.called.fetch_add(1, Ordering::SeqCst);
                for _ in 0..it.next {
                    call(last(&it.called, 0));
                }
                panic!("as asked");
            });
        }

        fn leave_to_callbacks(&self) {
            self.called.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Drop for Last {
        fn drop(&mut self) {
            panic!("as asked");
        }
    }

    fn last(called: &Arc<AtomicUsize>, next: usize) -> Arc<dyn Hears> {
        let called = Arc::clone(called);
        Arc::new(Last { called, next })
    }

    #[test]
    fn whatever_goes_with_the_last_handle_the_write_returns_and_all_are_told() {
        // More than one write calls, and more than it queues.
        for next in [0, 1, 40] {
            let called = Arc::new(AtomicUsize::new(0));
            call(last(&called, next));
            assert_eq!(called.load(Ordering::SeqCst), 1 + next);
            assert_eq!(CALLED.with(Cell::get), 0);
        }
    }
}
