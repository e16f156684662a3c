//! What it costs that a thread polls before it blocks, beside one that blocks at once: at a steady
//! 1 kHz, where nothing happens, and where more processes want the cores than there are.

mod calm;
mod judge;
mod rows;

use std::process::Command;
use std::thread;

use whimbrel_rig::process::Process;

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

use rows::{Crowded, Row};

/// Octets of payload.
const SIZE: usize = 64;

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
        mode: Mode::BlockingConnected,
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
    let plan = calm::Plan::new(SIZE, arguments.quick);
    let starts = if arguments.quick {
        STARTS_QUICK
    } else {
        STARTS
    };
    facts.insert("form".into(), arguments.form().to_owned());
    facts.insert("size_bytes".into(), SIZE.to_string());
    facts.insert("part_ms".into(), plan.length.as_millis().to_string());
    facts.insert("period_us".into(), calm::PERIOD.as_micros().to_string());
    facts.insert("rounds".into(), plan.rounds.to_string());
    facts.insert("crowded_starts".into(), starts.to_string());
    facts.insert("crowded_rounds".into(), ROUNDS_CROWDED.to_string());
    facts.insert("crowded_round_trips".into(), TRIPS.to_string());
    facts.insert("busy_processes".into(), busy_processes().to_string());
    let contestants = contestants();
    let contestants = contestants.as_slice();
    let mut host = Host::of(calm::PLACEMENT);
    let calm = calm::run(plan, &programs, contestants, &mut host)?;
    facts.insert(host::BLOCKS.into(), host.describe());
    let mut crowded = crowded(&programs, &[contestants, &RAW].concat(), starts)?;
    let raw = crowded.split_off(contestants.len());
    let wait_us = rows::wait_us(&raw);
    let rows: Vec<Row> = contestants
        .iter()
        .zip(calm.into_iter().zip(crowded))
        .map(|(it, (calm, crowded))| Row {
            mode: it.mode,
            calm,
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
        let mut pairs = Pair::start_all(contestants, programs, &stage.seats())?;
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
