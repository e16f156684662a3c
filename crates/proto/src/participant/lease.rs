//! When participants that are not heard any more are given up. RTPS 2.5 §8.5.3.2.1.
//!
//! Leases are renewed all the time, so that their ends are not kept in order: the first of them
//! is known, and when it has come all participants are looked at, and the first end is then that
//! of whoever has been silent longest. Of any number of participants that keep announcing
//! themselves that takes one look in about half a lease, together with an announcement of our
//! own, and no lease ends late.

use alloc::vec::Vec;

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::time::Instant;

use super::Participant;
use super::remote::RemoteParticipant;
use crate::deadline::{Deadline, Reason};

impl RemoteParticipant {
    /// When its lease ends, or a contest over it.
    fn look_at(&self) -> Instant {
        let ends_at = self.lease_ends_at();
        self.contest_ends_at().map_or(ends_at, |at| at.min(ends_at))
    }
}

impl Participant {
    /// No lease or contest ends before this.
    pub(super) fn lease_deadline(&self) -> Option<Deadline> {
        (self.leases_at < Instant::FAR_FUTURE).then_some((self.leases_at, Reason::Lease))
    }

    /// The lease of `prefix`, or a contest over it, may end sooner than was known.
    pub(super) fn watch_lease(&mut self, prefix: GuidPrefix) {
        if let Some(remote) = self.remotes.get(&prefix) {
            self.leases_at = self.leases_at.min(remote.look_at());
        }
    }

    /// Gives up participants whose lease has ended. Any valid packet renews it, which whoever
    /// receives packets notes in the shared [`super::Heard`], so it is looked at only now.
    pub(super) fn end_leases(&mut self, now: Instant) {
        // Rather while awake for an announcement anyway than by a wake-up of its own.
        let is_soon = self.timer.due && self.leases_at <= self.timer.next_at;
        if now < self.leases_at && !is_soon {
            return;
        }
        let due = self.remotes.values().filter(|it| it.look_at() <= now);
        let due: Vec<GuidPrefix> = due.map(RemoteParticipant::prefix).collect();
        for prefix in due {
            self.settle_contest(now, prefix);
            let remote = self.remotes.get(&prefix);
            if remote.is_some_and(|remote| remote.lease_ends_at() <= now) {
                self.forget_participant(now, prefix, false);
            }
        }
        let ends = self.remotes.values().map(RemoteParticipant::look_at);
        self.leases_at = ends.min().unwrap_or(Instant::FAR_FUTURE);
    }
}
