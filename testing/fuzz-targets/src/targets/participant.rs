//! A whole participant, fed with datagrams, time and the acts of its application.
//!
//! The input is a sequence of actions: an octet whose low four bits say what happens and whose
//! high four bits say which way, two octets of length (little endian), and so many octets. What
//! must hold after each of them is asserted in [`crate::station`].

use std::collections::BTreeSet;

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::VendorId;
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::peer::{MatchedReader, MatchedWriter};

use crate::station::{self, Station, TRUSTED, metatraffic, prefix, topics, user};

/// Which station is attacked.
const OWN: u8 = 1;

/// Actions of one input that are looked at.
const ACTIONS_MAX: usize = 320;

/// Endpoints that may be matched without discovery at a time.
const DIRECT_MATCHES_MAX: usize = 3;

/// What an action does.
pub mod kind {
    /// A datagram; the way is the address it comes from.
    pub const DATAGRAM: u8 = 0;
    /// Submessages behind a good header; the way is the participant, plus 4 where the message is
    /// for us alone.
    pub const SUBMESSAGES: u8 = 1;
    /// Time passes: microseconds, little endian.
    pub const TIME: u8 = 2;
    /// An endpoint is matched without discovery: number of the participant, flags (see
    /// [`super::flag`]).
    pub const MATCH: u8 = 3;
    /// Such a match ends.
    pub const UNMATCH: u8 = 4;
    /// A sample with this content is written; the way is the writer.
    pub const WRITE: u8 = 5;
    /// A sample of so many octets (16 bits, little endian) is written.
    pub const WRITE_LARGE: u8 = 6;
    /// Samples are taken; the way is the reader.
    pub const TAKE: u8 = 7;
    /// Samples are read.
    pub const READ: u8 = 8;
    /// An instance ends: key, what happens to it.
    pub const END_INSTANCE: u8 = 9;
    /// An endpoint is closed, or announced again; 8 more, and the writer is one of batches anew.
    pub const ENDPOINT: u8 = 10;
    /// We leave.
    pub const DEPART: u8 = 11;
}

/// What an endpoint is that is matched without discovery.
pub mod flag {
    /// It is best-effort.
    pub const BEST_EFFORT: u8 = 1;
    /// It is volatile.
    pub const VOLATILE: u8 = 2;
    /// The reader wants inline QoS.
    pub const INLINE_QOS: u8 = 4;
    /// The reader's path takes large messages.
    pub const LARGE_MESSAGES: u8 = 8;
    /// The writer sends batches, the reader takes them.
    pub const BATCHES: u8 = 16;
    /// The writer compresses, the reader takes what is compressed.
    pub const PACKS: u8 = 32;
}

/// One action as it stands in an input.
pub fn action(what: u8, way: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![what | way << 4];
    bytes.extend((body.len() as u16).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Plays a sequence of actions.
pub fn participant(data: &[u8]) {
    play(data);
}

/// Plays a sequence of actions and gives back what became of the participant.
pub fn play(data: &[u8]) -> Station {
    let mut player = Player {
        station: Station::new(OWN, topics(OWN)),
        direct: BTreeSet::new(),
    };
    player.station.drain();
    let mut rest = data;
    for _ in 0..ACTIONS_MAX {
        let [what, low, high, body @ ..] = rest else {
            break;
        };
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(body.len());
        let (body, after) = body.split_at(len);
        rest = after;
        player.act(what & 15, what >> 4, body);
    }
    player.station.advance(Duration::from_secs(1));
    player.station
}

struct Player {
    station: Station,
    /// Matches made without discovery: the other's entity and our endpoint's index.
    direct: BTreeSet<(Guid, usize)>,
}

impl Player {
    fn act(&mut self, what: u8, way: u8, body: &[u8]) {
        let index = usize::from(way & 1);
        let first = body.first().copied().unwrap_or(0);
        match what {
            kind::SUBMESSAGES => {
                let message = headed(way, body);
                self.station.receive(metatraffic(peer(way)), &message);
            }
            kind::TIME => self.station.advance(micros(body)),
            kind::MATCH => self.match_directly(way, body),
            kind::UNMATCH => self.unmatch_directly(way, first),
            kind::WRITE => {
                let payload = [&[0, 1, 0, 0][..], body].concat();
                let _ = self.station.write(index, ChangeKind::Alive, first, payload);
            }
            kind::WRITE_LARGE => {
                let more = body.get(1).copied().unwrap_or(0);
                let len = usize::from(u16::from_le_bytes([first, more]) % 10_000).max(5);
                let _ = self
                    .station
                    .write(index, ChangeKind::Alive, 0, vec![0; len]);
            }
            kind::TAKE | kind::READ => {
                self.station.fetch(index, what == kind::TAKE);
            }
            kind::END_INSTANCE => {
                let end = match body.get(1).copied().unwrap_or(0) % 3 {
                    0 => ChangeKind::Disposed,
                    1 => ChangeKind::Unregistered,
                    _ => ChangeKind::DisposedUnregistered,
                };
                let payload = vec![0, 1, 0, 0, first];
                let _ = self.station.write(index, end, first, payload);
            }
            kind::ENDPOINT => self.change_endpoint(way, index),
            kind::DEPART => self.station.depart(),
            _ => self.station.receive(source(way), body),
        }
    }

    fn change_endpoint(&mut self, way: u8, index: usize) {
        if way & 8 != 0 {
            let ours = |(guid, at): &(Guid, usize)| {
                *at == index && (0..4).any(|number| stranger(number, index, true) == *guid)
            };
            self.direct.retain(|it| !ours(it));
            return self.station.batch_writer(index);
        }
        match way >> 1 & 3 {
            0 => self.station.close_writer(index),
            1 => self.station.close_reader(index),
            2 => self.station.announce_writer(index),
            _ => self.station.announce_reader(index),
        }
    }

    fn match_directly(&mut self, way: u8, body: &[u8]) {
        let (index, is_reader) = (usize::from(way & 1), way & 2 != 0);
        let flags = body.get(1).copied().unwrap_or(0);
        let guid = stranger(body.first().copied().unwrap_or(0), index, is_reader);
        let known = self.direct.contains(&(guid, index));
        if !known && self.direct.len() >= DIRECT_MATCHES_MAX {
            return;
        }
        self.direct.insert((guid, index));
        let now = self.station.now;
        let is = |flag: u8| flags & flag != 0;
        let (reliable, durable) = (!is(flag::BEST_EFFORT), !is(flag::VOLATILE));
        let (batches, packs) = (is(flag::BATCHES), is(flag::PACKS));
        let locators = vec![user(TRUSTED)];
        if is_reader {
            let reader = MatchedReader {
                receive_buffer_bytes: u32::from(flags & flag::LARGE_MESSAGES) << 10,
                group: None,
                packed_messages: match packs {
                    true => CompressionIds::ALL,
                    false => CompressionIds::NONE,
                },
                packed: packs,
                batches,
                guid,
                reliable,
                durable,
                expects_inline_qos: is(flag::INLINE_QOS),
                locators,
                message_bytes_max: match is(flag::LARGE_MESSAGES) {
                    true => 65_507,
                    false => 512,
                },
                vendor: VendorId::WHIMBREL,
            };
            self.station.writers[index].handle_matched(now, reader);
        } else {
            let writer = MatchedWriter {
                packs,
                batches,
                guid,
                reliable,
                durable,
                locators,
                vendor: VendorId::WHIMBREL,
            };
            self.station.match_writer(index, writer);
        }
        self.station.drain();
    }

    fn unmatch_directly(&mut self, way: u8, number: u8) {
        let (index, is_reader) = (usize::from(way & 1), way & 2 != 0);
        let guid = stranger(number, index, is_reader);
        self.direct.remove(&(guid, index));
        if is_reader {
            let now = self.station.now;
            self.station.writers[index].handle_unmatched(now, guid, true);
        } else {
            self.station.unmatch_writer(index, guid);
        }
        self.station.drain();
    }
}

/// An endpoint of a participant that discovery may know or not.
pub fn stranger(number: u8, index: usize, is_reader: bool) -> Guid {
    let entity = match (is_reader, index) {
        (true, 0) => EntityId([0, 0, 3, 7]),
        (true, _) => EntityId([0, 0, 4, 4]),
        (false, 0) => EntityId([0, 0, 1, 2]),
        (false, _) => EntityId([0, 0, 2, 3]),
    };
    Guid::new(prefix(peer(number)), entity)
}

/// The stations that speak: 2 to 5.
const fn peer(way: u8) -> u8 {
    2 + (way & 3)
}

fn source(way: u8) -> Locator {
    match way & 3 {
        0 => metatraffic(2),
        1 => metatraffic(3),
        2 => station::far_away(),
        _ => metatraffic(OWN),
    }
}

/// A message of a known vendor with `body` for its submessages.
fn headed(way: u8, body: &[u8]) -> Vec<u8> {
    let mut message = b"RTPS\x02\x05".to_vec();
    message.extend(VendorId::WHIMBREL.0);
    message.extend(prefix(peer(way)).0);
    if way & 4 != 0 {
        message.extend([0x0e, 1, 12, 0]);
        message.extend(prefix(OWN).0);
    }
    message.extend(body);
    message
}

fn micros(body: &[u8]) -> Duration {
    let number = body
        .iter()
        .take(5)
        .rev()
        .fold(0i64, |number, octet| number << 8 | i64::from(*octet));
    Duration::from_micros(number)
}
