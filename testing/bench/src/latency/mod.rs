//! Ping-pong: one process writes, the other answers each sample; half of the round trip counts.
//!
//! RELIABLE, KEEP_LAST 1, VOLATILE, one sample under way. All contestants of a placement live at
//! the same time and take turns in rounds, so that whatever disturbs the machine disturbs all. What
//! its host disturbed is measured again ([`host`]).

mod budget;
mod judge;
mod plan;
mod race;
mod rows;

use crate::arguments::Arguments;
use crate::contestant::{Product, Programs};
use crate::exchange::PAYLOAD;
use crate::host;
use crate::machine;
use crate::report::Report;

use rows::Row;

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let parts = plan::parts(arguments)?;
    let programs = Programs::new(&arguments.peers)?;
    let who = parts.iter().flat_map(|part| &part.contestants);
    let products: Vec<Product> = who.map(|it| it.product).collect();
    let mut facts = machine::facts(&programs, &products, "latency")?;
    let mut note = |name: &str, value: String| facts.insert(name.to_owned(), value);
    note(
        "method",
        "ping-pong, round trip / 2, RELIABLE, KEEP_LAST 1, VOLATILE; raw: buffers of the system; \
         goals are of sockets that are not connected, shares by connected ones"
            .into(),
    );
    note(
        "ratios of p50 in goals",
        "the middle of those of the rounds".into(),
    );
    note("payload", PAYLOAD.to_owned());
    note("form", arguments.form().to_owned());
    for part in &parts {
        let sizes: Vec<String> = part.sizes.iter().map(usize::to_string).collect();
        let settings = format!(
            "{} round trips of each size in {} rounds, {} before each round, {} starts, sizes {} B",
            part.per_round() * part.rounds,
            part.rounds,
            part.warm,
            part.starts,
            sizes.join(" ")
        );
        note(part.kind.name(), settings);
    }
    let (mut others, mut hosts, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tables, mut goals) = (Vec::new(), Vec::new());
    for part in &parts {
        for placement in &part.placements {
            let found = race::run(part, &programs, *placement)?;
            rows.extend(found.rows);
            others.push(format!("{placement} {:.0} %", found.others_percent));
            hosts.push(format!("{placement} {}", found.host.describe()));
            tables.extend(rows::tables(&rows, *placement, part));
        }
        tables.extend(budget::tables(&rows, part));
        goals.extend(judge::goals(&rows, part));
    }
    let waits: Vec<String> = budget::waits_us(&rows)
        .map(|(placement, us)| format!("{placement} {us:.2}"))
        .collect();
    if !waits.is_empty() {
        note("cpu us of a wait", waits.join(", "));
    }
    let record = |row: &Row| budget::record(row, &rows);
    let records = rows.iter().map(record).collect();
    note("others' share of all cores", others.join(", "));
    note(host::BLOCKS, hosts.join("; "));
    machine::note_end(&mut facts);
    Ok(Report {
        name: "latency",
        facts,
        tables,
        records,
        goals,
        partial: arguments.is_partial(),
    })
}
