//! System calls and switches per message, counted by the kernel: of ping-pongs in the process that
//! answers, where each message is one receive and one send, of streams in those that each part of
//! the bench names. Times play no part, so a busy machine is no excuse.

mod bundles;
mod burst;
mod count;
mod judge;
mod readers;
mod rows;
mod segments;
mod stream;
mod writers;

use crate::arguments::Arguments;
use crate::contestant::{COUNTED as BESIDE, Contestant, Mode, Product, Programs, USUAL};
use crate::goal::Goal;
use crate::machine;
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::report::{Record, Report, Table};
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
    let rows = stream::count(programs, messages)?;
    add(
        report,
        &rows,
        (stream::table, stream::record, stream::goals),
    );
    let rows = readers::count(programs)?;
    add(
        report,
        &rows,
        (readers::table, readers::record, readers::goals),
    );
    let rows = writers::count(programs)?;
    add(
        report,
        &rows,
        (writers::table, writers::record, writers::goals),
    );
    let rows = bundles::count(programs)?;
    add(
        report,
        &rows,
        (bundles::table, bundles::record, bundles::goals),
    );
    let rows = segments::count(programs)?;
    add(
        report,
        &rows,
        (segments::table, segments::record, segments::goals),
    );
    Ok(())
}

/// What is shown of `rows`: a table, a record of each, goals.
type Shown<R> = (fn(&[R]) -> Table, fn(&R) -> Record, fn(&[R]) -> Vec<Goal>);

fn add<R>(report: &mut Report, rows: &[R], (table, record, goals): Shown<R>) {
    report.tables.push(table(rows));
    report.records.extend(rows.iter().map(record));
    report.goals.extend(goals(rows));
}
