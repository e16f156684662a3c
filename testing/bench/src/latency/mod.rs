//! Ping-pong: one process writes, the other answers each sample; half of the round trip counts.
//!
//! RELIABLE, KEEP_LAST 1, VOLATILE, one sample under way. All contestants of a placement live at
//! the same time and take turns in rounds, so that whatever disturbs the machine disturbs all.

mod budget;
mod judge;
mod plan;
mod race;
mod rows;

use crate::arguments::Arguments;
use crate::contestant::{Product, Programs};
use crate::machine;
use crate::report::{Report, Table};

use plan::{Plan, ROUNDS, WARM};
use rows::Row;

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let plan = Plan::new(arguments)?;
    let programs = Programs::new(&arguments.peers)?;
    let products: Vec<Product> = plan.contestants.iter().map(|it| it.product).collect();
    let mut facts = machine::facts(&programs, &products)?;
    let mut note = |name: &str, value: String| facts.insert(name.to_owned(), value);
    note(
        "method",
        "ping-pong, round trip / 2, RELIABLE, KEEP_LAST 1, VOLATILE".into(),
    );
    note("messages", (plan.per_round() * ROUNDS).to_string());
    note("rounds", ROUNDS.to_string());
    note("warm-up per round", WARM.to_string());
    let mut rows = Vec::new();
    let mut others = Vec::new();
    for placement in &plan.placements {
        let (found, busy) = race::run(&plan, &programs, *placement)?;
        rows.extend(found);
        others.push(format!("{placement} {busy:.0} %"));
    }
    note("others' share of all cores", others.join(", "));
    note("load_after", machine::load());
    let mut tables: Vec<Table> = plan
        .placements
        .iter()
        .map(|placement| rows::table(&rows, *placement, &plan))
        .collect();
    tables.extend(budget::tables(&rows, &plan));
    Ok(Report {
        name: "latency",
        facts,
        tables,
        records: rows.iter().map(Row::record).collect(),
        goals: judge::goals(&rows, &plan),
        partial: arguments.is_partial(),
    })
}
