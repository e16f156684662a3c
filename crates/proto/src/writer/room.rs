//! Where the room for a new change comes from: what HISTORY and RESOURCE_LIMITS say.

use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;

use super::history::Known;
use super::{NewChange, Writer};

/// Who was blocked waits until one part in so many of the window is free, so that it does not
/// block again at the next change.
const RESUME_SHARE: u64 = 4;

impl Writer {
    /// True when a change whose payloads keep `bytes`, of an instance of which so much is `known`,
    /// fits the budget once the one is gone whose place it takes by HISTORY.
    #[inline(always)]
    pub(super) fn has_memory(&self, known: &Known, bytes: usize) -> bool {
        self.history.has_memory(known.is_known, bytes, None)
            || self.has_memory_instead(known, bytes)
    }

    #[cold]
    fn has_memory_instead(&self, known: &Known, bytes: usize) -> bool {
        let depth = self.config.depth.map(|depth| depth.max(1));
        let is_full = depth.is_some_and(|depth| known.depth >= depth);
        let replaced = known.oldest.filter(|_| is_full);
        self.history.has_memory(known.is_known, bytes, replaced)
    }

    /// Removes what history's rules give up for `new`, of whose instance there is what is `known`;
    /// false when it must wait. What is held is then still to be counted.
    pub(super) fn make_room(&mut self, new: &NewChange, known: Known) -> bool {
        let mut known = known;
        if let Some(depth) = self.config.depth {
            let depth = depth.max(1);
            let enough = depth.min(self.config.samples_per_instance_max);
            while known.depth >= depth {
                let Some(oldest) = known.oldest else {
                    break;
                };
                if !self.has_left(oldest) {
                    return false;
                }
                self.history.give_way(oldest);
                known.depth = known.depth.saturating_sub(1);
                if known.depth >= enough {
                    known = self.history.known(new.instance);
                }
            }
        } else if !self
            .window
            .has_room(new.payload.len(), self.config.unacknowledged_bytes_max)
        {
            return false;
        }
        while known.depth >= self.config.samples_per_instance_max {
            if !known.oldest.is_some_and(|oldest| self.evict(oldest)) {
                return false;
            }
            known = self.history.known(new.instance);
        }
        while self.history.len() >= self.config.samples_max {
            if !self.evict(self.history.first()) {
                return false;
            }
        }
        true
    }

    /// True while a blocked writer had better wait on: what room there is would block it again at
    /// once.
    pub fn is_crowded(&self) -> bool {
        let unacked = self.history.last().since(self.acked);
        let bytes_max = self.config.unacknowledged_bytes_max;
        let samples_max = u64::try_from(self.config.samples_max).unwrap_or(u64::MAX);
        self.blocked_since.is_some()
            && self.config.depth.is_none()
            && (self.window.pending_bytes() > is_crowded_above(bytes_max)
                || unacked > is_crowded_above(samples_max))
    }

    /// The newest change that readers were asked about lately, while the answer is still to come.
    #[inline(always)]
    pub fn awaited(&self, now: Instant) -> Option<SequenceNumber> {
        let (asked_at, newest) = self.window.open_question(self.acked)?;
        (now.since(asked_at) < self.config.heartbeat_period).then_some(newest)
    }

    /// Removes a change that whoever acknowledges has; false where that cannot be. Readers of the
    /// process may have it before it has left to others.
    fn evict(&mut self, sequence: SequenceNumber) -> bool {
        sequence <= self.acked && self.has_left(sequence) && self.history.give_way(sequence)
    }

    /// True where `sequence` has left, has nowhere to go, or is in the message of a bundle by now.
    #[inline(always)]
    fn has_left(&mut self, sequence: SequenceNumber) -> bool {
        sequence <= self.pushed || self.audience.destinations().is_empty() || self.seal()
    }
}

/// Of a limit, what may wait for acknowledgement when a writer that was blocked goes on.
fn is_crowded_above(limit: u64) -> u64 {
    limit.saturating_sub(limit.wrapping_div(RESUME_SHARE))
}
