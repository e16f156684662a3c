//! System calls and switches per message, counted by the kernel in the process that answers: each
//! message is one receive and one send there. Times play no part, so a busy machine is no excuse.

mod count;
mod judge;
mod readers;
mod segments;
mod stream;

use crate::arguments::Arguments;
use crate::contestant::{COUNTED as BESIDE, Contestant, Mode, Product, Programs, USUAL};
use crate::machine;
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::report::{Record, Report, Table};
use crate::stage::Stage;

use count::{COUNTED, Counter, Counts};

/// Octets of payload.
const SIZE: usize = 64;
const MESSAGES: usize = 20_000;
const MESSAGES_QUICK: usize = 3000;

/// Round trips before any is counted, so that everything has found its size.
const WARM: usize = 500;

/// Counts per message of one contestant.
#[derive(Clone, Debug)]
struct Row {
    contestant: Contestant,
    per_message: Counts,
}

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing, does not start or stalls; the kernel lets nobody count.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let wanted = |it: &&Contestant| arguments.wants(&it.name());
    let polls = |mode: Mode| {
        mode.without_polling().is_some() || matches!(mode, Mode::Calls | Mode::Spinning)
    };
    let on_purpose = |it: &&Contestant| !polls(it.mode);
    let all = USUAL.iter().filter(on_purpose).chain(BESIDE);
    let contestants: Vec<&Contestant> = all.filter(wanted).collect();
    if contestants.is_empty() {
        return Err("nobody of this name".to_owned());
    }
    let programs = Programs::new(&arguments.peers)?;
    let products: Vec<Product> = contestants.iter().map(|it| it.product).collect();
    let mut facts = machine::facts(&programs, &products)?;
    let usual = if arguments.quick {
        MESSAGES_QUICK
    } else {
        MESSAGES
    };
    let messages = arguments.messages.unwrap_or(usual);
    facts.insert("form".into(), arguments.form().to_owned());
    facts.insert("messages".into(), messages.to_string());
    facts.insert("size_bytes".into(), SIZE.to_string());
    let stage = Stage::new(Placement::OneCore)?;
    let mut rows = Vec::new();
    for (domain, contestant) in contestants.into_iter().enumerate() {
        let mut pair = Pair::start(*contestant, &programs, &stage.seats(), domain + 1)?;
        pair.wait_until_ready()?;
        let order = |count| Order {
            size: SIZE,
            count,
            warm: 0,
        };
        pair.round(order(WARM))?;
        let counter = Counter::start(pair.answering().id())?;
        pair.round(order(messages))?;
        let per_message = counter.stop()?.per(messages);
        rows.push(Row {
            contestant: *contestant,
            per_message,
        });
    }
    let mut report = Report {
        name: "calls",
        facts,
        tables: vec![table(&rows)],
        records: rows.iter().map(record).collect(),
        goals: judge::goals(&figures(&rows)),
        partial: arguments.is_partial(),
    };
    if rows
        .iter()
        .any(|it| it.contestant.product == Product::Whimbrel)
    {
        let counters = stream::count(&programs, &stage, (rows.len() + 1, SIZE))?;
        report.tables.push(stream::table(counters));
        report.records.push(stream::record(counters));
        report.goals.push(stream::goal(counters));
        let of_many = readers::count(&programs, &stage, rows.len() + 2)?;
        report.tables.push(readers::table(&of_many));
        report.records.extend(of_many.iter().map(readers::record));
        report.goals.extend(readers::goals(&of_many));
        let rows = segments::count(&programs)?;
        report.tables.push(segments::table(&rows));
        report.records.extend(rows.iter().map(segments::record));
        report.goals.extend(segments::goals(&rows));
    }
    Ok(report)
}

fn figures(rows: &[Row]) -> Vec<(Contestant, Counts)> {
    let pair = |row: &Row| (row.contestant, row.per_message.clone());
    rows.iter().map(pair).collect()
}

fn record(row: &Row) -> Record {
    let record = Record::new()
        .text("product", row.contestant.product.name())
        .text("mode", row.contestant.mode.name());
    let with = |record: Record, kind: &'static str| record.number(kind, row.per_message.of(kind));
    COUNTED.iter().map(|it| it.name).fold(record, with)
}

fn table(rows: &[Row]) -> Table {
    let mut head = vec!["contestant".to_owned()];
    head.extend(COUNTED.iter().map(|it| it.name.to_owned()));
    let line = |row: &Row| {
        let mut cells = vec![row.contestant.name()];
        let values = COUNTED.iter().map(|it| row.per_message.of(it.name));
        cells.extend(values.map(|value| format!("{value:.3}")));
        cells
    };
    Table {
        title: "per message in the process that answers, on one core".to_owned(),
        head,
        lines: rows.iter().map(line).collect(),
    }
}
