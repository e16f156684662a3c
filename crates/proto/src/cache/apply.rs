//! What a change does to its instance. DDS 1.4 §2.2.2.5.1.3.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::InstanceState;
use whimbrel_base::status::SampleRejectedKind;

use super::ReaderCache;
use super::instance::Instance;
use super::order::{Chain, Slot};
use super::sample::{Added, CacheChange, KeySource, Stored};

/// Greatest number of instances that slots can number.
const SLOTS_MAX: usize = Slot::MAX as usize;

impl ReaderCache {
    pub(super) fn add_sample(
        &mut self,
        known: Option<Slot>,
        change: CacheChange,
    ) -> Result<Added, SampleRejectedKind> {
        let replaces = self.check_sample_limits(known)?;
        let slot = match known {
            Some(slot) => slot,
            None => self.create(change.instance)?,
        };
        let Some(instance) = self.slots.get_mut(slot) else {
            return Ok(Added::Unchanged);
        };
        self.tally.exclude(instance);
        instance.revive();
        if replaces {
            self.discarded.extend(instance.drop_oldest());
        } else {
            self.valid_samples = self.valid_samples.saturating_add(1);
        }
        instance.writers.insert(change.writer);
        let short = change.payload.len() <= self.config.key_source_bytes_max;
        if self.config.keyed && instance.key.is_none() && short && !change.payload.is_empty() {
            instance.key = Some(KeySource {
                payload: change.payload.clone().compacted(),
                is_key: false,
            });
        }
        instance.push(Stored::of(change, instance.generation));
        self.tally.include(instance);
        self.settle(slot);
        Ok(if replaces {
            Added::Replaced
        } else {
            Added::Stored
        })
    }

    pub(super) fn add_dispose(
        &mut self,
        known: Option<Slot>,
        change: &CacheChange,
    ) -> Result<Added, SampleRejectedKind> {
        let slot = match known {
            Some(slot) => slot,
            None => self.create(change.instance)?,
        };
        let Some(instance) = self.slots.get_mut(slot) else {
            return Ok(Added::Unchanged);
        };
        if change.kind.unregisters() {
            instance.writers.remove(change.writer);
        } else {
            instance.writers.insert(change.writer);
        }
        if instance.state == InstanceState::NotAliveDisposed {
            self.settle(slot);
            return Ok(Added::Unchanged);
        }
        self.end(slot, InstanceState::NotAliveDisposed, change);
        Ok(Added::StateChanged)
    }

    pub(super) fn unregister(&mut self, slot: Slot, change: &CacheChange) -> Added {
        let Some(instance) = self.slots.get_mut(slot) else {
            return Added::Unchanged;
        };
        instance.writers.remove(change.writer);
        if instance.writers.is_empty() && instance.state == InstanceState::Alive {
            self.end(slot, InstanceState::NotAliveNoWriters, change);
            return Added::StateChanged;
        }
        self.settle(slot);
        Added::Unchanged
    }

    /// The slot of a known instance.
    #[inline(always)]
    pub(super) fn find(&mut self, handle: InstanceHandle) -> Option<Slot> {
        if let Some((recent, slot)) = self.recent
            && recent == handle
        {
            return Some(slot);
        }
        let slot = *self.index.get(&handle)?;
        self.recent = Some((handle, slot));
        Some(slot)
    }

    /// Puts an instance that changed where it belongs, or forgets it where nothing is left of it:
    /// no samples, no writers and not alive.
    pub(super) fn settle(&mut self, slot: Slot) {
        let Some(instance) = self.slots.get(slot) else {
            return;
        };
        let chain = if instance.is_empty() {
            Chain::Out
        } else if instance.has_unread() {
            Chain::Fresh
        } else {
            Chain::Seen
        };
        let (handle, ended) = (instance.handle, is_spent(instance));
        let has_writers = !instance.writers.is_empty();
        let moved = self.order.place(slot, chain);
        if !ended {
            return;
        }
        if !has_writers {
            self.forget(handle);
        } else if moved {
            self.retired.push_back(handle);
            if self.retired.len() > self.config.retired_instances_max {
                self.forget_retired();
            }
        }
    }

    /// Ends the instance's life in `state` and has some sample show it.
    fn end(&mut self, slot: Slot, state: InstanceState, change: &CacheChange) {
        let Some(instance) = self.slots.get_mut(slot) else {
            return;
        };
        self.tally.exclude(instance);
        instance.state = state;
        let brings_key = self.config.keyed && !change.payload.is_empty();
        if brings_key && change.payload.len() <= self.config.key_source_bytes_max {
            let known_as_key = instance.key.as_ref().is_some_and(|key| key.is_key);
            if !known_as_key {
                instance.key = Some(KeySource {
                    payload: change.payload.clone().compacted(),
                    is_key: true,
                });
            }
        }
        let source = instance.key_source();
        let generation = instance.generation;
        instance.show_state(|| {
            let (payload, payload_is_key) = match source {
                _ if brings_key => (change.payload.clone(), true),
                Some(key) => (key.payload, key.is_key),
                None => (SharedBytes::default(), false),
            };
            Stored {
                payload,
                payload_is_key,
                value: None,
                valid: false,
                read: false,
                writer: change.writer,
                sequence: change.sequence,
                source_timestamp: change.source_timestamp,
                reception_timestamp: change.reception_timestamp,
                generation,
            }
        });
        self.tally.include(instance);
        self.settle(slot);
    }

    /// Whether one more sample takes the place of the oldest of its instance.
    pub(super) fn check_sample_limits(
        &self,
        known: Option<Slot>,
    ) -> Result<bool, SampleRejectedKind> {
        let held = known
            .and_then(|slot| self.slots.get(slot))
            .map_or(0, Instance::valid_count);
        if held > 0 && held >= self.config.history.depth() {
            return Ok(true);
        }
        let limits = &self.config.limits;
        if !limits.max_samples_per_instance.has_room(held) {
            return Err(SampleRejectedKind::BySamplesPerInstanceLimit);
        }
        if !limits.max_samples.has_room(self.valid_samples) {
            return Err(SampleRejectedKind::BySamplesLimit);
        }
        Ok(false)
    }

    /// Whether one more instance finds room with its first sample, and none gives way for it.
    pub(super) fn has_room_for_next(&self) -> bool {
        let known = self.index.len();
        let limits = &self.config.limits;
        known < self.config.instances_max.min(SLOTS_MAX)
            && limits.max_instances.has_room(known)
            && self.check_sample_limits(None).is_ok()
    }

    fn make_room_for_instance(&mut self) -> Result<(), SampleRejectedKind> {
        let limit = self.config.limits.max_instances;
        let max = if limit.is_unlimited() {
            self.config.instances_max
        } else {
            limit.max()
        };
        let max = max.min(SLOTS_MAX);
        while self.index.len() >= max {
            if !self.forget_retired() {
                return Err(SampleRejectedKind::ByInstancesLimit);
            }
        }
        Ok(())
    }

    fn create(&mut self, handle: InstanceHandle) -> Result<Slot, SampleRejectedKind> {
        self.make_room_for_instance()?;
        let slot = self.slots.insert(Instance::new(handle));
        self.order.grow_to(slot);
        if let Some(instance) = self.slots.get(slot) {
            self.tally.include(instance);
        }
        self.index.insert(handle, slot);
        self.recent = Some((handle, slot));
        Ok(slot)
    }

    fn forget(&mut self, handle: InstanceHandle) {
        let slot = self.index.remove(&handle);
        if let Some(instance) = slot.and_then(|slot| self.slots.remove(slot)) {
            self.tally.exclude(&instance);
        }
        self.recent = None;
    }

    /// Forgets the instance that is retired the longest; false where there is none.
    fn forget_retired(&mut self) -> bool {
        let Some(handle) = self.retired.pop_front() else {
            return false;
        };
        let slot = self.index.get(&handle).copied();
        let instance = slot.and_then(|slot| self.slots.get(slot));
        if instance.is_some_and(is_spent) {
            self.forget(handle);
        }
        true
    }
}

/// True when only its writers keep the instance known.
fn is_spent(instance: &Instance) -> bool {
    instance.is_empty() && instance.state != InstanceState::Alive
}
