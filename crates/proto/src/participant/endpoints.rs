//! Endpoints: announcing our own and learning of others'. RTPS 2.5 §8.5.4.

use alloc::boxed::Box;
use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::discovery::{
    Context, ReaderData, WriterData, compose_key, parameter_list, parse_key,
};
use whimbrel_wire::parameter::ParameterId;

use super::Participant;
use super::builtin::Arrival;
use super::local::{Announced, LocalReader, LocalWriter};
use super::rebirth::{self, starts_over};
use super::remote::{RemoteReader, RemoteWriter, guids_of};
use crate::change::ChangeKind;
use crate::receive::Inbound;

/// How soon after it was served from the start a participant may be again.
const RESUME_PERIOD: Duration = Duration::from_secs(1);

impl Participant {
    /// Announces a writer of our own and matches it.
    pub fn add_writer(&mut self, now: Instant, writer: LocalWriter) {
        let (entity, prefix) = (writer.entity, self.config.guid_prefix);
        let sequence = self.builtin.announce(
            now,
            EntityId::SEDP_PUBLICATIONS_WRITER,
            Guid::new(prefix, entity),
            ChangeKind::Alive,
            writer.announcement(prefix),
        );
        self.local_writers.insert(
            entity,
            Announced {
                endpoint: Box::new(writer),
                sequence,
            },
        );
        self.routing_changed = true;
        self.pair_local_writer(entity);
    }

    /// Announces a reader of our own and matches it.
    pub fn add_reader(&mut self, now: Instant, reader: LocalReader) {
        let (entity, prefix) = (reader.entity, self.config.guid_prefix);
        self.expect_writer(now, entity);
        let sequence = self.builtin.announce(
            now,
            EntityId::SEDP_SUBSCRIPTIONS_WRITER,
            Guid::new(prefix, entity),
            ChangeKind::Alive,
            reader.announcement(prefix),
        );
        self.local_readers.insert(
            entity,
            Announced {
                endpoint: Box::new(reader),
                sequence,
            },
        );
        self.routing_changed = true;
        self.pair_local_reader(entity);
    }

    /// Announces the writer's changed policies and matches it again; a writer that is not there
    /// is added.
    pub fn update_writer(&mut self, now: Instant, writer: LocalWriter) {
        self.add_writer(now, writer);
    }

    /// Announces the reader's changed policies and matches it again; a reader that is not there
    /// is added.
    pub fn update_reader(&mut self, now: Instant, reader: LocalReader) {
        self.add_reader(now, reader);
    }

    /// Announces that the writer is gone. Of its matches only those with local readers are
    /// reported as ended, to the readers.
    pub fn remove_writer(&mut self, now: Instant, entity: EntityId) {
        if self.local_writers.remove(&entity).is_some() {
            self.announce_end(now, EntityId::SEDP_PUBLICATIONS_WRITER, entity);
            self.writer_pairs.forget_local(entity);
            self.unpair_writer(Guid::new(self.config.guid_prefix, entity));
            self.routing_changed = true;
        }
    }

    /// Announces that the reader is gone. Of its matches only those with local writers are
    /// reported as ended, to the writers.
    pub fn remove_reader(&mut self, now: Instant, entity: EntityId) {
        if self.local_readers.remove(&entity).is_some() {
            self.expectant.remove(&entity);
            self.announce_end(now, EntityId::SEDP_SUBSCRIPTIONS_WRITER, entity);
            self.reader_pairs.forget_local(entity);
            self.unpair_reader(Guid::new(self.config.guid_prefix, entity), false);
            self.routing_changed = true;
        }
    }

    pub(super) fn announce_end(&mut self, now: Instant, by: EntityId, entity: EntityId) {
        let guid = Guid::new(self.config.guid_prefix, entity);
        let mut key = Vec::new();
        compose_key(guid, ParameterId::ENDPOINT_GUID, &mut key);
        let kind = ChangeKind::DisposedUnregistered;
        let sequence = self.builtin.announce(now, by, guid, kind, key);
        self.endings.note(by, entity, sequence);
    }

    /// The participant `prefix` has answered for the first time since it is known.
    pub(super) fn repeat_endings(&mut self, now: Instant, prefix: GuidPrefix) {
        for ending in self.endings.take_missed(prefix) {
            self.announce_end(now, ending.by, ending.entity);
        }
    }

    /// Takes in what the built-in readers have received.
    pub(super) fn handle_arrivals(&mut self) {
        for arrival in self.builtin.take_arrivals() {
            let outcome = match arrival.reader {
                EntityId::SEDP_PUBLICATIONS_READER => self.handle_publication(&arrival),
                EntityId::SEDP_SUBSCRIPTIONS_READER => self.handle_subscription(&arrival),
                // Participant messages only show that their sender is alive, as any packet does.
                _ => Ok(()),
            };
            if let Err(reject) = outcome {
                self.rejects.count(reject.kind);
            }
        }
    }

    fn handle_publication(&mut self, arrival: &Arrival) -> Result<(), Reject> {
        let context = self.context_of(arrival)?;
        if let Some(guid) = disposed(arrival, &context)? {
            if self.remote_writers.remove(&guid).is_some() {
                self.dismiss_endpoint(guid.prefix);
                self.unpair_writer(guid);
            }
            return Ok(());
        }
        let data = WriterData::parse(&arrival.payload, &context)?;
        let guid = data.endpoint.guid;
        check_sender(arrival, guid)?;
        if !guid.entity.is_writer() || guid.entity.is_builtin() {
            return Err(Reject::new(RejectKind::Parameter, 0));
        }
        if self.ignored.has_endpoint(guid) {
            return Ok(());
        }
        if !self.remote_writers.contains_key(&guid) {
            self.admit_endpoint(guid.prefix)?;
        }
        let writer = RemoteWriter::new(data);
        self.remote_writers.insert(guid, Box::new(writer));
        self.pair_remote_writer(guid);
        Ok(())
    }

    fn handle_subscription(&mut self, arrival: &Arrival) -> Result<(), Reject> {
        let context = self.context_of(arrival)?;
        if let Some(guid) = disposed(arrival, &context)? {
            if self.remote_readers.remove(&guid).is_some() {
                self.dismiss_endpoint(guid.prefix);
                self.unpair_reader(guid, false);
            }
            return Ok(());
        }
        let data = ReaderData::parse(&arrival.payload, &context)?;
        let guid = data.endpoint.guid;
        check_sender(arrival, guid)?;
        if !guid.entity.is_reader() || guid.entity.is_builtin() {
            return Err(Reject::new(RejectKind::Parameter, 0));
        }
        if self.ignored.has_endpoint(guid) {
            return Ok(());
        }
        if !self.remote_readers.contains_key(&guid) {
            self.admit_endpoint(guid.prefix)?;
        }
        let reader = RemoteReader::new(data);
        self.remote_readers.insert(guid, Box::new(reader));
        self.pair_remote_reader(guid);
        Ok(())
    }

    fn context_of(&self, arrival: &Arrival) -> Result<Context<'_>, Reject> {
        let remote = self.remotes.get(&arrival.writer.prefix);
        let remote = remote.ok_or(Reject::new(RejectKind::Stranger, 0))?;
        Ok(Context {
            vendor: remote.vendor(),
            key_hash: None,
            limits: &self.config.limits,
        })
    }

    /// The participant is gone, or `lost`.
    pub(super) fn forget_endpoints_of(&mut self, prefix: GuidPrefix, lost: bool) {
        let writers: Vec<Guid> = self
            .remote_writers
            .range(guids_of(prefix))
            .map(|(guid, _)| *guid)
            .collect();
        for guid in writers {
            self.remote_writers.remove(&guid);
            self.unpair_writer(guid);
        }
        let readers: Vec<Guid> = self
            .remote_readers
            .range(guids_of(prefix))
            .map(|(guid, _)| *guid)
            .collect();
        for guid in readers {
            self.remote_readers.remove(&guid);
            self.unpair_reader(guid, lost);
        }
    }

    /// What a built-in reader of another participant answered.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        inbound: &Inbound<'_>,
        reader: Guid,
        writer: EntityId,
    ) -> Result<(), Reject> {
        let outcome = self
            .builtin
            .handle_answer(now, &inbound.submessage, reader, writer);
        let acknowledged = match outcome {
            Ok(acknowledged) => acknowledged,
            Err(reject) => {
                if reject.kind == RejectKind::Duplicate && starts_over(&inbound.submessage) {
                    self.handle_same_start(now, reader.prefix, writer);
                }
                return Err(reject);
            }
        };
        if let Some(remote) = self.remotes.get_mut(&reader.prefix)
            && !starts_over(&inbound.submessage)
        {
            remote.hears.insert(writer);
        }
        let Some(acknowledged) = acknowledged else {
            return Ok(());
        };
        let Some(remote) = self.remotes.get_mut(&reader.prefix) else {
            return Ok(());
        };
        remote.greetings.note_answer();
        remote.assurance.note_answer();
        let (since, origin) = (remote.discovered_at, remote.origin);
        self.census.note_answer(since, origin, reader.prefix);
        let known = rebirth::acknowledged(remote, acknowledged.writer);
        if known > SequenceNumber::ZERO && starts_over(&inbound.submessage) {
            self.resume_if_forgotten(now, reader.prefix);
            return Ok(());
        }
        if acknowledged.through <= known {
            return Ok(());
        }
        match acknowledged.writer {
            EntityId::SEDP_PUBLICATIONS_WRITER => {
                remote.publications_acked = remote.publications_acked.max(acknowledged.through);
            }
            EntityId::SEDP_SUBSCRIPTIONS_WRITER => {
                remote.subscriptions_acked = remote.subscriptions_acked.max(acknowledged.through);
            }
            _ => return Ok(()),
        }
        self.confirm_pairs(reader.prefix);
        Ok(())
    }

    /// A reader of `prefix` says that it has heard nothing of our `writer`, with a count that it
    /// has used before: it has forgotten us, or asks again because our answer was lost.
    fn handle_same_start(&mut self, now: Instant, prefix: GuidPrefix, writer: EntityId) {
        let remote = self.remotes.get(&prefix);
        if remote.is_some_and(|it| it.hears.contains(&writer)) {
            self.resume_if_forgotten(now, prefix);
        } else {
            self.builtin.answer(prefix, writer);
        }
    }

    fn resume_if_forgotten(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        let known = remote.publications_acked.max(remote.subscriptions_acked);
        if known > SequenceNumber::ZERO && now.since(remote.resumed_at) >= RESUME_PERIOD {
            self.resume_participant(now, prefix);
        }
    }
}

/// The endpoint whose end `arrival` announces, if it does.
fn disposed(arrival: &Arrival, context: &Context<'_>) -> Result<Option<Guid>, Reject> {
    if parameter_list(&arrival.payload)?
        .find(ParameterId::STATUS_INFO)
        .is_none()
    {
        return Ok(None);
    }
    let guid = parse_key(&arrival.payload, ParameterId::ENDPOINT_GUID, context)?;
    check_sender(arrival, guid)?;
    Ok(Some(guid))
}

/// Nobody speaks for another participant's endpoints.
fn check_sender(arrival: &Arrival, guid: Guid) -> Result<(), Reject> {
    if guid.prefix == arrival.writer.prefix {
        Ok(())
    } else {
        Err(Reject::new(RejectKind::Stranger, 0))
    }
}
