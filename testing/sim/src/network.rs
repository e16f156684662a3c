//! A virtual datagram network with a clock of its own.
//!
//! Nodes have addresses, a bounded queue of arrived datagrams like a socket's buffer, and one link
//! to every other node per direction. Links lose, repeat, reorder, delay and refuse datagrams as
//! their [`Faults`] say; everything that is sent goes into one hash. The network knows bytes and
//! addresses only, never what is inside a datagram.

mod link;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::locator::Locator;
use whimbrel_base::time::{Duration, Instant};

pub use self::link::{Bursts, Faults};
use self::link::{Fate, Link};
use crate::random::{Random, TrafficHash};

/// Octets of an RTPS message before the prefix of its sender: what speaks in another's name is no
/// garbage. RTPS 2.5 §8.3.6.1.
const HEADER_BYTES: usize = 8;

/// What a datagram takes of a queue beside its octets: systems count the memory that holds it.
const DATAGRAM_CHARGE_BYTES: usize = 768;

/// Which node, counted from 0.
pub type NodeIndex = usize;

/// What a node is to the network.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// Nodes on the same host reach each other by loopback addresses.
    pub host: usize,
    /// Multicast does not leave its subnet.
    pub subnet: usize,
    /// Where it listens.
    pub addresses: Vec<Locator>,
    /// Multicast addresses it has joined.
    pub groups: Vec<Locator>,
    /// Octets that arrived datagrams which wait for it take at most.
    pub queue_bytes_max: usize,
    /// What it takes to handle one datagram.
    pub service: Duration,
}

#[derive(Debug)]
struct Node {
    settings: NodeSettings,
    queue: VecDeque<Arrived>,
    queue_bytes: usize,
    paused_until: Instant,
    serves_at: Option<Instant>,
    down: bool,
}

/// A datagram that has come through.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Who sent it; not for protocols to look at.
    pub source: NodeIndex,
    /// Where it was sent from.
    pub from: Locator,
    /// It is not what was sent.
    pub damaged: bool,
    /// What it is.
    pub bytes: SharedBytes,
}

#[derive(Debug)]
struct Flight {
    at: Instant,
    order: u64,
    to: NodeIndex,
    arrived: Arrived,
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// What happened to datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NetworkStatistics {
    /// Sent, one for each address.
    pub sent: u64,
    /// Octets sent.
    pub sent_bytes: u64,
    /// Lost on links.
    pub lost: u64,
    /// Dropped because a partition was in the way.
    pub partitioned: u64,
    /// Dropped because they were too long for a link.
    pub too_long: u64,
    /// Dropped because a node's queue was full.
    pub overflowed: u64,
    /// Sent to an address that nobody has.
    pub nowhere: u64,
    /// Arrived other than they were sent.
    pub damaged: u64,
}

/// The network.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    links: Vec<Link>,
    flights: BinaryHeap<Reverse<Flight>>,
    order: u64,
    random: Random,
    hash: TrafficHash,
    statistics: NetworkStatistics,
}

impl Arrived {
    /// What it takes of a queue.
    fn charge_bytes(&self) -> usize {
        self.bytes.len() + DATAGRAM_CHARGE_BYTES
    }
}

impl Network {
    /// A network whose links all do the same.
    pub fn new(nodes: Vec<NodeSettings>, faults: Faults, random: Random) -> Self {
        let link = Link::new(faults);
        let count = nodes.len();
        let nodes = nodes.into_iter().map(|settings| Node {
            settings,
            queue: VecDeque::new(),
            queue_bytes: 0,
            paused_until: Instant::ZERO,
            serves_at: None,
            down: false,
        });
        Self {
            nodes: nodes.collect(),
            links: vec![link; count * count],
            flights: BinaryHeap::new(),
            order: 0,
            random,
            hash: TrafficHash::EMPTY,
            statistics: NetworkStatistics::default(),
        }
    }

    fn link(&mut self, from: NodeIndex, to: NodeIndex) -> &mut Link {
        let index = from * self.nodes.len() + to;
        &mut self.links[index]
    }

    /// Has nothing ever get through from one node to another.
    pub fn close(&mut self, from: NodeIndex, to: NodeIndex) {
        self.link(from, to).closed = true;
    }

    /// Takes `node` off the network, with everything that waits for it, or puts it back.
    pub fn set_down(&mut self, node: NodeIndex, down: bool) {
        let node = &mut self.nodes[node];
        node.down = down;
        node.queue.clear();
        node.queue_bytes = 0;
        node.serves_at = None;
        node.paused_until = Instant::ZERO;
    }

    /// Changes what the link `from` one node `to` another does.
    pub fn set_faults(&mut self, from: NodeIndex, to: NodeIndex, faults: Faults) {
        self.link(from, to).faults = faults;
    }

    /// Takes all faults, partitions and pauses away; ways stay as long as they were.
    pub fn heal(&mut self, now: Instant) {
        for link in &mut self.links {
            link.faults = Faults {
                delay: link.faults.delay,
                datagram_bytes_max: link.faults.datagram_bytes_max,
                ..Faults::NONE
            };
            link.blocked_until = Instant::ZERO;
        }
        for node in 0..self.nodes.len() {
            self.nodes[node].paused_until = Instant::ZERO;
            self.serve_soon(now, node);
        }
    }

    /// Drops everything on the link `from` one node `to` another for a time.
    pub fn partition(&mut self, from: NodeIndex, to: NodeIndex, until: Instant) {
        self.link(from, to).blocked_until = until;
    }

    /// Has `node` neither receive nor act for a time.
    pub fn pause(&mut self, node: NodeIndex, until: Instant) {
        let node = &mut self.nodes[node];
        node.paused_until = node.paused_until.max(until);
        if let Some(at) = &mut node.serves_at {
            *at = (*at).max(until);
        }
    }

    /// When `node` can act again; long past where it is not paused.
    pub fn paused_until(&self, node: NodeIndex) -> Instant {
        self.nodes[node].paused_until
    }

    /// Forgets everything on its way from or to `node`, and what waits for it or came from it.
    pub fn purge(&mut self, node: NodeIndex) {
        self.flights
            .retain(|Reverse(flight)| flight.arrived.source != node && flight.to != node);
        for (index, other) in self.nodes.iter_mut().enumerate() {
            other
                .queue
                .retain(|arrived| index != node && arrived.source != node);
            other.queue_bytes = other.queue.iter().map(Arrived::charge_bytes).sum();
            other.serves_at = other.serves_at.filter(|_| !other.queue.is_empty());
        }
    }

    /// Sends one datagram from `from` to each of `to`. Multicast reaches every node that has
    /// joined, the sender too.
    pub fn send(&mut self, now: Instant, from: NodeIndex, to: &[Locator], bytes: SharedBytes) {
        self.hash.add(now.0);
        self.hash.add(from as u64);
        self.hash.add_bytes(&bytes);
        for locator in to {
            self.statistics.sent += 1;
            self.statistics.sent_bytes += bytes.len() as u64;
            self.hash.add(u64::from(locator.port));
            self.hash.add_bytes(&locator.address);
            let mut reached = false;
            for node in 0..self.nodes.len() {
                if self.listens(node, from, locator) {
                    reached = true;
                    let address = self.source_of(from, locator);
                    self.launch(
                        now,
                        from,
                        node,
                        Arrived {
                            source: from,
                            from: address,
                            damaged: false,
                            bytes: bytes.clone(),
                        },
                    );
                }
            }
            if !reached {
                self.statistics.nowhere += 1;
            }
        }
    }

    fn listens(&self, node: NodeIndex, from: NodeIndex, locator: &Locator) -> bool {
        let settings = &self.nodes[node].settings;
        if locator.is_multicast() {
            let sender = &self.nodes[from].settings;
            // Whoever has not joined has no route for the group either.
            let routed = settings.subnet == sender.subnet && sender.groups.contains(locator);
            return routed && settings.groups.contains(locator);
        }
        let same_host = settings.host == self.nodes[from].settings.host;
        settings.addresses.contains(locator) && (same_host || !locator.is_loopback())
    }

    fn source_of(&self, from: NodeIndex, to: &Locator) -> Locator {
        let addresses = &self.nodes[from].settings.addresses;
        let loopback = to.is_loopback();
        let fitting = addresses
            .iter()
            .find(|address| address.is_loopback() == loopback);
        fitting
            .or(addresses.first())
            .copied()
            .unwrap_or(Locator::INVALID)
    }

    fn launch(&mut self, now: Instant, from: NodeIndex, to: NodeIndex, arrived: Arrived) {
        if from == to {
            self.fly(now.after(Faults::NONE.delay), to, arrived);
            return;
        }
        let mut random = self.random.clone();
        let link = self.link(from, to);
        let fate = link.decide(now, arrived.bytes.len(), &mut random);
        match fate {
            Fate::Partitioned => self.statistics.partitioned += 1,
            Fate::TooLong => self.statistics.too_long += 1,
            Fate::Lost => self.statistics.lost += 1,
            Fate::Arrives { at, again } => {
                let arrived = self.damage(from, to, arrived, &mut random);
                if let Some(again) = again {
                    self.fly(again, to, arrived.clone());
                }
                self.fly(at, to, arrived);
            }
        }
        self.random = random;
    }

    fn damage(
        &mut self,
        from: NodeIndex,
        to: NodeIndex,
        arrived: Arrived,
        random: &mut Random,
    ) -> Arrived {
        let faults = self.link(from, to).faults;
        let garbage = random.chance(faults.garbage_permille);
        if !garbage && !random.chance(faults.flip_permille) {
            return arrived;
        }
        self.statistics.damaged += 1;
        let mut bytes = arrived.bytes.to_vec();
        let longest = if garbage { HEADER_BYTES } else { bytes.len() };
        let at = random.below(longest.min(bytes.len()).max(1) as u64) as usize;
        match random.below(3) {
            0 if garbage => bytes
                .iter_mut()
                .for_each(|byte| *byte = random.below(256) as u8),
            1 if garbage => bytes.truncate(at),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        Arrived {
            bytes: SharedBytes::from_vec(bytes),
            damaged: true,
            ..arrived
        }
    }

    fn fly(&mut self, at: Instant, to: NodeIndex, arrived: Arrived) {
        self.order += 1;
        self.flights.push(Reverse(Flight {
            at,
            order: self.order,
            to,
            arrived,
        }));
    }

    /// When something arrives or is handled next.
    pub fn next_at(&self) -> Option<Instant> {
        let serves = self.nodes.iter().filter_map(|node| node.serves_at).min();
        let arrives = self.flights.peek().map(|Reverse(flight)| flight.at);
        match (serves, arrives) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Moves on what is due at `now`; gives out the next datagram that a node is to handle.
    pub fn receive(&mut self, now: Instant) -> Option<(NodeIndex, Arrived)> {
        while self
            .flights
            .peek()
            .is_some_and(|Reverse(flight)| flight.at <= now)
        {
            if let Some(Reverse(flight)) = self.flights.pop() {
                self.arrive(now, flight);
            }
        }
        let due = |node: &Node| node.serves_at.is_some_and(|at| at <= now);
        let index = self.nodes.iter().position(due)?;
        let node = &mut self.nodes[index];
        let arrived = node.queue.pop_front()?;
        node.queue_bytes -= arrived.charge_bytes();
        node.serves_at = (!node.queue.is_empty()).then(|| now.after(node.settings.service));
        Some((index, arrived))
    }

    fn arrive(&mut self, now: Instant, flight: Flight) {
        let node = &mut self.nodes[flight.to];
        if node.down {
            return;
        }
        let bytes = node.queue_bytes + flight.arrived.charge_bytes();
        // Systems take any datagram while nothing waits.
        if !node.queue.is_empty() && bytes > node.settings.queue_bytes_max {
            self.statistics.overflowed += 1;
            return;
        }
        node.queue_bytes = bytes;
        node.queue.push_back(flight.arrived);
        self.serve_soon(now, flight.to);
    }

    fn serve_soon(&mut self, now: Instant, node: NodeIndex) {
        let node = &mut self.nodes[node];
        if !node.queue.is_empty() {
            let soon = now.after(node.settings.service).max(node.paused_until);
            node.serves_at = Some(node.serves_at.map_or(soon, |at| at.min(soon)));
        }
    }

    /// What happened to datagrams so far.
    pub fn statistics(&self) -> NetworkStatistics {
        self.statistics
    }

    /// The hash of everything sent: when, by whom, to where and what.
    pub fn hash(&self) -> TrafficHash {
        self.hash
    }
}

#[cfg(test)]
mod tests;
