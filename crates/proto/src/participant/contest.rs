//! Announcements in a participant's name from an address that is not known of it.
//!
//! It may have moved, or somebody else speaks in its name. Where it was is asked: if it answers
//! from there within half a second, whoever spoke is not believed, else it has moved.
//!
//! ```text
//! (at home) --announced from elsewhere--> Contest --heard at home, time over--> (refused)
//!                                         Contest --silent, time over---------> (moved)
//! ```

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::discovery::ParticipantData;

use super::Participant;
use super::rebirth::is_other_life;
use super::remote::{Contest, RemoteParticipant};

/// How long a participant has to answer from where it is known to be.
const PATIENCE: Duration = Duration::from_millis(500);

impl Participant {
    /// True when what comes from `from` may be the participant's: it is known to be there, or it
    /// has not answered from anywhere yet.
    pub(super) fn is_credible(&self, remote: &RemoteParticipant, from: Locator) -> bool {
        !remote.confirmed || self.is_at_home(remote, from)
    }

    /// Notes that the participant was heard where it is known to be.
    pub(super) fn note_at_home(&mut self, now: Instant, prefix: GuidPrefix, from: Locator) {
        let host = self.host_of(from);
        let Some(remote) = self.remotes.get(&prefix) else {
            return;
        };
        let at_address = self.host_of(remote.address) == host;
        if let Some(remote) = self.remotes.get_mut(&prefix) {
            remote.heard.note(now);
            if at_address {
                remote.address_heard_at = now;
            }
            if let Some(contest) = &mut remote.contest {
                contest.heard_at_home = true;
            }
        }
    }

    /// An announcement of a known participant from where it is not known to be.
    pub(super) fn handle_contested(
        &mut self,
        now: Instant,
        from: Locator,
        data: ParticipantData,
        bytes: usize,
    ) -> Result<(), Reject> {
        let refused = Err(Reject::new(RejectKind::Source, 0));
        let patience = self.config.lease.divided_by(2);
        let prefix = data.guid.prefix;
        let host = self.host_of(from);
        let Some(remote) = self.remotes.get(&prefix) else {
            return refused;
        };
        let silent = now.since(remote.address_heard_at) >= patience;
        if remote.data == data && !silent {
            // By another of its interfaces: it says nothing new.
            return Ok(());
        }
        let rival = remote.contest.as_ref().map(|it| self.host_of(it.from));
        if rival.is_some_and(|rival| rival != host) {
            return refused;
        }
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return refused;
        };
        let ends_at = now.after(PATIENCE);
        let contest = remote.contest.get_or_insert_with(|| Contest {
            ends_at,
            from,
            data: data.clone(),
            bytes: 0,
            heard_at_home: false,
        });
        if contest.data.metatraffic_unicast != data.metatraffic_unicast {
            // What named other addresses is nothing to these.
            contest.bytes = 0;
        }
        contest.data = data;
        contest.bytes = contest.bytes.saturating_add(bytes);
        self.watch_lease(prefix);
        self.builtin.ask(prefix);
        Ok(())
    }

    /// Decides a contest whose time is over.
    pub(super) fn settle_contest(&mut self, now: Instant, prefix: GuidPrefix) {
        let Some(remote) = self.remotes.get_mut(&prefix) else {
            return;
        };
        let Some(contest) = remote.contest.take_if(|it| it.ends_at <= now) else {
            return;
        };
        if contest.heard_at_home {
            self.rejects.count(RejectKind::Source);
            return;
        }
        if is_other_life(remote, &contest.data) {
            if let Err(reject) = self.handle_other_life(now, contest.from, contest.data) {
                self.rejects.count(reject.kind);
                return;
            }
            self.ask_unanswered(now, prefix, contest.bytes);
            return;
        }
        let host = self.host_of(contest.from);
        if let Some(remote) = self.remotes.get_mut(&prefix) {
            remote.address = contest.from;
            remote.address_heard_at = now;
            remote.answered.retain(host);
            // What it was told where it was does not count.
            remote.told_at = None;
        }
        self.apply_announcement(now, contest.data);
        self.ask_unanswered(now, prefix, contest.bytes);
    }
}
