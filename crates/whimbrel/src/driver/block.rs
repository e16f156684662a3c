//! Running a future to its end on one thread, which receives while it waits.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::sync::atomic::{AtomicBool, Ordering};
use super::wake::{self, Bell};

/// What wakes a thread in [`block_on`].
#[derive(Default)]
struct Sleeper {
    bell: Arc<Bell>,
    is_woken: AtomicBool,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        self.bell.ring();
    }
}

thread_local! {
    /// Used again by the next call on this thread.
    static SPARE: RefCell<Option<Arc<Sleeper>>> = const { RefCell::new(None) };
}

/// Runs `future` on this thread until it is done.
///
/// Futures of this crate are woken soonest so: while it waits the thread receives from the socket
/// of their participant itself, as a blocking call would. In any other executor a thread of the bus
/// receives and wakes the task. Futures of others may be among them; calls may nest.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let sleeper = SPARE.take().unwrap_or_default();
    let waker = Waker::from(Arc::clone(&sleeper));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    let output = loop {
        let polled = wake::tasks_wait_at(&sleeper.bell, || future.as_mut().poll(&mut context));
        if let Poll::Ready(output) = polled {
            break output;
        }
        let is_woken = || sleeper.is_woken.swap(false, Ordering::SeqCst).then_some(());
        sleeper.bell.wait_until(None, is_woken);
    };
    drop(waker);
    // Wakers that others still hold must not wake the next call.
    if Arc::strong_count(&sleeper) == 1 {
        sleeper.is_woken.store(false, Ordering::SeqCst);
        SPARE.set(Some(sleeper));
    }
    output
}

#[cfg(test)]
mod tests {
    use std::future::{poll_fn, ready};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_ready_is_had_at_once_and_the_rest_when_woken() {
        assert_eq!(block_on(ready(7)), 7);
        let mut rounds = 0;
        let woken = block_on(poll_fn(|context| {
            rounds += 1;
            let waker = context.waker().clone();
            if rounds < 3 {
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(2));
                    waker.wake();
                });
                return Poll::Pending;
            }
            Poll::Ready(rounds)
        }));
        assert_eq!(woken, 3);
    }

    #[test]
    fn calls_nest() {
        let inner = || {
            let mut first = true;
            block_on(poll_fn(move |context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut first, false) {
                    return Poll::Pending;
                }
                Poll::Ready(1)
            }))
        };
        assert_eq!(block_on(async { inner() + inner() }), 2);
    }
}
