//! The endpoints by which participants tell each other of endpoints and of being alive.
//!
//! They are the same [`Writer`] and [`Reader`] machines that carry user data. RTPS 2.5 §8.5.4,
//! §8.4.13.

use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{BuiltinEndpoints, ParticipantData};
use whimbrel_wire::message::Submessage;

use super::channels::{Channel, Channels};
use super::config::ParticipantConfig;
use super::disposal::with_disposal_as_data;
use super::tuning::{reader_config, writer_config};
use crate::cache::{CachedSample, Selector};
use crate::change::ChangeKind;
use crate::deadline::Deadline;
use crate::discovery::locators::Route;
use crate::message::MessageBuilder;
use crate::outbox::Outbox;
use crate::peer::{MatchedReader, MatchedWriter};
use crate::reader::Reader;
use crate::receive::Inbound;
use crate::writer::{NewChange, WriteError, Writer};

/// Bit of the built-in endpoint QoS: the reader of participant messages is best effort.
/// RTPS 2.5 §8.4.13.3.
const BEST_EFFORT_MESSAGE_READER: u32 = 1;

/// A change that waits for an older one of the same endpoint to leave.
#[derive(Debug)]
struct Waiting {
    to: EntityId,
    change: NewChange,
}

/// What arrived by one of the readers.
#[derive(Debug)]
pub(super) struct Arrival {
    /// By which of our readers.
    pub(super) reader: EntityId,
    /// Who wrote it.
    pub(super) writer: Guid,
    /// Announcement, or a disposal as [`super::disposal`] puts it.
    pub(super) payload: SharedBytes,
}

/// An acknowledgement of one of our announcements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Acknowledged {
    /// Which of our writers.
    pub(super) writer: EntityId,
    /// Everything up to here has arrived.
    pub(super) through: SequenceNumber,
}

/// The built-in endpoints.
#[derive(Debug)]
pub(super) struct Builtin {
    channels: Channels,
    waiting: Vec<Waiting>,
    taken: Vec<CachedSample>,
}

impl Builtin {
    /// Octets that its histories and caches hold.
    pub(super) fn held_bytes(&self) -> usize {
        let of = |channel: &Channel| {
            let writer = channel.writer.held_bytes();
            writer.saturating_add(channel.reader.held_bytes())
        };
        self.channels.iter().map(of).fold(0, usize::saturating_add)
    }

    pub(super) fn new(config: &ParticipantConfig) -> Self {
        let prefix = config.guid_prefix;
        let channel = |writer_entity, reader_entity, writer_bit, reader_bit| Channel {
            writer: Writer::new(writer_config(Guid::new(prefix, writer_entity), config)),
            reader: Reader::new(reader_config(
                Guid::new(prefix, reader_entity),
                &config.limits,
            )),
            writer_entity,
            reader_entity,
            writer_bit,
            reader_bit,
        };
        let publications = channel(
            EntityId::SEDP_PUBLICATIONS_WRITER,
            EntityId::SEDP_PUBLICATIONS_READER,
            BuiltinEndpoints::PUBLICATIONS_ANNOUNCER,
            BuiltinEndpoints::PUBLICATIONS_DETECTOR,
        );
        let subscriptions = channel(
            EntityId::SEDP_SUBSCRIPTIONS_WRITER,
            EntityId::SEDP_SUBSCRIPTIONS_READER,
            BuiltinEndpoints::SUBSCRIPTIONS_ANNOUNCER,
            BuiltinEndpoints::SUBSCRIPTIONS_DETECTOR,
        );
        let messages = channel(
            EntityId::PARTICIPANT_MESSAGE_WRITER,
            EntityId::PARTICIPANT_MESSAGE_READER,
            BuiltinEndpoints::PARTICIPANT_MESSAGE_WRITER,
            BuiltinEndpoints::PARTICIPANT_MESSAGE_READER,
        );
        Self {
            channels: Channels::new([publications, subscriptions, messages]),
            waiting: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Matches our endpoints with those that `peer` has, tells them that it moved, or that it has
    /// them no more.
    pub(super) fn handle_matched(
        &mut self,
        now: Instant,
        wall: Timestamp,
        peer: &ParticipantData,
        route: &Route,
    ) {
        let prefix = peer.guid.prefix;
        for channel in self.channels.iter_mut() {
            if peer.builtin_endpoints.contains(channel.reader_bit) {
                let messages = channel.reader_entity == EntityId::PARTICIPANT_MESSAGE_READER;
                let best_effort =
                    messages && peer.builtin_endpoint_qos & BEST_EFFORT_MESSAGE_READER != 0;
                let reader = MatchedReader {
                    packed: false,
                    batches: false,
                    guid: Guid::new(prefix, channel.reader_entity),
                    reliable: !best_effort,
                    durable: true,
                    expects_inline_qos: false,
                    locators: route.locators.clone(),
                    group: None,
                    message_bytes_max: route.message_bytes_max,
                    receive_buffer_bytes: peer.receive_buffer_bytes,
                    packed_messages: peer.packed_messages,
                    vendor: peer.vendor,
                };
                channel.writer.handle_matched(now, reader);
            } else {
                let reader = Guid::new(prefix, channel.reader_entity);
                channel.writer.handle_unmatched(now, reader, false);
            }
            if peer.builtin_endpoints.contains(channel.writer_bit) {
                let writer = MatchedWriter {
                    packs: false,
                    batches: false,
                    guid: Guid::new(prefix, channel.writer_entity),
                    reliable: true,
                    durable: true,
                    locators: route.locators.clone(),
                    vendor: peer.vendor,
                };
                channel.reader.handle_matched(now, writer);
            } else {
                let writer = Guid::new(prefix, channel.writer_entity);
                channel.reader.handle_unmatched(now, wall, writer);
            }
        }
    }

    /// Has the readers of `prefix` asked what they have: whoever hears that answers.
    pub(super) fn ask(&mut self, prefix: GuidPrefix) {
        for channel in self.channels.iter_mut() {
            channel.writer.ask(Guid::new(prefix, channel.reader_entity));
        }
    }

    /// Has the reader of `prefix` told what our `writer` has.
    pub(super) fn answer(&mut self, prefix: GuidPrefix, writer: EntityId) {
        for channel in self.channels.iter_mut() {
            if channel.writer_entity == writer {
                channel
                    .writer
                    .answer(Guid::new(prefix, channel.reader_entity));
            }
        }
    }

    /// Adds a heartbeat that a participant of `vendor` with `endpoints` answers if it knows us
    /// already.
    pub(super) fn put_question(
        &mut self,
        (vendor, endpoints): (VendorId, BuiltinEndpoints),
        message: &mut MessageBuilder,
    ) {
        let detects = |it: &&mut Channel| endpoints.contains(it.reader_bit);
        // Where nothing was written nothing is asked for in the answer: endpoints are told without
        // that. Others may take part messages without answering.
        let channel = if vendor == VendorId::WHIMBREL {
            self.channels.iter_mut().rev().find(detects)
        } else {
            self.channels.iter_mut().find(detects)
        };
        if let Some(it) = channel {
            it.writer.put_heartbeat(it.reader_entity, false, message);
        }
    }

    /// Adds a heartbeat that nobody answers who misses nothing.
    pub(super) fn put_reminder(&mut self, message: &mut MessageBuilder) {
        let [.., it] = &mut *self.channels;
        it.writer.put_heartbeat(it.reader_entity, true, message);
    }

    /// Participant `prefix` has shown that it hears us: tells it what there is without waiting
    /// for its questions.
    pub(super) fn serve(&mut self, now: Instant, prefix: GuidPrefix) {
        for channel in self.channels.iter_mut() {
            let reader = Guid::new(prefix, channel.reader_entity);
            channel.writer.serve(now, reader);
        }
    }

    /// Participant `prefix` is gone.
    pub(super) fn handle_unmatched(&mut self, now: Instant, wall: Timestamp, prefix: GuidPrefix) {
        self.forget_readers(now, prefix, false);
        for channel in self.channels.iter_mut() {
            let writer = Guid::new(prefix, channel.writer_entity);
            channel.reader.handle_unmatched(now, wall, writer);
        }
    }

    /// True when each reader that `peer` has of our endpoint announcements has answered since it
    /// was matched.
    pub(super) fn is_answered_by(&self, peer: &ParticipantData) -> bool {
        let has = |it: &&Channel| {
            it.reader_entity != EntityId::PARTICIPANT_MESSAGE_READER
                && peer.builtin_endpoints.contains(it.reader_bit)
        };
        self.channels.iter().filter(has).all(|it| {
            it.writer
                .is_confirmed(Guid::new(peer.guid.prefix, it.reader_entity))
        })
    }

    /// Forgets what the readers of `prefix` have received. Where they are `lost`, ends that they
    /// may have missed are remembered.
    pub(super) fn forget_readers(&mut self, now: Instant, prefix: GuidPrefix, lost: bool) {
        for channel in self.channels.iter_mut() {
            let reader = Guid::new(prefix, channel.reader_entity);
            channel.writer.handle_unmatched(now, reader, lost);
        }
    }

    /// Announces the endpoint `guid` by our writer `to`, or its end where `payload` is its key.
    /// Returns the announcement's number.
    pub(super) fn announce(
        &mut self,
        now: Instant,
        to: EntityId,
        guid: Guid,
        kind: ChangeKind,
        mut payload: Vec<u8>,
    ) -> SequenceNumber {
        // It is kept for as long as the endpoint.
        payload.shrink_to_fit();
        let change = NewChange {
            packed: crate::writer::Packed::Untried,
            kind,
            instance: whimbrel_base::instance::InstanceHandle::from_key_hash(guid.to_bytes()),
            timestamp: Timestamp::INVALID,
            payload: SharedBytes::from_vec(payload).into(),
        };
        let Some(channel) = self.channels.iter_mut().find(|it| it.writer_entity == to) else {
            return SequenceNumber::ZERO;
        };
        // What waits leaves first, in order; what is out of date need not leave.
        let waiting = self.waiting.iter_mut().filter(|waiting| waiting.to == to);
        let (mut ahead, mut newest) = (0u64, None);
        for waiting in waiting {
            if waiting.change.instance == change.instance {
                newest = Some((ahead, &mut waiting.change));
            }
            ahead = ahead.saturating_add(1);
        }
        let both_alive = |it: &NewChange| it.kind == kind && kind == ChangeKind::Alive;
        if let Some((ahead, older)) = newest.filter(|(_, older)| both_alive(older)) {
            *older = change;
            return channel.writer.last_sequence().plus(ahead).next();
        }
        if ahead == 0 {
            match channel.writer.write(now, change.clone()) {
                Ok(sequence) => return sequence,
                Err(WriteError::WouldBlock) => {}
                Err(
                    WriteError::TooLarge { .. }
                    | WriteError::TooManyInstances
                    | WriteError::OutOfMemory,
                ) => {
                    return SequenceNumber::MAX;
                }
            }
        }
        self.waiting.push(Waiting { to, change });
        channel.writer.last_sequence().plus(ahead).next()
    }

    /// Our reader that hears the built-in `writer` of others.
    pub(super) fn reader_of(&self, writer: EntityId) -> Option<&Reader> {
        let mut channels = self.channels.iter();
        let channel = channels.find(|it| it.writer_entity == writer);
        channel.map(|it| &it.reader)
    }

    /// What one of the built-in writers of others sent.
    ///
    /// # Errors
    /// Those of the reader.
    pub(super) fn handle_data(
        &mut self,
        now: Instant,
        wall: Timestamp,
        datagram: &SharedBytes,
        inbound: &Inbound<'_>,
        writer: Guid,
    ) -> Result<(), Reject> {
        let Some(channel) = self
            .channels
            .iter_mut()
            .find(|it| it.writer_entity == writer.entity)
        else {
            return Ok(());
        };
        let reader = &mut channel.reader;
        match &inbound.submessage {
            Submessage::Data(_)
            | Submessage::DataFrag(_)
            | Submessage::Heartbeat(_)
            | Submessage::HeartbeatFrag(_)
            | Submessage::Gap(_) => {
                reader.handle_inbound(now, wall, writer, datagram, inbound, |change| {
                    with_disposal_as_data(change, inbound)
                })
            }
            Submessage::DataBatch(_)
            | Submessage::HeartbeatBatch(_)
            | Submessage::AckNack(_)
            | Submessage::NackFrag(_)
            | Submessage::InfoTimestamp(_)
            | Submessage::InfoDestination(_)
            | Submessage::InfoSource(_)
            | Submessage::InfoReply(_)
            | Submessage::InfoReplyIp4(_)
            | Submessage::HeaderExtension(_)
            | Submessage::Pad(_)
            | Submessage::Unknown { .. } => Err(Reject::new(RejectKind::Unexpected, 0)),
        }
    }

    /// What one of the built-in readers of others answered to our `writer`. Gives back how far
    /// it has acknowledged.
    ///
    /// # Errors
    /// Those of the writer.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        submessage: &Submessage<'_>,
        reader: Guid,
        writer: EntityId,
    ) -> Result<Option<Acknowledged>, Reject> {
        let Some(channel) = self
            .channels
            .iter_mut()
            .find(|it| it.writer_entity == writer)
        else {
            return Ok(None);
        };
        if reader.entity != channel.reader_entity {
            return Err(Reject::new(RejectKind::Stranger, 0));
        }
        if let Submessage::AckNack(acknack) = submessage {
            channel.writer.handle_acknack(now, reader, acknack)?;
            return Ok(Some(Acknowledged {
                writer,
                through: acknack.state.base().previous(),
            }));
        }
        if let Submessage::NackFrag(nack) = submessage {
            channel.writer.handle_nack_frag(now, reader, nack)?;
        }
        Ok(None)
    }

    /// Takes everything that arrived, in its order per writer.
    pub(super) fn take_arrivals(&mut self) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        for channel in self.channels.iter_mut() {
            while channel.reader.poll_event().is_some() {}
            channel
                .reader
                .cache_mut()
                .take(&Selector::ALL, &mut self.taken);
            let reader = channel.reader_entity;
            arrivals.extend(
                self.taken
                    .drain(..)
                    .filter(|taken| taken.info.valid_data)
                    .map(|taken| Arrival {
                        reader,
                        writer: Guid::from_bytes(taken.info.publication_handle.key_hash()),
                        payload: taken.payload,
                    }),
            );
        }
        arrivals
    }

    pub(super) fn poll_timeout(&self) -> Option<Deadline> {
        self.channels.next()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.channels.are_calm(now) {
            return;
        }
        for channel in self.channels.iter_mut() {
            channel.writer.handle_timeout(now);
            channel.reader.handle_timeout(now);
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.waiting.is_empty() && self.channels.are_calm(now) {
            return;
        }
        loop {
            for channel in self.channels.iter_mut() {
                channel.reader.poll_transmit(now, outbox);
                channel.writer.poll_transmit(now, outbox);
                while channel.writer.poll_event().is_some() {}
            }
            if !self.write_waiting(now) {
                break;
            }
        }
        self.channels.note_drained();
    }

    /// Lets everything leave at the next transmission.
    pub(super) fn hurry(&mut self) {
        for channel in self.channels.iter_mut() {
            channel.writer.hurry();
        }
    }

    /// Writes changes that waited; true when something was written.
    fn write_waiting(&mut self, now: Instant) -> bool {
        let mut wrote = false;
        let mut blocked: Vec<EntityId> = Vec::new();
        if self.waiting.is_empty() {
            return false;
        }
        let channels = &mut self.channels;
        self.waiting.retain(|waiting| {
            let to = waiting.to;
            let Some(channel) = channels.iter_mut().find(|it| it.writer_entity == to) else {
                return false;
            };
            if blocked.contains(&to) {
                return true;
            }
            if channel.writer.write(now, waiting.change.clone()) == Err(WriteError::WouldBlock) {
                blocked.push(to);
                return true;
            }
            wrote = true;
            false
        });
        wrote
    }
}
