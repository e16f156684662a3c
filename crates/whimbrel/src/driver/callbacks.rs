//! Runs listeners, never under a lock, one after the other.
//!
//! A listener that panics is counted and goes on being called; it stops no other.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use whimbrel_base::status::StatusMask;

use super::wake::lock;

/// Something whose listeners can be told of changes.
pub(crate) trait Dispatch: Send + Sync {
    /// Tells them, on the callback thread.
    fn dispatch(&self);
}

/// The entity that a listener is given.
pub(crate) type Owner = Arc<dyn Any + Send + Sync>;

/// What a listener is at this level: told which statuses of which entity changed.
pub(crate) type Callback = Box<dyn FnMut(&Owner, StatusMask) + Send>;

enum Place {
    Empty,
    Ready(Callback),
    /// Taken out by the thread that runs it.
    Running,
}

/// The user's code panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

/// A listener and what it wants to hear of.
pub(crate) struct CallbackSlot {
    place: Mutex<Place>,
    mask: AtomicU32,
}

impl Default for CallbackSlot {
    fn default() -> Self {
        Self {
            place: Mutex::new(Place::Empty),
            mask: AtomicU32::new(0),
        }
    }
}

impl CallbackSlot {
    /// Replaces the listener. One that is running finishes first but is not called again.
    pub(crate) fn set(&self, callback: Option<Callback>, mask: StatusMask) {
        let old = {
            let mut place = lock(&self.place);
            let mask = if callback.is_some() {
                mask
            } else {
                StatusMask::NONE
            };
            self.mask.store(mask.0, Ordering::SeqCst);
            let new = callback.map_or(Place::Empty, Place::Ready);
            std::mem::replace(&mut *place, new)
        };
        // Dropped outside the lock: the listener may own entities.
        drop(old);
    }

    /// What the listener wants to hear of; nothing where there is none.
    pub(crate) fn mask(&self) -> StatusMask {
        StatusMask(self.mask.load(Ordering::SeqCst))
    }

    /// Calls the listener, if there is one that is not running already.
    pub(crate) fn run(&self, owner: &Owner, kinds: StatusMask) -> Result<(), Panicked> {
        let mut callback = {
            let mut place = lock(&self.place);
            match std::mem::replace(&mut *place, Place::Running) {
                Place::Ready(callback) => callback,
                other => {
                    *place = other;
                    return Ok(());
                }
            }
        };
        // The listener's own state is its own to mend: it is called again.
        let outcome = catch_unwind(AssertUnwindSafe(|| callback(owner, kinds)));
        let replaced = {
            let mut place = lock(&self.place);
            if matches!(*place, Place::Running) {
                *place = Place::Ready(callback);
                None
            } else {
                Some(callback)
            }
        };
        drop(replaced);
        outcome.map_err(|_| Panicked)
    }
}

impl std::fmt::Debug for CallbackSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CallbackSlot({:?})", self.mask())
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Weak<dyn Dispatch>>,
    thread: Option<JoinHandle<()>>,
    stopping: bool,
}

/// The callback thread and what it has to run.
#[derive(Default)]
pub(crate) struct Callbacks {
    queue: Mutex<Queue>,
    condvar: Condvar,
    panics: AtomicU64,
}

impl Callbacks {
    /// Has the listeners of `target` told what changed.
    pub(crate) fn enqueue(self: &Arc<Self>, target: Weak<dyn Dispatch>) {
        let mut queue = lock(&self.queue);
        queue.waiting.push_back(target);
        if queue.thread.is_none() && !queue.stopping {
            let worker = Arc::clone(self);
            let spawned = thread::Builder::new()
                .name("whimbrel-call".into())
                .spawn(move || worker.work());
            // Without threads left the next notification tries again.
            queue.thread = spawned.ok();
        }
        drop(queue);
        self.condvar.notify_one();
    }

    /// Counts a listener's panic.
    pub(crate) fn note_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// How often listeners panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    fn work(&self) {
        let mut queue = lock(&self.queue);
        loop {
            match queue.waiting.pop_front() {
                Some(target) => {
                    drop(queue);
                    // The last handle of an entity may go here, and with it user code that panics.
                    let run = || {
                        if let Some(target) = target.upgrade() {
                            target.dispatch();
                        }
                    };
                    if catch_unwind(AssertUnwindSafe(run)).is_err() {
                        self.note_panic();
                    }
                    queue = lock(&self.queue);
                }
                None if queue.stopping => return,
                None => {
                    queue = self
                        .condvar
                        .wait(queue)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Ends the thread once it has run what is queued. Does not wait when called by a listener.
    pub(crate) fn stop(&self) {
        let thread = {
            let mut queue = lock(&self.queue);
            queue.stopping = true;
            queue.thread.take()
        };
        self.condvar.notify_all();
        if let Some(thread) = thread
            && thread.thread().id() != thread::current().id()
        {
            // It caught every panic of user code; there is nothing to learn from its end.
            let _ = thread.join();
        }
    }
}
