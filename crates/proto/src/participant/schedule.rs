//! When to announce and when to probe.

use whimbrel_base::locator::Locator;
use whimbrel_base::time::{Duration, Instant};

use super::jitter::Jitter;

/// Addresses probed at a time: the well-known ports of a host by both IP versions, so that a round
/// wakes an idle process no more than the announcement that it follows.
pub(super) const PROBES_PER_STEP: usize = 256;

/// Wait between the steps of a round of more probes.
const PROBE_STEP: Duration = Duration::from_millis(10);

/// A round of probes follows every so many announcements, for so many rounds; then the wait
/// doubles with each round, up to so many. Who starts meanwhile finds us by its own probes.
const ANNOUNCEMENTS_PER_PROBE_ROUND: u32 = 5;
const EARLY_ROUNDS: u32 = 4;
const ANNOUNCEMENTS_PER_PROBE_ROUND_MAX: u32 = 80;

/// The same where groups show who is there, so that hardly anybody is left to be found.
const ANNOUNCEMENTS_PER_PROBE_ROUND_BESIDE_GROUPS: u32 = 20;
const EARLY_ROUNDS_BESIDE_GROUPS: u32 = 1;

/// How long groups are given to show who is there before this host's ports are probed.
const PROBE_DELAY: Duration = Duration::from_millis(30);

/// When to probe first a participant's host from `now` on that announces itself to `announce_to`.
pub(super) fn first_probe_at(now: Instant, announce_to: &[Locator]) -> Instant {
    if has_group(announce_to) {
        now.after(PROBE_DELAY)
    } else {
        now
    }
}

fn has_group(announce_to: &[Locator]) -> bool {
    announce_to.iter().any(|it| it.is_multicast())
}

/// When announcements are due: at once, a few more after waits that double, then periodically.
#[derive(Debug)]
pub(super) struct AnnounceTimer {
    pub(super) next_at: Instant,
    pub(super) due: bool,
    period: Duration,
    burst_left: u32,
    burst_wait: Duration,
    /// Announcements until the next round of probes.
    until_round: u32,
    rounds: u32,
    early_rounds: u32,
    per_round: u32,
}

impl AnnounceTimer {
    /// Announces from `now` on to `announce_to`.
    pub(super) fn new(
        now: Instant,
        period: Duration,
        burst: (u32, Duration),
        announce_to: &[Locator],
    ) -> Self {
        let (burst_left, burst_wait) = burst;
        let (early_rounds, per_round) = if has_group(announce_to) {
            (
                EARLY_ROUNDS_BESIDE_GROUPS,
                ANNOUNCEMENTS_PER_PROBE_ROUND_BESIDE_GROUPS,
            )
        } else {
            (EARLY_ROUNDS, ANNOUNCEMENTS_PER_PROBE_ROUND)
        };
        Self {
            next_at: now,
            due: false,
            period,
            burst_left,
            burst_wait,
            until_round: per_round,
            rounds: 0,
            early_rounds,
            per_round,
        }
    }

    /// Notes an announcement that is due at `now`; true when probes are due with it.
    pub(super) fn advance(&mut self, now: Instant, jitter: &mut Jitter) -> bool {
        if now < self.next_at {
            return false;
        }
        self.due = true;
        if self.burst_left > 0 && self.burst_wait < self.period {
            self.burst_left = self.burst_left.saturating_sub(1);
            self.next_at = now.after(jitter.spread(self.burst_wait));
            self.burst_wait = self.burst_wait.times(2);
            return false;
        }
        self.next_at = now.after(jitter.spread(self.period));
        self.until_round = self.until_round.saturating_sub(1);
        if self.until_round > 0 {
            return false;
        }
        self.rounds = self.rounds.saturating_add(1);
        let doublings = self
            .rounds
            .saturating_sub(self.early_rounds.saturating_sub(1));
        let factor = 1u32.checked_shl(doublings).unwrap_or(u32::MAX);
        let next = self.per_round.saturating_mul(factor);
        self.until_round = next.min(ANNOUNCEMENTS_PER_PROBE_ROUND_MAX);
        true
    }

    /// Rounds of probes follow as soon as at first: somebody may have to be found again.
    pub(super) fn probe_soon(&mut self) {
        self.rounds = 0;
        self.until_round = self.until_round.min(ANNOUNCEMENTS_PER_PROBE_ROUND);
    }
}

/// Which probes are due: a few at a time until the round is over.
#[derive(Debug)]
pub(super) struct ProbeTimer {
    pub(super) next_at: Option<Instant>,
    position: usize,
    total: usize,
    due: usize,
    /// How many addresses were probed at least once.
    pub(super) probed: usize,
}

impl ProbeTimer {
    /// Probes `total` addresses from `at` on.
    pub(super) fn new(at: Instant, total: usize) -> Self {
        Self {
            next_at: (total > 0).then_some(at),
            position: 0,
            total,
            due: 0,
            probed: 0,
        }
    }

    /// Starts the next round unless one is under way.
    pub(super) fn start_round(&mut self, now: Instant) {
        if self.next_at.is_none() && self.total > 0 {
            self.position = 0;
            self.next_at = Some(now);
        }
    }

    pub(super) fn advance(&mut self, now: Instant) {
        if self.next_at.is_some_and(|at| at <= now) {
            self.due = self.due.saturating_add(PROBES_PER_STEP);
            let planned = self.position.saturating_add(self.due);
            self.next_at = (planned < self.total).then_some(now.after(PROBE_STEP));
        }
    }

    /// True when some are due.
    pub(super) const fn is_due(&self) -> bool {
        self.due > 0
    }

    /// The positions of the addresses that are due, once.
    pub(super) fn take_due(&mut self) -> core::ops::Range<usize> {
        let start = self.position;
        self.position = start
            .saturating_add(core::mem::take(&mut self.due))
            .min(self.total);
        self.probed = self.probed.max(self.position);
        start..self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use core::net::SocketAddr;

    #[test]
    fn a_burst_then_a_period() {
        let mut jitter = Jitter::new(1);
        let burst = (3, Duration::from_millis(100));
        let mut timer = AnnounceTimer::new(Instant(0), Duration::from_secs(3), burst, &[]);
        let mut waits = Vec::new();
        let mut rounds = 0;
        for _ in 0..18 {
            let now = timer.next_at;
            rounds += usize::from(timer.advance(now, &mut jitter));
            assert!(core::mem::take(&mut timer.due));
            assert!(!timer.advance(now, &mut jitter) && !timer.due);
            waits.push(timer.next_at.since(now).as_nanos() / 1_000_000);
        }
        for (wait, expected) in waits.iter().zip([100, 200, 400, 3000, 3000]) {
            assert!(
                wait * 10 >= expected * 9 && wait * 10 <= expected * 11,
                "{waits:?}"
            );
        }
        assert_eq!(rounds, 3);
    }

    #[test]
    fn probes_become_rarer_until_somebody_is_lost() {
        let mut jitter = Jitter::new(1);
        let (period, burst) = (Duration::from_secs(3), (0, Duration::ZERO));
        let timer =
            |announce_to: &[Locator]| AnnounceTimer::new(Instant(0), period, burst, announce_to);
        let mut waits = |timer: &mut AnnounceTimer, rounds: usize| {
            let wait = |_| {
                let announced = |_: &u32| timer.advance(timer.next_at, &mut jitter);
                (1..).find(announced).unwrap()
            };
            (0..rounds).map(wait).collect::<Vec<u32>>()
        };
        let group = SocketAddr::from(([239, 255, 0, 1], 7400)).into();
        let mut beside_groups = timer(&[group]);
        assert_eq!(waits(&mut beside_groups, 4), [20, 40, 80, 80]);
        beside_groups.probe_soon();
        assert_eq!(waits(&mut beside_groups, 3), [5, 40, 80]);
        let mut timer = timer(&[]);
        assert_eq!(waits(&mut timer, 10), [5, 5, 5, 5, 10, 20, 40, 80, 80, 80]);
        timer.probe_soon();
        assert_eq!(waits(&mut timer, 6), [5, 5, 5, 5, 10, 20]);
    }

    #[test]
    fn probes_come_in_steps_and_end() {
        let mut timer = ProbeTimer::new(Instant(0), 600);
        let mut probed = Vec::new();
        let mut steps = 0;
        while let Some(at) = timer.next_at {
            timer.advance(at);
            steps += 1;
            let due = timer.take_due();
            assert!(due.len() <= PROBES_PER_STEP);
            probed.extend(due);
        }
        assert_eq!(probed, (0..600).collect::<Vec<_>>());
        assert_eq!(steps, 3);
        timer.start_round(Instant(9));
        assert_eq!(timer.next_at, Some(Instant(9)));
        assert_eq!(ProbeTimer::new(Instant(0), 0).next_at, None);
        // All that one host has: one wake-up.
        let mut timer = ProbeTimer::new(Instant(0), 2 * 119);
        timer.advance(Instant(0));
        assert_eq!(timer.next_at, None);
        assert_eq!(timer.take_due(), 0..2 * 119);
    }
}
