//! A virtual datagram network with a clock of its own.
//!
//! Nodes have addresses, a bounded queue of arrived datagrams like a socket's buffer, and one link
//! to every other node per direction. Links lose, repeat, reorder, delay and refuse datagrams as
//! their [`Faults`] say; everything that is sent goes into one hash. The network knows bytes and
//! addresses only, never what is inside a datagram.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::locator::Locator;
use whimbrel_base::time::{Duration, Instant};

use crate::random::{Random, TrafficHash};

/// Which node, counted from 0.
pub type NodeIndex = usize;

/// Losses that come in bursts. Gilbert and Elliott's model of two states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bursts {
    /// How often, per thousand datagrams, a burst begins.
    pub enter_permille: u32,
    /// How often it ends.
    pub leave_permille: u32,
    /// How many are lost while it lasts.
    pub loss_permille: u32,
}

/// What a link does to datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Faults {
    /// Datagrams lost independently, per thousand.
    pub loss_permille: u32,
    /// Losses in bursts.
    pub bursts: Option<Bursts>,
    /// Datagrams that arrive twice, per thousand.
    pub duplicate_permille: u32,
    /// Datagrams that are overtaken by later ones, per thousand.
    pub reorder_permille: u32,
    /// Shortest way.
    pub delay: Duration,
    /// What may be added to it, without changing the order.
    pub jitter: Duration,
    /// How late an overtaken or repeated datagram may be.
    pub late: Duration,
    /// Longer datagrams are dropped.
    pub datagram_bytes_max: usize,
}

impl Faults {
    /// A link that does nothing to datagrams but take a moment.
    pub const NONE: Self = Self {
        loss_permille: 0,
        bursts: None,
        duplicate_permille: 0,
        reorder_permille: 0,
        delay: Duration::from_micros(50),
        jitter: Duration::ZERO,
        late: Duration::ZERO,
        datagram_bytes_max: 65_507,
    };
}

#[derive(Clone, Debug)]
struct Link {
    faults: Faults,
    in_burst: bool,
    blocked_until: Instant,
    last_arrival: Instant,
}

/// What a node is to the network.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// Nodes on the same host reach each other by loopback addresses.
    pub host: usize,
    /// Where it listens.
    pub addresses: Vec<Locator>,
    /// Multicast addresses it has joined.
    pub groups: Vec<Locator>,
    /// Octets of arrived datagrams that wait for it at most.
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
}

/// A datagram that has come through.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// Who sent it; not for protocols to look at.
    pub source: NodeIndex,
    /// Where it was sent from.
    pub from: Locator,
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

impl Network {
    /// A network whose links all do the same.
    pub fn new(nodes: Vec<NodeSettings>, faults: Faults, random: Random) -> Self {
        let link = Link {
            faults,
            in_burst: false,
            blocked_until: Instant::ZERO,
            last_arrival: Instant::ZERO,
        };
        let count = nodes.len();
        let nodes = nodes.into_iter().map(|settings| Node {
            settings,
            queue: VecDeque::new(),
            queue_bytes: 0,
            paused_until: Instant::ZERO,
            serves_at: None,
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
            other.queue_bytes = other.queue.iter().map(|arrived| arrived.bytes.len()).sum();
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
            return settings.groups.contains(locator);
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
                if let Some(again) = again {
                    self.fly(again, to, arrived.clone());
                }
                self.fly(at, to, arrived);
            }
        }
        self.random = random;
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
        node.queue_bytes -= arrived.bytes.len();
        node.serves_at = (!node.queue.is_empty()).then(|| now.after(node.settings.service));
        Some((index, arrived))
    }

    fn arrive(&mut self, now: Instant, flight: Flight) {
        let node = &mut self.nodes[flight.to];
        let bytes = node.queue_bytes + flight.arrived.bytes.len();
        if bytes > node.settings.queue_bytes_max {
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

enum Fate {
    Partitioned,
    TooLong,
    Lost,
    Arrives { at: Instant, again: Option<Instant> },
}

impl Link {
    fn decide(&mut self, now: Instant, len: usize, random: &mut Random) -> Fate {
        let faults = self.faults;
        if len > faults.datagram_bytes_max {
            return Fate::TooLong;
        }
        if now < self.blocked_until {
            return Fate::Partitioned;
        }
        let mut loss = faults.loss_permille;
        if let Some(bursts) = faults.bursts {
            let turns = if self.in_burst {
                bursts.leave_permille
            } else {
                bursts.enter_permille
            };
            self.in_burst ^= random.chance(turns);
            if self.in_burst {
                loss = loss.max(bursts.loss_permille);
            }
        }
        if random.chance(loss) {
            return Fate::Lost;
        }
        let mut at = now.after(faults.delay).after(random.span(faults.jitter));
        if random.chance(faults.reorder_permille) {
            at = at.after(random.span(faults.late));
        } else {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        let again = random
            .chance(faults.duplicate_permille)
            .then(|| at.after(random.span(faults.late)));
        Fate::Arrives { at, again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn address(text: &str) -> Locator {
        text.parse::<SocketAddr>().unwrap().into()
    }

    fn network(faults: Faults) -> Network {
        let node = |index: usize| NodeSettings {
            host: index / 2,
            addresses: vec![
                address(&format!("10.0.0.{}:{}", index / 2 + 1, 7000 + index)),
                address(&format!("127.0.0.1:{}", 7000 + index)),
            ],
            groups: vec![address("239.255.0.1:7400")],
            queue_bytes_max: 100,
            service: Duration::ZERO,
        };
        Network::new((0..3).map(node).collect(), faults, Random::new(5))
    }

    fn receivers(network: &mut Network, until: Instant) -> Vec<(NodeIndex, Vec<u8>)> {
        let mut all = vec![];
        while let Some(now) = network.next_at().filter(|at| *at <= until) {
            while let Some((node, arrived)) = network.receive(now) {
                all.push((node, arrived.bytes.to_vec()));
            }
        }
        all
    }

    fn bytes(byte: u8) -> SharedBytes {
        SharedBytes::copy_from(&[byte; 10])
    }

    const START: Instant = Instant(1_000_000_000);
    const LATER: Instant = Instant(9_000_000_000);

    #[test]
    fn addresses_decide_who_receives() {
        let mut network = network(Faults::NONE);
        let cases: [(&str, &[usize]); 5] = [
            ("10.0.0.2:7002", &[2]),
            ("127.0.0.1:7001", &[1]),
            ("127.0.0.1:7002", &[]),
            ("239.255.0.1:7400", &[0, 1, 2]),
            ("239.255.0.1:7401", &[]),
        ];
        for (to, expected) in cases {
            network.send(START, 0, &[address(to)], bytes(1));
            let mut nodes: Vec<_> = receivers(&mut network, LATER)
                .into_iter()
                .map(|(node, _)| node)
                .collect();
            nodes.sort_unstable();
            assert_eq!(nodes, expected, "{to}");
        }
    }

    #[test]
    fn faults_do_what_they_say() {
        let to = [address("10.0.0.2:7002")];
        let check = |faults: Faults| {
            let mut network = network(faults);
            for byte in 0..200 {
                let now = Instant(START.0 + u64::from(byte) * 1_000_000);
                network.send(now, 0, &to, bytes(byte));
            }
            let order: Vec<u8> = receivers(&mut network, LATER)
                .into_iter()
                .map(|(_, bytes)| bytes[0])
                .collect();
            order
        };
        let all: Vec<u8> = (0..200).collect();
        assert_eq!(check(Faults::NONE), all);
        let jitter = Faults {
            jitter: Duration::from_millis(20),
            ..Faults::NONE
        };
        assert_eq!(
            check(Faults {
                jitter: Duration::from_micros(3),
                ..jitter
            }),
            all
        );
        let lossy = check(Faults {
            loss_permille: 400,
            ..Faults::NONE
        });
        assert!((90..150).contains(&lossy.len()));
        assert!(lossy.is_sorted());
        let late = Duration::from_millis(5);
        let mut mixed = check(Faults {
            reorder_permille: 300,
            late,
            ..Faults::NONE
        });
        assert!(!mixed.is_sorted());
        mixed.sort_unstable();
        assert_eq!(mixed, all);
        let twice = check(Faults {
            duplicate_permille: 1000,
            late,
            ..Faults::NONE
        });
        assert_eq!(twice.len(), 400);
        let bursts = Bursts {
            enter_permille: 50,
            leave_permille: 100,
            loss_permille: 1000,
        };
        let burst = check(Faults {
            bursts: Some(bursts),
            ..Faults::NONE
        });
        let gaps = burst
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 3)
            .count();
        assert!(gaps > 1 && burst.len() > 50, "{burst:?}");
        assert!(
            check(Faults {
                datagram_bytes_max: 9,
                ..Faults::NONE
            })
            .is_empty()
        );
    }

    #[test]
    fn partitions_pauses_and_full_queues() {
        let mut network = network(Faults::NONE);
        let to = [address("10.0.0.2:7002")];
        let until = START.after(Duration::from_secs(1));
        network.partition(0, 2, until);
        network.send(START, 0, &to, bytes(1));
        network.send(START, 1, &to, bytes(2));
        assert_eq!(receivers(&mut network, LATER), [(2, vec![2; 10])]);
        network.pause(2, until);
        for byte in 0..20 {
            network.send(START, 1, &to, bytes(byte));
        }
        let soon = START.after(Duration::from_millis(10));
        assert!(receivers(&mut network, soon).is_empty());
        assert_eq!(network.statistics().overflowed, 10);
        assert_eq!(network.next_at(), Some(until));
        assert_eq!(receivers(&mut network, LATER).len(), 10);
        assert_eq!(network.next_at(), None);
    }
}
