//! What nodes and endpoints share: a host, a node, what is known of queues. It is drawn beside the
//! stream of numbers, so that nothing else depends on it.

use super::*;
use crate::random::mix;

/// Mixed into a seed to tell whether all is on one host; seeds that once failed are not.
const ONE_HOST: u64 = 29 << 56;

/// The same of whether all endpoints are on one node.
const ONE_NODE: u64 = 30 << 56;

impl Scenario {
    /// One seed in eight has all nodes on one host and readers without reliability, for whom
    /// writers hold back what queues would not hold.
    pub(super) fn share_host(&mut self) {
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
    pub(super) fn share_node(&mut self) {
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
}

/// Whether participants say what their queues hold, of `seed`; beside its stream of numbers.
pub(super) fn tells_queue(seed: u64) -> bool {
    !mix(seed ^ (7 << 56)).is_multiple_of(3)
}

/// The same of whether writers hand over to readers of their node.
pub(super) fn hands_over(seed: u64) -> bool {
    mix(seed ^ (9 << 56)).is_multiple_of(2)
}
