//! Locks, atomics and threads: the standard library's, or those of a model checker.
//!
//! Under `cfg(shuttle)` every step of the driver's threads is scheduled by Shuttle, which tries
//! many orders ([`super::models`]). Nothing else in this crate knows of it.

use std::sync::atomic::compiler_fence;
pub(crate) use std::sync::{Arc, OnceLock, PoisonError, TryLockError, Weak};

#[cfg(not(shuttle))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(shuttle))]
pub(crate) use std::thread;
#[cfg(not(shuttle))]
pub(crate) use std::thread_local;

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(shuttle)]
pub(crate) use shuttle::thread;
#[cfg(shuttle)]
pub(crate) use shuttle::thread_local;

use atomic::{AtomicBool, Ordering, fence};

/// How often [`lock_after_others`] lets others run.
const YIELDS_MAX: usize = 4;

/// A value that is read without a lock and replaced as a whole.
#[cfg(not(shuttle))]
pub(crate) type Snapshot<T> = arc_swap::ArcSwap<T>;

/// The same, with the order of loads and stores left to the model.
#[cfg(shuttle)]
#[derive(Default)]
pub(crate) struct Snapshot<T>(Mutex<Arc<T>>);

#[cfg(shuttle)]
impl<T> Snapshot<T> {
    pub(crate) fn load(&self) -> Arc<T> {
        self.load_full()
    }

    pub(crate) fn load_full(&self) -> Arc<T> {
        Arc::clone(&lock(&self.0))
    }

    pub(crate) fn store(&self, new: Arc<T>) {
        let old = std::mem::replace(&mut *lock(&self.0), new);
        drop(old);
    }
}

/// As [`lock`], unless somebody has it.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// As [`lock`], but where somebody has it lets others run first: for a lock whose owner wakes,
/// before he gives it back, whoever wants it next, and may have lost his core to him.
pub(crate) fn lock_after_others<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..YIELDS_MAX {
        if let Some(guard) = try_lock(mutex) {
            return guard;
        }
        thread::yield_now();
    }
    lock(mutex)
}

/// A user callback may panic while it holds nothing of ours, so a poisoned lock is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As a fence after an atomic that was read and written at once, which is one by itself on some
/// processors.
#[inline(always)]
pub(crate) fn fence_after_change() {
    fence_unless(cfg!(target_arch = "x86_64"));
}

/// As a fence after a lock was given back, which some systems do by such a change of an atomic.
#[inline(always)]
pub(crate) fn fence_after_unlock() {
    fence_unless(cfg!(all(target_arch = "x86_64", target_os = "linux")));
}

/// Takes back a mark that is set under a lock, or under one of several. Whoever does either looks
/// no further, or looks next at what that lock guards, under it or after [`fence_before_look`]: so
/// on x86 a store will do, which the look cannot overtake.
#[inline(always)]
pub(crate) fn take_back(mark: &AtomicBool) {
    if cfg!(target_arch = "x86_64") {
        mark.store(false, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
    } else {
        mark.swap(false, Ordering::SeqCst);
    }
}

/// What comes before a look without the lock that [`take_back`] speaks of.
#[inline(always)]
pub(crate) fn fence_before_look() {
    fence_unless(!cfg!(target_arch = "x86_64"));
}

#[inline(always)]
fn fence_unless(is_one: bool) {
    if is_one {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}
