//! Whether writers of one participant that have nothing to do with each other wait for each other:
//! each writes by a thread of its own, and whoever waits for a lock asks the system to.

use crate::contestant::{Product, Programs};
use crate::goal::{Goal, Side};
use crate::placement::Placement;
use crate::report::{Record, Table};
use crate::stage::{Seat, Stage};
use crate::stream::Burst;
use crate::streamers::Streaming;

use super::burst::count_burst;

const WRITERS: usize = 2;

/// Octets of a sample.
const SIZE: usize = 64;

/// Calls per sample that are none to speak of. Where a writer's thread is woken it takes the core
/// from whoever receives its answers, now and then while that one has its lock: three calls.
const SELDOM: f64 = 0.005;

/// How each writes: as fast as it goes where nothing is waited for, and so slowly that nobody waits
/// for room where it is.
const FLOWS: [(&str, Burst); 2] = [
    ("best-effort", Burst { ms: 500, rate: 0 }),
    (
        "reliable",
        Burst {
            ms: 3000,
            rate: 10_000,
        },
    ),
];

/// Calls per sample by which threads of the writers' process wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Row {
    mode: &'static str,
    samples: u64,
    futexes: f64,
}

/// Counts them.
///
/// # Errors
/// Somebody is missing, does not start or stalls; a sample is refused, or lost where none may be;
/// the kernel lets nobody count.
pub(super) fn count(programs: &Programs) -> Result<Vec<Row>, String> {
    let stage = Stage::new(Placement::Free)?;
    let flows = FLOWS.into_iter().enumerate();
    flows
        .map(|(at, flow)| count_one(programs, &stage.seats(), (flow, at + 1)))
        .collect()
}

fn count_one(
    programs: &Programs,
    seats: &[Seat; 2],
    ((mode, burst), domain): ((&'static str, Burst), usize),
) -> Result<Row, String> {
    let streaming = Streaming {
        mode: &format!("{mode}+off"),
        writers: WRITERS,
        readers: 1,
        size: SIZE,
        domain,
    };
    let counted = count_burst(programs, ("two writers", seats), streaming, [burst, burst])?;
    let counted = counted.arrived(mode == "best-effort")?;
    if counted.sent.refused > 0 {
        return Err(format!(
            "{mode}: {} samples were refused",
            counted.sent.refused
        ));
    }
    Ok(Row {
        mode,
        samples: counted.sent.written,
        futexes: counted.per_sample("futexes"),
    })
}

/// As good as none, with those by which the threads begin and end.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    let goal = |row: &Row| Goal {
        name: format!("calls.{WRITERS}-writers.{}.futexes-per-sample", row.mode),
        measured: row.futexes,
        at: format!("{} samples", row.samples),
        side: Side::AtMost,
        bound: SELDOM,
    };
    rows.iter().map(goal).collect()
}

/// For CSV and JSON.
pub(super) fn record(row: &Row) -> Record {
    Record::new()
        .text("product", Product::Whimbrel.name())
        .text("mode", "two-writers")
        .text("reliability", row.mode)
        .number("writers", WRITERS as f64)
        .number("size_bytes", SIZE as f64)
        .number("samples", row.samples as f64)
        .number("futexes", row.futexes)
}

/// For people.
pub(super) fn table(rows: &[Row]) -> Table {
    let line = |row: &Row| {
        let (samples, futexes) = (row.samples.to_string(), format!("{:.5}", row.futexes));
        vec![row.mode.to_owned(), samples, futexes]
    };
    Table {
        title: format!("futex calls per sample of {WRITERS} writers, each by a thread of its own"),
        head: ["mode", "samples", "futexes"].map(str::to_owned).to_vec(),
        lines: rows.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_another_is_seen() {
        for (futexes, met) in [
            (0.0, true),
            (0.004, true),
            (0.006, false),
            (f64::NAN, false),
        ] {
            let row = Row {
                mode: "reliable",
                samples: 20_000,
                futexes,
            };
            let [goal] = goals(&[row]).try_into().unwrap();
            assert_eq!(goal.met(), met, "{futexes}");
        }
    }
}
