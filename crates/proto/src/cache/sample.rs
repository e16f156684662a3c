//! What goes into a cache and what comes out of it.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sample::SampleInfo;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;

use super::order::Slot;
use crate::change::ChangeKind;
use crate::value::SharedValue;

/// A change as it arrived from a writer, whole and in its turn.
#[derive(Clone, Debug)]
pub struct CacheChange {
    /// Who wrote it.
    pub writer: Guid,
    /// The instance; not looked at in a cache without key.
    pub instance: InstanceHandle,
    /// What happened.
    pub kind: ChangeKind,
    /// The encapsulated data, or for kinds without data the serialized key; may be empty then.
    pub payload: SharedBytes,
    /// The data as its writer in this process has it; then there may be no payload.
    pub value: Option<SharedValue>,
    /// When it was written; invalid where the writer did not say.
    pub source_timestamp: Timestamp,
    /// When it arrived.
    pub reception_timestamp: Timestamp,
    /// Its number within the writer.
    pub sequence: SequenceNumber,
}

/// What a change that was taken in did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Added {
    /// A sample was stored.
    Stored,
    /// A sample was stored and the oldest of its instance went: KEEP_LAST.
    Replaced,
    /// The instance's state changed, which some sample now shows.
    StateChanged,
    /// Nothing that a reader could see.
    Unchanged,
}

impl Added {
    /// True when readers should be told that data is available.
    pub const fn is_visible(self) -> bool {
        !matches!(self, Self::Unchanged)
    }
}

/// A sample as it is handed out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CachedSample {
    /// The encapsulated data. Without valid data: the serialized key or an older sample with the
    /// same key, see `payload_is_key`; empty where neither is known.
    pub payload: SharedBytes,
    /// Whether `payload` is a serialized key instead of a sample.
    pub payload_is_key: bool,
    /// The data as its writer in this process has it; then there may be no payload.
    pub value: Option<SharedValue>,
    /// The sample's number within its writer.
    pub sequence: SequenceNumber,
    /// What is told beside the data.
    pub info: SampleInfo,
}

/// Where an instance's key can be had from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeySource {
    /// A sample of the instance, or its serialized key.
    pub payload: SharedBytes,
    /// Whether `payload` is a serialized key instead of a sample.
    pub is_key: bool,
}

impl KeySource {
    /// The payload of `sample`.
    pub(super) fn of(sample: &Stored) -> Self {
        Self {
            payload: sample.payload.clone(),
            is_key: sample.payload_is_key,
        }
    }
}

/// A sample as it is held.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) payload: SharedBytes,
    pub(super) payload_is_key: bool,
    pub(super) value: Option<SharedValue>,
    pub(super) valid: bool,
    pub(super) read: bool,
    pub(super) writer: Guid,
    pub(super) sequence: SequenceNumber,
    pub(super) source_timestamp: Timestamp,
    pub(super) reception_timestamp: Timestamp,
    pub(super) generation: Generation,
}

impl Stored {
    /// The data of `change`, in the `generation` that its instance is in.
    pub(super) fn of(change: CacheChange, generation: Generation) -> Self {
        let mut stored = Self::default();
        stored.become_of(change, generation);
        stored
    }

    /// Becomes what [`Stored::of`] gives, where it is.
    #[inline]
    pub(super) fn become_of(&mut self, change: CacheChange, generation: Generation) {
        self.payload = change.payload;
        self.payload_is_key = false;
        self.value = change.value;
        self.valid = true;
        self.read = false;
        self.writer = change.writer;
        self.sequence = change.sequence;
        self.source_timestamp = change.source_timestamp;
        self.reception_timestamp = change.reception_timestamp;
        self.generation = generation;
    }
}

/// The place of a sample kept beside the instances: no other is in the cache then.
#[derive(Debug, Default)]
pub(super) struct Lone {
    /// There is one.
    pub(super) is_there: bool,
    pub(super) slot: Slot,
    pub(super) handle: InstanceHandle,
    pub(super) stored: Stored,
}

/// How often an instance came back. DDS 1.4 §2.2.2.5.1.5.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Generation {
    /// From being disposed.
    pub(super) disposed: u32,
    /// From having no writers.
    pub(super) no_writers: u32,
}

impl Generation {
    /// How many generations lie from `earlier` up to this one.
    pub(super) fn since(self, earlier: Self) -> u32 {
        let disposed = self.disposed.wrapping_sub(earlier.disposed);
        disposed.wrapping_add(self.no_writers.wrapping_sub(earlier.no_writers))
    }
}
