//! Reading without blocking a thread: futures and streams for any executor, or none.
//!
//! They register the task's waker with the reader and nothing else: no runtime, no thread, no
//! timer of their own. Each keeps its reader alive and may be dropped at any time without losing
//! samples.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use whimbrel_types::DdsType;

use super::reader::DataReader;
use super::sample::Sample;
use super::sequence::SampleSeq;
use crate::driver::task::{Listening, until};
use crate::error::Error;

impl<T: DdsType> DataReader<T> {
    /// Takes up to `max_samples` samples, as soon as there is one.
    ///
    /// Samples are taken by the poll that returns them: a future that is dropped takes none.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn take_async(
        &self,
        max_samples: usize,
    ) -> impl Future<Output = Result<SampleSeq<Sample<T>>, Error>> + Send + use<T> {
        let reader = self.clone();
        until(Arc::clone(&self.inner.core.bell), move || {
            match reader.take(max_samples) {
                Ok(samples) if samples.is_empty() => None,
                outcome => Some(outcome),
            }
        })
    }

    /// Takes samples one after the other for as long as the stream lives; it never ends by itself.
    ///
    /// Samples that only tell of a changed instance state are among them, as with
    /// [`DataReader::take`].
    pub fn stream(&self) -> SampleStream<T> {
        SampleStream {
            listening: Listening::new(Arc::clone(&self.inner.core.bell)),
            reader: self.clone(),
        }
    }

    /// Waits until `count` writers are matched in both directions, without blocking a thread.
    /// Endpoints that wait to be announced with others are announced when this is called.
    pub fn wait_for_matched_async(&self, count: usize) -> impl Future<Output = ()> + Send + use<T> {
        let reader = self.clone();
        self.announce_unless_matched(count);
        until(Arc::clone(&self.inner.core.bell), move || {
            (reader.inner.core.ready_count() >= count).then_some(())
        })
    }

    /// Waits until all history of the matched durable writers has arrived, without blocking a
    /// thread. DDS 1.4 §2.2.2.5.3.33.
    pub fn wait_for_historical_data_async(&self) -> impl Future<Output = ()> + Send + use<T> {
        let reader = self.clone();
        until(Arc::clone(&self.inner.core.bell), move || {
            let state = reader.inner.core.lock();
            state.machine.has_history().then_some(())
        })
    }
}

/// The samples of a reader as a stream; made by [`DataReader::stream`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct SampleStream<T: DdsType> {
    listening: Listening,
    reader: DataReader<T>,
}

impl<T: DdsType> SampleStream<T> {
    /// The reader that the samples are taken from.
    pub fn reader(&self) -> &DataReader<T> {
        &self.reader
    }
}

impl<T: DdsType> Stream for SampleStream<T> {
    type Item = Sample<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Sample<T>>> {
        let Self { listening, reader } = &mut *self;
        listening
            .poll(context.waker(), || reader.take_one())
            .map(Some)
    }
}
