//! How many samples of a stream leave by one call between two hosts, as it comes, for each setting
//! of segmentation offload: a packet there carries one of these, and none is divided.

use crate::contestant::{Product, Programs};
use crate::goal::{Goal, Side};
use crate::placement::Placement;
use crate::report::{Record, Table};
use crate::stage::Stage;
use crate::stream::Burst;
use crate::streamers::Streaming;

use super::burst::count_burst;

/// Octets of a sample.
const SIZE: usize = 1000;

/// Calls per sample at most where messages leave together, and at least where each leaves alone.
const TOGETHER: f64 = 0.2;
const ALONE: f64 = 0.9;

const WARM: Burst = Burst { ms: 200, rate: 0 };
const COUNTED: Burst = Burst { ms: 500, rate: 0 };

/// Calls that send per sample, for one setting.
#[derive(Clone, Debug)]
pub(super) struct Row {
    setting: &'static str,
    samples: u64,
    sends: f64,
}

/// Counts them for each setting.
///
/// # Errors
/// The system refuses two hosts, somebody is missing or stalls, a sample is lost, the kernel lets
/// nobody count.
pub(super) fn count(programs: &Programs) -> Result<Vec<Row>, String> {
    let stage = Stage::new(Placement::TwoHosts)?;
    let settings = ["auto", "off"].into_iter().enumerate();
    settings
        .map(|(at, setting)| count_one(programs, &stage, (setting, at + 1)))
        .collect()
}

fn count_one(
    programs: &Programs,
    stage: &Stage,
    (setting, domain): (&'static str, usize),
) -> Result<Row, String> {
    let variable = ("WHIMBREL_SEGMENTATION_OFFLOAD", setting);
    let seats = stage.seats().map(|seat| seat.with_variable(variable));
    let streaming = Streaming {
        writers: 1,
        mode: "reliable",
        readers: 1,
        size: SIZE,
        domain,
    };
    let bursts = [WARM, COUNTED];
    let counted = count_burst(programs, ("bundles", &seats), streaming, bursts)?.arrived(false)?;
    Ok(Row {
        setting,
        samples: counted.sent.written,
        sends: counted.per_sample("sends"),
    })
}

/// With offload many leave by one call, without each alone.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    rows.iter().map(goal).collect()
}

fn goal(row: &Row) -> Goal {
    let (side, bound) = if row.setting == "off" {
        (Side::AtLeast, ALONE)
    } else {
        (Side::AtMost, TOGETHER)
    };
    Goal {
        name: format!(
            "calls.two-hosts.{}.stream.{SIZE}.sends-per-sample",
            row.setting
        ),
        measured: row.sends,
        at: "WHIMBREL_SEGMENTATION_OFFLOAD".to_owned(),
        side,
        bound,
    }
}

/// For CSV and JSON.
pub(super) fn record(row: &Row) -> Record {
    Record::new()
        .text("product", Product::Whimbrel.name())
        .text("mode", "two-hosts-stream")
        .text("segmentation_offload", row.setting)
        .number("size_bytes", SIZE as f64)
        .number("samples", row.samples as f64)
        .number("sends", row.sends)
}

/// For people.
pub(super) fn table(rows: &[Row]) -> Table {
    let line = |row: &Row| {
        let (samples, sends) = (row.samples.to_string(), format!("{:.3}", row.sends));
        vec![row.setting.to_owned(), samples, sends]
    };
    Table {
        title: format!("calls that send per sample of {SIZE} octets of a stream between two hosts"),
        head: ["setting", "samples", "sends"].map(str::to_owned).to_vec(),
        lines: rows.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_leave_together_are_told_from_those_that_leave_alone() {
        for (setting, sends, met) in [
            ("auto", 0.09, true),
            ("auto", 1.0, false),
            ("off", 1.0, true),
            ("off", 0.09, false),
            ("auto", f64::NAN, false),
            ("off", f64::NAN, false),
        ] {
            let row = Row {
                setting,
                samples: 1000,
                sends,
            };
            assert_eq!(goal(&row).met(), met, "{row:?}");
        }
    }
}
