//! What tools and the application may ask.

use alloc::sync::Arc;
use alloc::vec::Vec;

use whimbrel_base::guid::{Guid, GuidPrefix};

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

    /// The writers of other participants.
    pub fn remote_writers(&self) -> impl Iterator<Item = &RemoteWriter> {
        self.remote_writers.values()
    }

    /// The readers of other participants.
    pub fn remote_readers(&self) -> impl Iterator<Item = &RemoteReader> {
        self.remote_readers.values()
    }

    /// The writer `guid` of another participant.
    pub fn remote_writer(&self, guid: Guid) -> Option<&RemoteWriter> {
        self.remote_writers.get(&guid)
    }

    /// The reader `guid` of another participant.
    pub fn remote_reader(&self, guid: Guid) -> Option<&RemoteReader> {
        self.remote_readers.get(&guid)
    }

    /// Our own writers.
    pub fn local_writers(&self) -> impl Iterator<Item = &LocalWriter> {
        self.local_writers.values().map(|local| &local.endpoint)
    }

    /// Our own readers.
    pub fn local_readers(&self) -> impl Iterator<Item = &LocalReader> {
        self.local_readers.values().map(|local| &local.endpoint)
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
