//! A sample that has the cache to itself.
//!
//! Where samples are taken as they come, there is never more than one, and taking it leaves its
//! instance as it was before: alive, seen, without samples. Such a sample is kept beside the
//! instances, and put into its own only where something else happens before it is taken.

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::{
    InstanceState, InstanceStates, SampleState, SampleStates, ViewState, ViewStates,
};

use super::ReaderCache;
use super::instance::{held_by, info};
use super::order::Slot;
use super::sample::{CacheChange, CachedSample, Lone, Stored};
use super::selector::{Selector, Which};

/// Octets that stay counted after such a sample was taken, for the next: to count is to change what
/// all readers of the participant count in, twice for each sample. A datagram's slab and some more.
const STAYS_COUNTED_BYTES: usize = 72 * 1024;

impl ReaderCache {
    /// The slot of `instance`, where data of `writer` can be kept beside it.
    #[inline(always)]
    pub(crate) fn lone_place(&mut self, instance: InstanceHandle, writer: Guid) -> Option<Slot> {
        if !self.is_empty() {
            return None;
        }
        let slot = self.find(self.known_as(instance))?;
        let instance = self.slots.get(slot)?;
        let limits = &self.config.limits;
        let stays = instance.state == InstanceState::Alive
            && instance.view == ViewState::NotNew
            && instance.writers.contains(writer)
            && (instance.key.is_some() || !self.config.keyed);
        let fits = limits.max_samples.has_room(0) && limits.max_samples_per_instance.has_room(0);
        (stays && fits).then_some(slot)
    }

    /// Keeps data, `change`, beside its instance, which [`ReaderCache::lone_place`] has found.
    // Inline, so that it is put together where it is kept.
    #[inline]
    pub(crate) fn keep_alone(&mut self, slot: Slot, change: CacheChange) {
        let Some(instance) = self.slots.get(slot) else {
            return;
        };
        let handle = self.known_as(change.instance);
        let lone = self.lone.get_or_insert_default();
        // Where it stays: as a whole it would be written in pieces smaller than it is then read in
        // to be moved, for which processors wait.
        lone.is_there = true;
        lone.slot = slot;
        lone.handle = handle;
        lone.stored.become_of(change, instance.generation);
        let bytes = self.tally.bytes.saturating_add(held_by(&lone.stored));
        self.account.set_roughly(bytes, STAYS_COUNTED_BYTES);
    }

    /// Octets that such a sample holds.
    pub(super) fn lone_bytes(&self) -> usize {
        self.lone().map_or(0, |lone| held_by(&lone.stored))
    }

    /// Such a sample, if there is one.
    pub(super) fn lone(&self) -> Option<&Lone> {
        self.lone.as_deref().filter(|lone| lone.is_there)
    }

    /// Whether there is such a sample, which `selector` selects.
    #[inline]
    pub fn selects_lone(&self, selector: &Selector) -> bool {
        let of_instance = match selector.instance {
            Which::Any => true,
            Which::Exactly(handle) => self.lone().is_some_and(|lone| lone.handle == handle),
            Which::Next(_) => false,
        };
        let states = self.lone_matches(
            selector.sample_states,
            selector.view_states,
            selector.instance_states,
        );
        of_instance && states && selector.max_samples > 0
    }

    /// Takes such a sample, if there is one, whoever would select it: ask
    /// [`ReaderCache::selects_lone`] before.
    // Inline, so that it is put together where it is wanted.
    #[inline]
    pub fn take_lone(&mut self) -> Option<CachedSample> {
        let lone = self.lone.as_deref_mut().filter(|lone| lone.is_there)?;
        self.account
            .set_roughly(self.tally.bytes, STAYS_COUNTED_BYTES);
        lone.is_there = false;
        let stored = &mut lone.stored;
        Some(CachedSample {
            payload: core::mem::take(&mut stored.payload),
            payload_is_key: false,
            value: stored.value.take(),
            sequence: stored.sequence,
            info: info(stored, InstanceState::Alive, ViewState::NotNew, lone.handle),
        })
    }

    /// Whether there is such a sample and its states are in all three sets.
    pub(super) fn lone_matches(
        &self,
        samples: SampleStates,
        views: ViewStates,
        instances: InstanceStates,
    ) -> bool {
        self.lone().is_some()
            && samples.contains(SampleState::NotRead)
            && views.contains(ViewState::NotNew)
            && instances.contains(InstanceState::Alive)
    }

    /// Puts the sample that is beside its instance, if there is one, into it.
    #[inline(always)]
    pub(super) fn seat_lone(&mut self) {
        if self.lone().is_some() {
            self.seat();
        }
    }

    #[cold]
    fn seat(&mut self) {
        let Some(lone) = self.lone.as_deref_mut() else {
            return;
        };
        let Lone { slot, stored, .. } = core::mem::take(lone);
        if let Some(instance) = self.slots.get_mut(slot) {
            self.tally.exclude(instance);
            instance.push(stored);
            self.tally.include(instance);
            self.valid_samples = self.valid_samples.saturating_add(1);
            self.settle(slot);
        }
    }

    /// How many such samples there are: one or none.
    pub(super) fn lone_count(&self) -> usize {
        usize::from(self.lone().is_some())
    }

    /// The sample beside the instance in `slot`, if there is one.
    pub(super) fn lone_of(&self, slot: Slot) -> Option<&Stored> {
        let lone = self.lone().filter(|lone| lone.slot == slot)?;
        Some(&lone.stored)
    }
}
