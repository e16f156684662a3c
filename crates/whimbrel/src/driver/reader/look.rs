//! Looks into the cache of a reader, and what is taken from it.

use whimbrel_base::sample::{InstanceStates, SampleState, SampleStates, ViewStates};
use whimbrel_net::poll::Signal;
use whimbrel_proto::cache::{CachedSample, Selector};

use super::{ReaderCore, ReaderState};
use crate::driver::sync::atomic::Ordering;
use crate::driver::sync::{Arc, fence_before_look};
use crate::driver::{clock, here};

/// What a look into a reader's cache shows.
pub(crate) enum Glance {
    /// It holds no sample.
    Nothing,
    /// It held one, which was selected and is taken.
    One(CachedSample),
    /// Something else: fetch it.
    More,
}

impl ReaderCore {
    /// Finds out with one look whether there is nothing, or but one sample to `take`, and nothing
    /// else to do.
    pub(crate) fn glance(&self, selector: &Selector, take: bool) -> Glance {
        if self.surely_holds_nothing() && !self.status.tells_of_data() {
            return Glance::Nothing;
        }
        let mut state = self.lock();
        if state.machine.waits_for_room() {
            return Glance::More;
        }
        let cache = state.machine.cache();
        let is_one = take && cache.selects_lone(selector);
        if !is_one && !cache.is_empty() {
            return Glance::More;
        }
        self.may_hold.store(false, Ordering::Release);
        self.status.clear_data();
        if let Some(signal) = self.signal.get() {
            signal.clear();
        }
        // Last, so that it is put together where it is wanted. Nobody is told: no condition comes
        // true by the loss of the only sample.
        match state.machine.cache_mut().take_lone() {
            Some(one) => Glance::One(one),
            None => Glance::Nothing,
        }
    }

    #[inline(always)]
    fn surely_holds_nothing(&self) -> bool {
        if self.may_hold.load(Ordering::SeqCst) {
            return false;
        }
        if !here::may_be_in_listener() {
            return true;
        }
        // The call of a listener takes a mark back without the lock.
        fence_before_look();
        !self.may_hold.load(Ordering::SeqCst)
    }

    /// Moves or copies samples out of the cache and goes on with what had found no room.
    pub(crate) fn fetch(&self, selector: &Selector, take: bool, out: &mut Vec<CachedSample>) {
        let mut state = self.lock();
        let cache = state.machine.cache_mut();
        if take {
            cache.take(selector, out);
        } else {
            cache.read(selector, out);
        }
        self.status.clear_data();
        if let Some(signal) = self.signal.get().filter(|_| !has_unread(&state)) {
            signal.clear();
        }
        if take && state.machine.waits_for_room() {
            let now = clock::now();
            state.machine.handle_room(now);
            self.drain(state, now);
        } else {
            // Nothing else was changed, so nothing is due.
            drop(state);
        }
        if !out.is_empty() {
            // Samples that were read now may be what a read condition waits for.
            self.bell.ring_after_lock();
        }
    }

    /// A file descriptor's worth of readiness: set while there is something not yet read.
    pub(crate) fn signal(&self) -> std::io::Result<&Arc<Signal>> {
        if let Some(signal) = self.signal.get() {
            return Ok(signal);
        }
        let signal = Arc::new(Signal::new()?);
        let known = self.signal.get_or_init(|| signal);
        let state = self.lock();
        if has_unread(&state) {
            // Under the lock, so that whoever takes the samples clears it.
            known.set();
        }
        drop(state);
        Ok(known)
    }

    /// True when some sample has states in all three sets.
    pub(crate) fn has_matching(
        &self,
        samples: SampleStates,
        views: ViewStates,
        instances: InstanceStates,
    ) -> bool {
        if self.surely_holds_nothing() {
            return false;
        }
        let state = self.lock();
        state
            .machine
            .cache()
            .has_matching(samples, views, instances)
    }
}

fn has_unread(state: &ReaderState) -> bool {
    let cache = state.machine.cache();
    cache.has_matching(
        SampleStates::of(SampleState::NotRead),
        ViewStates::ANY,
        InstanceStates::ANY,
    )
}
