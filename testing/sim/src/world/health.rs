//! What must hold whatever was promised: nobody is kept who is gone, nobody spins.

use super::*;

/// What each pair of participants may say to each other a second beside user data.
const DISCOVERY_BYTES_PER_SECOND: u64 = 20_000;

/// How often each octet may be sent, all repairs and repeats on the worst links included. Of
/// 15,000 seeds the worst needed 17, where bursts overran small queues, and one in a hundred 3.
const REPEATS_MAX: u64 = 25;

/// Wake-ups by timers that each node may have in a second while nothing arrives.
const TIMERS_PER_SECOND: u64 = 200;

impl World {
    /// Somebody who is known and not there, between nodes that can hear each other.
    pub(super) fn ghost(&self) -> Option<String> {
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(participant) = &node.participant else {
                continue;
            };
            for remote in participant.participants() {
                let prefix = remote.prefix();
                let other = usize::from(prefix.0[1]).checked_sub(1);
                let Some(other) = other.filter(|other| *other < self.nodes.len()) else {
                    return Some(format!("node {index} knows {prefix:?}, whom nobody made"));
                };
                let lives = self.nodes[other].prefix == prefix && !self.away.contains_key(&other);
                if !lives && self.scenario.reach_each_other(index, other) {
                    return Some(format!("node {index} still knows {prefix:?}"));
                }
            }
        }
        None
    }

    /// True when the nodes of both endpoints hear each other.
    pub(super) fn reach_each_other(&self, writer: WriterId, reader: ReaderId) -> bool {
        let (writer, reader) = self.model.guids((writer, reader));
        self.scenario
            .reach_each_other(self.node_of(writer), self.node_of(reader))
    }

    /// Checks that not too much was sent for what was written.
    pub(super) fn check_traffic(&mut self) {
        let statistics = self.network.statistics();
        let seconds = self.now.since(START).as_nanos().unsigned_abs() / 1_000_000_000;
        let nodes = self.nodes.len() as u64;
        let discovery = DISCOVERY_BYTES_PER_SECOND * (seconds + 1) * nodes * nodes;
        let allowed = if self.scenario.discovery {
            discovery
        } else {
            30_000
        };
        let allowed = allowed + REPEATS_MAX * (self.useful_bytes + 10_000);
        if statistics.sent_bytes > allowed {
            let sent = statistics.sent_bytes;
            self.model
                .finding(format!("{sent} octets sent for {}", self.useful_bytes));
        }
    }

    /// Checks what machines hold at rest and how often they were called.
    pub(super) fn check_health(&mut self) {
        let seconds = self.now.since(START).as_nanos().unsigned_abs() / 1_000_000_000 + 1;
        let datagrams = self.network.statistics().sent;
        let nodes = self.nodes.len() as u64;
        let allowed = TIMERS_PER_SECOND * seconds * nodes + 4 * datagrams;
        if self.timer_steps > allowed {
            let steps = self.timer_steps;
            self.model
                .fault(format!("{steps} wake-ups by timers, {allowed} allowed"));
        }
        if !self.scenario.discovery || self.scenario.lies() {
            return;
        }
        let known = self.model.known();
        for node in &self.nodes {
            for slot in &node.writers {
                let pairs = known
                    .iter()
                    .filter(|(ids, knows)| ids.0 == slot.id && knows.0);
                let (told, held) = (pairs.count(), slot.machine.reader_count());
                if told != held {
                    let text = format!("{:?} serves {held} readers, was told of {told}", slot.id);
                    self.model.finding(text);
                }
            }
            for slot in &node.readers {
                let pairs = known
                    .iter()
                    .filter(|(ids, knows)| ids.1 == slot.id && knows.1);
                let (told, held) = (pairs.count(), slot.machine.writer_count());
                if told != held {
                    let text = format!("{:?} hears {held} writers, was told of {told}", slot.id);
                    self.model.finding(text);
                }
            }
        }
    }
}
