//! The driver's threads: how they start, and how whoever ends them waits for that.

use std::io;
use std::time::{Duration, Instant};

use super::sync::thread::{self, JoinHandle};
use super::sync::{Arc, Condvar, Mutex, PoisonError, lock};

/// How long the end of a thread is waited for. It runs user code, which may block for as long as
/// it likes, even on a lock of whoever drops the last participant.
const PATIENCE: Duration = Duration::from_millis(100);

/// A thread of the driver.
pub(crate) struct Worker {
    thread: JoinHandle<()>,
    ended: Arc<Ended>,
}

#[derive(Default)]
struct Ended {
    done: Mutex<bool>,
    condvar: Condvar,
}

impl Worker {
    /// Starts `run` on a thread of this name.
    ///
    /// # Errors
    /// The system has no threads left.
    pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let ended = Arc::new(Ended::default());
        let mark = Mark(Arc::clone(&ended));
        let builder = thread::Builder::new().name(name.to_owned());
        let thread = builder.spawn(move || {
            let _mark = mark;
            run();
        })?;
        Ok(Self { thread, ended })
    }

    /// Waits for the end of a thread that was told to end, but not for long: one that is held up
    /// by user code ends when that lets it. Does not wait for the calling thread.
    pub(crate) fn join(self) {
        if self.thread.thread().id() == thread::current().id() {
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        let mut done = lock(&self.ended.done);
        while !*done {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let woken = self.ended.condvar.wait_timeout(done, left);
            done = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(done);
        // It contains every panic of user code; there is nothing to learn from its end.
        let _ = self.thread.join();
    }
}

/// Tells of the thread's end, however it comes.
struct Mark(Arc<Ended>);

impl Drop for Mark {
    fn drop(&mut self) {
        *lock(&self.0.done) = true;
        self.0.condvar.notify_all();
    }
}
