//! Participants joined by a network without faults, in virtual time.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{
    DataReaderQos, DataWriterQos, Durability, Ownership, PolicyId, PublisherQos, Reliability,
    SubscriberQos, TopicQos,
};
use whimbrel_base::reject::RejectKind;
use whimbrel_base::time::{Duration, Instant, Timestamp};

mod assurance;
mod crowd;
mod endings;
mod endpoints;
mod lease;
mod matching;
mod meeting;
mod moves;
mod reach;
mod rebirth;
mod trust;
mod unserved;

use super::*;
use crate::discovery::InterfaceAddress;
use crate::receive::MessageReceiver;

const GROUP: &str = "239.255.0.1:7400";
const WRITER: EntityId = EntityId([0, 0, 1, 2]);
const READER: EntityId = EntityId([0, 0, 2, 7]);

fn at(text: &str) -> Locator {
    Locator::from(text.parse::<SocketAddr>().unwrap())
}

fn prefix(number: u8) -> GuidPrefix {
    GuidPrefix([number; 12])
}

fn address(number: u8) -> Locator {
    at(&alloc::format!(
        "127.0.0.1:{}",
        7408 + 2 * u32::from(number)
    ))
}

fn loopback() -> InterfaceAddress {
    let ip = [127, 0, 0, 1].into();
    InterfaceAddress {
        ip,
        prefix_len: 8,
        mtu: 65_536,
        loopback: true,
    }
}

/// Participant `number` with multicast.
fn config(number: u8) -> ParticipantConfig {
    let user = Locator {
        port: address(number).port + 1,
        ..address(number)
    };
    ParticipantConfig {
        metatraffic_unicast: vec![address(number)],
        default_unicast: vec![user],
        metatraffic_multicast: vec![at(GROUP)],
        multicast_on_host: true,
        announce_to: vec![at(GROUP)],
        interfaces: vec![loopback()],
        seed: u64::from(number),
        ..ParticipantConfig::new(prefix(number), 0)
    }
}

/// Participant `number` without multicast, probing the ports of the first ten.
fn probing(number: u8) -> ParticipantConfig {
    ParticipantConfig {
        metatraffic_multicast: vec![],
        announce_to: vec![],
        probe: (1..=10).map(address).collect(),
        ..config(number)
    }
}

fn local_writer(topic_name: &str) -> LocalWriter {
    LocalWriter {
        entity: WRITER,
        topic_name: topic_name.into(),
        type_name: "ShapeType".into(),
        qos: DataWriterQos::default(),
        publisher: PublisherQos::default(),
        topic: TopicQos::default(),
    }
}

fn local_reader(topic_name: &str) -> LocalReader {
    LocalReader {
        entity: READER,
        topic_name: topic_name.into(),
        type_name: "ShapeType".into(),
        qos: DataReaderQos::default(),
        subscriber: SubscriberQos::default(),
        topic: TopicQos::default(),
    }
}

/// A message on its way: to whom, from whom, what.
type Sent = (Locator, Locator, Vec<u8>);

struct Wire<'a> {
    from: Locator,
    sent: &'a mut Vec<Sent>,
}

impl Outbox for Wire<'_> {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        for to in to {
            self.sent.push((*to, self.from, parts.concat()));
        }
    }
}

#[derive(Default)]
struct Net {
    now: Instant,
    members: BTreeMap<u8, Participant>,
    events: BTreeMap<u8, Vec<ParticipantEvent>>,
    /// Everything ever sent.
    log: Vec<(Instant, Sent)>,
    /// Groups are joined in vain.
    no_multicast: bool,
}

impl Net {
    fn of(configs: impl IntoIterator<Item = ParticipantConfig>) -> Self {
        let mut net = Self {
            now: Instant(1_000_000_000),
            ..Self::default()
        };
        for config in configs {
            net.add(config);
        }
        net
    }

    fn add(&mut self, config: ParticipantConfig) {
        let number = config.guid_prefix.0[0];
        self.members
            .insert(number, Participant::new(self.now, config));
        self.events.insert(number, vec![]);
    }

    fn member(&mut self, number: u8) -> &mut Participant {
        self.members.get_mut(&number).unwrap()
    }

    fn wall(&self) -> Timestamp {
        Timestamp(1_000_000_000_000 + self.now.0 as i64)
    }

    /// Lets every member send, and delivers, until nobody has anything to say at this instant.
    fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 1000, "the participants never fall silent");
            let mut sent = vec![];
            for member in self.members.values_mut() {
                let from = member.config.metatraffic_unicast[0];
                member.poll_transmit(
                    self.now,
                    &mut Wire {
                        from,
                        sent: &mut sent,
                    },
                );
            }
            if sent.is_empty() {
                break;
            }
            for sent in sent {
                self.log.push((self.now, sent.clone()));
                self.deliver(&sent);
            }
        }
        for (number, member) in &mut self.members {
            while let Some(event) = member.poll_event() {
                self.events.get_mut(number).unwrap().push(event);
            }
        }
    }

    fn deliver(&mut self, (to, from, bytes): &Sent) {
        let (now, wall) = (self.now, self.wall());
        for member in self.members.values_mut() {
            let joined = member.config.metatraffic_multicast.contains(to);
            let listens = member.config.metatraffic_unicast.contains(to);
            if listens || (joined && !self.no_multicast) {
                let _ = receive(member, now, wall, *from, bytes);
            }
        }
    }

    /// Runs for `span`.
    fn run(&mut self, span: Duration) {
        let end = self.now.after(span);
        self.settle();
        loop {
            let next = self.members.values().filter_map(|m| m.poll_timeout()).min();
            match next {
                Some((next, reason)) if next <= end => {
                    assert!(
                        next >= self.now || self.now == end,
                        "{reason:?} lies in the past"
                    );
                    // A deadline that nobody acts upon would stop the clock.
                    let stuck = next <= self.now;
                    self.now = self.now.max(next);
                    let before = self.log.len();
                    for member in self.members.values_mut() {
                        member.handle_timeout(self.now);
                    }
                    self.settle();
                    assert!(!stuck || self.log.len() > before, "{reason:?} never passes");
                }
                _ => break,
            }
        }
        self.now = end;
    }

    fn take(&mut self, number: u8) -> Vec<ParticipantEvent> {
        core::mem::take(self.events.get_mut(&number).unwrap())
    }

    fn sent_to(&self, to: Locator) -> usize {
        self.log.iter().filter(|(_, (it, _, _))| *it == to).count()
    }
}

fn receive(
    member: &mut Participant,
    now: Instant,
    wall: Timestamp,
    from: Locator,
    bytes: &[u8],
) -> Result<(), Reject> {
    let datagram = SharedBytes::copy_from(bytes);
    let mut outcome = Ok(());
    for inbound in MessageReceiver::new(&datagram, member.prefix()).unwrap() {
        let inbound = inbound.expect("well-formed");
        outcome = outcome.and(member.handle_inbound(now, wall, from, &datagram, &inbound));
    }
    outcome
}

fn seconds(seconds: i64) -> Duration {
    Duration::from_secs(seconds)
}

fn matched_readers(events: &[ParticipantEvent]) -> Vec<(EntityId, MatchedReader)> {
    events
        .iter()
        .filter_map(|event| match event {
            ParticipantEvent::ReaderMatched { writer, reader } => Some((*writer, reader.clone())),
            _ => None,
        })
        .collect()
}

fn matched_writers(events: &[ParticipantEvent]) -> Vec<(EntityId, MatchedWriter)> {
    events
        .iter()
        .filter_map(|event| match event {
            ParticipantEvent::WriterMatched { reader, writer } => Some((*reader, writer.clone())),
            _ => None,
        })
        .collect()
}

fn has(events: &[ParticipantEvent], event: &ParticipantEvent) -> bool {
    events.contains(event)
}

/// One with a writer, two with a reader, met.
fn met(mut one: ParticipantConfig, two: ParticipantConfig) -> Net {
    one.name = "one".into();
    let mut net = Net::of([one, two]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.member(2).add_reader(now, local_reader("Square"));
    net.run(seconds(2));
    net
}

/// What `config` sends first, from which a hostile test makes its own.
fn announcement_of(config: ParticipantConfig) -> Vec<u8> {
    first_sent_by(&mut Participant::new(Instant(0), config))
}

/// What `config` sends when it leaves.
fn departure_of(config: ParticipantConfig) -> Vec<u8> {
    let mut participant = Participant::new(Instant(0), config);
    first_sent_by(&mut participant);
    participant.depart(Instant(1));
    first_sent_by(&mut participant)
}

fn first_sent_by(participant: &mut Participant) -> Vec<u8> {
    let mut sent = vec![];
    participant.poll_transmit(
        Instant(0),
        &mut Wire {
            from: address(9),
            sent: &mut sent,
        },
    );
    sent.remove(0).2
}

/// The announcement of a reader of `from` with its heartbeat, meant for `to`.
fn subscription_of(from: GuidPrefix, to: GuidPrefix) -> Vec<u8> {
    let change = crate::writer::Change {
        packed: crate::writer::Packed::Untried,
        sequence: whimbrel_base::sequence::SequenceNumber::FIRST,
        kind: crate::change::ChangeKind::Alive,
        instance: whimbrel_base::instance::InstanceHandle::NIL,
        timestamp: Timestamp::INVALID,
        payload: SharedBytes::from_vec(local_reader("Square").announcement(from)).into(),
        fragment_bytes: u16::MAX,
        charged_bytes: 0,
    };
    let heartbeat = crate::message::HeartbeatFields {
        first: change.sequence,
        last: change.sequence,
        count: whimbrel_base::sequence::Count(1),
        is_final: true,
    };
    let writer = EntityId::SEDP_SUBSCRIPTIONS_WRITER;
    let mut message = MessageBuilder::new(from);
    message.begin(65_000);
    message.destination(to);
    message.heartbeat(EntityId::UNKNOWN, writer, heartbeat);
    message.data(
        (EntityId::UNKNOWN, writer),
        &change,
        crate::writer::Form::Plain,
        false,
    );
    sent_alone(&mut message)
}

/// The octets of the one message.
fn sent_alone(message: &mut MessageBuilder) -> Vec<u8> {
    let mut sent = vec![];
    message.flush(
        &[address(1)],
        &mut Wire {
            from: address(7),
            sent: &mut sent,
        },
    );
    sent.remove(0).2
}
