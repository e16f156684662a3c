//! Listeners that the writing thread calls itself.
//!
//! What a listener writes is told to other listeners once it has returned, by the same loop: the
//! stack does not grow, and no two are under way at once on a thread. A chain that goes on and on
//! is left to the callback thread, so that the write that began it returns.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::contain::contain;
use super::role;
use super::sync::{Arc, Weak, thread_local};

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
    static CHAIN: RefCell<Chain> = const { RefCell::new(Chain::new()) };
}

/// Whose listeners are called after the one under way. A reader that goes before its turn is not
/// kept.
struct Chain {
    next: VecDeque<Weak<dyn Hears>>,
    /// Whose turn came last: most often it is told again, and each change of a count of handles
    /// takes time.
    last: Option<Weak<dyn Hears>>,
}

impl Chain {
    const fn new() -> Self {
        Self {
            next: VecDeque::new(),
            last: None,
        }
    }

    /// Has the listener of the entity at `address` called in its turn; false where too many are
    /// before it.
    fn append(&mut self, address: *const (), entity: impl FnOnce() -> Weak<dyn Hears>) -> bool {
        let is_known = |it: &Weak<dyn Hears>| std::ptr::addr_eq(it.as_ptr(), address);
        if self.next.iter().any(is_known) {
            return true;
        }
        if self.next.len() >= CHAIN_MAX as usize {
            return false;
        }
        let same = self.last.take_if(|it| is_known(it));
        self.next.push_back(same.unwrap_or_else(entity));
        true
    }

    /// Whose turn it is.
    fn take_next(&mut self) -> Option<Arc<dyn Hears>> {
        loop {
            let next = self.next.pop_front()?;
            let entity = next.upgrade();
            self.last = Some(next);
            if entity.is_some() {
                return entity;
            }
        }
    }
}

/// False where no listener is under way on this thread.
#[inline(always)]
pub(super) fn may_be_in_listener() -> bool {
    CALLED.with(Cell::get) > 0 || role::is_driver()
}

/// Whether a listener is under way on this thread after which others can be called.
#[inline(always)]
pub(super) fn is_under_way() -> bool {
    (1..CHAIN_MAX).contains(&CALLED.with(Cell::get)) && !role::is_driver()
}

/// Has the listener of the entity at `address` called after the one that [is under
/// way](is_under_way); false where too many are before it. It runs no code of the program's.
pub(super) fn call_after(address: *const (), entity: impl FnOnce() -> Weak<dyn Hears>) -> bool {
    let appended = CHAIN.try_with(|it| it.borrow_mut().append(address, entity));
    // Where the thread is ending there is none.
    appended.unwrap_or(false)
}

/// Has the listener of `entity` called for its data: before this returns, after the listener that
/// is under way on this thread, or by another thread.
pub(super) fn call(entity: Arc<dyn Hears>) {
    if may_be_in_listener() {
        return finish(entity, |it| {
            let in_chain =
                is_under_way() && call_after(Arc::as_ptr(it).cast(), || Arc::downgrade(it));
            if !in_chain {
                it.leave_to_callbacks();
            }
        });
    }
    let _turn = Turn::begin();
    entity.dispatch_data();
    while let Some(next) = next_in_chain() {
        if CALLED.with(Cell::get) < CHAIN_MAX {
            CALLED.with(|it| it.set(it.get().saturating_add(1)));
            next.dispatch_data();
        } else {
            finish(next, |it| it.leave_to_callbacks());
        }
    }
}

/// Whose turn it is on this thread.
fn next_in_chain() -> Option<Arc<dyn Hears>> {
    let next = CHAIN.try_with(|it| it.borrow_mut().take_next());
    next.ok().flatten()
}

/// Does `what` with `entity` and lets go of it: its last handle may go here, and with it user code
/// that panics.
#[inline(always)]
pub(super) fn finish<E: ?Sized>(entity: Arc<E>, what: impl FnOnce(&Arc<E>)) {
    let _ = contain(|| what(&entity));
    let _ = contain(|| drop(entity));
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
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An entity that panics when it is called and when it goes. Whoever tells it has its last
    /// handle then.
    struct Last {
        called: Arc<AtomicUsize>,
        next: usize,
        other_handle: Mutex<Option<Arc<Self>>>,
    }

    impl Last {
        fn told(&self) {
            self.called.fetch_add(1, Ordering::SeqCst);
            drop(self.other_handle.lock().unwrap().take());
        }
    }

    impl Hears for Last {
        fn dispatch_data(self: Arc<Self>) {
            finish(self, |it| {
                it.told();
                for _ in 0..it.next {
                    call(last(&it.called, 0));
                }
                panic!("as asked");
            });
        }

        fn leave_to_callbacks(&self) {
            self.told();
        }
    }

    impl Drop for Last {
        fn drop(&mut self) {
            panic!("as asked");
        }
    }

    fn last(called: &Arc<AtomicUsize>, next: usize) -> Arc<Last> {
        let called = Arc::clone(called);
        let entity = Arc::new(Last {
            called,
            next,
            other_handle: Mutex::default(),
        });
        *entity.other_handle.lock().unwrap() = Some(Arc::clone(&entity));
        entity
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

    /// Notes its number when it is told.
    struct Numbered {
        told: Arc<Mutex<Vec<u32>>>,
        number: u32,
        then: Mutex<Vec<Arc<Self>>>,
    }

    impl Hears for Numbered {
        fn dispatch_data(self: Arc<Self>) {
            self.told.lock().unwrap().push(self.number);
            let then = std::mem::take(&mut *self.then.lock().unwrap());
            // By either way into the chain; but one in three goes before its turn.
            for (at, next) in then.into_iter().enumerate() {
                if at % 3 == 1 {
                    call(Arc::clone(&next) as Arc<dyn Hears>);
                } else {
                    let weak: Weak<Self> = Arc::downgrade(&next);
                    assert!(call_after(weak.as_ptr().cast(), || weak.clone()));
                }
                if at % 3 != 2 {
                    self.then.lock().unwrap().push(next);
                }
            }
        }

        fn leave_to_callbacks(&self) {}
    }

    #[test]
    fn who_is_in_a_chain_is_told_once_in_turn_unless_it_went() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let numbered = |number, then| {
            Arc::new(Numbered {
                told: Arc::clone(&told),
                number,
                then: Mutex::new(then),
            })
        };
        let after: Vec<_> = (1..=6).map(|it| numbered(it, Vec::new())).collect();
        let kept = Arc::clone(&after[0]);
        let mut after_all = after;
        after_all.push(kept);
        let first = numbered(0, after_all);
        assert!(!is_under_way());
        for _ in 0..5 {
            call(Arc::clone(&first) as Arc<dyn Hears>);
        }
        // Of those named each third had gone, and who was named twice is told once.
        let told = &*told.lock().unwrap();
        assert_eq!(
            *told,
            [0, 1, 2, 4, 5, 0, 1, 2, 5, 0, 1, 2, 0, 1, 2, 0, 1, 2]
        );
    }
}
