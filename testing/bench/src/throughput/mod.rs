//! Streams: one writer as fast as it can, one reader or four, as RELIABLE or BEST_EFFORT.
//!
//! KEEP_ALL with a bounded history at the reader; the writer has a core of its own, the readers
//! share the other, on the same host or on another one behind a cable of packets of 1500 octets.
//! Streams take turns in rounds; the rate is that at which samples arrive. Of the time on cores the
//! system's count tells its part from the bus's, and what the raw stream takes beyond its calls
//! tells what a wait takes, and so wake-ups from calls.

mod course;
mod flow;
mod judge;
mod plan;
mod race;
mod rows;
mod wake;

use crate::arguments::Arguments;
use crate::contestant::{Product, Programs};
use crate::exchange::PAYLOAD;
use crate::host::{self, Host};
use crate::machine;
use crate::placement::Placement;
use crate::report::Report;

use course::Course;
use plan::Plan;
use rows::Row;

/// Runs the bench and gives what it found.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub fn run(arguments: &Arguments) -> Result<Report, String> {
    let plan = Plan::new(arguments)?;
    let programs = Programs::new(&arguments.peers)?;
    let products: Vec<Product> = plan.flows.iter().map(|it| it.product).collect();
    let mut facts = machine::facts(&programs, &products, "throughput")?;
    let mut note = |name: &str, value: String| facts.insert(name.to_owned(), value);
    note(
        "method",
        "KEEP_ALL, max_blocking_time 1 s, reliable readers, and writers of fastdds, hold 4000 \
         samples (64 above 100,000 octets), rate of arrivals, writer on core 0, readers on core \
         1; raw: 4 MiB buffers, connected; ratios in goals: the middle of those of the rounds; \
         after each start 0.1 s that counts for losses and work alone"
            .into(),
    );
    note("payload", PAYLOAD.to_owned());
    note("form", arguments.form().to_owned());
    let sizes: Vec<String> = plan.sizes.iter().map(usize::to_string).collect();
    note("sizes_bytes", sizes.join(" "));
    let courses: Vec<String> = plan.courses.iter().map(Course::to_string).collect();
    note("courses", courses.join("; "));
    note("rounds", plan.rounds.to_string());
    note("starts", plan.starts.to_string());
    note("burst_ms", plan.burst_ms.to_string());
    let mut rows = Vec::new();
    // The same cores, whatever is between them.
    let mut host = Host::of(Placement::TwoCores);
    for course in &plan.courses {
        for size in &plan.sizes {
            let found = race::run(&plan, &programs, &mut host, *course, *size)?;
            rows.extend(found);
        }
    }
    note(host::BLOCKS, host.describe());
    let smallest = plan.sizes.iter().copied().min().unwrap_or_default();
    let wait_us = wake::wait_us(&rows, &programs, smallest)?;
    let text = wait_us.map_or("not told apart".to_owned(), |us| format!("{us:.2}"));
    note("cpu us of a wait", text);
    machine::note_end(&mut facts);
    let record = |row: &Row| row.record(wait_us);
    let courses = plan.courses.iter();
    let tables = courses.flat_map(|course| {
        let rates = rows::table(&rows, *course, &plan);
        [rates, rows::work(&rows, *course, wait_us)]
    });
    Ok(Report {
        name: "throughput",
        facts,
        tables: tables.collect(),
        records: rows.iter().map(record).collect(),
        goals: judge::goals(&rows, &plan),
        partial: arguments.is_partial(),
    })
}
