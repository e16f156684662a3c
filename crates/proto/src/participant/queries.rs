//! What tools and the application may ask.

use alloc::sync::Arc;
use alloc::vec::Vec;

use whimbrel_base::guid::{Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_wire::discovery::EndpointData;

use super::Participant;
use super::local::{LocalReader, LocalWriter};
use super::remote::{Heard, RemoteParticipant, RemoteReader, RemoteWriter};
use crate::discovery::matching::{RuleVerdict, explain};

impl Participant {
    /// The participants known.
    pub fn participants(&self) -> impl Iterator<Item = &RemoteParticipant> {
        self.remotes.values()
    }

    /// The participant `prefix`, if known.
    pub fn participant(&self, prefix: GuidPrefix) -> Option<&RemoteParticipant> {
        self.remotes.get(&prefix)
    }

    /// When `prefix` was last heard, to be shared with whoever receives its packets.
    pub fn heard(&self, prefix: GuidPrefix) -> Option<Arc<Heard>> {
        self.remotes
            .get(&prefix)
            .map(|remote| Arc::clone(&remote.heard))
    }

    /// Where the endpoints of `prefix` are reached that name no address of their own.
    /// RTPS 2.5 §8.5.3.2.
    pub fn default_addresses(&self, prefix: GuidPrefix) -> &[Locator] {
        let remote = self.remotes.get(&prefix);
        remote.map_or(&[], |remote| &remote.data.default_unicast)
    }

    /// The writers of other participants.
    pub fn remote_writers(&self) -> impl Iterator<Item = &RemoteWriter> {
        self.remote_writers.values().map(|it| &**it)
    }

    /// The readers of other participants.
    pub fn remote_readers(&self) -> impl Iterator<Item = &RemoteReader> {
        self.remote_readers.values().map(|it| &**it)
    }

    /// The writer `guid` of another participant.
    pub fn remote_writer(&self, guid: Guid) -> Option<&RemoteWriter> {
        self.remote_writers.get(&guid).map(|it| &**it)
    }

    /// The reader `guid` of another participant.
    pub fn remote_reader(&self, guid: Guid) -> Option<&RemoteReader> {
        self.remote_readers.get(&guid).map(|it| &**it)
    }

    /// Our own writers.
    pub fn local_writers(&self) -> impl Iterator<Item = &LocalWriter> {
        self.local_writers.values().map(|local| &*local.endpoint)
    }

    /// Our own readers.
    pub fn local_readers(&self) -> impl Iterator<Item = &LocalReader> {
        self.local_readers.values().map(|local| &*local.endpoint)
    }

    /// Octets, about, of what others have announced and of what is announced to them.
    pub fn held_bytes(&self) -> usize {
        let sum = |parts: &[usize]| parts.iter().copied().fold(0, usize::saturating_add);
        let endpoint = |size, data: &EndpointData| {
            sum(&[
                size,
                data.topic_name.len(),
                data.type_name.len(),
                data.topic_data.value.len(),
                data.group_data.value.len(),
            ])
        };
        let writers = self.remote_writers.values();
        let writers = writers.map(|it| endpoint(size_of::<RemoteWriter>(), &it.data.endpoint));
        let readers = self.remote_readers.values();
        let readers = readers.map(|it| endpoint(size_of::<RemoteReader>(), &it.data.endpoint));
        let remotes = self.remotes.values();
        let size = size_of::<RemoteParticipant>();
        let remotes = remotes.map(|it| sum(&[size, it.data.user_data.len()]));
        writers
            .chain(readers)
            .chain(remotes)
            .fold(self.builtin.held_bytes(), usize::saturating_add)
    }

    /// Number of matches of all local endpoints.
    pub fn match_count(&self) -> usize {
        self.writer_pairs
            .matched_count()
            .saturating_add(self.reader_pairs.matched_count())
    }

    /// Every matching rule for a writer and a reader, ours or others', with both values; `None`
    /// where one of them is not known.
    pub fn explain(&self, writer: Guid, reader: Guid) -> Option<Vec<RuleVerdict>> {
        Some(explain(
            &self.writer_facts(writer)?,
            &self.reader_facts(reader)?,
        ))
    }
}
