//! How threads and tasks learn of changes.
//!
//! This is the only module that knows condition variables and task wakers. A [`Bell`]
//! belongs to an entity; whoever waits for the entity listens to its bell. Ringing costs one
//! atomic read when nobody listens.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Instant;

/// A user callback may panic while it holds nothing of ours, so a poisoned lock is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Listeners {
    wakers: Vec<Waker>,
    bells: Vec<Weak<Bell>>,
}

/// Tells whoever listens that something changed.
///
/// Ring it after the change and without holding a lock that a listener's check takes.
#[derive(Default)]
pub(crate) struct Bell {
    listening: AtomicUsize,
    listeners: Mutex<Listeners>,
    condvar: Condvar,
}

impl Bell {
    /// Wakes everybody who listens.
    pub(crate) fn ring(&self) {
        // Orders the change before the look at who listens; the other half is in `wait_until`.
        fence(Ordering::SeqCst);
        if self.listening.load(Ordering::SeqCst) == 0 {
            return;
        }
        let (wakers, bells) = {
            let mut listeners = lock(&self.listeners);
            let wakers = std::mem::take(&mut listeners.wakers);
            self.listening.fetch_sub(wakers.len(), Ordering::SeqCst);
            let bells: Vec<_> = listeners.bells.iter().filter_map(Weak::upgrade).collect();
            (wakers, bells)
        };
        self.condvar.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        bells.iter().for_each(|bell| bell.ring());
    }

    /// Blocks until `ready` gives something or `deadline` has passed.
    pub(crate) fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        self.listening.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let mut guard = lock(&self.listeners);
        let found = loop {
            // The guard is held from the check to the wait, so a ring in between is not lost.
            if let Some(found) = ready() {
                break Some(found);
            }
            guard = match deadline {
                None => self
                    .condvar
                    .wait(guard)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break None;
                    }
                    let woken = self.condvar.wait_timeout(guard, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        drop(guard);
        self.listening.fetch_sub(1, Ordering::SeqCst);
        found
    }

    /// Wakes the task behind `waker` at the next ring. Check for readiness after this call.
    pub(crate) fn wake_task(&self, waker: &Waker) {
        let mut listeners = lock(&self.listeners);
        if !listeners.wakers.iter().any(|known| known.will_wake(waker)) {
            listeners.wakers.push(waker.clone());
            self.listening.fetch_add(1, Ordering::SeqCst);
        }
        drop(listeners);
        fence(Ordering::SeqCst);
    }

    /// Rings `bell` too from now on.
    pub(crate) fn attach(&self, bell: &Arc<Self>) {
        let mut listeners = lock(&self.listeners);
        listeners.bells.retain(|known| known.strong_count() > 0);
        listeners.bells.push(Arc::downgrade(bell));
        // Dead bells stay counted: ringing once too often is harmless, once too seldom is not.
        self.listening.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes back one [`Bell::attach`].
    pub(crate) fn detach(&self, bell: &Arc<Self>) {
        let mut listeners = lock(&self.listeners);
        let at = listeners
            .bells
            .iter()
            .position(|known| known.as_ptr() == Arc::as_ptr(bell));
        if let Some(at) = at {
            listeners.bells.swap_remove(at);
            self.listening.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Bell({} listening)",
            self.listening.load(Ordering::Relaxed)
        )
    }
}
