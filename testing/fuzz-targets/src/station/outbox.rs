//! What a station sends, with a bound on each round.

use std::collections::{BTreeMap, VecDeque};

use whimbrel_base::locator::Locator;
use whimbrel_proto::Outbox;

/// Datagrams that one round of draining may send.
const PACKETS_PER_ROUND_MAX: usize = 512;

/// Octets that one round of draining may send.
const BYTES_PER_ROUND_MAX: usize = 128 * 1024;

/// A datagram on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Where it goes.
    pub to: Locator,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// What was sent.
#[derive(Default)]
pub struct Outgoing {
    /// Datagrams that nobody has fetched yet, if they are kept.
    pub packets: VecDeque<Packet>,
    /// Whether datagrams are kept.
    pub keeps: bool,
    /// Octets ever sent to each address.
    pub(super) sent: BTreeMap<Locator, u64>,
    round_packets: usize,
    round_bytes: usize,
}

impl Outgoing {
    pub(super) fn begin_round(&mut self) {
        self.round_packets = 0;
        self.round_bytes = 0;
    }
}

impl Outbox for Outgoing {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let bytes = parts.concat();
        for to in to {
            self.round_packets += 1;
            self.round_bytes += bytes.len();
            *self.sent.entry(*to).or_default() += bytes.len() as u64;
            if self.keeps {
                self.packets.push_back(Packet {
                    to: *to,
                    bytes: bytes.clone(),
                });
            }
        }
        assert!(
            self.round_packets <= PACKETS_PER_ROUND_MAX && self.round_bytes <= BYTES_PER_ROUND_MAX,
            "{} datagrams of {} octets at once",
            self.round_packets,
            self.round_bytes
        );
    }
}
