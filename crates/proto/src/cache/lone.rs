//! A sample that has the cache to itself.
//!
//! Where samples are taken as they come, there is never more than one, and taking it leaves its
//! instance as it was before: alive, seen, without samples. Such a sample is kept beside the
//! instances, and put into its own only where something else happens before it is taken.

use alloc::boxed::Box;
use core::hint::cold_path;

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
        let stored = Stored::of(change, instance.generation);
        let bytes = self.tally.bytes.saturating_add(held_by(&stored));
        self.account.set_roughly(bytes, STAYS_COUNTED_BYTES);
        let lone = Some(Lone {
            slot,
            handle,
            stored,
        });
        let place = match &mut self.lone {
            Some(place) => place,
            empty => Self::lone_room(empty),
        };
        let before = core::mem::replace(&mut **place, lone);
        if before.is_some() {
            cold_path();
            drop(before);
        }
    }

    #[cold]
    fn lone_room(empty: &mut Option<Box<Option<Lone>>>) -> &mut Box<Option<Lone>> {
        empty.get_or_insert_default()
    }

    /// Octets that such a sample holds.
    pub(super) fn lone_bytes(&self) -> usize {
        self.lone().map_or(0, |lone| held_by(&lone.stored))
    }

    /// Such a sample, if there is one.
    pub(super) fn lone(&self) -> Option<&Lone> {
        self.lone.as_deref()?.as_ref()
    }

    fn take_out_lone(&mut self) -> Option<Lone> {
        self.lone.as_deref_mut()?.take()
    }

    /// Takes the only sample there is, if it is such a one and `selector` selects it.
    // Inline, so that it is put together where it is wanted.
    #[inline]
    pub fn take_lone(&mut self, selector: &Selector) -> Option<CachedSample> {
        let lone = self.lone()?;
        let of_instance = match selector.instance {
            Which::Any => true,
            Which::Exactly(handle) => handle == lone.handle,
            Which::Next(_) => false,
        };
        let states = self.lone_matches(
            selector.sample_states,
            selector.view_states,
            selector.instance_states,
        );
        if !(of_instance && states && selector.max_samples > 0) {
            return None;
        }
        let Lone { handle, stored, .. } = self.take_out_lone()?;
        self.account
            .set_roughly(self.tally.bytes, STAYS_COUNTED_BYTES);
        Some(CachedSample {
            info: info(&stored, InstanceState::Alive, ViewState::NotNew, handle),
            payload: stored.payload,
            payload_is_key: false,
            value: stored.value,
            sequence: stored.sequence,
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
        if let Some(lone) = self.take_out_lone() {
            self.seat(lone);
        }
    }

    #[cold]
    fn seat(&mut self, lone: Lone) {
        let Lone { slot, stored, .. } = lone;
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
