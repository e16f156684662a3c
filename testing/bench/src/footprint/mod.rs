//! What a product costs where nothing happens: memory, threads, work at idle, time to begin.
//!
//! Products take turns in rounds; the figures are medians of the rounds, and of stretches of idle
//! time, in which pairs of all products are watched at the same time, as they mostly sleep. What
//! the system takes of it follows from a raw process beside them, whose threads are woken as
//! seldom: so much for each wait and its calls.
//!
//! Whimbrel takes part three times: built for small processes; built for speed, as in all other
//! benches, and linked so that what runs lies together; and that as it comes. All are one small
//! program, as the peers' are.

mod figures;
mod judge;
mod measure;
mod size;

use crate::arguments::Arguments;
use crate::contestant::Programs;
use crate::machine;
use crate::placement::Placement;
use crate::report::{Record, Report, Table};
use crate::stage::Stage;

use figures::{Figures, IDLE, READERS, Who};

const ROUNDS: usize = 7;
const ROUNDS_QUICK: usize = 3;

/// Stretches of idle time: in one of them the host may have been busy.
const STRETCHES: usize = 3;
const STRETCHES_QUICK: usize = 1;

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing or does not start.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let wanted = |it: &Who| arguments.wants(it.name());
    let all: Vec<Who> = Who::ALL.into_iter().filter(wanted).collect();
    if all.is_empty() {
        let names = Who::ALL.map(Who::name).join(", ");
        return Err(format!("nobody of this name; there are: {names}"));
    }
    let programs = Programs::new(&arguments.peers)?;
    let products: Vec<_> = all.iter().map(|it| it.product()).collect();
    let mut facts = machine::facts(&programs, &products, "footprint")?;
    let (rounds, stretches) = if arguments.quick {
        (ROUNDS_QUICK, STRETCHES_QUICK)
    } else {
        (ROUNDS, STRETCHES)
    };
    let mut note = |name: &str, value: String| facts.insert(name.to_owned(), value);
    note("form", arguments.form().to_owned());
    note("rounds", rounds.to_string());
    note("readers", READERS.to_string());
    note(
        "profile",
        "whimbrel: small, statically linked; whimbrel-fast: measured, linked so that what runs \
         lies together; whimbrel-unordered: measured"
            .to_owned(),
    );
    note("idle", format!("{stretches} times {} s", IDLE.as_secs()));
    let stage = Stage::new(Placement::Free)?;
    let figures = measure::all(&all, &programs, &stage, (rounds, stretches))?;
    machine::note_end(&mut facts);
    Ok(Report {
        name: "footprint",
        facts,
        tables: vec![table(&figures)],
        records: figures.iter().map(record).collect(),
        goals: judge::goals(&figures),
        partial: arguments.is_partial(),
    })
}

/// What is shown of a product, in order.
fn named(figures: &Figures) -> [(&'static str, f64); 16] {
    [
        ("resident_kib", figures.resident_kib),
        ("private_kib", figures.private_kib),
        ("threads", figures.threads),
        ("reader_kib", figures.reader_kib),
        ("threads_with_readers", figures.threads_with_readers),
        ("threads_with_listener", figures.threads_with_listener),
        ("threads_of_crowd", figures.threads_of_crowd),
        ("launch_ms", figures.launch_ms),
        ("match_ms", figures.match_ms),
        ("match_cpu_ms", figures.match_cpu_ms),
        ("sample_ms", figures.sample_ms),
        ("idle_cpu_ms", figures.idle_cpu_ms),
        ("idle_system_ms", figures.idle_system_ms),
        ("idle_own_ms", figures.idle_cpu_ms - figures.idle_system_ms),
        ("idle_wakes", figures.idle_wakes),
        ("binary_kib", figures.binary_kib),
    ]
}

fn record(figures: &Figures) -> Record {
    let record = Record::new().text("product", figures.who.name());
    let with = |record: Record, (name, value)| record.number(name, value);
    named(figures).into_iter().fold(record, with)
}

fn table(figures: &[Figures]) -> Table {
    let mut head = vec!["figure".to_owned()];
    head.extend(figures.iter().map(|it| it.who.name().to_owned()));
    let columns: Vec<_> = figures.iter().map(named).collect();
    let mut lines = Vec::new();
    for (at, (name, _)) in columns.first().into_iter().flatten().enumerate() {
        let mut line = vec![(*name).to_owned()];
        line.extend(columns.iter().map(|column| cell(column[at].1)));
        lines.push(line);
    }
    Table {
        title: "one participant, and matched pairs at idle: medians of rounds and of stretches"
            .to_owned(),
        head,
        lines,
    }
}

fn cell(figure: f64) -> String {
    if figure.is_nan() {
        return "-".to_owned();
    }
    format!("{figure:.2}")
}
