//! What this tool must keep itself: `cargo xtask bench perftool`.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use whimbrel_bench::clock::now_ns;
use whimbrel_bench::exchange::{Block, Msg};
use whimbrel_bench::goal::{Goal, Side};
use whimbrel_bench::protocol::Order;

use crate::contestant::{Contestant, PLAIN, Product, Programs};
use crate::failure::Failure;
use crate::measure::Race;
use crate::progress::Progress;
use crate::world::{Place, World};

/// The plain ping-pong in C.
const SOURCE: &str = include_str!("../plain/plain_udp.c");
/// The clock that it reads, as all contestants do.
const CLOCK: &str = include_str!("../../../testing/bench/peers/clock.h");
/// Sizes at which the raw socket is compared.
const RAW_SIZES: [usize; 3] = [64, 1024, 16_384];
/// How often its processes are started: where their memory lies makes a difference of some percent.
const SESSIONS: u32 = 4;
/// Samples by which the cost of measuring one is known.
const SAMPLES: usize = 200_000;
/// How often that is measured.
const RUNS: usize = 15;

/// The raw socket's row against a plain ping-pong, and what measuring a sample costs.
///
/// # Errors
/// There is no C compiler, or a process does not start or answer.
pub(crate) fn of_the_harness() -> Result<Vec<Goal>, Failure> {
    let folder = compile()?;
    let deviation = raw_against_plain(&folder);
    // What is left is in the system's folder for such.
    let _ = std::fs::remove_dir_all(&folder);
    let (deviation, at) = deviation?;
    Ok(vec![
        Goal {
            name: "perftool.raw-socket-beside-plain-c-percent".into(),
            measured: deviation,
            at,
            side: Side::AtMost,
            bound: 3.0,
        },
        Goal {
            name: "perftool.overhead-ns-per-sample".into(),
            measured: overhead_ns(),
            at: "the harness with a bus that takes no time".into(),
            side: Side::Below,
            bound: 30.0,
        },
    ])
}

/// How long everything took.
pub(crate) fn of_time(minutes: f64) -> Goal {
    Goal {
        name: "perftool.reproduce-all-quick-minutes".into(),
        measured: minutes,
        at: String::new(),
        side: Side::Below,
        bound: 15.0,
    }
}

fn compile() -> Result<PathBuf, Failure> {
    let folder = std::env::temp_dir().join(format!("whimbrel-perf-{}", std::process::id()));
    let source = folder.join("plain_udp.c");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&source, SOURCE))
        .and_then(|()| std::fs::write(folder.join("clock.h"), CLOCK))
        .map_err(|error| Failure::Setup(format!("{}: {error}", folder.display())))?;
    let mut cc = Command::new("cc");
    cc.arg("-O2").arg("-o").arg(folder.join(PLAIN)).arg(&source);
    let output = cc
        .output()
        .map_err(|error| Failure::Setup(format!("cc: {error}")))?;
    if output.status.success() {
        return Ok(folder);
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure::Setup(format!("cc: {why}")))
}

/// By how many percent the raw socket's latencies differ, and at which size: by the median of the
/// ratios of turns that followed each other, of processes that were started anew several times.
fn raw_against_plain(folder: &Path) -> Result<(f64, String), Failure> {
    let programs = Programs::new(folder).map_err(Failure::Setup)?;
    let world = World::new(Place::Inter).map_err(Failure::Setup)?;
    let race = |session: u32| Race {
        contestants: [Product::Raw, Product::Plain].map(Contestant::plain).into(),
        sizes: RAW_SIZES.into(),
        rounds: 16,
        per_round: 300,
        domain: 1 + 10 * session,
        link: None,
    };
    let progress = Progress::new("goals", race(0).turns() * u64::from(SESSIONS));
    let mut turns = RAW_SIZES.map(|_| Vec::new());
    for session in 0..SESSIONS {
        let mut at = 0;
        race(session).run(&world, &programs, &progress, &mut |rows| {
            if let ([raw, plain], Some(turns)) = (&rows[..], turns.get_mut(at)) {
                let pairs = raw.spread.rounds().iter().zip(plain.spread.rounds());
                turns.extend(pairs.map(|(raw, plain)| (*raw, *plain)));
            }
            at += 1;
        })?;
    }
    let mut worst = (0.0, String::new());
    for (size, turns) in RAW_SIZES.iter().zip(&turns) {
        let percent = (median(turns.iter().map(|(raw, plain)| raw / plain)) - 1.0).abs() * 100.0;
        if percent >= worst.0 {
            let raw_us = median(turns.iter().map(|it| it.0));
            let plain_us = median(turns.iter().map(|it| it.1));
            let at = format!(
                "{size} B: {raw_us:.2} and {plain_us:.2} µs, median of {} turns",
                turns.len()
            );
            worst = (percent, at);
        }
    }
    Ok(worst)
}

fn median(all: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// What all that the harness does for a sample takes where the bus takes nothing: the same block
/// that measures, with answers that are there at once. The least of some runs: others share the
/// machine.
fn overhead_ns() -> f64 {
    let run = || {
        let order = Order {
            size: 0,
            count: SAMPLES,
            warm: 0,
        };
        let mut block = Block::new(order, Msg::default());
        let mut answer = Msg::default();
        let begun = Instant::now();
        while !block.is_done() {
            block.next();
            answer.seq += 1;
            let noted = block.note(black_box(&answer), now_ns());
            debug_assert!(noted);
        }
        let all = begun.elapsed();
        black_box(block.into_trips());
        all.as_nanos() as f64 / SAMPLES as f64
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_turn_that_was_disturbed_does_not_count() {
        assert_eq!(median([1.0, 9.0, 1.02].into_iter()), 1.02);
        assert!(median(std::iter::empty()).is_infinite());
    }
}
