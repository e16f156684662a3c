//! Blocking until readers have something, or are there at all.

use std::time::Duration as StdDuration;

use whimbrel_types::DdsType;

use super::writer::DataWriter;
use crate::driver::clock;
use crate::error::Error;

impl<T: DdsType> DataWriter<T> {
    /// Waits until every reliable reader has acknowledged what was written so far.
    /// DDS 1.4 §2.2.2.4.2.15.
    ///
    /// # Errors
    /// [`Error::Timeout`] when that takes longer than `timeout`.
    pub fn wait_for_acknowledgments(&self, timeout: StdDuration) -> Result<(), Error> {
        self.inner.core.flush();
        let target = self.inner.core.lock().machine.last_sequence();
        let done = || {
            let state = self.inner.core.lock();
            state.machine.is_acknowledged(target).then_some(())
        };
        self.inner
            .core
            .bell
            .wait_until(clock::deadline(timeout), done)
            .ok_or(Error::Timeout)
    }

    /// Waits until `count` readers are matched in both directions: they know of this writer and
    /// will receive what it writes from now on.
    ///
    /// Endpoints that wait to be announced with others are announced at once.
    ///
    /// # Errors
    /// [`Error::Timeout`] when that takes longer than `timeout`.
    pub fn wait_for_matched(&self, count: usize, timeout: StdDuration) -> Result<(), Error> {
        let core = &self.inner.core;
        let deadline = clock::deadline(timeout);
        self.announce_unless_matched(count);
        let done = || (core.ready_count() >= count).then_some(());
        core.bell.wait_until(deadline, done).ok_or(Error::Timeout)
    }

    /// Somebody waits for `count` readers: unless they are matched, what is yet to be announced is
    /// at once.
    pub(super) fn announce_unless_matched(&self, count: usize) {
        if self.inner.core.ready_count() < count {
            self.inner.publisher.participant.core.announce_at_once();
        }
    }

    /// Holds what is written until `count` readers are matched in both directions, as
    /// [`DataWriter::wait_for_matched`] counts them, so that none of the first `count` misses
    /// anything. Once they are, nothing is held any more, whoever leaves; 0 ends it at once.
    ///
    /// Until then a write has no room, as with a full history: [`DataWriter::write`] waits for
    /// `max_blocking_time` and then gives [`Error::Timeout`], [`DataWriter::try_write`] gives it
    /// at once, and [`DataWriter::write_async`] waits for as long as it takes.
    pub fn hold_until_matched(&self, count: usize) {
        self.inner.core.hold_until_matched(count);
    }
}
