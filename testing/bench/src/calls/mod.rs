//! System calls and switches per message, counted by the kernel in the process that answers: each
//! message is one receive and one send there. Times play no part, so a busy machine is no excuse.

mod bundles;
mod count;
mod judge;
mod readers;
mod rows;
mod segments;
mod stream;
mod writers;

use crate::arguments::Arguments;
use crate::contestant::{COUNTED as BESIDE, Contestant, Mode, Product, Programs, USUAL};
use crate::machine;
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::report::Report;
use crate::stage::Stage;

use count::Counter;
use rows::Row;

/// Octets of payload.
const SIZE: usize = 64;
const MESSAGES: usize = 20_000;
const MESSAGES_QUICK: usize = 3000;

/// Round trips before any is counted, so that everything has found its size.
const WARM: usize = 500;

/// Where the two processes run. Threads that meet on different cores contend for what they share;
/// those on one core do so where one loses it with a lock.
const PLACEMENTS: [Placement; 2] = [Placement::OneCore, Placement::TwoCores];

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing, does not start or stalls; the kernel lets nobody count.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let contestants = contestants(|name| arguments.wants(name));
    if contestants.is_empty() {
        return Err("nobody of this name".to_owned());
    }
    let programs = Programs::new(&arguments.peers)?;
    let products: Vec<Product> = contestants.iter().map(|it| it.product).collect();
    let mut facts = machine::facts(&programs, &products, "calls")?;
    let usual = if arguments.quick {
        MESSAGES_QUICK
    } else {
        MESSAGES
    };
    let messages = arguments.messages.unwrap_or(usual);
    facts.insert("form".into(), arguments.form().to_owned());
    facts.insert("messages".into(), messages.to_string());
    facts.insert("size_bytes".into(), SIZE.to_string());
    let mut rows = Vec::new();
    for placement in PLACEMENTS {
        rows.extend(count_all(&contestants, &programs, (placement, messages))?);
    }
    facts.insert("method".into(), "ping-pong, one sample under way".into());
    machine::note_end(&mut facts);
    let tables = PLACEMENTS.map(|it| rows::table(&rows, it));
    let mut report = Report {
        name: "calls",
        facts,
        tables: tables.into(),
        records: rows.iter().map(rows::record).collect(),
        goals: judge::goals(&rows),
        partial: arguments.is_partial(),
    };
    if products.contains(&Product::Whimbrel) {
        add_own(&mut report, &programs, messages)?;
    }
    Ok(report)
}

/// Everybody who waits for what comes, as far as `wanted`, with and without polling. Whoever only
/// polls makes as many calls as there is time for.
fn contestants(wanted: impl Fn(&str) -> bool) -> Vec<Contestant> {
    let waits = |it: &&Contestant| it.mode != Mode::Calls && !it.mode.only_spins();
    let all = USUAL.iter().filter(waits).chain(BESIDE);
    all.filter(|it| wanted(&it.name())).copied().collect()
}

/// Counts so many messages of each, so placed.
fn count_all(
    contestants: &[Contestant],
    programs: &Programs,
    (placement, messages): (Placement, usize),
) -> Result<Vec<Row>, String> {
    let stage = Stage::new(placement)?;
    let order = |count| Order {
        size: SIZE,
        count,
        warm: 0,
    };
    let each = contestants.iter().enumerate();
    each.map(|(domain, contestant)| {
        let mut pair = Pair::start(*contestant, programs, &stage.seats(), domain + 1)?;
        pair.wait_until_ready()?;
        pair.round(order(WARM))?;
        let counter = Counter::start(pair.answering().id())?;
        pair.round(order(messages))?;
        Ok(Row {
            contestant: *contestant,
            placement,
            per_message: counter.stop()?.per(messages),
        })
    })
    .collect()
}

/// What is counted of Whimbrel alone.
fn add_own(report: &mut Report, programs: &Programs, messages: usize) -> Result<(), String> {
    let flows = stream::count(programs, messages)?;
    report.tables.push(stream::table(&flows));
    report.records.extend(flows.iter().map(stream::record));
    report.goals.extend(stream::goals(&flows));
    let of_many = readers::count(programs)?;
    report.tables.push(readers::table(&of_many));
    report.records.extend(of_many.iter().map(readers::record));
    report.goals.extend(readers::goals(&of_many));
    let beside = writers::count(programs)?;
    report.tables.push(writers::table(&beside));
    report.records.extend(beside.iter().map(writers::record));
    report.goals.extend(writers::goals(&beside));
    let bundles = bundles::count(programs)?;
    report.tables.push(bundles::table(&bundles));
    report.records.extend(bundles.iter().map(bundles::record));
    report.goals.extend(bundles::goals(&bundles));
    let rows = segments::count(programs)?;
    report.tables.push(segments::table(&rows));
    report.records.extend(rows.iter().map(segments::record));
    report.goals.extend(segments::goals(&rows));
    Ok(())
}
