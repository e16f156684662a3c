//! How many are known of each host.

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::limits::Limits;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sorted::{SortedMap, SortedSet};
use whimbrel_base::time::Instant;

use super::host::Host;

/// What is known of one host.
#[derive(Debug, Default)]
struct Crowd {
    participants: usize,
    endpoints: usize,
    /// Those that have not answered, the oldest first.
    unanswered: SortedSet<(Instant, GuidPrefix)>,
}

/// Who is known, by the host from which it announced itself first.
#[derive(Debug, Default)]
pub(super) struct Census {
    hosts: SortedMap<Host, Crowd>,
    participants: usize,
    endpoints: usize,
    unanswered: usize,
}

impl Census {
    /// A participant that was announced from `host` is known from `now` on.
    pub(super) fn enter(&mut self, now: Instant, host: Host, prefix: GuidPrefix) {
        self.hosts.change(host, Crowd::default, |crowd| {
            crowd.participants = crowd.participants.saturating_add(1);
            crowd.unanswered.insert((now, prefix));
        });
        self.participants = self.participants.saturating_add(1);
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// The participant `prefix`, known since `since`, has answered.
    pub(super) fn note_answer(&mut self, since: Instant, host: Host, prefix: GuidPrefix) {
        let crowd = self.hosts.get_mut(&host);
        if crowd.is_some_and(|it| it.unanswered.remove(&(since, prefix))) {
            self.unanswered = self.unanswered.saturating_sub(1);
        }
    }

    /// The participant `prefix`, known since `since`, is gone.
    pub(super) fn leave(&mut self, since: Instant, host: Host, prefix: GuidPrefix) {
        self.note_answer(since, host, prefix);
        self.participants = self.participants.saturating_sub(1);
        if let Some(crowd) = self.hosts.get_mut(&host) {
            crowd.participants = crowd.participants.saturating_sub(1);
            if crowd.participants == 0 && crowd.endpoints == 0 {
                self.hosts.remove(&host);
            }
        }
    }

    /// An endpoint of a participant of `host` is known.
    pub(super) fn enter_endpoint(&mut self, host: Host) {
        self.hosts.change(host, Crowd::default, |crowd| {
            crowd.endpoints = crowd.endpoints.saturating_add(1);
        });
        self.endpoints = self.endpoints.saturating_add(1);
    }

    /// `count` endpoints of a participant of `host` are gone.
    pub(super) fn leave_endpoints(&mut self, host: Host, count: usize) {
        if let Some(crowd) = self.hosts.get_mut(&host) {
            crowd.endpoints = crowd.endpoints.saturating_sub(count);
        }
        self.endpoints = self.endpoints.saturating_sub(count);
    }

    /// True when one more endpoint of `host` fits.
    pub(super) fn has_room_for_endpoint(&self, host: Host, limits: &Limits) -> bool {
        let theirs = self.hosts.get(&host).map_or(0, |crowd| crowd.endpoints);
        theirs < limits.remote_endpoints_per_address_max
            && self.endpoints < limits.remote_endpoints_max
    }

    /// Participants that have not answered.
    pub(super) fn unanswered(&self) -> usize {
        self.unanswered
    }

    /// Who has to go so that one more of `host` fits: `Ok(None)` when there is room, an error when
    /// only such as have answered would have to.
    pub(super) fn displaced(
        &self,
        host: Host,
        limits: &Limits,
    ) -> Result<Option<GuidPrefix>, Reject> {
        let full = Err(Reject::new(RejectKind::Limit, 0));
        let crowd = self.hosts.get(&host);
        let oldest = |crowd: &Crowd| crowd.unanswered.first().map(|(_, prefix)| *prefix);
        let theirs = crowd.map_or(0, |crowd| crowd.participants);
        if theirs >= limits.remote_participants_per_address_max {
            return crowd
                .and_then(oldest)
                .map_or(full, |prefix| Ok(Some(prefix)));
        }
        if self.unanswered < limits.unanswered_participants_max
            && self.participants < limits.remote_participants_max
        {
            return Ok(None);
        }
        // The host with most of them gives one up: its own, where the newcomer is of such a one.
        let own = crowd.map_or(0, |crowd| crowd.unanswered.len());
        let most = self.hosts.values().map(|it| it.unanswered.len()).max();
        let chosen = if own > 0 && Some(own) == most {
            crowd
        } else {
            let crowds = self.hosts.values();
            crowds
                .filter(|it| Some(it.unanswered.len()) == most)
                .min_by_key(|it| it.unanswered.first())
        };
        chosen
            .and_then(oldest)
            .map_or(full, |prefix| Ok(Some(prefix)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        remote_participants_max: 6,
        remote_participants_per_address_max: 4,
        unanswered_participants_max: 3,
        remote_endpoints_max: 3,
        remote_endpoints_per_address_max: 2,
        ..Limits::DEFAULT
    };

    fn host(number: u8) -> Host {
        Host::Other([10, 0, 0, number].into())
    }

    fn prefix(number: u8) -> GuidPrefix {
        GuidPrefix([number; 12])
    }

    /// Lets participant `number` in from host `at`; who had to go, if anybody may.
    pub(super) fn enter(census: &mut Census, number: u8, at: u8) -> Result<Option<u8>, Reject> {
        let displaced = census.displaced(host(at), &LIMITS)?;
        if let Some(gone) = displaced {
            let since = Instant(u64::from(gone.0[0]));
            let of = |it: &u8| {
                let crowd = census.hosts.get(&host(*it));
                crowd.is_some_and(|it| it.unanswered.contains(&(since, gone)))
            };
            let at = (0..9).find(of).unwrap();
            census.leave(since, host(at), gone);
        }
        census.enter(Instant(u64::from(number)), host(at), prefix(number));
        Ok(displaced.map(|gone| gone.0[0]))
    }

    fn answer(census: &mut Census, number: u8, at: u8) {
        census.note_answer(Instant(u64::from(number)), host(at), prefix(number));
    }

    #[test]
    fn a_flood_of_one_host_displaces_itself() {
        let mut census = Census::default();
        for number in 1..=3 {
            assert_eq!(enter(&mut census, number, 1), Ok(None));
        }
        assert_eq!(enter(&mut census, 4, 1), Ok(Some(1)));
        // Another host finds room at its cost, and keeps it.
        assert_eq!(enter(&mut census, 5, 2), Ok(Some(2)));
        assert_eq!(enter(&mut census, 6, 1), Ok(Some(3)));
        answer(&mut census, 5, 2);
        assert_eq!(enter(&mut census, 7, 1), Ok(None));
        assert_eq!(enter(&mut census, 8, 1), Ok(Some(4)));
        assert_eq!(census.unanswered(), 3);
    }

    #[test]
    fn a_flood_of_many_hosts_displaces_the_oldest() {
        let mut census = Census::default();
        for number in 1..=3 {
            assert_eq!(enter(&mut census, number, number), Ok(None));
        }
        assert_eq!(enter(&mut census, 4, 4), Ok(Some(1)));
        assert_eq!(enter(&mut census, 5, 5), Ok(Some(2)));
    }

    #[test]
    fn who_has_answered_stays() {
        let mut census = Census::default();
        for number in 1..=4 {
            assert_eq!(enter(&mut census, number, 1), Ok(None));
            answer(&mut census, number, 1);
        }
        // As many as one host may have.
        assert!(enter(&mut census, 5, 1).is_err());
        for number in 6..=7 {
            assert_eq!(enter(&mut census, number, 2), Ok(None));
            answer(&mut census, number, 2);
        }
        // As many as there may be.
        assert!(enter(&mut census, 8, 3).is_err());
        for number in 1..=4 {
            census.leave(Instant(number), host(1), prefix(number as u8));
        }
        assert_eq!(enter(&mut census, 9, 3), Ok(None));
        assert_eq!(census.hosts.len(), 2);
    }

    #[test]
    fn endpoints_are_limited_per_host_and_in_all() {
        let mut census = Census::default();
        let has_room = |census: &Census, at| census.has_room_for_endpoint(host(at), &LIMITS);
        for _ in 0..2 {
            assert!(has_room(&census, 1));
            census.enter_endpoint(host(1));
        }
        assert!(!has_room(&census, 1) && has_room(&census, 2));
        census.enter_endpoint(host(2));
        assert!(!has_room(&census, 2));
        census.leave_endpoints(host(1), 2);
        assert!(has_room(&census, 2));
    }
}
