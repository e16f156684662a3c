//! How many datagrams of a sample leave by one call between two hosts, for each setting of
//! segmentation offload: on one host each leaves alone.

use crate::contestant::{Contestant, Mode, Product, Programs};
use crate::goal::{Goal, Side};
use crate::pair::Pair;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::report::{Record, Table};
use crate::stage::Stage;

use super::count::Counter;

/// Samples of a dozen datagrams, and ones of which by default as much leaves together as arrives in
/// a moment.
const SIZES: [usize; 2] = [16_000, 1_000_000];

/// Datagrams to a packet of 1500 octets carry no more of a sample.
const SEGMENT_BYTES_MAX: usize = 1472;

/// The largest sample of which by default as much leaves together as the system takes.
const SMALL_SAMPLE_BYTES_MAX: usize = 64 * 1024;

/// Octets that leave by one call at most.
const CALL_BYTES_MAX: usize = 60_000;

/// Calls for anything else: acknowledgments.
const BESIDE: f64 = 3.0;

/// So often readers are asked by the way for room for more.
const QUESTION_BYTES_MIN: usize = 32_000;

const MESSAGES: usize = 200;
const WARM: usize = 50;

/// Calls that send per sample, for one setting and size.
#[derive(Clone, Debug)]
pub(super) struct Row {
    setting: &'static str,
    size: usize,
    sends: f64,
}

/// Counts them for each setting.
///
/// # Errors
/// The system refuses two hosts, somebody is missing or stalls, the kernel lets nobody count.
pub(super) fn count(programs: &Programs) -> Result<Vec<Row>, String> {
    let stage = Stage::new(Placement::TwoHosts)?;
    let contestant = Contestant {
        product: Product::Whimbrel,
        mode: Mode::Take,
    };
    let mut rows = Vec::new();
    for (domain, setting) in ["on", "auto", "off"].into_iter().enumerate() {
        let variable = ("WHIMBREL_SEGMENTATION_OFFLOAD", setting);
        let seats = stage.seats().map(|seat| seat.with_variable(variable));
        let mut pair = Pair::start(contestant, programs, &seats, domain + 1)?;
        pair.wait_until_ready()?;
        for size in SIZES {
            let order = |count| Order {
                size,
                count,
                warm: 0,
            };
            pair.round(order(WARM))?;
            let counter = Counter::start(pair.answering().id())?;
            pair.round(order(MESSAGES))?;
            let sends = counter.stop()?.per(MESSAGES).of("sends");
            rows.push(Row {
                setting,
                size,
                sends,
            });
        }
    }
    Ok(rows)
}

/// With offload many leave by one call, of samples above 64 KiB by default at least four where they
/// arrive quickly, without each alone.
pub(super) fn goals(rows: &[Row]) -> Vec<Goal> {
    rows.iter().map(goal).collect()
}

fn goal(row: &Row) -> Goal {
    let call_bytes = match row.setting {
        "off" => SEGMENT_BYTES_MAX,
        "auto" if row.size > SMALL_SAMPLE_BYTES_MAX => 4 * SEGMENT_BYTES_MAX,
        _ => CALL_BYTES_MAX,
    };
    let calls = row.size.div_ceil(call_bytes) as f64;
    let (side, bound) = if row.setting == "off" {
        (Side::AtLeast, calls)
    } else {
        let questions = row.size / QUESTION_BYTES_MIN;
        (Side::AtMost, calls + questions as f64 + BESIDE)
    };
    Goal {
        name: format!(
            "calls.two-hosts.{}.{}.sends-per-message",
            row.setting, row.size
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
        .text("mode", "two-hosts")
        .text("segmentation_offload", row.setting)
        .number("size_bytes", row.size as f64)
        .number("sends", row.sends)
}

/// For people.
pub(super) fn table(rows: &[Row]) -> Table {
    let line = |row: &Row| {
        vec![
            row.setting.to_owned(),
            row.size.to_string(),
            format!("{:.2}", row.sends),
        ]
    };
    Table {
        title: "calls that send per sample between two hosts, by segmentation offload".to_owned(),
        head: ["setting", "bytes", "sends"].map(str::to_owned).to_vec(),
        lines: rows.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_together_is_judged_by_calls_at_most_and_what_does_not_by_as_many_as_datagrams() {
        for (setting, size, sends, met) in [
            ("on", 16_000, 4.0, true),
            ("on", 16_000, 4.1, false),
            ("on", 1_000_000, 51.0, true),
            ("on", 1_000_000, 51.1, false),
            ("auto", 16_000, 11.0, false),
            ("auto", 1_000_000, 204.0, true),
            ("auto", 1_000_000, 204.1, false),
            ("off", 16_000, 11.0, true),
            ("off", 16_000, 1.0, false),
        ] {
            let row = Row {
                setting,
                size,
                sends,
            };
            assert_eq!(goal(&row).met(), met, "{row:?}");
        }
    }
}
