//! How many calls a sample to many readers leaves by, on one host, with one call for many addresses
//! and without.

use crate::contestant::{Product, Programs};
use crate::goal::{Goal, Side};
use crate::placement::Placement;
use crate::report::{Record, Table};
use crate::stage::{Seat, Stage};
use crate::stream::Burst;
use crate::streamers::Streaming;

use super::burst::count_burst;

/// More than there are sockets of their own for.
const READERS: usize = 12;

/// Octets of a sample.
const SIZE: usize = 64;

/// Slow enough that every reader gets everything on two cores.
const BURST: Burst = Burst { ms: 500, rate: 200 };

/// Calls for one sample where one serves many addresses, with what discovery sends meanwhile.
const TOGETHER_MAX: f64 = 2.0;

const SETTING: &str = "WHIMBREL_BATCHED_SEND";

/// Calls that send per sample, for one setting.
#[derive(Clone, Debug)]
pub(super) struct Row {
    setting: &'static str,
    sends: f64,
}

/// Counts them for each setting.
///
/// # Errors
/// Somebody is missing, does not start, stalls or loses a sample; the kernel lets nobody count.
pub(super) fn count(programs: &Programs) -> Result<Vec<Row>, String> {
    let stage = Stage::new(Placement::OneCore)?;
    let settings = ["on", "off"].into_iter().enumerate();
    settings
        .map(|(at, setting)| {
            let [seat, _] = stage
                .seats()
                .map(|seat| seat.with_variable((SETTING, setting)));
            let sends = sends(programs, &seat, at + 1)?;
            Ok(Row { setting, sends })
        })
        .collect()
}

fn sends(programs: &Programs, seat: &Seat, domain: usize) -> Result<f64, String> {
    let streaming = Streaming {
        writers: 1,
        mode: "best-effort+off",
        readers: READERS,
        size: SIZE,
        domain,
    };
    let seats = [seat.clone(), seat.clone()];
    // What is worth a socket of its own has one after the first burst.
    let bursts = [BURST, BURST];
    let counted = count_burst(programs, ("many readers", &seats), streaming, bursts)?;
    Ok(counted.arrived(false)?.per_sample("sends"))
}

/// One call serves many where that is on; where not, each is served by its own.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    rows.iter().map(goal).collect()
}

fn goal(row: &Row) -> Goal {
    let (side, bound) = if row.setting == "on" {
        (Side::AtMost, TOGETHER_MAX)
    } else {
        (Side::AtLeast, READERS as f64)
    };
    Goal {
        name: format!("calls.{READERS}-readers.{}.sends-per-message", row.setting),
        measured: row.sends,
        at: SETTING.to_owned(),
        side,
        bound,
    }
}

/// For CSV and JSON.
pub(super) fn record(row: &Row) -> Record {
    Record::new()
        .text("product", Product::Whimbrel.name())
        .text("mode", "many-readers")
        .text("batched_send", row.setting)
        .number("readers", READERS as f64)
        .number("size_bytes", SIZE as f64)
        .number("sends", row.sends)
}

/// For people.
pub(super) fn table(rows: &[Row]) -> Table {
    let line = |row: &Row| vec![row.setting.to_owned(), format!("{:.2}", row.sends)];
    Table {
        title: format!("calls that send per sample to {READERS} readers, by {SETTING}"),
        head: ["setting", "sends"].map(str::to_owned).to_vec(),
        lines: rows.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_for_all_is_judged_by_calls_and_one_each_by_readers() {
        for (setting, sends, met) in [
            ("on", 1.1, true),
            ("on", 2.1, false),
            ("off", 12.0, true),
            ("off", 11.9, false),
        ] {
            let row = Row { setting, sends };
            assert_eq!(goal(&row).met(), met, "{row:?}");
        }
    }
}
