//! What it costs that a thread polls before it blocks, beside one that blocks at once: at a steady
//! 1 kHz, where nothing happens, and where more processes want the cores than there are.

mod judge;
mod rows;

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel_rig::process::{Process, Usage};

use crate::arguments::Arguments;
use crate::contestant::{Contestant, Mode, Product, Programs, USUAL};
use crate::host::{self, Host};
use crate::machine;
use crate::pair::{ENDING, Pair};
use crate::placement::Placement;
use crate::protocol::Order;
use crate::report::Report;
use crate::stage::Stage;
use crate::turns;

use rows::{Crowded, Row, Share};

/// Where processes run, but for where it is crowded.
const CALM: Placement = Placement::TwoCores;

/// Octets of payload.
const SIZE: usize = 64;

/// Time between two samples of the steady stream.
const PERIOD: Duration = Duration::from_millis(1);

/// Rounds in which all take turns, each after a start of its own: where a process and its memory
/// lie makes it slower or faster by some percent for as long as it lives.
const ROUNDS: usize = 15;

/// How often everybody is started where it is crowded.
const STARTS: usize = 40;
const STARTS_QUICK: usize = 5;
const ROUNDS_CROWDED: usize = 30;

/// Round trips in a round of the crowded part.
const TRIPS: usize = 100;

/// Processes that are always busy, for each core.
const BUSY_PER_CORE: usize = 2;

/// Raw sockets where it is crowded, by which waits are told from calls: one that waits, and one
/// that makes the same calls and never does.
const RAW: [Contestant; 2] = [
    Contestant {
        product: Product::Raw,
        mode: Mode::Blocking,
    },
    Contestant {
        product: Product::Raw,
        mode: Mode::Calls,
    },
];

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let programs = Programs::new(&arguments.peers)?;
    let mut facts = machine::facts(&programs, &[Product::Whimbrel], "polling")?;
    let length = Duration::from_millis(if arguments.quick { 150 } else { 1000 });
    let starts = if arguments.quick {
        STARTS_QUICK
    } else {
        STARTS
    };
    facts.insert("form".into(), arguments.form().to_owned());
    facts.insert("size_bytes".into(), SIZE.to_string());
    facts.insert("part_ms".into(), length.as_millis().to_string());
    facts.insert("period_us".into(), PERIOD.as_micros().to_string());
    facts.insert("rounds".into(), ROUNDS.to_string());
    facts.insert("crowded_starts".into(), starts.to_string());
    facts.insert("crowded_rounds".into(), ROUNDS_CROWDED.to_string());
    facts.insert("crowded_round_trips".into(), TRIPS.to_string());
    facts.insert("busy_processes".into(), busy_processes().to_string());
    let contestants = contestants();
    let contestants = contestants.as_slice();
    let mut host = Host::of(CALM);
    let calm = calm(&programs, contestants, &mut host, length)?;
    facts.insert(host::BLOCKS.into(), host.describe());
    let mut crowded = crowded(&programs, &[contestants, &RAW].concat(), starts)?;
    let raw = crowded.split_off(contestants.len());
    let wait_us = rows::wait_us(&raw);
    let rows: Vec<Row> = contestants
        .iter()
        .zip(calm.into_iter().zip(crowded))
        .map(|(it, ([steady, answering, idle], crowded))| Row {
            mode: it.mode,
            steady,
            answering,
            idle,
            crowded,
            wait_us,
        })
        .collect();
    machine::note_end(&mut facts);
    Ok(Report {
        name: "polling",
        facts,
        tables: vec![rows::table(&rows)],
        records: rows.iter().map(Row::record).collect(),
        goals: judge::goals(&rows),
        partial: arguments.is_partial(),
    })
}

/// Every way of receiving, each without and with polling.
fn contestants() -> Vec<Contestant> {
    let polling = USUAL.iter().filter(|it| it.product == Product::Whimbrel);
    let both = |it: &Contestant| {
        let mode = it.mode.without_polling()?;
        Some([Contestant { mode, ..*it }, *it])
    };
    polling.filter_map(both).flatten().collect()
}

fn start(
    programs: &Programs,
    contestants: &[Contestant],
    stage: &Stage,
) -> Result<Vec<Pair>, String> {
    let seats = stage.seats();
    let begun = contestants.iter().enumerate();
    let pairs = begun.map(|(domain, it)| Pair::start(*it, programs, &seats, domain + 1));
    let pairs: Vec<Pair> = pairs.collect::<Result<_, _>>()?;
    for pair in &pairs {
        pair.wait_until_ready()?;
    }
    Ok(pairs)
}

/// Shares of a core of each: of both processes at a steady stream, there of the one that answers,
/// and of both where nothing happens.
fn calm(
    programs: &Programs,
    contestants: &[Contestant],
    host: &mut Host,
    length: Duration,
) -> Result<Vec<[Share; 3]>, String> {
    let stage = Stage::new(CALM)?;
    let mut shares = vec![[Share::default(); 3]; contestants.len()];
    for round in 0..ROUNDS {
        let mut pairs = start(programs, contestants, &stage)?;
        for at in turns::of_round(round, pairs.len()) {
            let pair = &mut pairs[at];
            let mut share_of = |part: &dyn Fn(&mut Pair) -> Result<(), String>| {
                host.undisturbed(|| used_in(pair, part))
            };
            let (both, answering, elapsed) = share_of(&|pair| stream(pair, length))?;
            shares[at][0].add(both, elapsed);
            shares[at][1].add(answering, elapsed);
            let (both, _, elapsed) = share_of(&|_| {
                thread::sleep(length);
                Ok(())
            })?;
            shares[at][2].add(both, elapsed);
        }
    }
    Ok(shares)
}

/// What both processes, and what the one that answers, use of a core during `part`, which takes so
/// long.
fn used_in(
    pair: &mut Pair,
    part: &dyn Fn(&mut Pair) -> Result<(), String>,
) -> Result<(Usage, Usage, Duration), String> {
    let of = |pair: &Pair| (pair.usage(), pair.usage_of_pong());
    let (before, begun) = (of(pair), Instant::now());
    part(pair)?;
    let after = of(pair);
    let both = after.0.since(before.0);
    Ok((both, after.1.since(before.1), begun.elapsed()))
}

/// One round trip at each period.
fn stream(pair: &mut Pair, length: Duration) -> Result<(), String> {
    let one = Order {
        size: SIZE,
        count: 1,
        warm: 0,
    };
    let begun = Instant::now();
    let mut next = begun;
    while begun.elapsed() < length {
        pair.round(one)?;
        next += PERIOD;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}

fn busy_processes() -> usize {
    BUSY_PER_CORE * thread::available_parallelism().map_or(1, usize::from)
}

/// Latency of each while more processes are busy than there are cores.
fn crowded(
    programs: &Programs,
    contestants: &[Contestant],
    starts: usize,
) -> Result<Vec<Crowded>, String> {
    let mut all = vec![Crowded::default(); contestants.len()];
    for _ in 0..starts {
        let stage = Stage::new(Placement::Free)?;
        let mut pairs = start(programs, contestants, &stage)?;
        let mut busy = begin_busy(programs)?;
        let turns = take_turns(&mut pairs, &mut all);
        for process in &mut busy {
            process.end(ENDING);
        }
        turns?;
    }
    Ok(all)
}

fn begin_busy(programs: &Programs) -> Result<Vec<Process>, String> {
    let program = programs.of(Product::Raw)?;
    let begin = |_| Process::start("busy", Command::new(&program).arg("busy"));
    (0..busy_processes()).map(begin).collect()
}

fn take_turns(pairs: &mut [Pair], all: &mut [Crowded]) -> Result<(), String> {
    let order = Order {
        size: SIZE,
        count: TRIPS,
        warm: 10,
    };
    for round in 0..ROUNDS_CROWDED {
        for at in turns::of_round(round, pairs.len()) {
            let (trips, used) = pairs[at].round(order)?;
            all[at].add_round(&trips, order.count + order.warm, used);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_receiving_is_played_with_and_without_polling() {
        let mut played: Vec<_> = contestants().iter().map(|it| it.mode).collect();
        let ours = USUAL.iter().filter(|it| it.product == Product::Whimbrel);
        let ours = ours.filter(|it| it.mode != Mode::Spinning);
        let mut all: Vec<_> = ours.map(|it| it.mode).collect();
        played.sort_unstable();
        all.sort_unstable();
        assert_eq!(played, all);
    }
}
