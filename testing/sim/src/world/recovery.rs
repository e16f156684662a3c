//! By when the matches must be right again.

use whimbrel_base::time::{Duration, Instant};

use crate::scenario::{START, Scenario};

/// How long discovery may take once the network is whole and nothing changes any more.
const RECOVERY: Duration = Duration::from_secs(3);

/// A round of probes comes with every so many announcements, for so many rounds; then the wait
/// doubles with each, up to so many.
const ANNOUNCEMENTS_PER_PROBE_ROUND: u32 = 5;
const EARLY_ROUNDS: u32 = 4;
const ANNOUNCEMENTS_PER_PROBE_ROUND_MAX: u32 = 80;

/// What finding each other again takes after the probe that arrives.
const MEETING: Duration = Duration::from_secs(1);

/// What the matches have to catch up with.
///
/// They must be right 3 s after the last change, which is the healing of the network or an
/// endpoint that begins or ends after it. What may take longer:
///
/// - a participant that ended without a word, or whose farewell may have been lost, must be gone
///   two leases after its end, for only its lease tells;
/// - the same two leases count from when a participant that stood still goes on, for it then hears
///   what arrived meanwhile, and takes it for signs of life of those who are gone;
/// - two on one host without a common group, which only probe for each other, may have to wait for
///   the next round of probes: five announcements, or more where all rounds before may have been
///   lost, each up to a tenth late, and a second.
#[derive(Debug)]
pub(super) struct Recovery {
    /// How long discovery may take.
    discovery: Duration,
    leases: Duration,
    changed_at: Instant,
    /// When somebody last ended so that the others may have to find out by its lease.
    ended_at: Option<Instant>,
    /// When somebody last went on after it had stood still.
    resumed_at: Option<Instant>,
    /// Since when the matches have been right.
    pub(super) matched_at: Option<Instant>,
}

impl Recovery {
    /// What `scenario` allows.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let nodes = 0..scenario.hosts.len();
        let probing = |one: usize| {
            let near = |other: &usize| scenario.hosts[one] == scenario.hosts[*other];
            let mut others = (0..one).filter(near);
            others.any(|other| !scenario.share_group(one, other))
        };
        let period = scenario.announce_period;
        let lasts = scenario.heals_at.since(START).as_nanos();
        let announced = lasts / period.as_nanos().max(1);
        let round = period.times(announcements_per_round(announced));
        let round = round.as_nanos() / 10 * 11 + MEETING.as_nanos();
        let discovery = if nodes.into_iter().any(probing) {
            RECOVERY.max(Duration::from_nanos(round))
        } else {
            RECOVERY
        };
        Self {
            discovery,
            leases: scenario.lease.times(2),
            changed_at: Instant::ZERO,
            ended_at: None,
            resumed_at: None,
            matched_at: None,
        }
    }

    /// An endpoint begins or ends, or the network is whole again.
    pub(super) fn note_change(&mut self, now: Instant) {
        self.changed_at = now;
    }

    /// A participant ends.
    pub(super) fn note_end(&mut self, now: Instant) {
        self.ended_at = Some(now);
    }

    /// A participant stands still until `until`.
    pub(super) fn note_pause(&mut self, until: Instant) {
        self.resumed_at = self.resumed_at.max(Some(until));
    }

    /// By when the matches must be right.
    fn due_at(&self) -> Instant {
        let discovered_at = self.changed_at.after(self.discovery);
        let Some(ended_at) = self.ended_at else {
            return discovered_at;
        };
        let forgotten_at = ended_at
            .max(self.resumed_at.unwrap_or(ended_at))
            .after(self.leases);
        discovered_at.max(forgotten_at)
    }

    /// Takes note of what is wrong with the matches; a finding where that has lasted too long.
    pub(super) fn judge(&mut self, now: Instant, odd: Option<&str>) -> Option<String> {
        let Some(odd) = odd else {
            self.matched_at.get_or_insert(now);
            return None;
        };
        self.matched_at = None;
        let late = now > self.due_at();
        late.then(|| {
            let ms = now.since(self.changed_at).as_nanos() / 1_000_000;
            format!("{odd}, {ms} ms after the last change")
        })
    }
}

/// How many announcements lie between the round of probes before the next one and that, after
/// `announced`, where nobody was found by any.
fn announcements_per_round(announced: i64) -> u32 {
    let mut wait = ANNOUNCEMENTS_PER_PROBE_ROUND;
    let (mut next, mut rounds) = (i64::from(wait), 1);
    while next <= announced {
        rounds += 1;
        if rounds > EARLY_ROUNDS {
            wait = (2 * wait).min(ANNOUNCEMENTS_PER_PROBE_ROUND_MAX);
        }
        next += i64::from(wait);
    }
    wait
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Kind;

    fn at(ms: u64) -> Instant {
        Instant(ms * 1_000_000)
    }

    /// Two hosts with a group, a lease of 3 s, announcements every second.
    fn scenario() -> Scenario {
        let mut scenario = Scenario::of(Kind::Discovery, 0);
        (scenario.hosts, scenario.subnets) = (vec![0, 1], vec![0, 0]);
        (scenario.multicast, scenario.deaf) = (true, vec![]);
        scenario.heals_at = START.after(Duration::from_secs(10));
        scenario
    }

    fn due_ms(recovery: &Recovery) -> u64 {
        recovery.due_at().0 / 1_000_000
    }

    #[test]
    fn what_takes_longer_is_told_apart() {
        let mut recovery = Recovery::of(&scenario());
        recovery.note_change(at(10_000));
        assert_eq!(due_ms(&recovery), 13_000);
        recovery.note_pause(at(9_500));
        assert_eq!(due_ms(&recovery), 13_000);
        recovery.note_end(at(8_000));
        assert_eq!(due_ms(&recovery), 15_500);
        recovery.note_end(at(9_900));
        assert_eq!(due_ms(&recovery), 15_900);
    }

    #[test]
    fn who_only_probes_may_take_a_round() {
        let mut alone = scenario();
        alone.multicast = false;
        let due = |scenario: &Scenario| due_ms(&Recovery::of(scenario));
        // Hosts without a group have each other's addresses.
        assert_eq!(due(&alone), 3000);
        alone.hosts = vec![0, 0];
        assert_eq!(due(&alone), 6500);
        // Its fourth round is at 20 s.
        alone.heals_at = START.after(Duration::from_secs(22));
        assert_eq!(due(&alone), 12_000);
        alone.heals_at = START.after(Duration::from_secs(2));
        alone.announce_period = Duration::from_millis(300);
        assert_eq!(due(&alone), 3000);
        alone.multicast = true;
        alone.deaf = vec![1];
        alone.announce_period = Duration::from_secs(1);
        assert_eq!(due(&alone), 6500);
    }

    #[test]
    fn matches_must_stay_right() {
        let mut recovery = Recovery::of(&scenario());
        recovery.note_change(at(10_000));
        assert_eq!(recovery.judge(at(13_000), Some("odd")), None);
        assert_eq!(recovery.judge(at(13_000), None), None);
        assert_eq!(recovery.judge(at(13_100), None), None);
        assert_eq!(recovery.matched_at, Some(at(13_000)));
        let found = recovery.judge(at(13_250), Some("odd"));
        assert_eq!(found.unwrap(), "odd, 3250 ms after the last change");
        assert_eq!(recovery.matched_at, None);
    }
}
