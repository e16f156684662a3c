//! What entities hold, for programs and tools.

use whimbrel_base::guid::Guid;
use whimbrel_base::sorted::SortedMap;

use super::participant::ParticipantCore;
use super::reader::ReaderCore;
use super::writer::WriterCore;

/// What a writer or reader holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EndpointMemory {
    /// Who it is.
    pub guid: Guid,
    /// The name of its topic; empty for an endpoint whose announcement is still to come.
    pub topic_name: String,
    /// Samples kept: in a writer's history, or in a reader's cache.
    pub samples: usize,
    /// Instances known.
    pub instances: usize,
    /// Octets held, those of samples that have not arrived completely, or wait for earlier ones,
    /// included.
    pub bytes: usize,
}

/// What discovery holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DiscoveryMemory {
    /// Other participants known.
    pub participants: usize,
    /// Their writers.
    pub writers: usize,
    /// Their readers.
    pub readers: usize,
    /// Octets of what they announced, about, and of what is announced to them.
    pub bytes: usize,
}

/// What a participant holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParticipantMemory {
    /// Octets that its writers and readers hold.
    pub bytes: usize,
    /// Octets that they may hold: the limit `memory_bytes_max`.
    pub bytes_max: usize,
    /// Its writers.
    pub writers: Vec<EndpointMemory>,
    /// Its readers.
    pub readers: Vec<EndpointMemory>,
    /// What it knows of others; not part of `bytes`, and bounded by other limits.
    pub discovery: DiscoveryMemory,
}

impl WriterCore {
    pub(crate) fn memory(&self, topic_name: &str) -> EndpointMemory {
        let state = self.lock();
        let keys = state.key_bytes();
        EndpointMemory {
            guid: self.guid,
            topic_name: topic_name.into(),
            samples: state.machine.history_len(),
            instances: state.machine.instance_count(),
            bytes: state.machine.held_bytes().saturating_add(keys),
        }
    }
}

impl ReaderCore {
    pub(crate) fn memory(&self, topic_name: &str) -> EndpointMemory {
        let state = self.lock();
        EndpointMemory {
            guid: self.guid,
            topic_name: topic_name.into(),
            samples: state.machine.cache().sample_count(),
            instances: state.machine.cache().instance_count(),
            bytes: state.machine.held_bytes(),
        }
    }
}

impl ParticipantCore {
    pub(crate) fn memory(&self) -> ParticipantMemory {
        let (names, discovery) = self.look(|control| {
            let writers = control.local_writers();
            let writers = writers.map(|it| (it.entity, it.topic_name.clone()));
            let readers = control.local_readers();
            let readers = readers.map(|it| (it.entity, it.topic_name.clone()));
            let names: SortedMap<_, _> = writers.chain(readers).collect();
            let discovery = DiscoveryMemory {
                participants: control.participants().count(),
                writers: control.remote_writers().count(),
                readers: control.remote_readers().count(),
                bytes: control.held_bytes(),
            };
            (names, discovery)
        });
        let name = |guid: Guid| names.get(&guid.entity).map_or("", String::as_str);
        // One machine is locked at a time, and none is while the routes are held.
        let routing = self.routes();
        let writers = routing.writers().values();
        let readers = routing.readers().values();
        ParticipantMemory {
            bytes: self.budget.held(),
            bytes_max: self.budget.max(),
            writers: writers.map(|it| it.memory(name(it.guid))).collect(),
            readers: readers.map(|it| it.memory(name(it.guid))).collect(),
            discovery,
        }
    }
}
