//! Futures that wait at a bell, in any executor.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::wake::{Bell, TaskKey};

/// A task's place at a bell; given up when dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    bell: Arc<Bell>,
    key: TaskKey,
    /// The last poll found nothing, and the next goes on with the same wait.
    is_waiting: bool,
}

impl Listening {
    pub(crate) fn new(bell: Arc<Bell>) -> Self {
        Self {
            bell,
            key: TaskKey::default(),
            is_waiting: false,
        }
    }

    /// What `ready` gives; else the task behind `waker` is woken to look again.
    pub(crate) fn poll<R>(
        &mut self,
        waker: &Waker,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Poll<R> {
        let was_waiting = std::mem::replace(&mut self.is_waiting, false);
        if was_waiting || !self.bell.will_have_to_wait() {
            if let Some(found) = ready() {
                return Poll::Ready(found);
            }
            self.bell.note_wait(true);
        }
        self.bell.wake_task(&mut self.key, waker);
        // It may have come before the registration.
        if let Some(found) = ready() {
            self.bell.note_wait(was_waiting);
            // Nobody is to wake who has it already.
            self.bell.forget_task(&mut self.key);
            return Poll::Ready(found);
        }
        self.is_waiting = true;
        Poll::Pending
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.bell.forget_task(&mut self.key);
    }
}

/// Waits at `bell` until `ready` gives something.
pub(crate) fn until<R, F: FnMut() -> Option<R> + Unpin>(
    bell: Arc<Bell>,
    ready: F,
) -> impl Future<Output = R> + use<R, F> {
    Until {
        listening: Listening::new(bell),
        ready,
    }
}

struct Until<F> {
    listening: Listening,
    ready: F,
}

impl<R, F: FnMut() -> Option<R> + Unpin> Future for Until<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        let Self { listening, ready } = &mut *self;
        listening.poll(context.waker(), ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a new wait at `bell` comes to where `found` is there, after how many looks, and whether
    /// it left somebody listening while it lasted.
    fn poll(bell: &Arc<Bell>, found: bool) -> (Poll<()>, u32, bool) {
        let mut looks = 0;
        let mut listening = Listening::new(Arc::clone(bell));
        let outcome = listening.poll(Waker::noop(), || {
            looks += 1;
            found.then_some(())
        });
        (outcome, looks, bell.is_listened_to())
    }

    #[test]
    fn where_the_last_one_had_to_wait_the_next_listens_before_it_looks() {
        let bell = Arc::new(Bell::default());
        let (ready, pending) = (Poll::Ready(()), Poll::Pending);
        assert_eq!(poll(&bell, true), (ready, 1, false));
        assert_eq!(poll(&bell, false), (pending, 2, true));
        assert_eq!(poll(&bell, false), (pending, 1, true));
        assert_eq!(poll(&bell, true), (ready, 1, false));
        assert_eq!(poll(&bell, true), (ready, 1, false));
        assert!(!bell.is_listened_to());
    }

    #[test]
    fn who_was_woken_looks_before_it_listens_again() {
        let bell = Arc::new(Bell::default());
        let mut listening = Listening::new(Arc::clone(&bell));
        assert!(listening.poll(Waker::noop(), || None::<()>).is_pending());
        bell.ring();
        assert!(listening.poll(Waker::noop(), || Some(())).is_ready());
        assert!(!bell.is_listened_to());
    }
}
