//! What nodes and endpoints share: a host, a process, a node, what is known of queues. It is drawn
//! beside the stream of numbers, so that nothing else depends on it.

use super::*;
use crate::random::mix;

/// Mixed into a seed to tell whether all is on one host; seeds that once failed are not.
const ONE_HOST: u64 = 29 << 56;

/// The same of whether all endpoints are on one node.
const ONE_NODE: u64 = 30 << 56;

/// The same of whether two participants are in one process.
const ONE_PROCESS: u64 = 78 << 56;

/// The same of who heeds no queues.
const HEEDLESS: u64 = 79 << 56;

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

    /// One in four of the seeds that hand over within a process has all endpoints on one node,
    /// where nothing is kept for others.
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

    /// One in three of the seeds that hand over within a process has one with two participants; in
    /// half of these, all endpoints are theirs.
    pub(super) fn join_processes(&mut self) {
        let drawn = mix(self.seed ^ ONE_PROCESS);
        if !self.in_process || !drawn.is_multiple_of(3) {
            return;
        }
        let one = self.writers.first().map_or(0, |plan| plan.node);
        let mut readers = self.readers.iter().map(|plan| plan.node);
        let apart = readers.find(|node| *node != one);
        let other = apart.unwrap_or((one + 1) % self.hosts.len());
        let pair = [one.min(other), one.max(other)];
        self.join(pair);
        if apart.is_some() && (drawn >> 8).is_multiple_of(2) {
            return;
        }
        for (index, plan) in self.writers.iter_mut().enumerate() {
            plan.node = pair[index % 2];
        }
        for (index, plan) in self.readers.iter_mut().enumerate() {
            plan.node = pair[(index + 1) % 2];
        }
    }

    /// Has the second of two nodes be in the process of the first, and so on its host.
    fn join(&mut self, [first, second]: [NodeIndex; 2]) {
        self.processes[second] = first;
        self.hosts[second] = self.hosts[first];
        self.subnets[second] = self.subnets[first];
        self.clocks[second] = self.clocks[first];
        self.anonymous.retain(|node| *node != second);
        if self.anonymous.contains(&first) {
            self.anonymous.push(second);
            self.anonymous.sort_unstable();
        }
        let hears = |way: &(NodeIndex, NodeIndex)| way.0 != second && way.1 != second;
        self.blocked.retain(hears);
        let moved = |node| if node == first { second } else { node };
        let blocked = self.blocked.clone().into_iter();
        let ways = blocked.map(|(from, to)| (moved(from), moved(to)));
        self.blocked.extend(ways.filter(|way| !hears(way)));
    }

    /// In one of three such seeds, one of the two participants leaves while the other stays.
    pub(super) fn part_processes(&mut self, lasts: Duration) {
        let drawn = mix(self.seed ^ ONE_PROCESS) >> 16;
        let joined = (0..self.processes.len()).find(|node| self.processes[*node] != *node);
        let Some(second) = joined.filter(|_| drawn.is_multiple_of(3)) else {
            return;
        };
        let node = match (drawn >> 8) % 2 {
            0 => second,
            _ => self.processes[second],
        };
        let after = lasts.as_nanos() / 1000 * ((drawn >> 16) % 1000) as i64;
        let at = START.after(Duration::from_nanos(after));
        self.actions.push((at, Action::Leave { node }));
    }
}

/// Whether participants say what their queues hold, of `seed`; beside its stream of numbers.
pub(super) fn tells_queue(seed: u64) -> bool {
    !mix(seed ^ (7 << 56)).is_multiple_of(3)
}

/// The same of whether writers hand over to readers of their process.
pub(super) fn hands_over(seed: u64) -> bool {
    mix(seed ^ (9 << 56)).is_multiple_of(2)
}

/// The nodes of `seed` that neither say what their queue holds nor heed what others say: in one
/// seed of four about half of them.
pub(super) fn heedless(seed: u64, nodes: usize) -> Vec<NodeIndex> {
    let drawn = mix(seed ^ HEEDLESS);
    if !drawn.is_multiple_of(4) {
        return Vec::new();
    }
    let bit = |node: &NodeIndex| (drawn >> (8 + *node)).is_multiple_of(2);
    (0..nodes).filter(bit).collect()
}
