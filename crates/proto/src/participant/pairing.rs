//! Matches local endpoints with others and tells them what came of it.
//!
//! Endpoints of participants that have not shown yet that they hear us wait: their addresses may
//! be anybody's.

use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{CompressionIds, Durability};
use whimbrel_base::vendor::VendorId;

use super::Participant;
use super::event::ParticipantEvent;
use super::pair::{Pair, Step};
use super::remote::guids_of;
use crate::discovery::locators::{LOCAL_MESSAGE_BYTES_MAX, Route};
use crate::discovery::matching::{Outcome, ReaderFacts, WriterFacts, judge};
use crate::peer::{MatchedReader, MatchedWriter};

impl Participant {
    /// What is known of the writer `guid`, ours or another's.
    pub(super) fn writer_facts(&self, guid: Guid) -> Option<WriterFacts<'_>> {
        let own = self.config.guid_prefix;
        if guid.prefix == own {
            return self
                .local_writers
                .get(&guid.entity)
                .map(|it| it.endpoint.facts(own));
        }
        self.remote_writers.get(&guid).map(|writer| writer.facts())
    }

    /// What is known of the reader `guid`, ours or another's.
    pub(super) fn reader_facts(&self, guid: Guid) -> Option<ReaderFacts<'_>> {
        let own = self.config.guid_prefix;
        if guid.prefix == own {
            return self
                .local_readers
                .get(&guid.entity)
                .map(|it| it.endpoint.facts(own));
        }
        self.remote_readers.get(&guid).map(|reader| reader.facts())
    }

    fn is_served(&self, prefix: GuidPrefix) -> bool {
        prefix == self.config.guid_prefix
            || self
                .remotes
                .get(&prefix)
                .is_some_and(|remote| remote.confirmed)
    }

    /// How an endpoint of `prefix` that announced `locators` of its own is reached; `None` while
    /// nothing has answered from there.
    fn route_to(&self, prefix: GuidPrefix, locators: &[Locator]) -> Option<Route> {
        if prefix == self.config.guid_prefix {
            return Some(self.own_route());
        }
        let remote = self.remotes.get(&prefix)?;
        let own = self.route(remote, locators);
        let route = if own.locators.is_empty() {
            remote.user.clone()
        } else {
            own
        };
        let answered = |locator: &Locator| self.has_answered(remote, *locator);
        route.locators.iter().all(answered).then_some(route)
    }

    /// How our endpoints reach each other.
    fn own_route(&self) -> Route {
        let locators = &self.config.default_unicast;
        let loopback = locators.iter().find(|locator| locator.is_loopback());
        let one = loopback.or(locators.first()).copied();
        Route {
            locators: one.into_iter().collect(),
            message_bytes_max: LOCAL_MESSAGE_BYTES_MAX,
            same_host: true,
        }
    }

    /// What `writer` is told of the reader. One that moved stays where it was until it answers
    /// from where it is.
    fn matched_reader(&self, writer: EntityId, facts: &ReaderFacts<'_>) -> Option<MatchedReader> {
        let announced = self
            .remote_readers
            .get(&facts.guid)
            .map(|reader| &reader.data);
        let unicast = announced.map_or(&[][..], |data| &data.endpoint.unicast);
        let Some(route) = self.route_to(facts.guid.prefix, unicast) else {
            return self.writer_pairs.matched(writer, facts.guid).cloned();
        };
        let participant = self.remotes.get(&facts.guid.prefix);
        let group = self.group_of(facts.guid.prefix, announced.map(|data| &data.endpoint));
        Some(MatchedReader {
            guid: facts.guid,
            reliable: facts.qos.reliability.is_reliable(),
            durable: facts.qos.durability != Durability::Volatile,
            expects_inline_qos: announced.is_some_and(|data| data.expects_inline_qos)
                || participant.is_some_and(|it| it.data.expects_inline_qos),
            group,
            message_bytes_max: self.message_bytes_max(&route, group),
            locators: route.locators,
            receive_buffer_bytes: self.receive_buffer_bytes_of(facts.guid.prefix),
            packed_messages: self.takes_messages(facts),
            vendor: self.vendor_of(facts.guid.prefix),
            packed: self.takes_packed(writer, facts),
            batches: announced.is_none_or(|data| data.endpoint.batches)
                || participant.is_some_and(|it| it.data.vendor.takes_batches_unsaid()),
        })
    }

    /// The codecs by which `reader` takes whole messages: those of its participant, ours included,
    /// that it takes itself.
    fn takes_messages(&self, reader: &ReaderFacts<'_>) -> CompressionIds {
        let prefix = reader.guid.prefix;
        let inflates = if prefix == self.config.guid_prefix {
            self.config.packed_messages
        } else {
            let remote = self.remotes.get(&prefix);
            remote.map_or(CompressionIds::NONE, |it| it.data.packed_messages)
        };
        let compression = &reader.qos.data_representation.compression;
        inflates.and(compression.compression_ids.unwrap_or(CompressionIds::ALL))
    }

    /// True when the reader takes what our `writer` compresses: its batches, where it sends such.
    fn takes_packed(&self, writer: EntityId, reader: &ReaderFacts<'_>) -> bool {
        let Some(local) = self.local_writers.get(&writer) else {
            return false;
        };
        let qos = local.endpoint.facts(self.config.guid_prefix).qos;
        let codec = qos.data_representation.compression.offered();
        // Connext knows no batches that are compressed by anything else.
        let is_known = qos.batch.is_none()
            || codec == CompressionIds::ZLIB
            || self.vendor_of(reader.guid.prefix) == VendorId::WHIMBREL;
        is_known && reader.qos.data_representation.compression.takes(codec)
    }

    /// Which implementation that participant, ours included, belongs to.
    fn vendor_of(&self, prefix: GuidPrefix) -> VendorId {
        let remote = self.remotes.get(&prefix);
        remote.map_or(VendorId::WHIMBREL, |it| it.data.vendor)
    }

    /// As [`Participant::matched_reader`], for `reader` of the writer.
    fn matched_writer(&self, reader: EntityId, facts: &WriterFacts<'_>) -> Option<MatchedWriter> {
        let announced = self
            .remote_writers
            .get(&facts.guid)
            .map(|writer| &writer.data);
        let unicast = announced.map_or(&[][..], |data| &data.endpoint.unicast);
        let vendor = self
            .remotes
            .get(&facts.guid.prefix)
            .map(|remote| remote.vendor());
        let Some(route) = self.route_to(facts.guid.prefix, unicast) else {
            return self.reader_pairs.matched(reader, facts.guid).cloned();
        };
        Some(MatchedWriter {
            guid: facts.guid,
            reliable: facts.qos.reliability.is_reliable(),
            durable: facts.qos.durability != Durability::Volatile,
            locators: route.locators,
            vendor: vendor.unwrap_or(VendorId::WHIMBREL),
            batches: facts.qos.batch.is_some()
                || announced.is_some_and(|data| data.endpoint.batches),
            packs: !facts
                .qos
                .data_representation
                .compression
                .offered()
                .is_empty(),
        })
    }

    /// Judges the local writer and the reader, ours or another's, and tells the writer.
    fn pair_writer(&mut self, writer: EntityId, reader: Guid) {
        let own = self.config.guid_prefix;
        let mut topic_name = None;
        let pair = self.local_writers.get(&writer).and_then(|local| {
            let facts = local.endpoint.facts(own);
            let reader = self
                .reader_facts(reader)
                .filter(|it| self.is_served(it.guid.prefix))?;
            match judge(&facts, &reader) {
                Outcome::Matched => self.matched_reader(writer, &reader).map(Pair::Matched),
                Outcome::Unrelated => None,
                Outcome::Inconsistent => {
                    topic_name = Some(local.endpoint.topic_name.clone());
                    Some(Pair::Inconsistent)
                }
                Outcome::Incompatible(policies) => Some(Pair::Incompatible(policies)),
            }
        });
        let Step::News { unmatched, pair } = self.step_writer(writer, reader, pair) else {
            return;
        };
        if unmatched {
            let lost = false;
            self.report(ParticipantEvent::ReaderUnmatched {
                writer,
                reader,
                lost,
            });
        }
        match pair {
            Some(Pair::Matched(matched)) => {
                self.report(ParticipantEvent::ReaderMatched {
                    writer,
                    reader: matched,
                });
                self.confirm_pair(writer, reader);
            }
            Some(Pair::Incompatible(policies)) => {
                self.report(ParticipantEvent::ReaderIncompatible {
                    writer,
                    reader,
                    policies,
                });
            }
            Some(Pair::Inconsistent) => self.report_inconsistent(topic_name),
            None => {}
        }
    }

    /// Judges the local reader and the writer, ours or another's, and tells the reader.
    fn pair_reader(&mut self, reader: EntityId, writer: Guid) {
        let own = self.config.guid_prefix;
        let mut topic_name = None;
        let pair = self.local_readers.get(&reader).and_then(|local| {
            let facts = local.endpoint.facts(own);
            let writer = self
                .writer_facts(writer)
                .filter(|it| self.is_served(it.guid.prefix))?;
            match judge(&writer, &facts) {
                Outcome::Matched => self.matched_writer(reader, &writer).map(Pair::Matched),
                Outcome::Unrelated => None,
                Outcome::Inconsistent => {
                    topic_name = Some(local.endpoint.topic_name.clone());
                    Some(Pair::Inconsistent)
                }
                Outcome::Incompatible(policies) => Some(Pair::Incompatible(policies)),
            }
        });
        let Step::News { unmatched, pair } = self.step_reader(reader, writer, pair) else {
            return;
        };
        if unmatched {
            self.report(ParticipantEvent::WriterUnmatched { reader, writer });
        }
        match pair {
            Some(Pair::Matched(matched)) => {
                self.report(ParticipantEvent::WriterMatched {
                    reader,
                    writer: matched,
                });
                self.confirm_pair(reader, writer);
            }
            Some(Pair::Incompatible(policies)) => {
                self.report(ParticipantEvent::WriterIncompatible {
                    reader,
                    writer,
                    policies,
                });
            }
            Some(Pair::Inconsistent) => self.report_inconsistent(topic_name),
            None => {}
        }
    }

    fn report_inconsistent(&mut self, topic_name: Option<alloc::string::String>) {
        if let Some(topic_name) = topic_name {
            self.report(ParticipantEvent::InconsistentTopic { topic_name });
        }
    }

    fn step_writer(
        &mut self,
        writer: EntityId,
        reader: Guid,
        pair: Option<Pair<MatchedReader>>,
    ) -> Step<MatchedReader> {
        let step = self.writer_pairs.set(writer, reader, pair);
        self.count_refused(step == Step::Refused);
        step
    }

    fn step_reader(
        &mut self,
        reader: EntityId,
        writer: Guid,
        pair: Option<Pair<MatchedWriter>>,
    ) -> Step<MatchedWriter> {
        let step = self.reader_pairs.set(reader, writer, pair);
        self.count_refused(step == Step::Refused);
        step
    }

    fn count_refused(&mut self, refused: bool) {
        if refused {
            self.statistics.matches_refused = self.statistics.matches_refused.saturating_add(1);
        }
    }

    /// Reports a match that the other side is known to know of.
    fn confirm_pair(&mut self, local: EntityId, other: Guid) {
        if !self.knows(local, other.prefix) {
            return;
        }
        let news = if local.is_writer() {
            self.writer_pairs.confirm(local, other)
        } else {
            self.reader_pairs.confirm(local, other)
        };
        if news {
            self.report(ParticipantEvent::PeerConfirmed {
                local,
                remote: other,
            });
        }
    }

    /// True when participant `prefix` has our announcement of `local`.
    fn knows(&self, local: EntityId, prefix: GuidPrefix) -> bool {
        if prefix == self.config.guid_prefix {
            return true;
        }
        let Some(remote) = self.remotes.get(&prefix) else {
            return false;
        };
        match (
            self.local_writers.get(&local),
            self.local_readers.get(&local),
        ) {
            (Some(writer), _) => writer.sequence <= remote.publications_acked,
            (None, Some(reader)) => reader.sequence <= remote.subscriptions_acked,
            (None, None) => false,
        }
    }

    /// Participant `prefix` has acknowledged announcements of ours.
    pub(super) fn confirm_pairs(&mut self, prefix: GuidPrefix) {
        let (writers, readers) = self.local_entities();
        for writer in writers {
            for reader in self.matched_readers_of(writer, prefix) {
                self.confirm_pair(writer, reader.guid);
            }
        }
        for reader in readers {
            for writer in self.matched_writers_of(reader, prefix) {
                self.confirm_pair(reader, writer.guid);
            }
        }
    }

    fn matched_readers_of(&self, writer: EntityId, prefix: GuidPrefix) -> Vec<MatchedReader> {
        self.writer_pairs
            .matched_of(writer, prefix)
            .map(|(_, it)| it.clone())
            .collect()
    }

    fn matched_writers_of(&self, reader: EntityId, prefix: GuidPrefix) -> Vec<MatchedWriter> {
        self.reader_pairs
            .matched_of(reader, prefix)
            .map(|(_, it)| it.clone())
            .collect()
    }

    /// Lets the local endpoints start over with those of `prefix`.
    pub(super) fn renew_matches(&mut self, prefix: GuidPrefix) {
        let (writers, readers) = self.local_entities();
        for writer in writers {
            for reader in self.matched_readers_of(writer, prefix) {
                let guid = reader.guid;
                self.writer_pairs.unconfirm(writer, guid);
                self.report(ParticipantEvent::ReaderUnmatched {
                    writer,
                    reader: guid,
                    lost: true,
                });
                self.report(ParticipantEvent::ReaderMatched { writer, reader });
            }
        }
        for reader in readers {
            for writer in self.matched_writers_of(reader, prefix) {
                self.report(ParticipantEvent::WriterMatched { reader, writer });
            }
        }
    }

    /// A local writer is new or has changed.
    pub(super) fn pair_local_writer(&mut self, writer: EntityId) {
        let own = self.config.guid_prefix;
        let others: Vec<Guid> = self.remote_readers.keys().copied().collect();
        for reader in others {
            self.pair_writer(writer, reader);
        }
        let (_, readers) = self.local_entities();
        for reader in readers {
            self.pair_writer(writer, Guid::new(own, reader));
            self.pair_reader(reader, Guid::new(own, writer));
        }
    }

    /// A local reader is new or has changed.
    pub(super) fn pair_local_reader(&mut self, reader: EntityId) {
        let own = self.config.guid_prefix;
        let others: Vec<Guid> = self.remote_writers.keys().copied().collect();
        for writer in others {
            self.pair_reader(reader, writer);
        }
        let (writers, _) = self.local_entities();
        for writer in writers {
            self.pair_writer(writer, Guid::new(own, reader));
            self.pair_reader(reader, Guid::new(own, writer));
        }
    }

    /// A writer of another participant is new or has changed.
    pub(super) fn pair_remote_writer(&mut self, writer: Guid) {
        self.routing_changed = true;
        let (_, readers) = self.local_entities();
        for reader in readers {
            self.pair_reader(reader, writer);
        }
    }

    /// A reader of another participant is new or has changed.
    pub(super) fn pair_remote_reader(&mut self, reader: Guid) {
        self.routing_changed = true;
        let (writers, _) = self.local_entities();
        for writer in writers {
            self.pair_writer(writer, reader);
        }
    }

    /// Participant `prefix` is served from now on, or has moved.
    pub(super) fn pair_participant(&mut self, prefix: GuidPrefix) {
        let writers: Vec<Guid> = self
            .remote_writers
            .range(guids_of(prefix))
            .map(|(guid, _)| *guid)
            .collect();
        for writer in writers {
            self.pair_remote_writer(writer);
        }
        let readers: Vec<Guid> = self
            .remote_readers
            .range(guids_of(prefix))
            .map(|(guid, _)| *guid)
            .collect();
        for reader in readers {
            self.pair_remote_reader(reader);
        }
    }

    /// The writer `guid`, ours or another's, is gone: tells the local readers.
    pub(super) fn unpair_writer(&mut self, guid: Guid) {
        self.pair_remote_writer(guid);
    }

    /// The reader `guid`, ours or another's, is gone or `lost`: tells the local writers.
    pub(super) fn unpair_reader(&mut self, reader: Guid, lost: bool) {
        self.routing_changed = true;
        let (writers, _) = self.local_entities();
        for writer in writers {
            let step = self.step_writer(writer, reader, None);
            if matches!(step, Step::News { unmatched, .. } if unmatched) {
                self.report(ParticipantEvent::ReaderUnmatched {
                    writer,
                    reader,
                    lost,
                });
            }
        }
    }
}
