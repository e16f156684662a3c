//! Who may be known: limits in all, per host, and for those that have not answered.
//!
//! Anybody can announce participants without end. Such as have not acknowledged anything of ours
//! are kept in a small pool of their own, in which the newest stay, and each host displaces first
//! its own; who has is never put out for anybody. What one host may have in all is limited as well.

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Instant;

use super::Participant;
use super::host::Host;
use super::remote::RemoteParticipant;

impl Participant {
    /// Makes room for the participant `prefix`, announced from `host` at `now`.
    ///
    /// # Errors
    /// There is none, or only at the cost of such as have answered.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        host: Host,
        prefix: GuidPrefix,
    ) -> Result<(), Reject> {
        match self.census.displaced(host, &self.config.limits) {
            Ok(None) => {}
            Ok(Some(displaced)) => {
                self.forget_participant(now, displaced, false);
                let count = &mut self.statistics.participants_displaced;
                *count = count.saturating_add(1);
            }
            Err(reject) => {
                self.statistics.not_admitted = self.statistics.not_admitted.saturating_add(1);
                return Err(reject);
            }
        }
        self.census.enter(now, host, prefix);
        Ok(())
    }

    /// Counts one more endpoint of `prefix`, or refuses it.
    pub(super) fn admit_endpoint(&mut self, prefix: GuidPrefix) -> Result<(), Reject> {
        let limits = &self.config.limits;
        let room = |remote: &&mut RemoteParticipant| {
            remote.endpoints < limits.remote_endpoints_per_participant_max
                && self.census.has_room_for_endpoint(remote.origin, limits)
        };
        let Some(remote) = self.remotes.get_mut(&prefix).filter(room) else {
            self.statistics.not_admitted = self.statistics.not_admitted.saturating_add(1);
            return Err(Reject::new(RejectKind::Limit, 0));
        };
        remote.endpoints = remote.endpoints.saturating_add(1);
        self.census.enter_endpoint(remote.origin);
        Ok(())
    }

    pub(super) fn dismiss_endpoint(&mut self, prefix: GuidPrefix) {
        if let Some(remote) = self.remotes.get_mut(&prefix) {
            remote.endpoints = remote.endpoints.saturating_sub(1);
            self.census.leave_endpoints(remote.origin, 1);
        }
    }
}
