//! Blocking until a reader has something, or somebody.

use std::time::Duration as StdDuration;

use whimbrel_base::sample::{InstanceStates, SampleState, SampleStates, ViewStates};
use whimbrel_types::DdsType;

use super::reader::DataReader;
use super::sample::Sample;
use super::sequence::SampleSeq;
use crate::driver::clock;
use crate::error::Error;

impl<T: DdsType> DataReader<T> {
    /// Waits until there is something to take, then takes up to `max_samples`.
    ///
    /// # Errors
    /// [`Error::Timeout`] when nothing came within `timeout`.
    pub fn take_timeout(
        &self,
        max_samples: usize,
        timeout: StdDuration,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        let taken = || {
            self.take(max_samples)
                .ok()
                .filter(|samples| !samples.is_empty())
        };
        self.wait_until(timeout, taken)
    }

    /// As [`DataReader::take_timeout`], but appends to `out` what is there, and allocates nothing
    /// where `out` has room and the samples need no memory of their own.
    ///
    /// # Errors
    /// As [`DataReader::take_timeout`].
    pub fn take_timeout_into(
        &self,
        max_samples: usize,
        timeout: StdDuration,
        out: &mut Vec<Sample<T>>,
    ) -> Result<(), Error> {
        let before = out.len();
        let taken = || {
            self.take_into(max_samples, out).ok()?;
            (out.len() > before).then_some(())
        };
        self.wait_until(timeout, taken)
    }

    /// Waits until there is something not read yet.
    ///
    /// # Errors
    /// [`Error::Timeout`] when nothing came within `timeout`.
    pub fn wait_for_data(&self, timeout: StdDuration) -> Result<(), Error> {
        let unread = SampleStates::of(SampleState::NotRead);
        let ready = || {
            let state = self.inner.core.lock();
            let cache = state.machine.cache();
            cache
                .has_matching(unread, ViewStates::ANY, InstanceStates::ANY)
                .then_some(())
        };
        self.wait_until(timeout, ready)
    }

    /// Waits until all history of the matched durable writers has arrived.
    /// DDS 1.4 §2.2.2.5.3.33.
    ///
    /// # Errors
    /// [`Error::Timeout`] when that takes longer than `timeout`.
    pub fn wait_for_historical_data(&self, timeout: StdDuration) -> Result<(), Error> {
        let core = &self.inner.core;
        let done = || core.lock().machine.has_history().then_some(());
        self.wait_until(timeout, done)
    }

    /// Waits until `count` writers are matched in both directions.
    ///
    /// Endpoints that wait to be announced with others are announced at once.
    ///
    /// # Errors
    /// [`Error::Timeout`] when that takes longer than `timeout`.
    pub fn wait_for_matched(&self, count: usize, timeout: StdDuration) -> Result<(), Error> {
        let core = &self.inner.core;
        self.announce_unless_matched(count);
        let done = || (core.ready_count() >= count).then_some(());
        self.wait_until(timeout, done)
    }

    /// Somebody waits for `count` writers: unless they are matched, what is yet to be announced is
    /// at once.
    pub(super) fn announce_unless_matched(&self, count: usize) {
        if self.inner.core.ready_count() < count {
            self.inner.subscriber.participant.core.announce_at_once();
        }
    }

    /// What `ready` gives, as soon as it gives something.
    fn wait_until<R>(
        &self,
        timeout: StdDuration,
        ready: impl FnMut() -> Option<R>,
    ) -> Result<R, Error> {
        let deadline = clock::deadline(timeout);
        let found = self.inner.core.bell.wait_until(deadline, ready);
        found.ok_or(Error::Timeout)
    }
}
