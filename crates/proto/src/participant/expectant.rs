//! Local readers that no writer serves: found once each, with the cause.

use alloc::vec::Vec;

use whimbrel_base::guid::EntityId;
use whimbrel_base::time::{Duration, Instant};

use super::Participant;
use super::event::ParticipantEvent;
use super::unserved::{NearestWriter, Unserved};
use crate::deadline::{Deadline, Reason};
use crate::discovery::matching::{ReaderFacts, WriterFacts, explain};

/// Readers looked into at a time: each is compared with every writer known.
const LOOKS_MAX: usize = 8;

/// Wait before the next ones.
const LOOK_PAUSE: Duration = Duration::from_millis(1);

impl Participant {
    /// A reader is new: it should find a writer soon.
    pub(super) fn expect_writer(&mut self, now: Instant, reader: EntityId) {
        if !self.local_readers.contains_key(&reader) {
            let patience = self.config.unserved_patience;
            self.expectant.insert(reader, now.after(patience));
        }
    }

    /// Local readers that have a writer.
    pub(super) fn served_readers(&self) -> Vec<EntityId> {
        let readers = self.local_readers.keys().copied();
        readers
            .filter(|it| self.reader_pairs.has_match(*it))
            .collect()
    }

    /// Of `readers`, which had a writer, those that have none any more should find another soon.
    pub(super) fn expect_other_writers(&mut self, now: Instant, readers: &[EntityId]) {
        let at = now.after(self.config.unserved_patience);
        for reader in readers {
            if !self.reader_pairs.has_match(*reader) {
                self.expectant.insert(*reader, at);
            }
        }
    }

    /// When to look again for readers without a writer.
    pub(super) fn unserved_deadline(&self) -> Option<Deadline> {
        let next = self.expectant.values().min()?;
        Some((*next, Reason::Unserved))
    }

    /// Reports readers that have waited long enough, and why they had to.
    pub(super) fn report_unserved(&mut self, now: Instant) {
        let due = |(reader, at): (&EntityId, &Instant)| (*at <= now).then_some(*reader);
        let due: Vec<EntityId> = self.expectant.iter().filter_map(due).collect();
        let mut looks = 0usize;
        for reader in due {
            if self.reader_pairs.has_match(reader) {
                self.expectant.remove(&reader);
            } else if looks < LOOKS_MAX {
                looks = looks.saturating_add(1);
                self.expectant.remove(&reader);
                if let Some(unserved) = self.look_into(reader) {
                    self.report(ParticipantEvent::ReaderUnserved { reader, unserved });
                }
            } else {
                self.expectant.insert(reader, now.after(LOOK_PAUSE));
            }
        }
    }

    fn look_into(&self, reader: EntityId) -> Option<Unserved> {
        let own = self.config.guid_prefix;
        let facts = self.local_readers.get(&reader)?.endpoint.facts(own);
        let local = self
            .local_writers
            .values()
            .map(|writer| writer.endpoint.facts(own));
        let remote = self.remote_writers.values().map(|writer| writer.facts());
        let mut unserved = Unserved {
            topic_name: facts.topic_name.into(),
            writers: 0,
            nearest: None,
        };
        for writer in local.chain(remote) {
            if writer.topic_name == facts.topic_name {
                unserved.writers = unserved.writers.saturating_add(1);
            } else if !may_be_meant(&writer, &facts) {
                continue;
            }
            let mut failed = explain(&writer, &facts);
            failed.retain(|verdict| !verdict.passed);
            let known = unserved.nearest.as_ref();
            if known.is_none_or(|known| failed.len() < known.failed.len()) {
                let writer = writer.guid;
                unserved.nearest = Some(NearestWriter { writer, failed });
            }
        }
        Some(unserved)
    }
}

/// True for topics of other names that look like slips: other letter case, or a prefix such as
/// that of ROS 2 on one side only.
fn may_be_meant(writer: &WriterFacts<'_>, reader: &ReaderFacts<'_>) -> bool {
    let (one, two) = (writer.topic_name, reader.topic_name);
    let within = |long: &str, short: &str| {
        let rest = long.strip_suffix(short);
        rest.is_some_and(|rest| rest.ends_with('/') && !short.is_empty())
    };
    one.eq_ignore_ascii_case(two) || within(one, two) || within(two, one)
}
