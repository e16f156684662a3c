//! What arrives: forged discovery and data of a few participants that share hosts and addresses.

use std::net::SocketAddr;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::{EntityId, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::time::Duration;
use whimbrel_fuzz_targets::random::Random;

use super::target;
use crate::attack::announced::{WireLocator, pid};
use crate::attack::case::Scene;
use crate::attack::compose::Builtin;

/// Submessages that name an address to answer at, or another sender.
const INFO_REPLY: u8 = 0x0f;
const INFO_REPLY_IP4: u8 = 0x0d;
const INFO_SRC: u8 = 0x0c;

/// Participants that are claimed; the last is the target itself.
const CLAIMED: u8 = 6;

/// Hosts from which datagrams come.
const SENDERS: u8 = 3;

/// Addresses of others, from which none comes.
const BYSTANDERS: u8 = 5;

/// Submessages of a datagram at most.
const SUBMESSAGES_MAX: usize = 4;

/// A datagram.
pub(super) struct Forged {
    pub(super) from: Locator,
    pub(super) bytes: Vec<u8>,
    /// The addresses that it names.
    pub(super) names: Vec<Locator>,
    /// It is meant for the target alone.
    pub(super) answers: bool,
}

/// What happens next.
pub(super) enum Action {
    Datagram(Forged),
    Pause(Duration),
    /// The user writes a sample of so many octets.
    Write(usize),
}

/// The temper of one stream, and its counters.
pub(super) struct Stream {
    endian: Endian,
    /// One datagram in so many is meant for the target alone.
    answers_every: usize,
    /// Nothing but participants is announced, one in a datagram.
    announces_only: bool,
    count: u32,
    number: i64,
}

/// An address that says nothing.
fn bystander(number: u8) -> WireLocator {
    match number {
        // Another address of the target's host, and a group that it has not joined.
        0 => ([10, 0, 0, 1], 9000),
        1 => ([239, 255, 0, 9], 7410),
        _ => ([203, 0, 113, number], 7410 + u32::from(number % 2)),
    }
}

fn sender(number: u8, port: u32) -> WireLocator {
    ([198, 18, 0, number], port)
}

fn locator((ip, port): WireLocator) -> Locator {
    SocketAddr::from((ip, port as u16)).into()
}

fn claimed(number: u8) -> GuidPrefix {
    if number + 1 == CLAIMED {
        return target::PREFIX;
    }
    GuidPrefix([1, 0x10, 0xfa, 0xce, 0, 0, 0, 0, 0, 0, 0, number])
}

/// A datagram in the making.
struct Draft {
    scene: Scene,
    names: Vec<Locator>,
    submessages: Vec<u8>,
    answers: bool,
}

impl Stream {
    pub(super) fn new(random: &mut Random) -> Self {
        Self {
            endian: *random.one_of(&[Endian::Little, Endian::Big]),
            answers_every: *random.one_of(&[1, 2, 8, usize::MAX]),
            announces_only: random.once_in(3),
            count: 0,
            number: 0,
        }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> Action {
        match random.below(12) {
            0 => Action::Pause(Duration::from_millis(random.below(300) as i64)),
            1 => Action::Pause(Duration::from_millis(random.below(12_000) as i64)),
            2 => Action::Write(4 + 4 * random.below(800)),
            _ => Action::Datagram(self.datagram(random)),
        }
    }

    fn datagram(&mut self, random: &mut Random) -> Forged {
        let from = claimed(random.below(usize::from(CLAIMED)) as u8);
        let directed = random.once_in(self.answers_every);
        let mut draft = Draft {
            scene: self.scene(from),
            names: Vec::new(),
            submessages: Vec::new(),
            answers: directed,
        };
        if self.announces_only {
            draft.submessages = draft.participant(random);
        } else {
            for _ in 0..1 + random.below(SUBMESSAGES_MAX) {
                self.submessage(random, &mut draft);
            }
        }
        let host = random.below(usize::from(SENDERS)) as u8;
        Forged {
            from: locator(sender(host, 7400)),
            bytes: draft.scene.message_of(from, directed, &draft.submessages),
            names: draft.names,
            answers: draft.answers,
        }
    }

    fn scene(&self, from: GuidPrefix) -> Scene {
        Scene {
            endian: self.endian,
            victim: target::PREFIX,
            attacker: from,
            honest: from,
            victim_reader: target::READER,
            victim_writer: target::WRITER,
            writer: EntityId([0, 0, 2, 3]),
            reader: EntityId([0, 0, 1, 4]),
            next_announcement: 1,
            next_sample: 1,
        }
    }

    fn submessage(&mut self, random: &mut Random, draft: &mut Draft) {
        self.count += 1;
        self.number += i64::from(random.once_in(2));
        let (count, number) = (self.count, self.number.max(1));
        let scene = draft.scene;
        let bytes = match random.below(16) {
            0..=4 => draft.participant(random),
            5 => {
                let key = scene.key(pid::PARTICIPANT_GUID, scene.attacker, EntityId::PARTICIPANT);
                scene.disposal_of(EntityId::SPDP_WRITER, 2, &key)
            }
            6 | 7 => draft.endpoint(random, number),
            8 => scene.builtin_heartbeat(*random.one_of(&Builtin::ALL), number, count),
            9 => scene.heartbeat(1, number, count),
            10 => scene.data(number, &scene.payload(1, &[7; 20])),
            11 => scene.gap(1, number, 0, &[]),
            12 => draft.acknack(random, count),
            13 | 14 => draft.reply_address(random),
            _ => {
                let other = claimed(random.below(usize::from(CLAIMED)) as u8);
                let body = scene.raw().bytes(&[0; 4]).bytes(&[2, 5, 1, 0x10]);
                scene.submessage(INFO_SRC, 0, body.bytes(&other.0))
            }
        };
        draft.submessages.extend(bytes);
    }
}

impl Draft {
    /// An address, which is named by that.
    fn name(&mut self, random: &mut Random) -> WireLocator {
        let at = match random.once_in(3) {
            true => {
                let host = random.below(usize::from(SENDERS)) as u8;
                sender(host, 7400 + random.below(3) as u32)
            }
            false => bystander(random.below(usize::from(BYSTANDERS)) as u8),
        };
        // A datagram counts once for each address.
        if !self.names.contains(&locator(at)) {
            self.names.push(locator(at));
        }
        at
    }

    fn participant(&mut self, random: &mut Random) -> Vec<u8> {
        let count = random.below(5);
        let at: Vec<_> = (0..count).map(|_| self.name(random)).collect();
        let lease = *random.one_of(&[(0, 0), (0, 1 << 29), (3, 0), (100, 0), (i32::MAX, u32::MAX)]);
        let who = self.scene.attacker;
        let data = self.scene.participant_data(who, lease, &at);
        self.scene.data_of(EntityId::SPDP_WRITER, 1, &data)
    }

    fn endpoint(&mut self, random: &mut Random, number: i64) -> Vec<u8> {
        let scene = self.scene;
        let reliability = scene.raw().u32(2).bytes(&[0; 8]);
        let mut more = vec![(pid::RELIABILITY, reliability)];
        for _ in 0..random.below(3) {
            let at = self.name(random);
            more.push(scene.endpoint_locator(at));
        }
        let (from, entity, topic) = match random.once_in(2) {
            true => (Builtin::Publications, scene.writer, "Circle"),
            false => (Builtin::Subscriptions, scene.reader, "Square"),
        };
        let data = scene.endpoint_data(entity, topic, &more);
        scene.builtin_data(from, number, &data)
    }

    /// What asks for everything, of discovery or of the user's writer.
    fn acknack(&mut self, random: &mut Random, count: u32) -> Vec<u8> {
        self.answers = true;
        match random.below(3) {
            0 => self.scene.sedp_acknack(),
            1 => self.scene.acknack(1, 32, &[u32::MAX], count),
            _ => self.scene.nack_frag(1, (1, 32, &[u32::MAX]), count),
        }
    }

    /// Where to answer, as who sends it wants.
    fn reply_address(&mut self, random: &mut Random) -> Vec<u8> {
        let at = self.name(random);
        let scene = self.scene;
        if random.once_in(2) {
            let body = scene.raw().bytes(&at.0).u32(at.1);
            return scene.submessage(INFO_REPLY_IP4, 0, body);
        }
        let (_, value) = scene.endpoint_locator(at);
        let body = scene.raw().u32(1).bytes(&value.done());
        scene.submessage(INFO_REPLY, 0, body)
    }
}
