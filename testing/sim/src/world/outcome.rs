//! How a scenario went.

use super::*;

/// How a scenario went.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// What was wrong; empty when nothing was.
    pub findings: Vec<String>,
    /// Hash of all traffic.
    pub hash: u64,
    /// Octets sent.
    pub sent_bytes: u64,
    /// Octets that must have been sent if nothing were ever lost: samples times their receivers.
    pub useful_bytes: u64,
    /// Virtual time from healing to rest.
    pub settled_after: Duration,
    /// Virtual time from healing until the matches were those of a whole network.
    pub matched_after: Duration,
    /// Virtual time played.
    pub played: Duration,
    /// Datagrams sent.
    pub datagrams: u64,
    /// Messages in which samples of several writers left.
    pub shared_messages: u64,
    /// Datagrams for which there was no room in a node's queue.
    pub overflowed: u64,
    /// Answers of readers without reliability to whether they have taken in what was sent.
    pub credits: u64,
    /// Changes that readers took from writers of their process past the network.
    pub handed: u64,
    /// Of these, those from writers of another participant.
    pub across: u64,
    /// Of these, those that no history has held.
    pub passed: u64,
    /// Of these, those that were not encoded.
    pub unencoded: u64,
    /// Steps taken.
    pub steps: u64,
}

impl World {
    pub(super) fn finish(mut self, steps: u64) -> Outcome {
        let settled_after = self.now.since(self.scenario.heals_at);
        if self.model.findings().is_empty() {
            self.check_rest();
            self.check_health();
            let statistics = self.network.statistics();
            let lost = statistics.lost
                + statistics.partitioned
                + statistics.too_long
                + statistics.overflowed
                + statistics.damaged;
            let reordered = self
                .scenario
                .faults
                .iter()
                .any(|link| link.reorder_permille > 0);
            self.model.finish(lost == 0 && !reordered);
            self.check_traffic();
        }
        Outcome {
            findings: self.model.findings().to_vec(),
            hash: self.network.hash().value(),
            sent_bytes: self.network.statistics().sent_bytes,
            useful_bytes: self.useful_bytes,
            shared_messages: self.shared_messages,
            overflowed: self.network.statistics().overflowed,
            credits: self.credits(),
            handed: self.handed.taken,
            across: self.handed.across,
            passed: self.handed.passed,
            unencoded: self.handed.unencoded,
            settled_after,
            matched_after: self
                .recovery
                .matched_at
                .map_or(settled_after, |at| at.since(self.scenario.heals_at)),
            played: self.now.since(START),
            datagrams: self.network.statistics().sent,
            steps,
        }
    }

    /// Answers of readers that acknowledge nothing.
    fn credits(&self) -> u64 {
        let slots = self.nodes.iter().flat_map(|node| &node.readers);
        let asked = slots.filter(|slot| !self.scenario.readers[slot.plan].reliable);
        asked.map(|slot| slot.machine.statistics().acknacks).sum()
    }

    fn check_rest(&mut self) {
        let slots = self.nodes.iter().flat_map(|node| &node.writers);
        for slot in slots {
            let (acked, last) = (
                slot.machine.acknowledged_through(),
                slot.machine.last_sequence(),
            );
            if !slot.pending.is_empty() {
                self.model
                    .finding(format!("{:?} is blocked for ever", slot.id));
            } else if acked != last {
                self.model
                    .finding(format!("{:?} rests at {acked:?} of {last:?}", slot.id));
            }
        }
        let slots = self.nodes.iter().flat_map(|node| &node.readers);
        for slot in slots {
            if !slot.machine.has_history() {
                self.model
                    .finding(format!("{:?} waits for history for ever", slot.id));
            }
            if slot.machine.reassembly_bytes() > 0 {
                let bytes = slot.machine.reassembly_bytes();
                self.model
                    .finding(format!("{:?} keeps {bytes} octets of fragments", slot.id));
            }
        }
    }
}
