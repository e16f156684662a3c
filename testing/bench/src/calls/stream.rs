//! Reliable streams, of which each sample leaves in a message of its own: what both ends ask of the
//! system, and what the writer asks and is answered. Who polls looks in vain as often as there is
//! time for, so that all calls of a reader are judged where it does not.

use std::fmt;

use super::burst::PATIENCE;
use super::count::{COUNTED, Counter, Counts};
use super::judge::{ACKNOWLEDGED, CALLS, NONE, WAITS};
use super::rows::{cells_of, with_counts};
use crate::contestant::{Product, Programs};
use crate::exchange::{COUNTERS, Counters};
use crate::goal::{Goal, Side};
use crate::placement::Placement;
use crate::report::{Record, Table};
use crate::stage::{Seat, Stage};
use crate::stream::{Burst, Sent};
use crate::streamers::{Streamers, Streaming};

/// Octets of payload.
const SIZES: [usize; 4] = [64, 1024, 8192, 63_000];

/// Samples per second of a steady stream: they follow one another, and nobody waits for room.
const STEADY_RATE: u64 = 5000;

/// About as many come in a second where the writer waits for its reader now and then.
const FULL_RATE: u64 = 50_000;

/// So long each takes at least.
const BURST_MS_MIN: u64 = 100;

/// Before any is counted.
const WARM: Burst = Burst {
    ms: 200,
    rate: STEADY_RATE,
};

/// At most one acknowledgment for so many samples.
const SAMPLES_PER_ACKNACK: f64 = 10.0;

/// Calls of the writer for a sample, one as [`ACKNOWLEDGED`] and three for each acknowledgment: to
/// wait for it, to receive it and, where nothing comes after it, to look for more.
const WRITER_CALLS: f64 = 1.4;

/// How both ends of a stream wait, where that is not by default.
const WAITING: &str = "WHIMBREL_WAITING";
const BLOCKING: &str = "receive";

/// What streams, and how fast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    placement: Placement,
    burst: Burst,
    /// Nobody polls.
    is_blocking: bool,
    size: usize,
}

impl Flow {
    fn is_steady(self) -> bool {
        self.burst.rate > 0
    }

    fn seats(self, stage: &Stage) -> [Seat; 2] {
        let with = |seat: Seat| seat.with_variable((WAITING, BLOCKING));
        let seats = stage.seats();
        if self.is_blocking {
            seats.map(with)
        } else {
            seats
        }
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pace = match (self.is_blocking, self.is_steady()) {
            (true, _) => "blocking",
            (false, true) => "steady",
            (false, false) => "full",
        };
        write!(f, "{}.{pace}.{}", self.placement, self.size)
    }
}

/// What was counted of a stream; of both ends per sample.
#[derive(Clone, Debug)]
pub(super) struct Row {
    flow: Flow,
    counters: Counters,
    writer: Counts,
    reader: Counts,
}

/// Counts streams of every size and about `messages` samples, steady and as fast as they go.
///
/// # Errors
/// Somebody is missing, does not start or stalls; the kernel lets nobody count.
pub(super) fn count(programs: &Programs, messages: usize) -> Result<Vec<Row>, String> {
    let ms = |rate: u64| (messages as u64 * 1000 / rate).max(BURST_MS_MIN);
    let steady = Burst {
        ms: ms(STEADY_RATE),
        rate: STEADY_RATE,
    };
    let full = Burst {
        ms: ms(FULL_RATE),
        rate: 0,
    };
    // A writer that keeps its rate keeps its core, so a steady stream needs two.
    let kinds = [
        (Placement::TwoCores, steady, true),
        (Placement::TwoCores, steady, false),
        (Placement::TwoCores, full, false),
        (Placement::OneCore, full, false),
    ];
    let mut rows = Vec::new();
    for (placement, burst, is_blocking) in kinds {
        let stage = Stage::new(placement)?;
        for (at, size) in SIZES.into_iter().enumerate() {
            let flow = Flow {
                placement,
                burst,
                is_blocking,
                size,
            };
            rows.push(count_one(programs, &stage, (flow, at + 1))?);
        }
    }
    Ok(rows)
}

fn count_one(
    programs: &Programs,
    stage: &Stage,
    (flow, domain): (Flow, usize),
) -> Result<Row, String> {
    let program = programs.of(Product::Whimbrel)?;
    let streaming = Streaming {
        writers: 1,
        mode: "unbundled",
        readers: 1,
        size: flow.size,
        domain,
    };
    let mut these = Streamers::start("stream", &program, &flow.seats(stage), streaming)?;
    these.wait_until_ready()?;
    let _: Sent = these.writer.ask(&WARM.to_string(), PATIENCE)?.parse()?;
    let [reader] = these.readers.as_slice() else {
        return Err("not one reader".to_owned());
    };
    let [writes, reads] = Counter::start_in([these.writer.id(), reader.id()])?;
    let before: Counters = these.writer.ask(COUNTERS, PATIENCE)?.parse()?;
    let sent: Sent = these
        .writer
        .ask(&flow.burst.to_string(), PATIENCE)?
        .parse()?;
    let after: Counters = these.writer.ask(COUNTERS, PATIENCE)?.parse()?;
    let samples = sent.written as usize;
    let [writer, reader] = [writes.stop()?.per(samples), reads.stop()?.per(samples)];
    Ok(Row {
        flow,
        counters: after.since(before),
        writer,
        reader,
    })
}

/// That readers answer seldom, that each sample leaves and comes by one call, and that nobody waits
/// for a lock where nobody waits for room.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    rows.iter().flat_map(goals_of).collect()
}

fn goals_of(row: &Row) -> Vec<Goal> {
    let at_most = |name: &str, measured: f64, bound: f64| Goal {
        name: format!("calls.stream.{}.{name}-per-sample", row.flow),
        measured,
        at: format!("{} samples", row.counters.written),
        side: Side::AtMost,
        bound,
    };
    let Counters { acknacks, .. } = row.counters;
    let acknacks = per_sample(row.counters, acknacks);
    let mut goals = vec![
        at_most("acknacks", acknacks, 1.0 / SAMPLES_PER_ACKNACK),
        at_most("writer-calls", row.writer.of("calls"), WRITER_CALLS),
        at_most("sends", row.writer.of("sends"), ACKNOWLEDGED),
        at_most("receives", row.reader.of("receives"), ACKNOWLEDGED),
        at_most("waits", row.reader.of("waits"), WAITS),
    ];
    if row.flow.is_blocking {
        goals.push(at_most("reader-calls", row.reader.of("calls"), CALLS));
    }
    if row.flow.is_steady() {
        let futexes = row.writer.of("futexes") + row.reader.of("futexes");
        goals.push(at_most("futexes", futexes, NONE));
    }
    goals
}

/// For CSV and JSON.
pub(super) fn record(row: &Row) -> Record {
    let counters = row.counters;
    let record = Record::new()
        .text("product", Product::Whimbrel.name())
        .text("mode", "stream")
        .text("placement", row.flow.placement.name())
        .number("size_bytes", row.flow.size as f64)
        .number("rate_wanted", row.flow.burst.rate as f64)
        .text("polls", if row.flow.is_blocking { "no" } else { "yes" })
        .number("samples", counters.written as f64)
        .number("heartbeats", per_sample(counters, counters.heartbeats))
        .number("acknacks", per_sample(counters, counters.acknacks))
        .number("repairs", per_sample(counters, counters.repairs));
    let record = with_counts(record, "writer_", &row.writer);
    with_counts(record, "reader_", &row.reader)
}

/// For people.
pub(super) fn table(rows: &[Row]) -> Table {
    let mut head = [
        "stream",
        "samples",
        "heartbeats",
        "acknacks",
        "repairs",
        "end",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(COUNTED.iter().map(|it| it.name.to_owned()));
    Table {
        title: "per sample of a reliable stream, in the processes that write and read".to_owned(),
        head,
        lines: rows.iter().flat_map(lines).collect(),
    }
}

fn lines(row: &Row) -> [Vec<String>; 2] {
    let counters = row.counters;
    let of = |count| format!("{:.4}", per_sample(counters, count));
    let mut writer = vec![
        row.flow.to_string(),
        counters.written.to_string(),
        of(counters.heartbeats),
        of(counters.acknacks),
        of(counters.repairs),
        "writer".to_owned(),
    ];
    writer.extend(cells_of(&row.writer));
    let mut reader = vec![String::new(); 5];
    reader.push("reader".to_owned());
    reader.extend(cells_of(&row.reader));
    [writer, reader]
}

fn per_sample(counters: Counters, count: u64) -> f64 {
    count as f64 / counters.written as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Burst = Burst { ms: 1, rate: 0 };
    const STEADY: Burst = Burst { ms: 1, rate: 1 };

    fn row(burst: Burst, written: u64, acknacks: u64) -> Row {
        let flow = Flow {
            placement: Placement::TwoCores,
            burst,
            is_blocking: false,
            size: 64,
        };
        Row {
            flow,
            counters: Counters {
                written,
                acknacks,
                ..Counters::default()
            },
            writer: Counts::with("futexes", 0.0006),
            reader: Counts::with("futexes", 0.0006),
        }
    }

    fn blocking(calls: f64) -> Row {
        let mut row = row(STEADY, 1000, 0);
        row.flow.is_blocking = true;
        (row.writer, row.reader) = (Counts::with("calls", calls), Counts::with("calls", calls));
        row
    }

    #[test]
    fn all_calls_of_a_reader_are_judged_where_it_does_not_poll() {
        assert_eq!(met(&blocking(1.3), "reader-calls"), Some(true));
        assert_eq!(met(&blocking(2.3), "reader-calls"), Some(false));
        assert_eq!(met(&row(STEADY, 1000, 0), "reader-calls"), None);
    }

    #[test]
    fn all_calls_of_a_writer_are_judged_with_room_for_acknowledgments() {
        assert_eq!(met(&blocking(1.3), "writer-calls"), Some(true));
        assert_eq!(met(&blocking(1.5), "writer-calls"), Some(false));
        assert_eq!(
            met(&row(FULL, 1000, 0), "writer-calls"),
            Some(false),
            "not counted"
        );
    }

    fn met(row: &Row, name: &str) -> Option<bool> {
        let name = format!("calls.stream.{}.{name}-per-sample", row.flow);
        let goals = goals_of(row);
        goals.iter().find(|it| it.name == name).map(Goal::met)
    }

    #[test]
    fn one_answer_to_ten_samples_is_the_most_and_none_written_is_no_figure() {
        for (written, acknacks, is_met) in [(1000, 100, true), (1000, 101, false), (0, 0, false)] {
            let row = row(FULL, written, acknacks);
            assert_eq!(met(&row, "acknacks"), Some(is_met), "{row:?}");
        }
    }

    #[test]
    fn locks_are_judged_of_both_ends_where_nobody_waits_for_room() {
        assert_eq!(met(&row(STEADY, 1000, 0), "futexes"), Some(false));
        assert_eq!(met(&row(FULL, 1000, 0), "futexes"), None);
        assert_eq!(
            met(&row(FULL, 1000, 0), "sends"),
            Some(false),
            "not counted"
        );
    }
}
