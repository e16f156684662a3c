//! Runs listeners, never under a lock, one after the other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use whimbrel_base::status::{StatusKind, StatusMask};

use super::wake::lock;

/// Something with a listener.
pub(crate) trait Dispatch: Send + Sync {
    /// Where the listener is.
    fn slot(&self) -> &CallbackSlot;
}

/// What a listener is at this level: told which statuses changed.
pub(crate) type Callback = Box<dyn FnMut(StatusMask) + Send>;

enum Place {
    Empty,
    Ready(Callback),
    /// Taken out by the thread that runs it.
    Running,
}

/// A listener and what it has not been told yet.
pub(crate) struct CallbackSlot {
    place: Mutex<Place>,
    mask: AtomicU32,
    pending: AtomicU32,
    queued: AtomicBool,
}

impl Default for CallbackSlot {
    fn default() -> Self {
        Self {
            place: Mutex::new(Place::Empty),
            mask: AtomicU32::new(0),
            pending: AtomicU32::new(0),
            queued: AtomicBool::new(false),
        }
    }
}

impl CallbackSlot {
    /// Replaces the listener. One that is running finishes first but is not called again.
    pub(crate) fn set(&self, callback: Option<Callback>, mask: StatusMask) {
        let mask = if callback.is_some() {
            mask
        } else {
            StatusMask::NONE
        };
        self.mask.store(mask.0, Ordering::SeqCst);
        let old = {
            let mut place = lock(&self.place);
            let new = callback.map_or(Place::Empty, Place::Ready);
            std::mem::replace(&mut *place, new)
        };
        // Dropped outside the lock: the listener may own entities.
        drop(old);
    }

    /// True when the listener wants to hear of `kind`.
    pub(crate) fn wants(&self, kind: StatusKind) -> bool {
        StatusMask(self.mask.load(Ordering::SeqCst)).contains(kind)
    }

    fn run(&self) {
        self.queued.store(false, Ordering::SeqCst);
        let pending = StatusMask(self.pending.swap(0, Ordering::SeqCst));
        if pending.is_empty() {
            return;
        }
        let taken = {
            let mut place = lock(&self.place);
            match std::mem::replace(&mut *place, Place::Running) {
                Place::Ready(callback) => callback,
                other => {
                    *place = other;
                    return;
                }
            }
        };
        let mut callback = taken;
        callback(pending);
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
    }
}

impl std::fmt::Debug for CallbackSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "CallbackSlot({:?})",
            StatusMask(self.mask.load(Ordering::Relaxed))
        )
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
}

impl Callbacks {
    /// Has the listener of `target` told of `kind`, if it wants to know.
    pub(crate) fn notify(
        self: &Arc<Self>,
        slot: &CallbackSlot,
        target: &Weak<dyn Dispatch>,
        kind: StatusKind,
    ) {
        if !slot.wants(kind) {
            return;
        }
        slot.pending
            .fetch_or(StatusMask::of(kind).0, Ordering::SeqCst);
        if slot.queued.swap(true, Ordering::SeqCst) {
            return;
        }
        let mut queue = lock(&self.queue);
        queue.waiting.push_back(target.clone());
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

    fn work(&self) {
        let mut queue = lock(&self.queue);
        loop {
            match queue.waiting.pop_front() {
                Some(target) => {
                    drop(queue);
                    if let Some(target) = target.upgrade() {
                        target.slot().run();
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
            // A listener that panicked ended its thread; there is nothing to wait for.
            let _ = thread.join();
        }
    }
}
