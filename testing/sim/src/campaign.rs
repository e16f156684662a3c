//! Many scenarios, and what came of them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use whimbrel_base::time::Duration;

use crate::scenario::{Kind, Scenario};
use crate::world::{Outcome, play};

/// Which scenarios to play.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// The first seed.
    pub start: u64,
    /// How many seeds at most.
    pub seeds: u64,
    /// Scenarios of this kind only; otherwise each seed chooses.
    pub kind: Option<Kind>,
    /// Goes on after something was found.
    pub keep_going: bool,
    /// Threads that play.
    pub jobs: usize,
}

/// What a campaign did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Scenarios of each kind: given matches, discovery, wide.
    pub played: [u64; 3],
    /// Time that passed in them.
    pub played_ns: u128,
    /// Datagrams sent.
    pub datagrams: u64,
    /// Octets sent.
    pub sent_bytes: u64,
    /// Scenarios in which something was found.
    pub found: u64,
    /// Longest time from healing until the matches were right, of scenarios with discovery, and
    /// its seed.
    pub slowest: (Duration, u64),
    /// Sum of the hashes of all traffic.
    pub hash: u64,
}

impl Tally {
    fn add(&mut self, scenario: &Scenario, kind: Kind, outcome: &Outcome) {
        let seed = scenario.seed;
        self.played[kind as usize] += 1;
        self.played_ns += u128::from(outcome.played.as_nanos().unsigned_abs());
        self.datagrams += outcome.datagrams;
        self.sent_bytes += outcome.sent_bytes;
        self.found += u64::from(!outcome.findings.is_empty());
        if kind != Kind::Given && !scenario.lies() {
            self.slowest = self.slowest.max((outcome.matched_after, seed));
        }
        let mixed = crate::random::mix(outcome.hash ^ seed);
        self.hash = self.hash.wrapping_add(mixed);
    }

    /// Scenarios of all kinds.
    pub fn seeds(&self) -> u64 {
        self.played.iter().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.played_ns / 60_000_000_000;
        write!(
            f,
            "simulation: {} seeds ({} given matches, {} discovery, {} wide), \
             {}.{:02} virtual hours, {} datagrams, {} MB, \
             slowest recovery {} ms (seed {}), {} findings, {:016x} hash",
            self.seeds(),
            self.played[0],
            self.played[1],
            self.played[2],
            minutes / 60,
            minutes % 60 * 100 / 60,
            self.datagrams,
            self.sent_bytes / 1_000_000,
            self.slowest.0.as_nanos() / 1_000_000,
            self.slowest.1,
            self.found,
            self.hash,
        )
    }
}

/// Which kind of scenario `seed` is where none is asked for.
pub const fn kind_of(seed: u64) -> Kind {
    match seed % 4 {
        0 | 1 => Kind::Given,
        2 => Kind::Discovery,
        _ => Kind::Wide,
    }
}

/// As [`play`]; a panic is a finding.
pub fn try_play(scenario: &Scenario, trace: bool) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| play(scenario, trace))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Outcome {
            findings: vec![format!("panic: {}", text.unwrap_or("without a word"))],
            ..Outcome::default()
        }
    })
}

/// Plays until the seeds are used up, `enough` says so, or something is found. `on_finding` is
/// told of each scenario in which something was found, `on_progress` of the number of played ones.
pub fn run(
    campaign: &Campaign,
    enough: impl Fn() -> bool + Sync,
    on_finding: impl Fn(&Scenario, Kind, &Outcome) + Sync,
    on_progress: impl Fn(&Tally) + Sync,
) -> Tally {
    let next = AtomicU64::new(0);
    let stopped = AtomicBool::new(false);
    let tally = Mutex::new(Tally::default());
    let work = || {
        while !stopped.load(Ordering::Relaxed) && !enough() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= campaign.seeds {
                break;
            }
            let seed = campaign.start.wrapping_add(index);
            let kind = campaign.kind.unwrap_or(kind_of(seed));
            let scenario = Scenario::of(kind, seed);
            let outcome = try_play(&scenario, false);
            if !outcome.findings.is_empty() {
                on_finding(&scenario, kind, &outcome);
                if !campaign.keep_going {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
            let mut tally = tally.lock().unwrap_or_else(|it| it.into_inner());
            tally.add(&scenario, kind, &outcome);
            on_progress(&tally);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..campaign.jobs {
            scope.spawn(work);
        }
        work();
    });
    tally.into_inner().unwrap_or_else(|it| it.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(jobs: usize) -> Tally {
        let campaign = Campaign {
            start: 40,
            seeds: 12,
            kind: None,
            keep_going: false,
            jobs,
        };
        run(&campaign, || false, |_, _, _| (), |_| ())
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (one, two) = (campaign(1), campaign(2));
        assert_eq!(one.to_string(), two.to_string());
        assert_eq!(one.seeds(), 12);
        assert_eq!(one.played, [6, 3, 3]);
        assert_eq!(one.found, 0);
    }
}
