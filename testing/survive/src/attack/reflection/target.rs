//! The participant under attack, with the limits it has by default, a writer and a reader.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::identity;
use std::net::SocketAddr;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_proto::cache::CacheConfig;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::deadline::earlier;
use whimbrel_proto::participant::{LocalReader, LocalWriter, ParticipantConfig};
use whimbrel_proto::receive::{Inbound, MessageReceiver, Target as Meant};
use whimbrel_proto::writer::NewChange;
use whimbrel_proto::{
    InterfaceAddress, Outbox, Participant, ParticipantEvent, Reader, ReaderConfig, Writer,
    WriterConfig,
};
use whimbrel_wire::message::Submessage;

/// Its prefix.
pub(super) const PREFIX: GuidPrefix = GuidPrefix([1, 0x77, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);

/// Its writer, of the topic "Square".
pub(super) const WRITER: EntityId = EntityId([0, 0, 1, 3]);

/// Its reader, of the topic "Circle".
pub(super) const READER: EntityId = EntityId([0, 0, 2, 4]);

/// Deadlines served on the way of one pause.
const DEADLINES_MAX: usize = 200;

/// Rounds until all machines rest.
const ROUNDS_MAX: usize = 16;

/// The group to which everybody announces himself.
pub(super) fn group() -> Locator {
    SocketAddr::from(([239, 255, 0, 1], 7400)).into()
}

#[derive(Default)]
struct Sent {
    bytes: BTreeMap<Locator, u64>,
    samples: BTreeMap<Locator, u64>,
    /// The user's writer is sending.
    writes: bool,
}

impl Outbox for Sent {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        for to in to {
            *self.bytes.entry(*to).or_default() += bytes as u64;
            if self.writes {
                *self.samples.entry(*to).or_default() += 1;
            }
        }
    }
}

pub(super) struct Target {
    now: Instant,
    control: Participant,
    writer: Writer,
    reader: Reader,
    /// Whom the reader listens to.
    routes: BTreeSet<Guid>,
    sent: Sent,
}

impl Target {
    /// One that announces so many octets of USER_DATA, so that its answers may be long.
    pub(super) fn new(user_data_octets: usize) -> Self {
        let now = Instant(1_000_000_000);
        let listens = |port: u16| SocketAddr::from(([10, 0, 0, 1], port)).into();
        let config = ParticipantConfig {
            metatraffic_unicast: vec![listens(7410)],
            default_unicast: vec![listens(7411)],
            metatraffic_multicast: vec![group()],
            announce_to: vec![group()],
            interfaces: vec![InterfaceAddress {
                ip: [10, 0, 0, 1].into(),
                prefix_len: 24,
                mtu: 1500,
                loopback: false,
            }],
            user_data: vec![7; user_data_octets],
            seed: 1,
            ..ParticipantConfig::new(PREFIX, 0)
        };
        let mut control = Participant::new(now, config);
        control.add_writer(now, local_writer());
        control.add_reader(now, local_reader());
        let writer = WriterConfig {
            durable: true,
            depth: Some(4),
            message_bytes_max: 1472,
            ..WriterConfig::new(Guid::new(PREFIX, WRITER))
        };
        let cache = CacheConfig {
            keyed: false,
            ..CacheConfig::default()
        };
        let reader = ReaderConfig {
            reliable: true,
            ..ReaderConfig::new(Guid::new(PREFIX, READER), cache)
        };
        let mut target = Self {
            now,
            control,
            writer: Writer::new(writer),
            reader: Reader::new(reader),
            routes: BTreeSet::new(),
            sent: Sent::default(),
        };
        target.drain();
        target
    }

    /// Octets sent so far, by address.
    pub(super) fn sent(&self) -> &BTreeMap<Locator, u64> {
        &self.sent.bytes
    }

    /// How many messages of the user's writer went there, if any did.
    pub(super) fn samples_to(&self, to: Locator) -> Option<u64> {
        self.sent.samples.get(&to).copied()
    }

    /// Counts a message as sent.
    #[cfg(test)]
    pub(super) fn note_sent(&mut self, to: Locator, bytes: usize, by_writer: bool) {
        self.sent.writes = by_writer;
        self.sent.send(&[to], &[&vec![0; bytes]]);
        self.sent.writes = false;
    }

    pub(super) fn receive(&mut self, from: Locator, bytes: &[u8]) {
        let datagram = SharedBytes::copy_from(bytes);
        let Ok(receiver) = MessageReceiver::new(&datagram, PREFIX) else {
            return;
        };
        for inbound in receiver.flatten() {
            self.route(from, &datagram, &inbound);
            self.drain();
        }
    }

    /// What is refused is of no interest here.
    fn route(&mut self, from: Locator, datagram: &SharedBytes, inbound: &Inbound<'_>) {
        let (now, wall) = (self.now, self.wall());
        match inbound.target() {
            Meant::Reader { writer, reader } if !writer.entity.is_builtin() => {
                if reader == READER || self.routes.contains(&writer) {
                    let reader = &mut self.reader;
                    let _ = reader.handle_inbound(now, wall, writer, datagram, inbound, identity);
                }
            }
            Meant::Writer { reader, writer } if writer == WRITER => {
                let _ = match &inbound.submessage {
                    Submessage::AckNack(it) => self.writer.handle_acknack(now, reader, it),
                    Submessage::NackFrag(it) => self.writer.handle_nack_frag(now, reader, it),
                    _ => Ok(()),
                };
            }
            _ => {
                let control = &mut self.control;
                let _ = control.handle_inbound(now, wall, from, datagram, inbound);
            }
        }
    }

    pub(super) fn advance(&mut self, span: Duration) {
        let end = self.now.after(span);
        for _ in 0..DEADLINES_MAX {
            let control = earlier(self.control.poll_timeout(), self.writer.poll_timeout());
            let next = earlier(control, self.reader.poll_timeout());
            let Some((at, _)) = next.filter(|(at, _)| *at <= end) else {
                break;
            };
            self.now = at.max(self.now);
            self.drain();
        }
        self.now = end;
        self.drain();
    }

    pub(super) fn write(&mut self, octets: usize) {
        let change = NewChange {
            packed: whimbrel_proto::writer::Packed::Untried,
            kind: ChangeKind::Alive,
            instance: InstanceHandle::NIL,
            timestamp: self.wall(),
            payload: SharedBytes::from_vec(vec![7; octets]).into(),
        };
        // A full history is as good as any.
        let _ = self.writer.write(self.now, change);
        self.drain();
    }

    fn wall(&self) -> Timestamp {
        Timestamp(self.now.0 as i64)
    }

    /// Sends and applies whatever follows, until all machines rest.
    fn drain(&mut self) {
        let now = self.now;
        for _ in 0..ROUNDS_MAX {
            self.control.handle_timeout(now);
            self.control.poll_transmit(now, &mut self.sent);
            let mut news = false;
            while let Some(event) = self.control.poll_event() {
                news = true;
                self.apply(event);
            }
            self.sent.writes = true;
            self.writer.handle_timeout(now);
            self.writer.poll_transmit(now, &mut self.sent);
            while self.writer.poll_event().is_some() {}
            self.sent.writes = false;
            self.reader.handle_timeout(now);
            self.reader.poll_transmit(now, &mut self.sent);
            while self.reader.poll_event().is_some() {}
            if !news {
                return;
            }
        }
    }

    fn apply(&mut self, event: ParticipantEvent) {
        let (now, wall) = (self.now, self.wall());
        match event {
            ParticipantEvent::ReaderMatched { reader, .. } => {
                self.writer.handle_matched(now, reader);
            }
            ParticipantEvent::ReaderUnmatched { reader, lost, .. } => {
                self.writer.handle_unmatched(now, reader, lost);
            }
            ParticipantEvent::WriterMatched { writer, .. } => {
                self.routes.insert(writer.guid);
                self.reader.handle_matched(now, writer);
            }
            ParticipantEvent::WriterUnmatched { writer, .. } => {
                self.routes.remove(&writer);
                self.reader.handle_unmatched(now, wall, writer);
            }
            _ => {}
        }
    }
}

fn local_writer() -> LocalWriter {
    LocalWriter {
        entity: WRITER,
        topic_name: "Square".into(),
        type_name: "ShapeType".into(),
        qos: DataWriterQos::default().reliable().transient_local(),
        publisher: PublisherQos::default(),
        topic: TopicQos::default(),
    }
}

fn local_reader() -> LocalReader {
    LocalReader {
        entity: READER,
        topic_name: "Circle".into(),
        type_name: "ShapeType".into(),
        qos: DataReaderQos::default().reliable(),
        subscriber: SubscriberQos::default(),
        topic: TopicQos::default(),
    }
}
