//! What follows from a change of the machine: messages, deadlines, news.

use whimbrel_base::time::{Duration, Instant};
use whimbrel_proto::writer::WriterEvent;

use super::{WriterCore, WriterState};
use crate::driver::clock;
use crate::driver::contain::contain;
use crate::driver::direct::DirectOutbox;
use crate::driver::outbox::SocketOutbox;
use crate::driver::sharing::Shared;
use crate::driver::status::News;
use crate::driver::sync::MutexGuard;
use crate::driver::sync::atomic::Ordering;
use crate::driver::warning::Warning;

impl WriterState {
    /// Notes how long it took to send what has left since `began`, where that matters.
    #[inline(always)]
    fn note_departure(&mut self, began: Instant) {
        if self.machine.measures_departures() {
            self.machine.note_departure(began, clock::now());
        }
    }
}

impl WriterCore {
    /// Sends what is due, arms the next deadline, lets go of the lock and tells whoever waits.
    pub(crate) fn drain(&self, state: MutexGuard<'_, WriterState>, now: Instant) {
        self.drain_with(state, now, None);
    }

    /// As [`WriterCore::drain`], but new samples leave with those of other writers in `shared`.
    #[inline(always)]
    pub(super) fn drain_with(
        &self,
        state: MutexGuard<'_, WriterState>,
        now: Instant,
        shared: Option<&mut Shared>,
    ) {
        if !state.handed.is_empty() {
            return self.drain_handed(state, now, shared);
        }
        let news = self.settle_with(state, now, shared);
        self.status.tell(news);
        self.warn_of_given_up();
    }

    /// As [`WriterCore::drain_with`] where something was handed over, of which is told as well.
    #[inline(never)]
    fn drain_handed(
        &self,
        mut state: MutexGuard<'_, WriterState>,
        now: Instant,
        shared: Option<&mut Shared>,
    ) {
        let handed = std::mem::take(&mut state.handed);
        let news = self.settle_with(state, now, shared);
        self.status.tell(news);
        handed.tell();
        self.warn_of_given_up();
    }

    /// Warns of readers that were given up, if there are any.
    #[inline(always)]
    fn warn_of_given_up(&self) {
        if self.gave_up.load(Ordering::SeqCst) {
            self.warn_now();
        }
    }

    #[cold]
    fn warn_now(&self) {
        if !self.gave_up.swap(false, Ordering::SeqCst) {
            return;
        }
        let writer = self.guid;
        let given_up = std::mem::take(&mut self.lock().given_up);
        for reader in given_up {
            let warning = Warning::ReaderGivenUp { writer, reader };
            let _ = contain(|| self.warnings.raise(warning));
        }
    }

    /// Sends what is due, arms the next deadline and lets go of the lock.
    pub(super) fn settle(&self, state: MutexGuard<'_, WriterState>, now: Instant) -> News {
        self.settle_with(state, now, None)
    }

    #[inline(always)]
    fn settle_with(
        &self,
        mut state: MutexGuard<'_, WriterState>,
        now: Instant,
        shared: Option<&mut Shared>,
    ) -> News {
        self.transmit(&mut state, now, shared);
        self.count_waiting(&mut state);
        state.note_departure(now);
        let mut news = false;
        while let Some(event) = state.machine.poll_event() {
            match event {
                WriterEvent::InstanceForgotten(instance) => {
                    state.note_key(instance, None);
                    continue;
                }
                WriterEvent::ReaderGivenUp(reader) => {
                    state.given_up.push(reader);
                    self.gave_up.store(true, Ordering::SeqCst);
                }
                WriterEvent::Progress
                | WriterEvent::ReaderConfirmed(_)
                | WriterEvent::ReaderResumed(_) => {}
            }
            news = true;
        }
        let deadline = state.machine.poll_timeout().map(|(at, _)| at);
        let deadline = [deadline, state.trim(now)].into_iter().flatten().min();
        let due_at = deadline.unwrap_or(Instant::FAR_FUTURE);
        if self.due_at.load(Ordering::SeqCst) != due_at.0 {
            self.due_at.store(due_at.0, Ordering::SeqCst);
        }
        drop(state);
        self.see_to_path_news();
        if let Some(at) = deadline {
            self.have_called(at);
        }
        if news { News::RING } else { News::NONE }
    }

    /// Sends the newest sample where that is all there is to be done, so that only
    /// [`WriterCore::follow_alone`] is left; false where [`WriterCore::drain`] has to look.
    #[inline(always)]
    pub(super) fn transmit_alone(&self, state: &mut WriterState, now: Instant) -> bool {
        let due_at = Instant(self.due_at.load(Ordering::SeqCst));
        if !state.handed.is_empty() || state.waiting_bytes != 0 || !state.trims_later(now, due_at) {
            return false;
        }
        let WriterState { machine, line, .. } = state;
        let mut outbox = DirectOutbox::new(&self.sockets, line);
        let is_sent = machine.transmit_alone(now, &mut outbox);
        if outbox.was_full() {
            machine.note_full();
        }
        is_sent
    }

    /// What follows from a sample that left alone.
    #[inline(always)]
    pub(super) fn follow_alone(&self, mut state: MutexGuard<'_, WriterState>, now: Instant) {
        state.note_departure(now);
        drop(state);
        self.see_to_path_news();
    }

    /// Has the largest packets of paths told that were found out by sending.
    #[inline(always)]
    fn see_to_path_news(&self) {
        if self.sockets.has_path_news() {
            self.engine.look_at_interfaces_in(Duration::ZERO);
        }
    }

    /// Sends what is due.
    #[inline(always)]
    fn transmit(&self, state: &mut WriterState, now: Instant, shared: Option<&mut Shared>) {
        let WriterState {
            machine, packer, ..
        } = state;
        let mut outbox = SocketOutbox::of_writer(&self.sockets, packer.as_mut(), shared);
        if machine.sends_batches() {
            outbox = outbox.in_pieces();
        }
        machine.poll_transmit(now, &mut outbox);
        if outbox.was_full() {
            machine.note_full();
        }
    }

    /// Sends what is in a message already to the readers that are here, before some come or go.
    pub(super) fn transmit_before_readers_change(&self, state: &mut WriterState, now: Instant) {
        if state.machine.leaves_before_readers_change() {
            self.transmit(state, now, None);
        }
    }
}
