//! Scenarios: who there is, what they do when, and what the network does to them; all of it from
//! one seed.

mod plans;
mod print;
pub mod script;
mod wide;

use whimbrel_base::time::{Duration, Instant};
use whimbrel_proto::change::ChangeKind;

pub use self::plans::{Form, ReaderPlan, WriterPlan};
use self::plans::{reader_plan, writer_plan};
use crate::network::{Bursts, Faults, NodeIndex};
use crate::random::{Random, mix};

/// When every scenario begins; a little after zero, as clocks do.
pub const START: Instant = Instant(1_000_000_000);

/// Mixed into a seed to tell whether all is on one host; seeds that once failed are not.
const ONE_HOST: u64 = 29 << 56;

/// The same of whether all endpoints are on one node.
const ONE_NODE: u64 = 30 << 56;

/// How a node's clock that only goes forward differs from the world's.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ClockPlan {
    /// How much more it showed when the scenario began, in nanoseconds.
    pub origin_ns: u64,
    /// How much faster it runs, in millionths.
    pub drift_ppm: i32,
}

/// A family of scenarios.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Two to four nodes whose endpoints are told of each other.
    Given,
    /// Two to four nodes with discovery.
    Discovery,
    /// Two to twelve nodes with discovery in several subnets, with clocks that differ, nodes that
    /// crash, links that damage what they carry, and everything else.
    Wide,
}

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A writer begins.
    StartWriter(usize),
    /// A writer is deleted.
    StopWriter(usize),
    /// A reader begins.
    StartReader(usize),
    /// A reader is deleted.
    StopReader(usize),
    /// An application writes.
    Write {
        /// With which writer.
        writer: usize,
        /// What.
        kind: ChangeKind,
        /// Which instance.
        key: u32,
        /// How many octets.
        bytes: usize,
    },
    /// Nothing gets from one node to another for a time.
    Partition {
        /// From here.
        from: NodeIndex,
        /// To there.
        to: NodeIndex,
        /// How long.
        span: Duration,
    },
    /// A node stands still for a time.
    Pause {
        /// Which.
        node: NodeIndex,
        /// How long.
        span: Duration,
    },
    /// A node ends without a word and begins anew.
    Restart {
        /// Which.
        node: NodeIndex,
        /// With the GUID prefix it had; where there is discovery, with another one, but not
        /// without a word.
        same_prefix: bool,
    },
    /// The wall clock is set.
    SetWallClock {
        /// Whose; everybody's where there is none.
        node: Option<NodeIndex>,
        /// By how much, in nanoseconds.
        step_ns: i64,
    },
    /// A node ends without a word, and begins anew after a while.
    Crash {
        /// Which.
        node: NodeIndex,
        /// How long it is away.
        down: Duration,
        /// With the GUID prefix it had.
        same_prefix: bool,
    },
    /// A node says goodbye and does not come back.
    Leave {
        /// Which.
        node: NodeIndex,
    },
}

/// A whole scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Where it comes from.
    pub seed: u64,
    /// Samples travel compressed, in bundles and in batches, as the seed has it.
    pub forms: bool,
    /// Matches are found by discovery instead of being given.
    pub discovery: bool,
    /// On which host each node is.
    pub hosts: Vec<usize>,
    /// The topics have a key with so many values.
    pub keys: Option<u32>,
    /// Topics without key all the same.
    pub keyless: Vec<usize>,
    /// In which subnet each node is.
    pub subnets: Vec<usize>,
    /// Nodes without multicast though the network has it.
    pub deaf: Vec<NodeIndex>,
    /// Nodes whose participants do not say in which process they run.
    pub anonymous: Vec<NodeIndex>,
    /// Who never hears whom: from and to.
    pub blocked: Vec<(NodeIndex, NodeIndex)>,
    /// The clock of each node.
    pub clocks: Vec<ClockPlan>,
    /// How long participants are kept without a word.
    pub lease: Duration,
    /// How often they announce themselves.
    pub announce_period: Duration,
    /// User data goes to a multicast group.
    pub multicast_data: bool,
    /// The network has multicast (for discovery).
    pub multicast: bool,
    /// Participants announce loopback addresses too (for discovery).
    pub loopback: bool,
    /// Longest datagram.
    pub datagram_bytes_max: usize,
    /// Octets of a node's queue of arrived datagrams.
    pub queue_bytes_max: usize,
    /// Participants say how much that is, as they do where their system tells them.
    pub queue_told: bool,
    /// Writers hand what they write to readers of their node, past the network.
    pub in_process: bool,
    /// What a node takes to handle a datagram.
    pub service: Duration,
    /// What each link does, by from * nodes + to.
    pub faults: Vec<Faults>,
    /// The writers.
    pub writers: Vec<WriterPlan>,
    /// The readers.
    pub readers: Vec<ReaderPlan>,
    /// What happens when, in order.
    pub actions: Vec<(Instant, Action)>,
    /// How long after an endpoint's beginning or end the others learn of it at most.
    pub news_delay: Duration,
    /// When all faults end.
    pub heals_at: Instant,
}

impl Scenario {
    /// The scenario of `seed` of one kind.
    pub fn of(kind: Kind, seed: u64) -> Self {
        match kind {
            Kind::Given => Self::new(seed, false),
            Kind::Discovery => Self::new(seed, true),
            Kind::Wide => Self::wide(seed),
        }
    }

    /// The scenario of `seed` with two to four nodes.
    pub fn new(seed: u64, discovery: bool) -> Self {
        let mut random = Random::new(seed ^ if discovery { 0x5c1e_7000_0000 } else { 0 });
        let nodes = random.between(2, 4) as usize;
        let lasts = Duration::from_millis(random.pick(&[300, 1000, 3000, 6000, 20_000]) as i64);
        let lasts = if discovery {
            lasts.after_secs(2)
        } else {
            lasts
        };
        let keys = random.chance(600).then(|| random.pick(&[1, 2, 5, 30]));
        let mtu = random.pick(&[508, 1200, 1472, 1472, 8952, 65_507]);
        let mut scenario = Self {
            seed,
            forms: true,
            discovery,
            hosts: (0..nodes)
                .map(|node| if random.chance(300) { 0 } else { node })
                .collect(),
            keys,
            keyless: Vec::new(),
            subnets: vec![0; nodes],
            deaf: Vec::new(),
            anonymous: Vec::new(),
            blocked: Vec::new(),
            clocks: vec![ClockPlan::default(); nodes],
            lease: Duration::from_secs(3),
            announce_period: Duration::from_secs(1),
            multicast_data: !discovery && random.chance(250),
            multicast: random.chance(600),
            loopback: false,
            datagram_bytes_max: mtu,
            queue_bytes_max: random.pick(&[64 << 10, 208 << 10, 4 << 20]),
            queue_told: tells_queue(seed),
            in_process: hands_over(seed),
            service: Duration::from_micros(random.pick(&[0, 0, 2, 20])),
            faults: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            actions: Vec::new(),
            news_delay: Duration::from_millis(random.pick(&[0, 5, 100, 800])),
            heals_at: START.after(lasts),
        };
        scenario.faults = links(&mut random, nodes, mtu);
        scenario.add_endpoints(&mut random, nodes);
        scenario.share_host();
        scenario.share_node();
        scenario.add_writes(&mut random, lasts);
        scenario.add_trouble(&mut random, lasts, nodes);
        if discovery {
            scenario.prepare_discovery(&mut random);
        }
        scenario.actions.sort_by_key(|(at, _)| *at);
        scenario
    }

    /// Two topics, and packets that IP takes apart where they are too long for a link.
    fn prepare_discovery(&mut self, random: &mut Random) {
        self.loopback = random.chance(500);
        for plan in &mut self.writers {
            plan.topic = usize::from(random.chance(150));
        }
        for plan in &mut self.readers {
            plan.topic = usize::from(random.chance(150));
        }
        for faults in &mut self.faults {
            faults.datagram_bytes_max = Faults::NONE.datagram_bytes_max;
        }
    }

    fn add_endpoints(&mut self, random: &mut Random, nodes: usize) {
        let all_reliable = random.chance(700);
        let all_durable = random.chance(400);
        for _ in 0..random.pick(&[1, 1, 1, 2, 3]) {
            self.writers
                .push(writer_plan(random, nodes, all_reliable, all_durable));
        }
        for _ in 0..random.pick(&[1, 1, 2, 3, 4]) {
            self.readers.push(reader_plan(random, nodes, all_reliable));
        }
    }

    /// One seed in eight has all nodes on one host and readers without reliability, for whom
    /// writers hold back what queues would not hold.
    fn share_host(&mut self) {
        if !mix(self.seed ^ ONE_HOST).is_multiple_of(8) {
            return;
        }
        self.hosts.fill(0);
        self.subnets.fill(0);
        self.blocked.clear();
        for plan in &mut self.readers {
            plan.reliable = false;
        }
    }

    /// One in four of the seeds that hand over within a node has all endpoints on one, where
    /// nothing is kept for others.
    fn share_node(&mut self) {
        if !self.in_process || !mix(self.seed ^ ONE_NODE).is_multiple_of(4) {
            return;
        }
        let node = self.writers.first().map_or(0, |plan| plan.node);
        for plan in &mut self.writers {
            plan.node = node;
        }
        for plan in &mut self.readers {
            plan.node = node;
        }
    }

    fn add_writes(&mut self, random: &mut Random, lasts: Duration) {
        let bulk = random.chance(200);
        for writer in 0..self.writers.len() {
            let count = random
                .pick(&[1u64, 5, 20, 60, 150, 400])
                .min(if bulk { 30 } else { 400 });
            let mut at = START.after(random.span(lasts.divided_by(4)));
            self.actions.push((START, Action::StartWriter(writer)));
            let pace = lasts.divided_by(count as u32);
            for _ in 0..count {
                // Some in one go, others far apart.
                if !random.chance(400) {
                    at = at.after(random.span(pace));
                }
                let (kind, key) = self.change(random);
                let bytes = sample_bytes(random, bulk, self.datagram_bytes_max);
                self.actions.push((
                    at,
                    Action::Write {
                        writer,
                        kind,
                        key,
                        bytes,
                    },
                ));
            }
        }
    }

    /// The number of keys of a topic; `None` where it has no key.
    pub fn keys_of(&self, topic: usize) -> Option<u32> {
        self.keys.filter(|_| !self.keyless.contains(&topic))
    }

    /// Octets that a participant says its queue holds; zero where it does not say.
    pub fn told_queue_bytes(&self) -> u32 {
        let told = u32::try_from(self.queue_bytes_max).unwrap_or(u32::MAX);
        if self.queue_told { told } else { 0 }
    }

    /// True when datagrams get through between two nodes both ways.
    pub fn reach_each_other(&self, one: NodeIndex, other: NodeIndex) -> bool {
        let is_blocked =
            |way: &(NodeIndex, NodeIndex)| *way == (one, other) || *way == (other, one);
        !self.blocked.iter().any(is_blocked)
    }

    /// True when the multicast of two nodes reaches the other one.
    pub fn share_group(&self, one: NodeIndex, other: NodeIndex) -> bool {
        let deaf = self.deaf.contains(&one) || self.deaf.contains(&other);
        self.multicast && !deaf && self.subnets[one] == self.subnets[other]
    }

    /// True when datagrams may arrive other than they were sent in ways that nobody can tell.
    pub fn lies(&self) -> bool {
        self.faults.iter().any(|link| link.flip_permille > 0)
    }

    fn change(&self, random: &mut Random) -> (ChangeKind, u32) {
        let Some(keys) = self.keys else {
            return (ChangeKind::Alive, 0);
        };
        let kind = match random.below(20) {
            0 | 1 => ChangeKind::Disposed,
            2 => ChangeKind::Unregistered,
            3 => ChangeKind::DisposedUnregistered,
            _ => ChangeKind::Alive,
        };
        (kind, random.below(u64::from(keys)) as u32)
    }

    fn add_trouble(&mut self, random: &mut Random, lasts: Duration, nodes: usize) {
        let when = |random: &mut Random| START.after(random.span(lasts));
        for reader in 0..self.readers.len() {
            let late = random.chance(350);
            let starts = if late { when(random) } else { START };
            self.actions.push((starts, Action::StartReader(reader)));
            if random.chance(100) {
                let span = random.span(lasts);
                self.actions.push((
                    starts.after(span).min(self.heals_at),
                    Action::StopReader(reader),
                ));
            }
        }
        if random.chance(100) {
            let writer = random.below(self.writers.len() as u64) as usize;
            self.actions
                .push((when(random), Action::StopWriter(writer)));
        }
        let node = |random: &mut Random| random.below(nodes as u64) as usize;
        for _ in 0..random.pick(&[0, 0, 1, 3]) {
            let (from, to) = (node(random), node(random));
            let longest = random.pick(&[100, 2500, 2500, 20_000]);
            let span = random.span(Duration::from_millis(longest));
            self.actions
                .push((when(random), Action::Partition { from, to, span }));
        }
        for _ in 0..random.pick(&[0, 0, 1, 3]) {
            let span = random.span(Duration::from_millis(1500));
            self.actions.push((
                when(random),
                Action::Pause {
                    node: node(random),
                    span,
                },
            ));
        }
        if random.chance(250) {
            let same_prefix = random.chance(300);
            self.actions.push((
                when(random),
                Action::Restart {
                    node: node(random),
                    same_prefix,
                },
            ));
        }
        if random.chance(100) {
            let step_ns = random.between(0, 200_000_000_000) as i64 - 100_000_000_000;
            self.actions.push((
                when(random),
                Action::SetWallClock {
                    node: None,
                    step_ns,
                },
            ));
        }
    }
}

/// Adds to durations.
trait AfterSecs {
    fn after_secs(self, seconds: i64) -> Self;
}

impl AfterSecs for Duration {
    fn after_secs(self, seconds: i64) -> Self {
        Self::from_nanos(self.as_nanos() + Self::from_secs(seconds).as_nanos())
    }
}

/// Whether participants say what their queues hold, of `seed`; beside its stream of numbers.
fn tells_queue(seed: u64) -> bool {
    !mix(seed ^ (7 << 56)).is_multiple_of(3)
}

/// The same of whether writers hand over to readers of their node.
fn hands_over(seed: u64) -> bool {
    mix(seed ^ (9 << 56)).is_multiple_of(2)
}

fn links(random: &mut Random, nodes: usize, datagram_bytes_max: usize) -> Vec<Faults> {
    let mood = random.below(4);
    let link = |_| {
        let delay = Duration::from_micros(random.pick(&[20, 200, 5_000]));
        let calm = Faults {
            delay,
            datagram_bytes_max,
            ..Faults::NONE
        };
        if mood == 0 {
            return calm;
        }
        let bursts = Bursts {
            enter_permille: random.between(1, 50) as u32,
            leave_permille: random.between(20, 300) as u32,
            loss_permille: random.between(500, 1000) as u32,
        };
        Faults {
            loss_permille: if random.chance(300) {
                0
            } else {
                random.between(0, 400) as u32
            },
            bursts: random.chance(300).then_some(bursts),
            duplicate_permille: if random.chance(500) {
                0
            } else {
                random.below(100) as u32
            },
            reorder_permille: if random.chance(500) {
                0
            } else {
                random.below(200) as u32
            },
            jitter: Duration::from_micros(random.pick(&[0, 100, 2_000])),
            late: Duration::from_millis(random.pick(&[1, 5, 50])),
            ..calm
        }
    };
    (0..nodes * nodes).map(link).collect()
}

fn sample_bytes(random: &mut Random, bulk: bool, datagram_bytes_max: usize) -> usize {
    let bytes = match random.below(if bulk { 20 } else { 40 }) {
        0 => 0,
        1 => random.between(1, 300_000),
        2..=5 => random.between(1, 5_000),
        6 => datagram_bytes_max as u64 - random.below(250),
        7..=9 if bulk => random.between(1, 60_000),
        _ => random.between(1, 200),
    };
    bytes.min(300_000) as usize
}
