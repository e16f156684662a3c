//! Where the time of a message goes: system calls, the wake-up, and the product's own work.
//!
//! By subtraction within the run: `raw calls` sends and receives in one thread, so it is the calls
//! alone; `raw blocking` has the wake-up on top; what a bus needs beyond that is its own.

use super::plan::Part;
use super::rows::{Row, find};
use crate::contestant::{Mode, Product};
use crate::placement::Placement;
use crate::report::Table;

/// Parts of a median, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budget {
    pub(super) calls_us: f64,
    pub(super) wake_us: f64,
    pub(super) own_us: f64,
}

/// The parts of `total_us`. What disturbs the raw socket more than the bus makes a part negative.
pub(super) fn split(total_us: f64, calls_us: f64, blocking_us: f64) -> Budget {
    Budget {
        calls_us,
        wake_us: blocking_us - calls_us,
        own_us: total_us - blocking_us,
    }
}

/// One table for each placement in which the raw socket ran.
pub(super) fn tables(rows: &[Row], part: &Part) -> Vec<Table> {
    part.placements
        .iter()
        .filter_map(|placement| table(rows, *placement, part))
        .collect()
}

fn table(rows: &[Row], placement: Placement, part: &Part) -> Option<Table> {
    let raw = |mode, size| {
        Some(
            find(rows, placement, Product::Raw, mode, size)?
                .spread
                .us(0.5),
        )
    };
    let mut lines = Vec::new();
    for contestant in part
        .contestants
        .iter()
        .filter(|it| it.product == Product::Whimbrel)
    {
        for size in &part.sizes {
            let (product, mode) = (contestant.product, contestant.mode);
            let Some(row) = find(rows, placement, product, mode, *size) else {
                continue;
            };
            let total = row.spread.us(0.5);
            let budget = split(total, raw(Mode::Calls, *size)?, raw(Mode::Blocking, *size)?);
            lines.push(vec![
                contestant.name(),
                format!("{size} B"),
                format!("{total:.2}"),
                share(budget.calls_us, total),
                share(budget.wake_us, total),
                share(budget.own_us, total),
                format!("{:.2}", row.cpu_us()),
                format!("{:.2}", row.waits()),
            ]);
        }
    }
    let head = [
        "contestant",
        "size",
        "p50 us",
        "calls",
        "wake-up",
        "own",
        "cpu us/message",
        "waits/message",
    ];
    (!lines.is_empty()).then(|| Table {
        title: format!("{placement}: where the median goes"),
        head: head.map(str::to_owned).to_vec(),
        lines,
    })
}

fn share(part_us: f64, total_us: f64) -> String {
    format!(
        "{part_us:.2} ({:.0} %)",
        100.0 * part_us / total_us.max(f64::MIN_POSITIVE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_the_whole() {
        let budget = split(12.0, 3.0, 5.0);
        assert_eq!(
            (budget.calls_us, budget.wake_us, budget.own_us),
            (3.0, 2.0, 7.0)
        );
        assert_eq!(share(budget.own_us, 12.0), "7.00 (58 %)");
    }
}
