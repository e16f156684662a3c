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
}

impl Listening {
    pub(crate) fn new(bell: Arc<Bell>) -> Self {
        Self {
            bell,
            key: TaskKey::default(),
        }
    }

    /// What `ready` gives; else the task behind `waker` is woken to look again.
    pub(crate) fn poll<R>(
        &mut self,
        waker: &Waker,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Poll<R> {
        if let Some(found) = ready() {
            return Poll::Ready(found);
        }
        self.bell.wake_task(&mut self.key, waker);
        // Again: it may have come between the look and the registration.
        ready().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.bell.forget_task(&self.key);
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
