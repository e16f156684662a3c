//! When participants that are not heard any more are given up. RTPS 2.5 §8.5.3.2.1.

use whimbrel_base::time::Instant;

use super::Participant;
use crate::deadline::{Deadline, Reason};

impl Participant {
    /// When the next lease may end.
    pub(super) fn lease_deadline(&self) -> Option<Deadline> {
        let next = self.remotes.values().map(|remote| remote.check_at).min()?;
        (next < Instant::FAR_FUTURE).then_some((next, Reason::Lease))
    }

    /// Gives up participants whose lease has ended. Any valid packet renews it, which whoever
    /// receives packets notes in the shared [`super::Heard`], so it is looked at only now.
    pub(super) fn end_leases(&mut self, now: Instant) {
        for prefix in self.leases_to_check(now) {
            self.settle_contest(now, prefix);
            let Some(remote) = self.remotes.get_mut(&prefix) else {
                continue;
            };
            let ends_at = remote.lease_ends_at();
            remote.check_at = remote
                .contest_ends_at()
                .map_or(ends_at, |at| at.min(ends_at));
            if ends_at <= now {
                self.forget_participant(now, prefix, false);
            }
        }
    }
}
