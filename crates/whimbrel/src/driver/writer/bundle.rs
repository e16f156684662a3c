//! Samples that wait for others to leave with.

use whimbrel_base::guid::Guid;
use whimbrel_base::time::Instant;
use whimbrel_proto::writer::{Bundling, Writer};

use super::{WriterCore, WriterState};
use crate::driver::clock;
use crate::driver::compression::PlainCounts;
use crate::driver::outbox::SocketOutbox;
use crate::driver::sharing::{Shared, Waits};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, MutexGuard, Weak};

/// How late what waits for others may be looked at in a stream that goes on, in nanoseconds: first,
/// and at most.
const LATENESS_MIN: u64 = 100_000;
const LATENESS_MAX: u64 = 800_000;

/// Octets by which more must wait at a writer before others hear of it.
const COUNTED_BYTES: usize = 1024;

impl WriterState {
    /// What left as it was, beside what its codec has counted.
    pub(crate) fn left_plain(&self) -> PlainCounts {
        let packer = self.packer.as_ref();
        packer.map_or(self.plain, |it| self.plain.plus(it.left_plain))
    }
}

impl WriterCore {
    /// Sends what is due after a write at `now` and tells whoever waits; where the change waits for
    /// others, nothing is, and where another thread sends, that one is told.
    pub(super) fn dispatch(&self, mut state: MutexGuard<'_, WriterState>, now: Instant) {
        if let Some(at) = state.machine.leaves_at(now) {
            return self.leave_to_another(state, at);
        }
        if self.transmit_alone(&mut state, now) {
            return self.follow_alone(state, now);
        }
        if !state.machine.is_waiting() || !state.handed.is_empty() {
            self.drain(state, now);
            return;
        }
        self.count_waiting(&mut state);
        let others = self.sockets.waiting.bytes();
        let others = others.saturating_sub(state.waiting_bytes);
        let all = others.saturating_add(state.machine.waiting_bytes());
        let filled = others > 0 && state.machine.is_filled_by(all);
        if filled {
            state.machine.leave_along();
        }
        if filled || state.machine.leave_after_burst() {
            self.leave_together(state, now);
            return;
        }
        let begun = state.machine.began_to_wait();
        let by_itself = state.machine.bundles_by_itself();
        drop(state);
        if let Some(at) = begun {
            if by_itself {
                self.wait_ends_at.store(at.0, Ordering::SeqCst);
            }
            self.due_at.fetch_min(at.0, Ordering::SeqCst);
            self.have_called(self.late(at));
        }
    }

    /// Leaves what is due to the thread that fires timers, `at` that time.
    #[inline(never)]
    fn leave_to_another(&self, mut state: MutexGuard<'_, WriterState>, at: Instant) {
        let handed = std::mem::take(&mut state.handed);
        drop(state);
        handed.tell();
        self.arm(at);
    }

    /// When a look is enough for what is due at `at`: samples that wait in a stream mostly leave
    /// before, with those that come.
    fn late(&self, at: Instant) -> Instant {
        if at.0 != self.wait_ends_at.load(Ordering::SeqCst) {
            return at;
        }
        let late = self.lateness.load(Ordering::Relaxed);
        Instant(at.0.saturating_add(late))
    }

    /// Nothing is due before `at`, though it was. The longer a stream goes on the less often a look
    /// at it is worth the time that it takes from who writes it.
    pub(super) fn look_later(&self, at: Instant) {
        if at == Instant::FAR_FUTURE {
            return;
        }
        if at.0 == self.wait_ends_at.load(Ordering::SeqCst) {
            let late = self.lateness.load(Ordering::Relaxed);
            let late = late.saturating_mul(2).clamp(LATENESS_MIN, LATENESS_MAX);
            self.lateness.store(late, Ordering::Relaxed);
        }
        self.have_called(self.late(at));
    }

    /// Notes how much waits, but not every little that is added.
    #[inline(always)]
    pub(super) fn count_waiting(&self, state: &mut WriterState) {
        let bytes = state.machine.waiting_bytes();
        if bytes != 0 || state.waiting_bytes != 0 {
            self.count_more_waiting(state, bytes);
        }
    }

    #[inline(never)]
    fn count_more_waiting(&self, state: &mut WriterState, bytes: usize) {
        let more = bytes.saturating_sub(state.waiting_bytes);
        if state.waiting_bytes > 0 && bytes >= state.waiting_bytes && more < COUNTED_BYTES {
            return;
        }
        let before = std::mem::replace(&mut state.waiting_bytes, bytes);
        self.sockets.waiting.count(before, bytes);
        if bytes > 0 && !std::mem::replace(&mut state.is_waiting, true) {
            let me: Weak<dyn Waits> = self.me.clone();
            self.sockets.waiting.add(me);
        }
    }

    /// Sends what may leave, and with it what waits at other writers of the participant.
    pub(super) fn leave_together(&self, state: MutexGuard<'_, WriterState>, now: Instant) {
        // A writer that was only interrupted goes on with its stream.
        let late = self.lateness.load(Ordering::Relaxed);
        self.lateness.store(late / 4, Ordering::Relaxed);
        let others = self.sockets.waiting.take(Some(self.guid));
        if others.is_empty() {
            self.drain(state, now);
            return;
        }
        let mut shared = Shared::new(state.packing());
        self.drain_with(state, now, Some(&mut shared));
        for other in others {
            other.leave_along(now, &mut shared);
        }
        self.send_together(&mut shared);
    }

    /// Sends what this writer and others have put together. Call it without a lock.
    fn send_together(&self, shared: &mut Shared) {
        if !shared.packed.is_empty() {
            let mut state = self.lock();
            let packer = state.packer.as_mut();
            SocketOutbox::of_writer(&self.sockets, packer, None).send_packed(shared);
        }
        SocketOutbox::user(&self.sockets).send_together(shared);
    }

    fn change(&self, change: impl FnOnce(&mut Writer)) {
        let mut state = self.lock();
        let now = clock::now();
        change(&mut state.machine);
        self.leave_together(state, now);
    }

    /// Sends what waits at all of `writers`, of one participant, after `change` of each.
    pub(crate) fn change_all(writers: &[Arc<Self>], change: impl Fn(&mut Writer)) {
        let now = clock::now();
        let compresses = |it: &&Arc<Self>| it.lock().packer.is_some();
        let Some(sends) = writers.iter().find(compresses).or(writers.first()) else {
            return;
        };
        let mut shared = Shared::new(sends.lock().packing());
        for writer in writers {
            let mut state = writer.lock();
            change(&mut state.machine);
            writer.drain_with(state, now, Some(&mut shared));
        }
        sends.send_together(&mut shared);
    }

    /// Sends what waits for others.
    pub(crate) fn flush(&self) {
        self.change(Writer::flush);
    }

    /// Sends what waits for others, or for readers in a message already: no more is to come.
    pub(crate) fn flush_last(&self) {
        self.change(|machine| {
            machine.leaves_before_readers_change();
            machine.flush();
        });
    }

    /// How new changes leave from now on.
    pub(crate) fn set_bundling(&self, bundling: Bundling) {
        self.change(|machine| machine.set_bundling(bundling));
    }

    /// Has new changes wait for [`WriterCore::resume`].
    pub(crate) fn suspend(&self) {
        self.lock().machine.suspend();
    }

    /// Ends one [`WriterCore::suspend`].
    pub(crate) fn resume(&self) {
        self.change(Writer::resume);
    }

    /// Has new changes wait for each other while the value lives.
    pub(crate) fn batch(self: &Arc<Self>) -> Batch {
        self.suspend();
        Batch(Arc::clone(self))
    }
}

impl Waits for WriterCore {
    fn guid(&self) -> Guid {
        self.guid
    }

    fn leave_along(&self, now: Instant, shared: &mut Shared) {
        let mut state = self.lock();
        state.is_waiting = false;
        state.machine.leave_along();
        self.drain_with(state, now, Some(shared));
    }
}

/// Has changes of a writer wait for each other while it lives.
pub(crate) struct Batch(Arc<WriterCore>);

impl Drop for Batch {
    fn drop(&mut self) {
        self.0.resume();
    }
}
