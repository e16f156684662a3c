//! Participants without end against one with the limits that it has by default: whom it knows
//! stays, who comes meanwhile is met, nothing grows, and nobody is sent more than it may be.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_base::reject::RejectKind;
use whimbrel_base::time::{Duration as Span, Instant, Timestamp};
use whimbrel_fuzz_targets::thread_time::thread_time;
use whimbrel_proto::participant::{LocalReader, LocalWriter, Participant, ParticipantConfig};
use whimbrel_proto::receive::MessageReceiver;
use whimbrel_proto::{InterfaceAddress, Outbox};

use super::announced::TEN_SECONDS;
use super::case::Scene;
use super::watch::{Costs, STEP_MAX};
use crate::heap;
use crate::proof::{Figure, Share};

/// Fakes of each kind in a short run, and in a full one.
const FAKES: [u32; 2] = [10_000, 350_000];

/// Fakes that arrive within one millisecond.
const FAKES_PER_MS: u32 = 16;

/// What a participant may hold of those that do not exist: 1,024 of them, proxies included.
const HELD_BYTES_MAX: usize = 16 << 20;

/// How the fakes come.
const KINDS: [(&str, bool, bool); 3] = [
    ("of one host", false, false),
    ("of many hosts", true, false),
    ("that answer", true, true),
];

/// What one participant sent.
#[derive(Default)]
struct Sent(Vec<(Locator, Vec<u8>)>);

impl Outbox for Sent {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let bytes = parts.concat();
        self.0.extend(to.iter().map(|to| (*to, bytes.clone())));
    }
}

fn listens(number: u8, port: u16) -> Locator {
    SocketAddr::from(([10, 0, 0, number], port)).into()
}

fn group() -> Locator {
    SocketAddr::from(([239, 255, 0, 1], 7400)).into()
}

fn prefix(number: u8) -> GuidPrefix {
    GuidPrefix([number; 12])
}

/// The participant under attack is the first, the others are real peers.
struct Bus {
    now: Instant,
    members: BTreeMap<u8, Participant>,
    costs: Costs,
    /// Octets to and from each address of a fake.
    to_fakes: BTreeMap<Locator, (usize, usize)>,
    excess: usize,
}

impl Bus {
    fn join(&mut self, number: u8) {
        let interface = InterfaceAddress {
            ip: [10, 0, 0, number].into(),
            prefix_len: 24,
            mtu: 1500,
            loopback: false,
        };
        let config = ParticipantConfig {
            metatraffic_unicast: vec![listens(number, 7410)],
            default_unicast: vec![listens(number, 7411)],
            metatraffic_multicast: vec![group()],
            announce_to: vec![group()],
            interfaces: vec![interface],
            seed: u64::from(number),
            ..ParticipantConfig::new(prefix(number), 0)
        };
        let mut member = Participant::new(self.now, config);
        let (topic_name, type_name) = (String::from("Square"), String::from("ShapeType"));
        if number == 1 {
            let writer = LocalWriter {
                entity: EntityId([0, 0, 1, 2]),
                topic_name,
                type_name,
                qos: DataWriterQos::default(),
                publisher: PublisherQos::default(),
                topic: TopicQos::default(),
            };
            member.add_writer(self.now, writer);
        } else {
            let reader = LocalReader {
                entity: EntityId([0, 0, 1, 7]),
                topic_name,
                type_name,
                qos: DataReaderQos::default(),
                subscriber: SubscriberQos::default(),
                topic: TopicQos::default(),
            };
            member.add_reader(self.now, reader);
        }
        self.members.insert(number, member);
    }

    /// Gives a datagram to a member, as its driver would.
    fn give(&mut self, number: u8, from: Locator, bytes: &[u8]) {
        let now = self.now;
        let Some(member) = self.members.get_mut(&number) else {
            return;
        };
        let datagram = SharedBytes::copy_from(bytes);
        let Ok(receiver) = MessageReceiver::new(&datagram, member.prefix()) else {
            return;
        };
        for inbound in receiver.flatten() {
            // What is refused is counted by the machine.
            let _ = member.handle_inbound(now, Timestamp(now.0 as i64), from, &datagram, &inbound);
        }
    }

    fn send(&mut self, number: u8) -> Vec<(Locator, Vec<u8>)> {
        let mut sent = Sent::default();
        if let Some(member) = self.members.get_mut(&number) {
            member.poll_transmit(self.now, &mut sent);
            while member.poll_event().is_some() {}
        }
        sent.0
    }

    /// A fake says something; the cost is that of taking it in and of all that follows. Where it
    /// `listens` counts as an address that never answered.
    fn fake(&mut self, from: Locator, listens: Option<Locator>, bytes: &[u8]) {
        if let Some(at) = listens {
            self.to_fakes.entry(at).or_default().1 += bytes.len();
        }
        let begin = thread_time();
        self.give(1, from, bytes);
        let sent = self.send(1);
        self.costs.add(thread_time().saturating_sub(begin));
        self.deliver(1, sent);
    }

    fn deliver(&mut self, number: u8, sent: Vec<(Locator, Vec<u8>)>) {
        for (to, bytes) in sent {
            if let Some((out, into)) = self.to_fakes.get_mut(&to) {
                *out += bytes.len();
                self.excess = self.excess.max(out.saturating_sub(3 * *into));
            }
            let others: Vec<u8> = self.members.keys().copied().collect();
            for other in others.into_iter().filter(|other| *other != number) {
                if to == group() || to == listens(other, 7410) {
                    self.give(other, listens(number, 7410), &bytes);
                }
            }
        }
    }

    /// A millisecond passes.
    fn pass(&mut self) {
        self.now = self.now.after(Span::from_millis(1));
        for _ in 0..8 {
            for number in self.members.keys().copied().collect::<Vec<_>>() {
                let begin = thread_time();
                let sent = self.send(number);
                if number == 1 {
                    self.costs.add(thread_time().saturating_sub(begin));
                }
                self.deliver(number, sent);
            }
        }
    }

    fn matches(&self) -> usize {
        self.members.get(&1).map_or(0, Participant::match_count)
    }
}

/// One kind of flood; the error says which bound was missed.
fn flood(name: &str, many: bool, answers: bool, fakes: u32) -> Result<(Costs, u64), String> {
    let mut bus = Bus {
        now: Instant(1_000_000_000),
        members: BTreeMap::new(),
        costs: Costs::default(),
        to_fakes: BTreeMap::new(),
        excess: 0,
    };
    bus.join(1);
    bus.join(2);
    (0..1000).for_each(|_| bus.pass());
    if bus.matches() != 1 {
        return Err(format!("{name}: the peers did not meet before the flood"));
    }
    bus.costs = Costs::default();
    let before = heap::held_bytes();
    let scene = scene();
    for number in 0..fakes {
        let [_, a, b, c] = number.to_be_bytes();
        let octets = if many {
            [100 + (a & 63), b, c, 9]
        } else {
            [198, 18, 0, 1]
        };
        let from = Locator::from(SocketAddr::from((octets, 7400)));
        let at = Locator::from(SocketAddr::from((octets, 7410)));
        let [a, b, c, d] = number.to_be_bytes();
        let fake = GuidPrefix([1, 0x10, 0xfa, 0xce, a, b, c, d, 0, 0, 0, 1]);
        let bytes = scene.announcement(fake, answers, TEN_SECONDS, &[(octets, 7410)]);
        bus.fake(from, (!answers).then_some(at), &bytes);
        if number.is_multiple_of(FAKES_PER_MS) {
            bus.pass();
        }
        if number == fakes / 2 {
            bus.join(3);
        }
        if number.is_multiple_of(4096) {
            // What is counted here is not held by the participant.
            bus.to_fakes.clear();
            let held = heap::held_bytes().saturating_sub(before);
            bus.costs.held_bytes_max = bus.costs.held_bytes_max.max(held);
        }
    }
    (0..200).for_each(|_| bus.pass());
    judge(name, &bus, fakes)
}

fn judge(name: &str, bus: &Bus, fakes: u32) -> Result<(Costs, u64), String> {
    let victim = bus.members.get(&1).ok_or("nobody is there")?;
    let costs = bus.costs;
    let known = |number| victim.participant(prefix(number)).is_some();
    if !known(2) || !known(3) || bus.matches() != 2 {
        let matches = bus.matches();
        return Err(format!("{name}: {matches} of 2 real readers are matched"));
    }
    if costs.slowest > STEP_MAX && !cfg!(debug_assertions) {
        return Err(format!("{name}: a step cost {:?}", costs.slowest));
    }
    if costs.held_bytes_max > HELD_BYTES_MAX {
        return Err(format!("{name}: {} octets held", costs.held_bytes_max));
    }
    if bus.excess > 0 {
        return Err(format!("{name}: {} octets too many to a fake", bus.excess));
    }
    let statistics = victim.statistics();
    let refused = victim.rejects().of(RejectKind::Limit);
    let put_off = statistics.participants_displaced.saturating_add(refused);
    let left = victim.participants().count() as u64;
    if put_off.saturating_add(left) < u64::from(fakes) {
        return Err(format!(
            "{name}: {put_off} put off and {left} left of {fakes}"
        ));
    }
    Ok((costs, put_off))
}

fn scene() -> Scene {
    Scene {
        endian: Endian::Little,
        victim: prefix(1),
        attacker: prefix(2),
        honest: prefix(3),
        victim_reader: EntityId([0, 0, 1, 7]),
        victim_writer: EntityId([0, 0, 1, 2]),
        writer: EntityId([0, 0, 1, 2]),
        reader: EntityId([0, 0, 1, 7]),
        next_announcement: 1,
        next_sample: 1,
    }
}

/// Plays every kind of flood; adds what came of it to `figure`.
pub(super) fn run(share: &Share, mut figure: Figure) -> Figure {
    let fakes = FAKES[usize::from(share.full)];
    let mut all = Costs::default();
    let mut put_off = 0;
    for (name, many, answers) in KINDS {
        match flood(name, many, answers, fakes) {
            Ok((costs, count)) => {
                all.join(&costs);
                put_off += count;
            }
            Err(why) => {
                println!("attack: flood {why}");
                figure.held = false;
            }
        }
    }
    let slowest: Duration = all.slowest;
    figure.text += &format!(
        "; {} fake participants with default limits: {put_off} displaced or refused, slowest step \
         {} us, {} KiB held of {} KiB, both real peers matched",
        fakes * KINDS.len() as u32,
        slowest.as_micros(),
        all.held_bytes_max / 1024,
        HELD_BYTES_MAX / 1024,
    );
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_peers_are_met_in_a_flood_of_each_kind() {
        for (name, many, answers) in KINDS {
            flood(name, many, answers, 1500).unwrap();
        }
    }
}
