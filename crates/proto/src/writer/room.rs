//! Where the room for a new change comes from: what HISTORY and RESOURCE_LIMITS say.

use whimbrel_base::sequence::SequenceNumber;

use super::window::is_crowded_above;
use super::{NewChange, Writer};

impl Writer {
    /// The change whose place `new` takes where HISTORY keeps no more of its instance.
    pub(super) fn replaced_by(&self, new: &NewChange) -> Option<SequenceNumber> {
        let depth = self.config.depth?.max(1);
        let full = self.history.depth(new.instance) >= depth;
        full.then(|| self.history.oldest(new.instance)).flatten()
    }

    /// Removes what history's rules give up for `new`; false when it must wait.
    pub(super) fn make_room(&mut self, new: &NewChange) -> bool {
        if let Some(depth) = self.config.depth {
            while self.history.depth(new.instance) >= depth.max(1) {
                let Some(oldest) = self.history.oldest(new.instance) else {
                    break;
                };
                let unsent = oldest > self.pushed && !self.audience.destinations().is_empty();
                if unsent && !self.seal() {
                    return false;
                }
                self.history.remove(oldest);
            }
        } else if !self
            .window
            .has_room(new.payload.len(), self.config.unacknowledged_bytes_max)
        {
            return false;
        }
        while self.history.depth(new.instance) >= self.config.samples_per_instance_max {
            let oldest = self.history.oldest(new.instance);
            if !oldest.is_some_and(|oldest| self.evict(oldest)) {
                return false;
            }
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
        let samples_max = u64::try_from(self.config.samples_max).unwrap_or(u64::MAX);
        self.blocked_since.is_some()
            && self.config.depth.is_none()
            && (self.window.is_crowded(self.config.unacknowledged_bytes_max)
                || unacked > is_crowded_above(samples_max))
    }

    fn evict(&mut self, sequence: SequenceNumber) -> bool {
        sequence <= self.acked && self.history.remove(sequence)
    }
}
