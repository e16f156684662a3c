//! Scenarios by seed: a few of every kind, those that once failed, and that nothing is left to
//! chance.

mod conformance;
mod determinism;
mod fast_paths;
mod scripts;

use whimbrel_sim::scenario::{Kind, Scenario};
use whimbrel_sim::world::{Outcome, play};

/// Seeds of scenarios with given matches that failed once, and why.
const ONCE_FAILED: [(u64, &str); 12] = [
    (
        3,
        "progress reported without any while fragments were held up by the pace",
    ),
    (20, "a best-effort reader waited for history"),
    (
        81,
        "a full reorder buffer asked for nothing, not even for what it waited for",
    ),
    (
        105,
        "changes since its rebirth were forgotten with a deleted instance",
    ),
    (1151, "two lives of a writer under one name"),
    (
        4080,
        "an unregistration took the place of a disposal not yet seen",
    ),
    (
        5408,
        "a volatile reader asked in vain for the rest of what it had met before its match",
    ),
    (6388, "the same, with fragments"),
    (17764, "the same as 4080, the other way round"),
    (
        5611,
        "requests were repeated as fast as lost repairs travelled",
    ),
    (
        102_213,
        "a sample held up by the pace before its first fragment was passed over",
    ),
    (
        105_637,
        "a reader stuck before its match when the gap was lost",
    ),
];

fn check(seed: u64, discovery: bool) -> Outcome {
    check_scenario(&Scenario::new(seed, discovery))
}

fn check_scenario(scenario: &Scenario) -> Outcome {
    let outcome = play(scenario, false);
    assert!(
        outcome.findings.is_empty(),
        "{scenario}{:#?}",
        outcome.findings
    );
    outcome
}

/// The same with nothing handed over within a process.
fn check_by_network(mut scenario: Scenario) {
    scenario.in_process = false;
    check_scenario(&scenario);
}

/// How often scenarios came to what is fast, and to what is in its way.
#[derive(Default, Debug)]
struct Played {
    /// Datagrams for which queues had no room.
    overflowed: u64,
    /// Answers to whether readers without reliability had taken in what was sent.
    credits: u64,
    /// Changes handed over within a process, those past history, and those as they were.
    handed: [u64; 3],
    /// Of those handed over, what readers took from writers of another participant.
    across: u64,
}

/// Plays the first `count` scenarios of a kind.
fn keep_promises(kind: Kind, count: u64) -> Played {
    let mut played = Played::default();
    for seed in 0..count {
        let outcome = check_scenario(&Scenario::of(kind, seed));
        played.overflowed += outcome.overflowed;
        played.credits += outcome.credits;
        played.across += outcome.across;
        let handed = [outcome.handed, outcome.passed, outcome.unencoded];
        for (sum, more) in played.handed.iter_mut().zip(handed) {
            *sum += more;
        }
    }
    played
}

#[test]
fn endpoints_keep_their_promises() {
    let played = keep_promises(Kind::Given, 40);
    assert!(played.overflowed > 50, "{played:?}");
    assert!(played.credits > 5, "{played:?}");
    let [handed, passed, unencoded] = played.handed;
    assert!(handed > 300 && passed > 30 && unencoded > 1, "{played:?}");
    assert!(played.across > 10, "{played:?}");
}

#[test]
fn participants_meet_and_keep_their_promises() {
    // Announcements begin with what queues hold, so it takes more of them to overflow some.
    let played = keep_promises(Kind::Discovery, 90);
    assert!(played.overflowed > 50, "{played:?}");
    assert!(played.credits > 5, "{played:?}");
    let [handed, passed, unencoded] = played.handed;
    assert!(handed > 300 && passed > 30 && unencoded > 1, "{played:?}");
    assert!(played.across > 10, "{played:?}");
}

#[test]
fn wide_scenarios_keep_their_promises() {
    let played = keep_promises(Kind::Wide, 40);
    assert!(played.overflowed > 50, "{played:?}");
    assert!(played.credits > 5, "{played:?}");
    let [handed, passed, unencoded] = played.handed;
    assert!(handed > 300 && passed > 30 && unencoded > 1, "{played:?}");
    assert!(played.across > 10, "{played:?}");
}

/// Seeds in which one participant takes another for lost but not the other way round.
#[test]
fn one_sided_losses_end_in_the_same_matches() {
    for seed in [1263, 1545, 2251, 7305, 8054, 12_250, 16_127, 17_303] {
        check_by_network(Scenario::new(seed, true));
    }
}

#[test]
fn seeds_that_once_failed_pass() {
    for (seed, why) in ONCE_FAILED {
        println!("seed {seed}: {why}");
        check_by_network(Scenario::new(seed, false));
    }
}

#[test]
fn the_same_seed_is_the_same_traffic() {
    for seed in 0..5 {
        for discovery in [false, true] {
            let outcome = check(seed, discovery);
            assert_eq!(outcome, check(seed, discovery));
            assert_ne!(outcome.hash, check(seed + 5, discovery).hash);
        }
    }
}
