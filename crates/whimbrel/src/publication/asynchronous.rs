//! Writing without blocking a thread: futures for any executor, or none.
//!
//! They register the task's waker with the writer and nothing else, and keep the writer alive.

use std::future::Future;
use std::sync::Arc;

use whimbrel_proto::change::ChangeKind;
use whimbrel_types::DdsType;

use super::writer::{DataWriter, write_error};
use crate::driver::clock;
use crate::driver::task::until;
use crate::driver::writer::Draft;
use crate::error::Error;

impl<T: DdsType> DataWriter<T> {
    /// Writes `value`, encoded and time-stamped by this very call, as soon as history has room.
    /// What was written meanwhile makes its stamp as new as its own. DDS 1.4 §2.2.2.4.2.11.
    ///
    /// Nothing is written before the first poll, and nothing at all when the future is dropped
    /// before it is done. It waits for as long as it takes, not `max_blocking_time`: give it the
    /// time-out of your executor. Two futures polled at once may write in either order.
    ///
    /// # Errors
    /// [`Error::OutOfResources`] over a limit, or a value that cannot be encoded.
    pub fn write_async(
        &self,
        value: &T,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<T> {
        let timestamp = clock::wall();
        let kind = ChangeKind::Alive;
        let mut draft = Some(self.encode(kind, value).map(|encoded| {
            let (change, wants_key) = {
                let mut state = self.inner.core.lock();
                let change = encoded.into_change(kind, timestamp, &mut state);
                let wants_key = self.wants_key(&state, change.instance, kind);
                (change, wants_key)
            };
            let draft = Draft {
                change,
                value: None,
                at: timestamp,
                is_dated: false,
                began: None,
            };
            let key = wants_key.then(|| self.serialized_key(value).ok());
            (draft, key.flatten())
        }));
        let writer = self.clone();
        until(Arc::clone(&self.inner.core.bell), move || {
            match draft.take()? {
                Err(error) => Some(Err(error)),
                Ok((mut written, key)) => match writer.inner.core.try_write(&mut written) {
                    None => {
                        draft = Some(Ok((written, key)));
                        None
                    }
                    Some(outcome) => Some(outcome.map_err(write_error).map(|_| {
                        if key.is_some() {
                            let mut state = writer.inner.core.lock();
                            state.note_key(written.change.instance, key);
                        }
                    })),
                },
            }
        })
    }

    /// Waits until every reliable reader has acknowledged what was written before this call,
    /// without blocking a thread. DDS 1.4 §2.2.2.4.2.15.
    pub fn wait_for_acknowledgments_async(&self) -> impl Future<Output = ()> + Send + use<T> {
        let writer = self.clone();
        self.inner.core.flush();
        let target = self.inner.core.lock().machine.last_sequence();
        until(Arc::clone(&self.inner.core.bell), move || {
            let state = writer.inner.core.lock();
            state.machine.is_acknowledged(target).then_some(())
        })
    }

    /// Waits until `count` readers are matched in both directions, without blocking a thread.
    /// Endpoints that wait to be announced with others are announced when this is called.
    pub fn wait_for_matched_async(&self, count: usize) -> impl Future<Output = ()> + Send + use<T> {
        let writer = self.clone();
        self.announce_unless_matched(count);
        until(Arc::clone(&self.inner.core.bell), move || {
            (writer.inner.core.ready_count() >= count).then_some(())
        })
    }
}
