//! Samples that wait for others to leave with.

use whimbrel_base::time::Instant;
use whimbrel_proto::writer::{Bundling, Writer};

use super::{WriterCore, WriterState};
use crate::driver::clock;
use crate::driver::sync::{Arc, MutexGuard, Weak};
use crate::driver::timers::Timed;

impl WriterCore {
    /// Sends what is due after a write at `now` and tells whoever waits; where the change waits for
    /// others, nothing is.
    pub(super) fn dispatch(&self, state: MutexGuard<'_, WriterState>, now: Instant) {
        if !state.machine.is_waiting() || !state.handed.is_empty() {
            self.drain(state, now);
            return;
        }
        let begun = state.machine.began_to_wait();
        drop(state);
        if let Some(at) = begun {
            let me: Weak<dyn Timed> = self.me.clone();
            self.engine.arm(&self.timer, &me, at);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Writer)) {
        let mut state = self.lock();
        let now = clock::now();
        change(&mut state.machine);
        self.drain(state, now);
    }

    /// Sends what waits for others.
    pub(crate) fn flush(&self) {
        self.change(Writer::flush);
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

/// Has changes of a writer wait for each other while it lives.
pub(crate) struct Batch(Arc<WriterCore>);

impl Drop for Batch {
    fn drop(&mut self) {
        self.0.resume();
    }
}
