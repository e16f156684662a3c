//! Many participants on one subnet, and nothing but discovery: what it costs and how that grows.
//!
//! Participants start spread over a second. Time moves in steps of a millisecond: what is sent in
//! one arrives in the next, and everybody handles everything that arrived before answering, as a
//! busy driver does.
//!
//! Every pair of participants takes memory on both sides. Of a crowd too large for that only some
//! are observed: the others talk to them as they would to anybody, but not to each other. What
//! the observed ones send, receive and know is the same.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_proto::Outbox;
use whimbrel_proto::discovery::locators::InterfaceAddress;
use whimbrel_proto::participant::{LocalReader, LocalWriter, Participant, ParticipantConfig};
use whimbrel_proto::receive::{MessageReceiver, Target};

use crate::addresses::group;
use crate::random::{Random, TrafficHash};
use crate::scenario::START;

/// Time between steps.
const STEP: Duration = Duration::from_millis(1);

/// Participants start within this time.
const STARTS_WITHIN: Duration = Duration::from_secs(1);

/// How long traffic is watched once everybody knows everybody.
const WATCHED: Duration = Duration::from_secs(30);

/// Nobody takes longer than this, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a UDP datagram over Ethernet costs beside its payload: UDP, IPv4, Ethernet, octets.
const FRAME_BYTES: u64 = 8 + 20 + 38;

/// How large a crowd, and of what kind.
#[derive(Clone, Copy, Debug)]
pub struct CrowdSettings {
    /// How many.
    pub participants: usize,
    /// Endpoints of each; half of them writers, each matched with one reader of a neighbour.
    pub endpoints: usize,
    /// How many of them are observed; all where it is more than there are.
    pub observed: usize,
    /// The subnet has multicast; without it every pair has one side that knows the other's
    /// address.
    pub multicast: bool,
    /// Starts the random numbers.
    pub seed: u64,
}

/// What a crowd sent in some time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Datagrams sent; one to a group is one.
    pub datagrams: u64,
    /// Octets of their payloads.
    pub bytes: u64,
    /// Datagrams received.
    pub received: u64,
    /// Octets received.
    pub received_bytes: u64,
}

impl Traffic {
    fn since(self, before: Self) -> Self {
        Self {
            datagrams: self.datagrams - before.datagrams,
            bytes: self.bytes - before.bytes,
            received: self.received - before.received,
            received_bytes: self.received_bytes - before.received_bytes,
        }
    }

    /// Octets on an Ethernet, headers included.
    pub fn frame_bytes(&self) -> u64 {
        self.bytes + FRAME_BYTES * self.datagrams
    }
}

/// How it went.
#[derive(Clone, Debug)]
pub struct CrowdOutcome {
    settings: CrowdSettings,
    /// From the first start until everybody knew everybody and every endpoint; `None` when that
    /// never came.
    pub converged_after: Option<Duration>,
    /// Until then.
    pub meeting: Traffic,
    /// In [`CrowdOutcome::watched`] after that, plus a settling time.
    pub resting: Traffic,
    /// How long the crowd was watched at rest.
    pub watched: Duration,
    /// Memory of the process for each ordered pair of participants, in octets; 0 where unknown.
    pub bytes_per_pair: u64,
    /// Of all traffic.
    pub hash: TrafficHash,
}

impl fmt::Display for CrowdOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.settings.participants as u64;
        let observed = self.settings.observed() as u64;
        let seconds = (self.watched.as_nanos().unsigned_abs() / 1_000_000_000).max(1);
        let each = |number: u64| number / observed.max(1);
        let converged = match self.converged_after {
            Some(after) => format!("converged after {} ms", after.as_nanos() / 1_000_000),
            None => String::from("NOT converged"),
        };
        write!(
            f,
            "crowd: {count} participants of {} endpoints, {observed} observed, multicast {}: \
             {converged}; these sent {} datagrams, {} octets ({} and {} each; {} datagrams \
             received each); at rest each sends {} B/s \
             payload, {} B/s on Ethernet, receives {} B/s and {} datagrams/s; {} octets of memory \
             per ordered pair",
            self.settings.endpoints,
            if self.settings.multicast { "on" } else { "off" },
            self.meeting.datagrams,
            self.meeting.bytes,
            each(self.meeting.datagrams),
            each(self.meeting.bytes),
            each(self.meeting.received),
            each(self.resting.bytes) / seconds,
            each(self.resting.frame_bytes()) / seconds,
            each(self.resting.received_bytes) / seconds,
            each(self.resting.received) / seconds,
            self.bytes_per_pair,
        )
    }
}

impl CrowdSettings {
    fn observed(&self) -> usize {
        self.observed.min(self.participants)
    }

    /// Who takes part in the talk of `index`: everybody, or the observed ones.
    fn others_of(&self, index: usize) -> usize {
        if index < self.observed() {
            self.participants - 1
        } else {
            self.observed()
        }
    }
}

struct Member {
    machine: Participant,
    arrived: Vec<(Locator, SharedBytes)>,
    starts_at: Instant,
    next_at: Option<Instant>,
    complete: bool,
}

struct Crowd {
    settings: CrowdSettings,
    members: Vec<Member>,
    addresses: BTreeMap<Locator, usize>,
    traffic: Traffic,
    hash: TrafficHash,
    now: Instant,
}

/// What one member sends.
#[derive(Default)]
struct Sent(Vec<(Vec<Locator>, SharedBytes)>);

impl Outbox for Sent {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let bytes = SharedBytes::from_vec(parts.concat());
        self.0.push((to.to_vec(), bytes));
    }
}

/// Has a crowd meet and rest.
pub fn gather(settings: CrowdSettings) -> CrowdOutcome {
    let memory_before = resident_bytes();
    let mut crowd = Crowd::new(settings);
    let mut converged_after = None;
    let end = START.after(PATIENCE);
    while converged_after.is_none() && crowd.now < end {
        crowd.step();
        if crowd.is_complete() {
            converged_after = Some(crowd.now.since(START));
        }
    }
    let meeting = crowd.traffic;
    // Answers to what was said last are still to come, and the quick first announcements.
    crowd.run_until(crowd.now.after(Duration::from_secs(10)));
    let before = crowd.traffic;
    crowd.run_until(crowd.now.after(WATCHED));
    let others = (0..settings.participants).map(|index| settings.others_of(index));
    let pairs = others.sum::<usize>().max(1) as u64;
    let memory = resident_bytes().saturating_sub(memory_before);
    CrowdOutcome {
        settings,
        converged_after,
        meeting,
        resting: crowd.traffic.since(before),
        watched: WATCHED,
        bytes_per_pair: memory / pairs,
        hash: crowd.hash,
    }
}

/// What this process holds in memory; 0 where the system does not say.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split_whitespace().nth(1);
    pages.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn ip(index: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 1, (index / 250) as u8, (index % 250) as u8 + 1)
}

fn metatraffic(index: usize) -> Locator {
    SocketAddr::from((ip(index), 7410)).into()
}

fn config(settings: &CrowdSettings, index: usize) -> ParticipantConfig {
    let mut prefix = [0x5e; 12];
    prefix[4..8].copy_from_slice(&(index as u32).to_be_bytes());
    let mut config = ParticipantConfig::new(GuidPrefix(prefix), 0);
    config.seed = settings.seed.wrapping_add(index as u64);
    config.metatraffic_unicast = vec![metatraffic(index)];
    config.default_unicast = vec![SocketAddr::from((ip(index), 7411)).into()];
    config.interfaces = vec![InterfaceAddress {
        ip: ip(index).into(),
        prefix_len: 16,
        mtu: 1500,
        loopback: false,
    }];
    if settings.multicast {
        config.metatraffic_multicast = vec![group()];
        config.announce_to = vec![group()];
    } else {
        config.announce_to = (0..index).map(metatraffic).collect();
    }
    let others = settings.participants;
    let limits = &mut config.limits;
    limits.remote_participants_max = limits.remote_participants_max.max(others);
    limits.unanswered_participants_max = limits.unanswered_participants_max.max(others);
    limits.remote_participants_per_address_max =
        limits.remote_participants_per_address_max.max(others);
    limits.remote_endpoints_max = limits.remote_endpoints_max.max(others * settings.endpoints);
    config
}

/// Writers of one participant are read by the next one.
fn add_endpoints(machine: &mut Participant, now: Instant, settings: &CrowdSettings, index: usize) {
    let previous = (index + settings.participants - 1) % settings.participants;
    for number in 0..settings.endpoints as u32 {
        let pair = number / 2;
        let type_name = String::from("geometry::msg::PoseStamped");
        if number % 2 == 0 {
            machine.add_writer(
                now,
                LocalWriter {
                    entity: EntityId::user(number + 1, EntityKind::WriterWithKey),
                    topic_name: format!("robot/{index}/pose/{pair}"),
                    type_name,
                    qos: DataWriterQos::default(),
                    publisher: PublisherQos::default(),
                    topic: TopicQos::default(),
                },
            );
        } else {
            machine.add_reader(
                now,
                LocalReader {
                    entity: EntityId::user(number + 1, EntityKind::ReaderWithKey),
                    topic_name: format!("robot/{previous}/pose/{pair}"),
                    type_name,
                    qos: DataReaderQos::default(),
                    subscriber: SubscriberQos::default(),
                    topic: TopicQos::default(),
                },
            );
        }
    }
}

impl Crowd {
    fn new(settings: CrowdSettings) -> Self {
        let mut random = Random::new(settings.seed);
        let member = |index| {
            let starts_at = START.after(random.span(STARTS_WITHIN));
            let mut machine = Participant::new(starts_at, config(&settings, index));
            add_endpoints(&mut machine, starts_at, &settings, index);
            Member {
                machine,
                arrived: Vec::new(),
                starts_at,
                next_at: Some(starts_at),
                complete: false,
            }
        };
        Self {
            settings,
            members: (0..settings.participants).map(member).collect(),
            addresses: (0..settings.participants)
                .map(|index| (metatraffic(index), index))
                .collect(),
            traffic: Traffic::default(),
            hash: TrafficHash::EMPTY,
            now: START,
        }
    }

    fn run_until(&mut self, end: Instant) {
        while self.now < end {
            self.step();
        }
    }

    /// Everybody handles what has arrived and what is due, then all of it is delivered.
    fn step(&mut self) {
        let now = self.now;
        let mut all_sent = Vec::new();
        let observed = self.settings.observed();
        for (index, member) in self.members.iter_mut().enumerate() {
            let due = member.next_at.is_some_and(|at| at <= now);
            let idle = !due && member.arrived.is_empty();
            if now < member.starts_at || idle {
                continue;
            }
            for (from, bytes) in std::mem::take(&mut member.arrived) {
                if index < observed {
                    self.traffic.received += 1;
                    self.traffic.received_bytes += bytes.len() as u64;
                }
                hear(&mut member.machine, now, from, &bytes);
            }
            let mut sent = Sent::default();
            member.machine.handle_timeout(now);
            member.machine.poll_transmit(now, &mut sent);
            while member.machine.poll_event().is_some() {}
            member.next_at = member.machine.poll_timeout().map(|(at, _)| at);
            all_sent.extend(sent.0.into_iter().map(|(to, bytes)| (index, to, bytes)));
        }
        for (from, to, bytes) in all_sent {
            self.deliver(from, &to, &bytes);
        }
        self.now = now.after(STEP);
    }

    fn deliver(&mut self, from: usize, to: &[Locator], bytes: &SharedBytes) {
        self.hash.add(self.now.0);
        self.hash.add_bytes(bytes);
        let source = metatraffic(from);
        let observed = self.settings.observed();
        for locator in to {
            if from < observed {
                self.traffic.datagrams += 1;
                self.traffic.bytes += bytes.len() as u64;
            }
            self.hash.add_bytes(&locator.address);
            if locator.is_multicast() {
                let reached = if from < observed {
                    usize::MAX
                } else {
                    observed
                };
                for (index, member) in self.members.iter_mut().enumerate().take(reached) {
                    if index != from && member.starts_at <= self.now {
                        member.arrived.push((source, bytes.clone()));
                    }
                }
            } else if let Some(index) = self.addresses.get(locator) {
                let member = &mut self.members[*index];
                let heard = from < observed || *index < observed;
                if heard && member.starts_at <= self.now {
                    member.arrived.push((source, bytes.clone()));
                }
            }
        }
    }

    /// True when everybody knows everybody and every endpoint. Looked at only where it may have
    /// become so.
    fn is_complete(&mut self) -> bool {
        let settings = self.settings;
        for (index, member) in self.members.iter_mut().enumerate() {
            let others = settings.others_of(index);
            let endpoints = others * settings.endpoints;
            if member.complete {
                continue;
            }
            let machine = &member.machine;
            let confirmed = machine.participants().filter(|it| it.confirmed).count();
            let known = machine.remote_writers().count() + machine.remote_readers().count();
            let matched = machine.match_count() == settings.endpoints;
            member.complete = confirmed == others
                && known == endpoints
                && (matched || index >= settings.observed());
            if !member.complete {
                return false;
            }
        }
        true
    }
}

fn hear(machine: &mut Participant, now: Instant, from: Locator, bytes: &SharedBytes) {
    let wall = Timestamp(1_700_000_000_000_000_000 + now.0 as i64);
    let Ok(submessages) = MessageReceiver::new(bytes, machine.prefix()) else {
        return;
    };
    for inbound in submessages {
        let Ok(inbound) = inbound else {
            return;
        };
        if inbound.target() != Target::Nobody {
            // Duplicates and strangers are everyday life here.
            let _ = machine.handle_inbound(now, wall, from, bytes, &inbound);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(participants: usize, multicast: bool) -> CrowdSettings {
        CrowdSettings {
            participants,
            endpoints: 4,
            observed: usize::MAX,
            multicast,
            seed: 1,
        }
    }

    #[test]
    fn a_small_crowd_meets_soon_and_is_quiet_then() {
        for multicast in [true, false] {
            let outcome = gather(crowd(12, multicast));
            let after = outcome.converged_after.expect("all meet");
            assert!(after < Duration::from_secs(5), "{outcome}");
            let seconds = outcome.watched.as_nanos().unsigned_abs() / 1_000_000_000;
            assert!(outcome.resting.bytes / 12 / seconds < 1000, "{outcome}");
            assert!(outcome.meeting.datagrams > 0 && outcome.resting.received > 0);
        }
    }

    #[test]
    fn the_observed_ones_of_a_crowd_see_the_same() {
        let all = gather(crowd(16, true));
        let some = gather(CrowdSettings {
            observed: 4,
            ..crowd(16, true)
        });
        assert!(some.converged_after.is_some());
        let (all, some) = (all.meeting.bytes / 16, some.meeting.bytes / 4);
        assert!(all.abs_diff(some) * 5 < all, "{all} {some}");
    }

    #[test]
    fn the_same_crowd_is_the_same_traffic() {
        let (one, two) = (gather(crowd(5, true)), gather(crowd(5, true)));
        assert_eq!(one.hash, two.hash);
        assert_eq!(one.meeting, two.meeting);
    }
}
