//! Runs listeners, never under a lock, one after the other.
//!
//! A listener that panics is counted and goes on being called; it stops no other.

use std::any::Any;
use std::collections::VecDeque;

use whimbrel_base::status::StatusMask;

use super::contain::contain;
use super::role;
use super::sync::{Arc, Mutex, Weak, lock};
use super::wake::Bell;
use super::worker::Worker;

/// Something whose listeners can be told of changes.
pub(crate) trait Dispatch: Send + Sync {
    /// Tells them, on the callback thread.
    fn dispatch(&self);

    /// The bell of the entity, at which whoever waits for it waits.
    fn bell(&self) -> &Bell;
}

/// What a listener is at this level: told which statuses of which entity changed. It is lent the
/// entity's own `Arc`.
pub(crate) type Callback = Box<dyn FnMut(&dyn Any, StatusMask) + Send>;

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Weak<dyn Dispatch>>,
    thread: Option<Worker>,
    stopping: bool,
}

/// The callback thread and what it has to run.
#[derive(Default)]
pub(crate) struct Callbacks {
    queue: Mutex<Queue>,
    /// Rings when something was put into the queue. The thread waits for it where those would who
    /// wait for the entity it was last about, so listeners run on the thread that receives.
    bell: Bell,
}

impl Callbacks {
    /// Has the listeners of `target` told what changed.
    pub(crate) fn enqueue(self: &Arc<Self>, target: Weak<dyn Dispatch>) {
        let mut queue = lock(&self.queue);
        if queue.stopping {
            // The last participant is gone, and whatever could be told of with it.
            return;
        }
        queue.waiting.push_back(target);
        if queue.thread.is_none() {
            let worker = Arc::clone(self);
            // Without threads left the next notification tries again.
            queue.thread = Worker::spawn("whimbrel-call", move || worker.work()).ok();
        }
        drop(queue);
        self.bell.ring_after_lock();
    }

    /// As [`Callbacks::enqueue`], from the callback thread itself: it looks again before it ends.
    pub(super) fn enqueue_again(&self, target: Weak<dyn Dispatch>) {
        lock(&self.queue).waiting.push_back(target);
    }

    fn work(&self) {
        role::note_driver();
        let mut last: Option<Weak<dyn Dispatch>> = None;
        while let Task::Tell(next) = self.next() {
            let is_last = last.as_ref().is_some_and(|last| last.ptr_eq(&next));
            // The last handle of an entity may go here, and with it user code that panics.
            let _ = contain(|| {
                if let Some(target) = next.upgrade() {
                    if !is_last {
                        self.bell.receive_with(target.bell());
                    }
                    target.dispatch();
                }
            });
            last = Some(next);
        }
    }

    fn next(&self) -> Task {
        let next = || {
            let mut queue = lock(&self.queue);
            match queue.waiting.pop_front() {
                Some(target) => Some(Task::Tell(target)),
                None => queue.stopping.then_some(Task::End),
            }
        };
        // Without a deadline there is no other end.
        self.bell.wait_until(None, next).unwrap_or(Task::End)
    }

    /// Has the thread end once it has run what is queued; gives it to be joined.
    pub(crate) fn stop(&self) -> Option<Worker> {
        let thread = {
            let mut queue = lock(&self.queue);
            queue.stopping = true;
            queue.thread.take()
        };
        self.bell.ring();
        thread
    }
}

/// What the callback thread does next.
enum Task {
    Tell(Weak<dyn Dispatch>),
    End,
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use whimbrel_base::status::StatusKind;

    use super::*;
    use crate::driver::status::EntityStatus;

    #[test]
    fn the_thread_is_there_before_the_first_sample_and_only_where_listeners_hear_of_data() {
        for (kind, wanted) in [
            (StatusKind::SampleLost, false),
            (StatusKind::DataAvailable, true),
        ] {
            let callbacks = Arc::new(Callbacks::default());
            let status = EntityStatus::new(&callbacks, None);
            let listener: Callback = Box::new(|_, _| ());
            status.set_listener(Some(listener), StatusMask::of(kind));
            assert_eq!(lock(&callbacks.queue).thread.is_some(), wanted, "{kind:?}");
            callbacks.stop().into_iter().for_each(Worker::join);
        }
    }
}
