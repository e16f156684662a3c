//! A reader's cache of samples and instances. DDS 1.4 §2.2.2.5.
//!
//! Changes come in whole and in their turn with [`ReaderCache::add`]; samples go out with
//! [`ReaderCache::read`] and [`ReaderCache::take`]. In between the cache applies HISTORY and
//! RESOURCE_LIMITS and keeps the states, generations and ranks that [`SampleInfo`] tells.
//!
//! A change of an instance's state always shows: as the state of a sample that was not read yet,
//! as a generation count of a later sample, or else as a sample without valid data, of which
//! there is at most one per instance and which counts towards no limit.
//!
//! The cache reads no clock and knows no wire: duplicates, order, fragments and filters are dealt
//! with before. After warm-up a stream of samples allocates nothing.
//!
//! [`SampleInfo`]: whimbrel_base::sample::SampleInfo

pub mod sample;
pub mod selector;

mod apply;
mod instance;
mod lone;
mod order;
mod read;
mod run;
mod tally;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use run::Run;
pub use sample::{Added, CacheChange, CachedSample, KeySource};
pub use selector::{Selector, Which};

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use whimbrel_base::budget::Account;
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::limits::Limits;
use whimbrel_base::qos::{History, ResourceLimits};
use whimbrel_base::sample::{InstanceStates, SampleStates, ViewStates};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::status::SampleRejectedKind;
use whimbrel_base::table::Table;
use whimbrel_base::time::Timestamp;

use crate::change::ChangeKind;
use crate::value::SharedValue;
use instance::Instance;
use order::{Order, Slot};
use sample::Lone;
use tally::Tally;

/// What a cache is told once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheConfig {
    /// Whether the topic has a key; without, there is the one instance [`InstanceHandle::NIL`].
    pub keyed: bool,
    /// How many samples of each instance are kept.
    pub history: History,
    /// When samples are rejected.
    pub limits: ResourceLimits,
    /// Most instances where `limits` has no limit; 4,194,304 by default.
    pub instances_max: usize,
    /// Disposed instances without samples that are remembered, for their generation counts, while
    /// writers still have them; the longest known go first. 1,024 by default.
    pub retired_instances_max: usize,
    /// Longest sample that is kept beyond its taking to tell the instance's key; 64 KiB by default.
    pub key_source_bytes_max: usize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            keyed: true,
            history: History::default(),
            limits: ResourceLimits::UNLIMITED,
            instances_max: Limits::DEFAULT.instances_max,
            retired_instances_max: 1024,
            key_source_bytes_max: Limits::DEFAULT.key_bytes_max,
        }
    }
}

/// The cache.
#[derive(Debug)]
pub struct ReaderCache {
    config: CacheConfig,
    index: BTreeMap<InstanceHandle, Slot>,
    slots: Table<Instance>,
    /// The place of a sample that is alone: made with the first, empty while there is none.
    lone: Option<Box<Lone>>,
    /// The instance met last: streams mostly stay with one.
    recent: Option<(InstanceHandle, Slot)>,
    order: Order,
    tally: Tally,
    valid_samples: usize,
    /// Disposed instances without samples whose writers did not unregister them, oldest first.
    /// Some may have come back since.
    retired: VecDeque<InstanceHandle>,
    account: Account,
    /// Values that gave way to newer ones.
    discarded: Vec<SharedValue>,
}

impl ReaderCache {
    /// An empty cache.
    pub const fn new(config: CacheConfig) -> Self {
        Self {
            config,
            index: BTreeMap::new(),
            slots: Table::new(),
            lone: None,
            recent: None,
            order: Order::new(),
            tally: Tally::new(),
            valid_samples: 0,
            retired: VecDeque::new(),
            account: Account::unlimited(),
            discarded: Vec::new(),
        }
    }

    /// Counts what it holds, which is nothing yet, in `account`.
    #[must_use]
    pub fn charged_to(mut self, account: Account) -> Self {
        self.account = account;
        self
    }

    /// True when there is no sample in it, with or without valid data.
    pub fn is_empty(&self) -> bool {
        self.lone().is_none() && self.order.is_empty()
    }

    /// Octets held; somewhat more may be counted.
    pub fn held_bytes(&self) -> usize {
        self.tally.bytes.saturating_add(self.lone_bytes())
    }

    /// Takes in a change. One that is rejected leaves no trace and may be offered again.
    ///
    /// # Errors
    ///
    /// The limit of RESOURCE_LIMITS that leaves no room.
    pub fn add(&mut self, mut change: CacheChange) -> Result<Added, SampleRejectedKind> {
        change.instance = self.known_as(change.instance);
        let place = match change.kind {
            ChangeKind::Alive => self.lone_place(change.instance, change.writer),
            _ => None,
        };
        if let Some(slot) = place {
            self.keep_alone(slot, change);
            return Ok(Added::Stored);
        }
        self.seat_lone();
        let known = self.find(change.instance);
        let outcome = match change.kind {
            ChangeKind::Alive => self.add_sample(known, change),
            ChangeKind::Unregistered => Ok(match known {
                Some(slot) => self.unregister(slot, &change),
                None => Added::Unchanged,
            }),
            ChangeKind::Disposed | ChangeKind::DisposedUnregistered => {
                self.add_dispose(known, &change)
            }
        };
        self.tidy();
        outcome
    }

    /// The instance that `instance` is here.
    #[inline]
    fn known_as(&self, instance: InstanceHandle) -> InstanceHandle {
        if self.config.keyed {
            instance
        } else {
            InstanceHandle::NIL
        }
    }

    /// Whether a sample of `instance` would find room with no other instance giving way.
    #[inline(always)]
    pub fn admits(&mut self, instance: InstanceHandle) -> bool {
        let instance = self.known_as(instance);
        self.seat_lone();
        match self.find(instance) {
            Some(slot) => self.check_sample_limits(Some(slot)).is_ok(),
            None => self.has_room_for_next(),
        }
    }

    /// Notes the serialized key of an instance of which only values have come so far.
    pub fn note_key(&mut self, instance: InstanceHandle, key: &[u8]) {
        let Some(slot) = self.find(instance).filter(|_| self.config.keyed) else {
            return;
        };
        if self.slots.get(slot).is_none_or(|it| it.key.is_some()) {
            return;
        }
        self.seat_lone();
        let Some(instance) = self.slots.get_mut(slot) else {
            return;
        };
        if key.len() <= self.config.key_source_bytes_max {
            self.tally.exclude(instance);
            instance.key = Some(KeySource {
                payload: SharedBytes::copy_from(key),
                is_key: true,
            });
            self.tally.include(instance);
            self.account.set(self.tally.bytes);
        }
    }

    /// Takes one of the values that gave way to newer ones: the program's own destructor runs when
    /// it is dropped.
    pub fn take_discarded(&mut self) -> Option<SharedValue> {
        self.discarded.pop()
    }

    /// A writer is gone: it gives up all of its instances.
    /// Returns whether a reader can see any difference.
    pub fn writer_gone(&mut self, writer: Guid, reception_timestamp: Timestamp) -> bool {
        self.seat_lone();
        let theirs: Vec<InstanceHandle> = self
            .index
            .iter()
            .filter(|(_, slot)| {
                let instance = self.slots.get(**slot);
                instance.is_some_and(|instance| instance.writers.contains(writer))
            })
            .map(|(handle, _)| *handle)
            .collect();
        let mut change = CacheChange {
            writer,
            instance: InstanceHandle::NIL,
            kind: ChangeKind::Unregistered,
            payload: SharedBytes::default(),
            value: None,
            source_timestamp: Timestamp::INVALID,
            reception_timestamp,
            sequence: SequenceNumber::UNKNOWN,
        };
        let mut visible = false;
        for handle in theirs {
            change.instance = handle;
            if let Some(slot) = self.find(handle) {
                visible |= self.unregister(slot, &change).is_visible();
            }
        }
        self.tidy();
        visible
    }

    /// Counts what is held and gives back what is not, after a change.
    fn tidy(&mut self) {
        self.account.set(self.tally.bytes);
        if self.slots.is_sparse() {
            self.compact();
        }
    }

    /// Gives back the numbers of instances that are over.
    fn compact(&mut self) {
        let old = self.slots.compact();
        self.order.renumber(&old);
        self.recent = None;
        for slot in self.index.values_mut() {
            // They were numbered in order.
            let new = old.binary_search(slot).unwrap_or(usize::MAX);
            *slot = Slot::try_from(new).unwrap_or(Slot::MAX);
        }
    }

    /// True when the instance is known.
    pub fn contains(&self, instance: InstanceHandle) -> bool {
        self.index.contains_key(&instance)
    }

    /// From where the key of an instance can be had: its serialized key or a sample of it; `None`
    /// where the instance is not known, or only by samples that were too long to keep.
    pub fn key_of(&self, instance: InstanceHandle) -> Option<KeySource> {
        let slot = self.index.get(&instance)?;
        let source = self.slots.get(*slot)?.key_source();
        source.or_else(|| self.lone_of(*slot).map(KeySource::of))
    }

    /// Instances known, also those without samples.
    pub fn instance_count(&self) -> usize {
        self.index.len()
    }

    /// Octets held, counted from the start.
    #[cfg(test)]
    fn recounted_bytes(&self) -> usize {
        let slots = self.index.values().filter_map(|slot| self.slots.get(*slot));
        let seated: usize = slots.map(Instance::recounted_bytes).sum();
        seated + self.lone_bytes()
    }

    /// Samples held, also those without valid data.
    pub fn sample_count(&self) -> usize {
        let all = (SampleStates::ANY, ViewStates::ANY, InstanceStates::ANY);
        let seated = self.tally.matching(all.0, all.1, all.2);
        seated.saturating_add(self.lone_count())
    }

    /// Samples held that have valid data: those that count towards `max_samples`.
    pub fn valid_sample_count(&self) -> usize {
        self.valid_samples.saturating_add(self.lone_count())
    }
}
