//! The figures, as tables and records show them.

use crate::contestant::{Mode, Product};
use crate::report::{Record, Table};
use crate::spread::Spread;

/// What one way of waiting costs.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) mode: Mode,
    /// Of one core, in percent, in the process that answers.
    pub(super) steady_percent: f64,
    pub(super) idle_percent: f64,
    /// One way, among busy threads.
    pub(super) crowded: Spread,
}

impl Row {
    pub(super) fn record(&self) -> Record {
        Record::new()
            .text("product", Product::Whimbrel.name())
            .text("mode", self.mode.name())
            .number("steady_percent", self.steady_percent)
            .number("idle_percent", self.idle_percent)
            .number("crowded_p50_us", self.crowded.us(0.5))
            .number("crowded_p90_us", self.crowded.us(0.9))
    }
}

/// All of `rows`: who waits how.
pub(super) fn table(rows: &[Row]) -> Table {
    let head = [
        "waiting",
        "1 kHz, % of a core",
        "idle, % of a core",
        "crowded, one way p50 us",
        "p90 us",
    ];
    let line = |row: &Row| {
        vec![
            row.mode.name().to_owned(),
            format!("{:.2}", row.steady_percent),
            format!("{:.3}", row.idle_percent),
            format!("{:.2}", row.crowded.us(0.5)),
            format!("{:.2}", row.crowded.us(0.9)),
        ]
    };
    Table {
        title: "the process that answers".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        lines: rows.iter().map(line).collect(),
    }
}
