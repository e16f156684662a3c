//! Running a future to its end on one thread, which receives while it waits.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use super::sync::thread_local;
use super::wake::Bell;

thread_local! {
    /// Used again by the next call on this thread.
    static SPARE: RefCell<Option<Arc<Bell>>> = const { RefCell::new(None) };
}

/// Runs `future` on this thread until it is done.
///
/// Futures of this crate are woken soonest so: while it waits the thread receives from the socket
/// of their participant itself, as a blocking call would. In any other executor a thread of the bus
/// receives and wakes the task. Futures of others may be among them; calls may nest.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let bell = SPARE.with(RefCell::take).unwrap_or_default();
    let mut future = pin!(future);
    let output = bell.poll_until(|context| future.as_mut().poll(context));
    // What wakers do that others still hold costs the next call a poll at most.
    SPARE.with(|it| it.replace(Some(bell)));
    output
}

#[cfg(test)]
mod tests {
    use std::future::{poll_fn, ready};
    use std::task::Poll;
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
