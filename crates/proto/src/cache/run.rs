//! Samples of one instance that come together: what they have in common is looked at once.

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::InstanceState;

use super::ReaderCache;
use super::instance::held_by;
use super::order::Slot;
use super::sample::{CacheChange, Stored};

/// A known instance to which samples are added one after the other.
#[derive(Debug)]
pub struct Run<'a> {
    cache: &'a mut ReaderCache,
    handle: InstanceHandle,
    slot: Slot,
    added_bytes: usize,
}

impl ReaderCache {
    /// Begins to add samples to `instance`; `None` where it is not known, or the next sample would
    /// change more than add to it.
    pub fn run(&mut self, instance: InstanceHandle) -> Option<Run<'_>> {
        let handle = if self.config.keyed {
            instance
        } else {
            InstanceHandle::NIL
        };
        let slot = self.find(handle)?;
        self.seat_lone();
        let known = self.slots.get(slot)?;
        let stays = known.state == InstanceState::Alive;
        if !stays || (self.config.keyed && known.key.is_none()) {
            return None;
        }
        self.tally.exclude(known);
        Some(Run {
            cache: self,
            handle,
            slot,
            added_bytes: 0,
        })
    }
}

impl Run<'_> {
    /// Whose samples they are.
    pub const fn instance(&self) -> InstanceHandle {
        self.handle
    }

    /// Octets that the samples added so far keep.
    pub const fn added_bytes(&self) -> usize {
        self.added_bytes
    }

    /// True when HISTORY and RESOURCE_LIMITS leave room for one more.
    pub fn has_room(&self) -> bool {
        self.cache.check_sample_limits(Some(self.slot)).is_ok()
    }

    /// Adds a sample of the instance, as [`ReaderCache::add`] does; nothing where there is no room.
    pub fn add(&mut self, change: CacheChange) {
        let Ok(replaces) = self.cache.check_sample_limits(Some(self.slot)) else {
            return;
        };
        let Some(instance) = self.cache.slots.get_mut(self.slot) else {
            return;
        };
        if replaces {
            self.cache.discarded.extend(instance.drop_oldest());
        } else {
            self.cache.valid_samples = self.cache.valid_samples.saturating_add(1);
        }
        instance.writers.insert(change.writer);
        let stored = Stored::of(change, instance.generation);
        self.added_bytes = self.added_bytes.saturating_add(held_by(&stored));
        instance.push(stored);
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if let Some(instance) = self.cache.slots.get(self.slot) {
            self.cache.tally.include(instance);
        }
        self.cache.settle(self.slot);
        self.cache.tidy();
    }
}
