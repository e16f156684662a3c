//! Scenarios: who there is, what they do when, and what the network does to them; all of it from
//! one seed.

mod few;
mod plans;
mod print;
pub mod script;
mod sharing;
mod trouble;
mod wide;
mod writes;

use whimbrel_base::time::{Duration, Instant};
use whimbrel_proto::change::ChangeKind;

pub use self::plans::{Form, ReaderPlan, WriterPlan};
use self::plans::{reader_plan, writer_plan};
use crate::network::{Faults, NodeIndex};
use crate::random::Random;

/// When every scenario begins; a little after zero, as clocks do.
pub const START: Instant = Instant(1_000_000_000);

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
    /// A node stands still for a time, with all of its process.
    Pause {
        /// Which.
        node: NodeIndex,
        /// How long.
        span: Duration,
    },
    /// A node ends without a word and begins anew; others of its process stay.
    Restart {
        /// Which.
        node: NodeIndex,
        /// With the GUID prefix it had; where there is discovery, with another one, but not
        /// without a word.
        same_prefix: bool,
    },
    /// The wall clock is set.
    SetWallClock {
        /// Whose, and of all in its process; everybody's where there is none.
        node: Option<NodeIndex>,
        /// By how much, in nanoseconds.
        step_ns: i64,
    },
    /// A node ends without a word, with all of its process, and begins anew after a while.
    Crash {
        /// Which.
        node: NodeIndex,
        /// How long it is away.
        down: Duration,
        /// With the GUID prefix it had.
        same_prefix: bool,
    },
    /// A node says goodbye and does not come back; others of its process stay.
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
    /// In whose process each node is: in its own, or in that of the first of several.
    pub processes: Vec<NodeIndex>,
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
    /// Nodes that neither say what their queue holds nor heed what others say of theirs.
    pub heedless: Vec<NodeIndex>,
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
    /// Writers hand what they write to readers of their process, past the network.
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

    /// The number of keys of a topic; `None` where it has no key.
    pub fn keys_of(&self, topic: usize) -> Option<u32> {
        self.keys.filter(|_| !self.keyless.contains(&topic))
    }

    /// Octets that the participant of `node` says its queue holds; zero where it does not say.
    pub fn told_queue_bytes(&self, node: NodeIndex) -> u32 {
        let told = u32::try_from(self.queue_bytes_max).unwrap_or(u32::MAX);
        if self.queue_told && self.heeds_queues(node) {
            told
        } else {
            0
        }
    }

    /// True when the participant of `node` heeds what others say of their queues.
    pub fn heeds_queues(&self, node: NodeIndex) -> bool {
        !self.heedless.contains(&node)
    }

    /// True for a node and itself, and for participants of one process.
    pub fn share_process(&self, one: NodeIndex, other: NodeIndex) -> bool {
        self.processes[one] == self.processes[other]
    }

    /// The nodes in the process of `node`, itself too.
    pub fn process_of(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let all = 0..self.processes.len();
        all.filter(|it| self.share_process(node, *it)).collect()
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
