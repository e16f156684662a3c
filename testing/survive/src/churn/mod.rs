//! Entities that come and go under traffic: every drop returns, nothing is left behind.
//!
//! Several threads here and a second process make and drop participants, topics, writers,
//! readers, wait sets and listeners at random, many with calls that block or futures that wait,
//! while others exchange samples that are checked. A watchdog ends the run when any step hangs.
//!
//! Start at `run`; what a cycle does is in `cycle`, what is blocked meanwhile in `blocked`.

mod blocked;
mod cycle;
mod dark;
mod dice;
mod drops;
mod faults;
mod peer;
mod resources;
mod scene;
mod traffic;
mod watchdog;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::proof::{Figure, Proof, Share};

use cycle::Churn;
use drops::DROP_MAX;
use resources::Resources;
use scene::Scene;
use traffic::Traffic;

/// The row of this proof.
pub const PROOF: Proof = Proof {
    name: "churn",
    claim: "entities come and go under traffic: every drop < 500 ms, no leak, no hang",
    run,
    child: Some(child),
};

/// Cycles of the claim.
const CYCLES_FULL: u64 = 10_000;

/// Threads of this process that churn; the second process has one more.
const THREADS: u64 = 6;

/// Times that everything but the traffic is at rest, to measure what is held, and how many of
/// them come before memory is expected to be flat: in a full run, and in a short one.
const RESTS: [(u64, usize); 2] = [(8, 4), (2, 0)];

fn run(share: &Share) -> Figure {
    resources::share_one_arena();
    watchdog::start();
    let before = Resources::now();
    let scene = Scene::new();
    let child = match peer::Peer::start(&scene) {
        Ok(child) => child,
        Err(why) => return Figure::missed(why),
    };
    let traffic = Traffic::start(&scene, 1);
    let done = AtomicU64::new(0);
    let started = Instant::now();
    let (rests, warm_up) = RESTS[usize::from(!share.full)];
    let mut held = Vec::new();
    for epoch in 0..rests {
        let goal = epoch_goal(share, epoch, rests);
        churn(&scene, &done, epoch, &goal);
        held.push(Resources::at_rest());
    }
    let took = started.elapsed();
    let child = child.stop();
    let told = traffic.stop();
    let ghosts = scene.ghosts();
    drop(scene);
    let dark = dark::run();
    verdict(Outcome {
        cycles: done.load(Ordering::Relaxed),
        took,
        before,
        warm_up,
        held,
        after: Resources::settled(&before),
        told,
        child,
        dark,
        ghosts,
    })
}

/// Until when an epoch lasts.
enum Goal {
    Cycles(u64),
    Time(Instant),
}

/// What ends the epoch `number` of so many.
fn epoch_goal(share: &Share, number: u64, epochs: u64) -> Goal {
    if share.full {
        return Goal::Cycles(CYCLES_FULL * (number + 1) / epochs);
    }
    let part = share.time.div_f64(epochs as f64);
    Goal::Time(Instant::now() + part)
}

fn churn(scene: &Scene, done: &AtomicU64, epoch: u64, goal: &Goal) {
    thread::scope(|threads| {
        for number in 0..THREADS {
            threads.spawn(move || {
                let mut churn = Churn::new(scene, epoch * THREADS + number);
                loop {
                    let over = match goal {
                        Goal::Cycles(count) => done.load(Ordering::Relaxed) >= *count,
                        Goal::Time(end) => Instant::now() >= *end,
                    };
                    if over {
                        return;
                    }
                    churn.cycle();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
}

/// The heap at a rest.
fn mib(held: Option<&Resources>) -> f64 {
    held.map_or(0.0, |held| held.heap_bytes as f64 / f64::from(1 << 20))
}

struct Outcome {
    cycles: u64,
    took: Duration,
    before: Resources,
    /// Rests that are not judged.
    warm_up: usize,
    held: Vec<Resources>,
    after: Resources,
    told: Result<u64, String>,
    child: Result<String, String>,
    dark: Result<String, String>,
    ghosts: Option<String>,
}

fn verdict(outcome: Outcome) -> Figure {
    let mut wrong = Vec::new();
    let (drops, slowest, what) = drops::summary();
    if slowest > DROP_MAX {
        wrong.push(format!("a drop of {what} took {slowest:?}"));
    }
    wrong.extend(outcome.ghosts);
    wrong.extend(faults::faults());
    wrong.extend(outcome.after.left_behind(&outcome.before));
    let after_warm_up = outcome.held.get(outcome.warm_up..).unwrap_or_default();
    let warm = outcome.cycles >= CYCLES_FULL;
    wrong.extend(resources::growth(after_warm_up, warm));
    let mut tell = |part: Result<String, String>| match part {
        Ok(text) => text,
        Err(why) => {
            wrong.push(why.clone());
            why
        }
    };
    let child = tell(outcome.child);
    let dark = tell(outcome.dark);
    let samples = tell(
        outcome
            .told
            .map(|count| format!("{count} samples in order meanwhile")),
    );
    let held: Vec<String> = outcome.held.iter().map(Resources::to_string).collect();
    println!("held at rest: {}", held.join("; "));
    println!("before {}, after {}", outcome.before, outcome.after);
    print!("{}", drops::table());
    let text = format!(
        "{} cycles in {:.1} s on {THREADS} threads, {drops} drops, slowest {:.1} ms ({what}; \
         bound {} ms); {samples}; second process: {child}; {dark}; threads and descriptors back \
         to {} and {}, heap at rest {:.2} to {:.2} MiB",
        outcome.cycles,
        outcome.took.as_secs_f64(),
        slowest.as_secs_f64() * 1e3,
        DROP_MAX.as_millis(),
        outcome.after.threads,
        outcome.after.descriptors,
        mib(after_warm_up.first()),
        mib(after_warm_up.last()),
    );
    if wrong.is_empty() {
        Figure::held(text)
    } else {
        Figure::missed(format!("{}; {text}", wrong.join("; ")))
    }
}

fn child(words: &[String]) -> ExitCode {
    match words {
        [what, tag] if what == "peer" => peer::run(tag),
        [what] if what == "dark" => dark::inside(),
        _ => ExitCode::from(2),
    }
}
