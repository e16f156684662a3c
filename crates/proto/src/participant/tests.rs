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

mod crowd;
mod lease;
mod matching;
mod moves;
mod reach;
mod rebirth;
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

fn check_met(net: &mut Net) {
    let (writer, reader) = (Guid::new(prefix(1), WRITER), Guid::new(prefix(2), READER));
    let one = net.take(1);
    let two = net.take(2);
    assert!(has(
        &one,
        &ParticipantEvent::ParticipantDiscovered(prefix(2))
    ));
    assert!(has(
        &two,
        &ParticipantEvent::ParticipantDiscovered(prefix(1))
    ));
    assert!(has(&one, &ParticipantEvent::RoutingChanged));
    let readers = matched_readers(&one);
    assert_eq!(readers.len(), 1);
    assert_eq!(readers[0].0, WRITER);
    assert_eq!(readers[0].1.guid, reader);
    assert_eq!(readers[0].1.locators, [at("127.0.0.1:7413")]);
    assert_eq!(readers[0].1.message_bytes_max, 65_507);
    assert!(!readers[0].1.reliable && !readers[0].1.durable);
    let writers = matched_writers(&two);
    assert_eq!(writers.len(), 1);
    assert_eq!(writers[0].1.guid, writer);
    assert_eq!(writers[0].1.locators, [at("127.0.0.1:7411")]);
    assert!(writers[0].1.reliable);
    assert!(has(
        &one,
        &ParticipantEvent::PeerConfirmed {
            local: WRITER,
            remote: reader
        }
    ));
    assert!(has(
        &two,
        &ParticipantEvent::PeerConfirmed {
            local: READER,
            remote: writer
        }
    ));
    let known = net.member(2).participant(prefix(1)).unwrap();
    assert_eq!(known.data.entity_name, "one");
    assert!(known.confirmed);
    assert_eq!(net.member(1).remote_readers().count(), 1);
    assert_eq!(net.member(2).remote_writers().count(), 1);
    assert_eq!(net.member(1).rejects().total(), 0);
    assert_eq!(net.member(2).rejects().total(), 0);
}

#[test]
fn they_meet_by_multicast() {
    check_met(&mut met(config(1), config(2)));
}

#[test]
fn they_meet_by_an_explicit_peer() {
    let alone = |number| ParticipantConfig {
        metatraffic_multicast: vec![],
        announce_to: vec![],
        ..config(number)
    };
    let one = ParticipantConfig {
        announce_to: vec![address(2)],
        ..alone(1)
    };
    check_met(&mut met(one, alone(2)));
}

#[test]
fn they_meet_by_probing_and_then_leave_taken_ports_alone() {
    let mut net = met(probing(1), probing(2));
    check_met(&mut net);
    assert_eq!(net.member(1).statistics().probes_sent, 9);
    net.log.clear();
    net.run(seconds(20));
    // The next round leaves out ourselves and whom we know.
    assert_eq!(net.member(1).statistics().probes_sent, 9 + 8);
    assert_eq!(net.sent_to(address(3)), 2);
    assert_eq!(net.member(1).participants().count(), 1);
    assert!(net.take(1).is_empty());
}

#[test]
fn a_late_participant_by_probing_is_found_by_its_own_probes() {
    let mut net = Net::of([probing(1)]);
    net.run(seconds(7));
    net.add(probing(2));
    net.run(Duration::from_millis(500));
    assert!(net.member(1).participant(prefix(2)).unwrap().confirmed);
    assert!(net.member(2).participant(prefix(1)).unwrap().confirmed);
}

#[test]
fn endpoints_come_change_and_go() {
    let mut net = met(config(1), config(2));
    net.take(1);
    net.take(2);
    // Another reader, later.
    let late = LocalReader {
        entity: EntityId([0, 0, 3, 7]),
        ..local_reader("Square")
    };
    let now = net.now;
    net.member(2).add_reader(now, late);
    net.run(seconds(1));
    let late = Guid::new(prefix(2), EntityId([0, 0, 3, 7]));
    let events = net.take(1);
    assert_eq!(matched_readers(&events)[0].1.guid, late);
    assert!(has(
        &events,
        &ParticipantEvent::PeerConfirmed {
            local: WRITER,
            remote: late
        }
    ));
    // It moves to another partition and comes back.
    let mut moved = LocalReader {
        entity: late.entity,
        ..local_reader("Square")
    };
    moved.subscriber = SubscriberQos::default().partition("elsewhere");
    net.take(2);
    let now = net.now;
    net.member(2).update_reader(now, moved);
    net.run(seconds(1));
    let unmatched = ParticipantEvent::ReaderUnmatched {
        writer: WRITER,
        reader: late,
    };
    assert!(has(&net.take(1), &unmatched));
    let writer = Guid::new(prefix(1), WRITER);
    let theirs = ParticipantEvent::WriterUnmatched {
        reader: late.entity,
        writer,
    };
    assert!(has(&net.take(2), &theirs));
    let now = net.now;
    let back = LocalReader {
        entity: late.entity,
        ..local_reader("Square")
    };
    net.member(2).update_reader(now, back);
    net.run(seconds(1));
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
    // It goes.
    let now = net.now;
    net.member(2).remove_reader(now, late.entity);
    net.run(seconds(1));
    assert_eq!(net.take(1), [unmatched, ParticipantEvent::RoutingChanged]);
    assert_eq!(net.member(1).remote_readers().count(), 1);
    assert_eq!(net.member(1).match_count(), 1);
}

#[test]
fn several_changes_at_once_arrive_in_the_end() {
    let mut net = met(config(1), config(2));
    let now = net.now;
    for partition in ["a", "b", "c", ""] {
        let mut reader = local_reader("Square");
        reader.subscriber = SubscriberQos::default().partition(partition);
        net.member(2).update_reader(now, reader);
    }
    net.member(2).remove_reader(now, READER);
    net.member(2).add_reader(now, local_reader("Circle"));
    net.run(seconds(1));
    let known: Vec<_> = net
        .member(1)
        .remote_readers()
        .map(|it| it.data.endpoint.topic_name.clone())
        .collect();
    assert_eq!(known, ["Circle"]);
}

#[test]
fn departure_is_told() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let now = net.now;
    net.member(2).depart(now);
    net.run(Duration::ZERO);
    let events = net.take(1);
    let reader = Guid::new(prefix(2), READER);
    assert!(has(
        &events,
        &ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader
        }
    ));
    let lost = ParticipantEvent::ParticipantLost {
        prefix: prefix(2),
        departed: true,
    };
    assert!(has(&events, &lost));
    assert_eq!(net.member(2).poll_timeout(), None);
    let one = net.member(1);
    assert_eq!(
        (one.participants().count(), one.remote_readers().count()),
        (0, 0)
    );
    assert_eq!(one.match_count(), 0);
    assert_eq!(one.statistics().participants_departed, 1);
    // An announcement that was overtaken by the departure brings nobody back.
    let (_, late) = net
        .log
        .iter()
        .find(|(_, sent)| sent.1 == address(2))
        .unwrap()
        .clone();
    net.deliver(&late);
    assert_eq!(net.member(1).participants().count(), 0);
}

#[test]
fn leases_end_and_any_packet_renews_them() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let now = net.now;
    let left = net
        .member(1)
        .participant(prefix(2))
        .unwrap()
        .lease_left(now);
    assert!(left > seconds(7) && left <= seconds(10));
    // Two falls silent, but the driver goes on hearing user data for a while.
    net.members.remove(&2);
    let heard = net.member(1).heard(prefix(2)).unwrap();
    for _ in 0..3 {
        net.run(seconds(8));
        heard.note(net.now);
    }
    assert!(net.member(1).participant(prefix(2)).is_some());
    net.run(Duration::from_millis(9_900));
    assert!(net.take(1).is_empty());
    net.run(Duration::from_millis(200));
    let events = net.take(1);
    let lost = ParticipantEvent::ParticipantLost {
        prefix: prefix(2),
        departed: false,
    };
    let reader = Guid::new(prefix(2), READER);
    assert!(has(&events, &lost));
    assert!(has(
        &events,
        &ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader
        }
    ));
    assert_eq!(net.member(1).statistics().participants_expired, 1);
    assert!(net.member(1).heard(prefix(2)).is_none());
}

#[test]
fn they_keep_each_other_for_ever() {
    for (one, two) in [(config(1), config(2)), (probing(1), probing(2))] {
        let mut net = met(one, two);
        net.take(1);
        net.take(2);
        net.run(seconds(120));
        assert_eq!(net.take(1), []);
        assert_eq!(net.take(2), []);
    }
}

#[test]
fn groups_that_carry_nothing_are_found_out() {
    let one = ParticipantConfig {
        announce_to: vec![at(GROUP), address(2)],
        ..config(1)
    };
    let mut net = Net {
        no_multicast: true,
        ..Net::of([one, config(2)])
    };
    net.run(seconds(2));
    net.take(1);
    net.take(2);
    net.run(seconds(120));
    assert_eq!(net.take(1), []);
    assert_eq!(net.take(2), []);
    assert_eq!(net.member(1).participants().count(), 1);
}

#[test]
fn idle_participants_with_multicast_only_announce() {
    let mut net = met(config(1), config(2));
    net.run(seconds(10));
    net.log.clear();
    net.run(seconds(300));
    assert!(net.log.iter().all(|(_, (to, _, _))| *to == at(GROUP)));
    // Two participants, every 3 s give or take.
    assert!((190..=210).contains(&net.log.len()), "{}", net.log.len());
    let bytes: usize = net.log.iter().map(|(_, (_, _, bytes))| bytes.len()).sum();
    assert!(bytes / 300 / 2 < 120, "{bytes}");
}

#[test]
fn other_domains_and_tags_are_ignored() {
    let other_domain = ParticipantConfig {
        domain_id: 1,
        ..config(2)
    };
    let other_tag = ParticipantConfig {
        domain_tag: "lab".into(),
        ..config(3)
    };
    let mut net = Net::of([config(1), other_domain, other_tag]);
    net.run(seconds(10));
    for number in [1, 2, 3] {
        assert_eq!(net.member(number).participants().count(), 0);
        assert!(net.member(number).statistics().other_domain > 0);
    }
}

#[test]
fn our_own_voice_is_known_and_impostors_are_reported() {
    let mut net = Net::of([config(1)]);
    net.run(seconds(5));
    assert!(net.take(1).is_empty());
    assert!(net.member(1).statistics().own_heard > 3);
    assert_eq!(net.member(1).rejects().total(), 0);
    let (_, (_, _, own)) = net.log[0].clone();
    let (now, wall) = (net.now, net.wall());
    // Somebody on this host who announces something else under our name.
    let other = ParticipantConfig {
        name: "impostor".into(),
        ..config(1)
    };
    let mut twin = Participant::new(now, other);
    let mut sent = vec![];
    twin.poll_transmit(
        now,
        &mut Wire {
            from: address(5),
            sent: &mut sent,
        },
    );
    for from in [address(5), address(5)] {
        let refused = receive(net.member(1), now, wall, from, &sent[0].2).unwrap_err();
        assert_eq!(refused.kind, RejectKind::OwnGuid);
    }
    // Our farewell comes back too.
    let mut leaving = Participant::new(now, config(9));
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(9),
            sent: &mut sent,
        },
    );
    leaving.depart(now);
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(9),
            sent: &mut sent,
        },
    );
    let farewell = sent.pop().unwrap().2;
    receive(&mut leaving, now, wall, address(9), &farewell).unwrap();
    assert_eq!(leaving.rejects().total(), 0);
    // Somebody elsewhere who repeats our words.
    let elsewhere = at("203.0.113.9:7410");
    assert!(receive(net.member(1), now, wall, elsewhere, &own).is_err());
    net.settle();
    let claims: Vec<_> = net
        .take(1)
        .into_iter()
        .filter(|event| *event != ParticipantEvent::RoutingChanged)
        .collect();
    let claimed = |from| ParticipantEvent::OwnGuidClaimed { from };
    assert_eq!(claims, [claimed(address(5)), claimed(elsewhere)]);
    assert_eq!(net.member(1).participants().count(), 0);
}

#[test]
fn changed_user_data_reaches_the_others_at_once() {
    let mut net = Net::of([config(1), config(2)]);
    net.run(seconds(10));
    let at_first = net.log[0].clone();
    net.take(2);
    let now = net.now;
    net.member(1).set_user_data(now, vec![7; 9]);
    net.settle();
    let seen = net.member(2).participant(prefix(1)).unwrap();
    assert_eq!(seen.data.user_data, [7; 9]);
    assert!(has(&net.take(2), &ParticipantEvent::RoutingChanged));
    // One that was away during the first announcement hears a second one soon.
    let sent = net.sent_to(at(GROUP));
    net.run(seconds(1));
    assert!(net.sent_to(at(GROUP)) > sent + 1);
    // What we said before may come back late; nobody else has said it.
    let (now, wall) = (net.now, net.wall());
    let (_, (_, from, bytes)) = at_first;
    receive(net.member(1), now, wall, from, &bytes).unwrap();
    assert_eq!(net.member(1).rejects().total(), 0);
}

/// What `config` sends first, from which a hostile test makes its own.
fn announcement_of(config: ParticipantConfig) -> Vec<u8> {
    let mut sent = vec![];
    let mut participant = Participant::new(Instant(0), config);
    participant.poll_transmit(
        Instant(0),
        &mut Wire {
            from: address(9),
            sent: &mut sent,
        },
    );
    sent.remove(0).2
}

#[test]
fn nobody_speaks_for_another() {
    let mut net = met(config(1), config(2));
    net.take(1);
    let (now, wall) = (net.now, net.wall());
    // Three announces, and disposes of, what is two's.
    let stranger = ParticipantConfig {
        guid_prefix: prefix(3),
        ..config(3)
    };
    let mut forged = announcement_of(stranger.clone());
    for at in 0..forged.len() - 12 {
        if at > 20 && forged[at..at + 12] == prefix(3).0 {
            forged[at..at + 12].copy_from_slice(&prefix(2).0);
        }
    }
    let refused = receive(net.member(1), now, wall, address(3), &forged).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Stranger);
    let mut leaving = Participant::new(now, stranger);
    let mut sent = vec![];
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(3),
            sent: &mut sent,
        },
    );
    sent.clear();
    leaving.depart(now);
    leaving.poll_transmit(
        now,
        &mut Wire {
            from: address(3),
            sent: &mut sent,
        },
    );
    let mut forged = sent.pop().unwrap().2;
    assert!(receive(net.member(1), now, wall, address(3), &forged).is_ok());
    for at in 20..forged.len() - 12 {
        if forged[at..at + 12] == prefix(3).0 {
            forged[at..at + 12].copy_from_slice(&prefix(2).0);
        }
    }
    let refused = receive(net.member(1), now, wall, address(3), &forged).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Stranger);
    net.settle();
    assert!(net.take(1).is_empty());
    assert!(net.member(1).participant(prefix(2)).is_some());
    // The same for endpoints: three disposes of two's reader by its own SEDP writer.
    net.add(config(3));
    net.run(seconds(1));
    net.take(1);
    let reader = Guid::new(prefix(2), READER);
    let mut key = vec![];
    use whimbrel_wire::discovery::compose_key;
    compose_key(
        reader,
        whimbrel_wire::parameter::ParameterId::ENDPOINT_GUID,
        &mut key,
    );
    let now = net.now;
    let before = net.member(1).rejects().of(RejectKind::Stranger);
    net.member(3).builtin.announce(
        now,
        EntityId::SEDP_SUBSCRIPTIONS_WRITER,
        reader,
        crate::change::ChangeKind::DisposedUnregistered,
        key,
    );
    net.run(seconds(1));
    assert_eq!(net.member(1).rejects().of(RejectKind::Stranger), before + 1);
    assert!(net.member(1).remote_reader(reader).is_some());
    assert!(matched_readers(&net.take(1)).is_empty());
}

#[test]
fn admission_has_limits() {
    let mut narrow = config(1);
    narrow.limits.remote_participants_max = 2;
    narrow.limits.remote_endpoints_per_participant_max = 3;
    let mut net = Net::of([narrow, config(2), config(3), config(4)]);
    let now = net.now;
    for number in 0..5 {
        let entity = EntityId::user(number, EntityKind::ReaderWithKey);
        let reader = LocalReader {
            entity,
            ..local_reader("Square")
        };
        for other in [2, 3, 4] {
            net.member(other).add_reader(now, reader.clone());
        }
    }
    net.run(seconds(5));
    assert_eq!(net.member(1).participants().count(), 2);
    assert_eq!(net.member(1).remote_readers().count(), 2 * 3);
    assert!(net.member(1).statistics().not_admitted >= 3);
    assert!(net.member(1).rejects().of(RejectKind::Limit) >= 3);
    assert_eq!(net.member(4).participants().count(), 3);
}

#[test]
fn unconfirmed_addresses_get_at_most_three_times_what_came_in() {
    let victim = at("203.0.113.9:7410");
    let mut one = config(1);
    one.user_data = vec![7; 400];
    let mut net = Net::of([one]);
    net.run(seconds(1));
    net.log.clear();
    let forged = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![victim],
        default_unicast: vec![victim],
        lease: Duration::INFINITE,
        ..config(7)
    });
    let mut received = 0;
    for _ in 0..10 {
        let (now, wall) = (net.now, net.wall());
        receive(net.member(1), now, wall, at("203.0.113.77:1"), &forged).unwrap();
        received += forged.len();
        net.run(seconds(1));
        let to_victim = net.log.iter().filter(|(_, (to, _, _))| *to == victim);
        let sent: usize = to_victim.map(|(_, (_, _, bytes))| bytes.len()).sum();
        assert!(sent <= 3 * received, "{sent} for {received}");
        assert!(sent > 0 || received < 1000);
    }
    assert!(net.member(1).statistics().withheld > 0);
    assert!(!net.member(1).participant(prefix(7)).unwrap().confirmed);
    // It is forgotten soon, however long it claims to live.
    net.run(seconds(25));
    assert_eq!(net.member(1).participants().count(), 0);
    assert_eq!(net.member(1).guard.len(), 0);
}

#[test]
fn who_takes_back_its_endpoints_is_sent_nothing_more() {
    let victim = at("203.0.113.9:7410");
    let mut net = Net::of([config(1)]);
    let (now, wall) = (net.now, net.wall());
    let claim = |metatraffic_unicast| {
        announcement_of(ParticipantConfig {
            metatraffic_unicast,
            ..config(7)
        })
    };
    let mut none = claim(vec![]);
    // BUILTIN_ENDPOINT_SET. RTPS 2.5 §9.6.3.
    let set = [0x58, 0, 4, 0];
    let position = none.windows(4).position(|octets| octets == set).unwrap();
    none[position + 4..position + 8].fill(0);
    for forged in [claim(vec![victim]), none] {
        receive(net.member(1), now, wall, at("203.0.113.77:1"), &forged).unwrap();
    }
    net.run(seconds(5));
    assert_eq!(net.sent_to(victim), 0);
    assert_eq!(net.member(1).participants().count(), 1);
}

#[test]
fn endpoints_of_unconfirmed_participants_are_not_served() {
    let mut net = Net::of([config(1)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.settle();
    // Seven says everything without having heard anything: it could be anybody.
    let (now, wall) = (net.now, net.wall());
    let announced = announcement_of(config(7));
    receive(net.member(1), now, wall, address(7), &announced).unwrap();
    let mut said = subscription_of(prefix(7), GuidPrefix::UNKNOWN);
    let refused = receive(net.member(1), now, wall, address(7), &said).unwrap_err();
    assert_eq!(refused.kind, RejectKind::Stranger);
    net.settle();
    assert_eq!(net.member(1).remote_readers().count(), 0);
    assert!(matched_readers(&net.take(1)).is_empty());
    // Only who has heard us knows our prefix.
    said = subscription_of(prefix(7), prefix(1));
    let _ = receive(net.member(1), now, wall, address(7), &said);
    net.settle();
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
}

/// The announcement of a reader of `from` with its heartbeat, meant for `to`.
fn subscription_of(from: GuidPrefix, to: GuidPrefix) -> Vec<u8> {
    let change = crate::writer::Change {
        packed: None,
        sequence: whimbrel_base::sequence::SequenceNumber::FIRST,
        kind: crate::change::ChangeKind::Alive,
        instance: whimbrel_base::instance::InstanceHandle::NIL,
        timestamp: Timestamp::INVALID,
        payload: SharedBytes::from_vec(local_reader("Square").announcement(from)),
        fragment_bytes: u16::MAX,
        written_bytes: 0,
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

#[test]
fn who_forgot_us_is_served_from_the_start() {
    let mut net = met(config(1), config(2));
    net.take(1);
    net.take(2);
    // Two forgets one, which does not notice.
    let now = net.now;
    net.member(2).forget_participant(now, prefix(1), false);
    net.run(seconds(15));
    let writer = Guid::new(prefix(1), WRITER);
    assert!(net.member(2).remote_writer(writer).is_some());
    assert_eq!(matched_writers(&net.take(2)).len(), 1);
    let one = net.take(1);
    let reader = Guid::new(prefix(2), READER);
    assert!(has(
        &one,
        &ParticipantEvent::ReaderUnmatched {
            writer: WRITER,
            reader
        }
    ));
    assert_eq!(matched_readers(&one).len(), 1);
    assert_eq!(net.member(1).statistics().resumed, 1);
}

#[test]
fn who_comes_back_hears_of_what_ended_meanwhile() {
    let mut net = met(config(1), config(2));
    let late = LocalWriter {
        entity: EntityId([0, 0, 5, 2]),
        ..local_writer("Square")
    };
    let now = net.now;
    net.member(1).add_writer(now, late);
    net.run(seconds(1));
    net.take(2);
    // One takes two for lost, which goes on hearing one, and meanwhile a writer ends.
    let now = net.now;
    net.member(1).forget_participant(now, prefix(2), false);
    net.member(1).remove_writer(now, WRITER);
    net.run(seconds(15));
    let gone = Guid::new(prefix(1), WRITER);
    assert!(net.member(2).remote_writer(gone).is_none());
    let unmatched = ParticipantEvent::WriterUnmatched {
        reader: READER,
        writer: gone,
    };
    assert!(has(&net.take(2), &unmatched));
    assert_eq!(net.member(2).remote_writers().count(), 1);
    assert_eq!(net.member(1).remote_readers().count(), 1);
}

#[test]
fn the_same_inputs_give_the_same_octets() {
    let run = || {
        let mut net = met(config(1), probing(2));
        net.run(seconds(30));
        (net.log, net.events)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_crowd_meets_quickly() {
    let mut net = Net::of((1..=40).map(config));
    let now = net.now;
    for number in 1..=40 {
        net.member(number).add_writer(now, local_writer("Square"));
        net.member(number).add_reader(now, local_reader("Square"));
    }
    net.run(Duration::from_millis(500));
    for number in 1..=40 {
        assert_eq!(net.member(number).participants().count(), 39);
        assert_eq!(net.member(number).match_count(), 80);
        let confirmed =
            |it: &&ParticipantEvent| matches!(it, ParticipantEvent::PeerConfirmed { .. });
        assert_eq!(net.take(number).iter().filter(confirmed).count(), 80);
    }
}

#[test]
fn claims_to_an_explicit_peers_address_do_not_shut_it_out() {
    let one = ParticipantConfig {
        announce_to: vec![address(2)],
        metatraffic_multicast: vec![],
        ..config(1)
    };
    let mut net = Net::of([one]);
    let claim = announcement_of(ParticipantConfig {
        metatraffic_unicast: vec![address(2)],
        ..config(7)
    });
    let (now, wall) = (net.now, net.wall());
    receive(net.member(1), now, wall, address(7), &claim).unwrap();
    net.run(seconds(2));
    net.add(ParticipantConfig {
        announce_to: vec![],
        metatraffic_multicast: vec![],
        ..config(2)
    });
    net.run(seconds(4));
    assert!(net.member(1).participant(prefix(2)).unwrap().confirmed);
}

#[derive(Default)]
struct Reached(Vec<Locator>);

impl Outbox for Reached {
    fn send(&mut self, to: &[Locator], _parts: &[&[u8]]) {
        self.0.extend_from_slice(to);
    }
}

#[test]
fn a_farewell_reaches_those_that_were_only_probed() {
    let mut participant = Participant::new(Instant(0), probing(1));
    let mut probed = Reached::default();
    participant.handle_timeout(Instant(0));
    participant.poll_transmit(Instant(0), &mut probed);
    assert!(!probed.0.is_empty());
    participant.depart(Instant(1));
    let mut farewell = Reached::default();
    participant.poll_transmit(Instant(1), &mut farewell);
    assert!(probed.0.iter().all(|locator| farewell.0.contains(locator)));
}

#[test]
fn who_is_ignored_is_not_there_whatever_it_announces() {
    let mut net = Net::of([config(1), config(2)]);
    let now = net.now;
    net.member(1).add_writer(now, local_writer("Square"));
    net.member(2).add_reader(now, local_reader("Square"));
    net.run(seconds(2));
    assert_eq!(matched_readers(&net.take(1)).len(), 1);
    let reader = Guid::new(prefix(2), READER);
    net.member(1).ignore_endpoint(reader);
    net.settle();
    let unmatched = ParticipantEvent::ReaderUnmatched {
        writer: WRITER,
        reader,
    };
    assert!(has(&net.take(1), &unmatched));
    let now = net.now;
    net.member(2).update_reader(now, local_reader("Square"));
    net.run(seconds(10));
    assert!(matched_readers(&net.take(1)).is_empty());
    assert_eq!(net.member(1).remote_readers().count(), 0);
    let now = net.now;
    net.member(1).ignore_participant(now, prefix(2));
    net.run(seconds(30));
    assert_eq!(net.member(1).participants().count(), 0);
    // Ours cannot be.
    net.member(1).ignore_endpoint(Guid::new(prefix(1), WRITER));
    net.member(1).ignore_participant(now, prefix(1));
    assert_eq!(net.member(1).local_writers().count(), 1);
}
