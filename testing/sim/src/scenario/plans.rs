//! How endpoints are made.

use whimbrel_base::qos::CompressionIds;
use whimbrel_base::time::Duration;
use whimbrel_proto::writer::{BatchLimits, Bundling};

use crate::network::NodeIndex;
use crate::random::Random;

/// How a writer's samples travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// By which codec they are made smaller; none where they are not.
    pub codec: CompressionIds,
    /// Samples of so many octets and fewer are not.
    pub threshold: usize,
    /// How they leave.
    pub bundling: Bundling,
    /// They leave in batches, where readers take them.
    pub batch: Option<BatchLimits>,
}

/// How a writer is made.
#[derive(Clone, Copy, Debug)]
pub struct WriterPlan {
    /// On which node.
    pub node: NodeIndex,
    /// Of which topic.
    pub topic: usize,
    /// RELIABILITY.
    pub reliable: bool,
    /// DURABILITY TRANSIENT_LOCAL.
    pub durable: bool,
    /// HISTORY depth; `None` for KEEP_ALL.
    pub depth: Option<usize>,
    /// RESOURCE_LIMITS.
    pub samples_max: Option<usize>,
    /// RESOURCE_LIMITS.
    pub samples_per_instance_max: Option<usize>,
    /// Octets that may be unacknowledged.
    pub unacknowledged_bytes_max: u64,
    /// PARTITION: 1 for `a`, 2 for `b`, 3 for both, 0 for none.
    pub partitions: u8,
    /// How samples travel; by the seed where there is none.
    pub form: Option<Form>,
    /// How long requests are collected.
    pub nack_response_delay: Duration,
    /// How long repeated requests are ignored.
    pub nack_suppression: Duration,
}

/// How a reader is made.
#[derive(Clone, Copy, Debug)]
pub struct ReaderPlan {
    /// On which node.
    pub node: NodeIndex,
    /// Of which topic.
    pub topic: usize,
    /// RELIABILITY.
    pub reliable: bool,
    /// DURABILITY TRANSIENT_LOCAL.
    pub durable: bool,
    /// HISTORY depth; `None` for KEEP_ALL.
    pub depth: Option<u32>,
    /// RESOURCE_LIMITS.
    pub samples_max: Option<u32>,
    /// RESOURCE_LIMITS.
    pub samples_per_instance_max: Option<u32>,
    /// How often its application takes; zero for as soon as there is something.
    pub take_period: Duration,
    /// Samples that may wait for an earlier one.
    pub reorder_samples_max: usize,
    /// Samples that may be half received.
    pub reassembly_samples_max: usize,
    /// How long answers to heartbeats are delayed.
    pub heartbeat_response_delay: Duration,
    /// PARTITION as of writers, and 4 for the pattern `?`.
    pub partitions: u8,
}

pub(super) fn writer_plan(
    random: &mut Random,
    nodes: usize,
    reliable: bool,
    durable: bool,
) -> WriterPlan {
    let limited = random.chance(250);
    WriterPlan {
        node: random.below(nodes as u64) as usize,
        topic: 0,
        reliable: reliable || random.chance(500),
        durable: durable || random.chance(200),
        depth: if random.chance(500) {
            None
        } else {
            Some(random.pick(&[1, 1, 3, 10]))
        },
        samples_max: limited.then(|| random.pick(&[1, 4, 30])),
        samples_per_instance_max: None,
        unacknowledged_bytes_max: random.pick(&[1 << 20, 1 << 20, 20_000]),
        nack_response_delay: Duration::from_millis(random.pick(&[0, 0, 1, 10])),
        nack_suppression: Duration::from_millis(random.pick(&[0, 3, 3, 20])),
        partitions: 0,
        form: None,
    }
    .checked(random)
}

impl WriterPlan {
    /// Whether a reader of `plan` can be served: the one rule the world itself goes by.
    pub fn fits(&self, plan: &ReaderPlan) -> bool {
        let named = self.partitions & 3;
        let meets = (named | plan.partitions) == 0
            || named & plan.partitions != 0
            || (named != 0 && plan.partitions & 4 != 0);
        let offers = self.reliable >= plan.reliable && self.durable >= plan.durable;
        self.topic == plan.topic && meets && offers
    }

    /// RESOURCE_LIMITS must leave room for HISTORY.
    fn checked(mut self, random: &mut Random) -> Self {
        match (self.depth, self.samples_max) {
            (Some(depth), Some(samples)) => self.depth = Some(depth.min(samples)),
            (None, Some(samples)) if random.chance(300) => {
                self.samples_per_instance_max = Some(random.between(1, samples as u64) as usize);
            }
            _ => {}
        }
        self
    }
}

pub(super) fn reader_plan(random: &mut Random, nodes: usize, reliable: bool) -> ReaderPlan {
    let limited = random.chance(200);
    let depth = if random.chance(700) {
        None
    } else {
        Some(random.pick(&[1, 1, 4]))
    };
    let samples_max = limited.then(|| random.pick(&[4, 20]));
    ReaderPlan {
        node: random.below(nodes as u64) as usize,
        topic: 0,
        reliable: reliable || random.chance(500),
        durable: random.chance(400),
        depth,
        samples_max,
        samples_per_instance_max: (limited && depth.is_none() && random.chance(300))
            .then(|| random.between(1, 4) as u32),
        take_period: Duration::from_millis(random.pick(&[0, 0, 0, 1, 20, 500])),
        reorder_samples_max: random.pick(&[4096, 4096, 8]),
        reassembly_samples_max: random.pick(&[16, 16, 2]),
        heartbeat_response_delay: Duration::from_millis(random.pick(&[0, 0, 1, 10])),
        partitions: 0,
    }
}
