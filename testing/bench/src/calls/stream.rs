//! What a reliable stream is asked and answers: counted by its writer.

use std::time::Duration;

use crate::contestant::{Product, Programs};
use crate::exchange::{COUNTERS, Counters};
use crate::goal::{Goal, Side};
use crate::report::{Record, Table};
use crate::stage::Stage;
use crate::stream::{Burst, Sent};
use crate::streamers::{Streamers, Streaming};

/// How long a burst may take beyond its length.
const PATIENCE: Duration = Duration::from_secs(30);

/// As fast as it can.
const BURST: Burst = Burst { ms: 500, rate: 0 };

/// At most one acknowledgment for so many samples.
const SAMPLES_PER_ACKNACK: f64 = 10.0;

/// Counts a stream of samples of `size` octets of which each sample leaves in a message of its own.
///
/// # Errors
/// Somebody is missing, does not start or stalls.
pub(super) fn count(
    programs: &Programs,
    stage: &Stage,
    (domain, size): (usize, usize),
) -> Result<Counters, String> {
    let program = programs.of(Product::Whimbrel)?;
    let streaming = Streaming {
        mode: "unbundled",
        readers: 1,
        size,
        domain,
    };
    let mut these = Streamers::start("stream", &program, &stage.seats(), streaming)?;
    these.wait_until_ready()?;
    let before: Counters = these.writer.ask(COUNTERS, PATIENCE)?.parse()?;
    let _: Sent = these.writer.ask(&BURST.to_string(), PATIENCE)?.parse()?;
    let after: Counters = these.writer.ask(COUNTERS, PATIENCE)?.parse()?;
    Ok(after.since(before))
}

/// That readers of a stream answer seldom.
pub(super) fn goal(counters: Counters) -> Goal {
    Goal {
        name: "calls.stream.acknacks-per-sample".to_owned(),
        measured: per_sample(counters, counters.acknacks),
        at: format!("{} of {} samples", counters.acknacks, counters.written),
        side: Side::AtMost,
        bound: 1.0 / SAMPLES_PER_ACKNACK,
    }
}

/// For CSV and JSON.
pub(super) fn record(counters: Counters) -> Record {
    Record::new()
        .text("product", Product::Whimbrel.name())
        .text("mode", "stream")
        .number("samples", counters.written as f64)
        .number("heartbeats", per_sample(counters, counters.heartbeats))
        .number("acknacks", per_sample(counters, counters.acknacks))
        .number("repairs", per_sample(counters, counters.repairs))
}

/// For people.
pub(super) fn table(counters: Counters) -> Table {
    let of = |count| format!("{:.4}", per_sample(counters, count));
    Table {
        title: "per sample of a reliable stream, counted by its writer".to_owned(),
        head: ["samples", "heartbeats", "acknacks", "repairs"]
            .map(str::to_owned)
            .to_vec(),
        lines: vec![vec![
            counters.written.to_string(),
            of(counters.heartbeats),
            of(counters.acknacks),
            of(counters.repairs),
        ]],
    }
}

fn per_sample(counters: Counters, count: u64) -> f64 {
    count as f64 / counters.written as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_to_ten_samples_is_the_most_and_none_written_is_no_figure() {
        let of = |written, acknacks| Counters {
            written,
            acknacks,
            ..Counters::default()
        };
        for (counters, met) in [
            (of(1000, 100), true),
            (of(1000, 101), false),
            (of(0, 0), false),
        ] {
            assert_eq!(goal(counters).met(), met, "{counters:?}");
        }
    }
}
