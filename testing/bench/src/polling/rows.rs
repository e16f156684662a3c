//! The figures, as tables and records show them.

use std::time::Duration;

use whimbrel_rig::process::Usage;

use crate::contestant::{Mode, Product};
use crate::report::{Record, Table};
use crate::spread::Spread;

/// What a process used of one core.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    used: Usage,
    elapsed: Duration,
}

impl Share {
    /// Adds what was used in so long.
    pub(super) fn add(&mut self, used: Usage, elapsed: Duration) {
        self.used = self.used.plus(used);
        self.elapsed += elapsed;
    }

    /// In percent.
    pub(super) fn percent(self) -> f64 {
        self.of(self.used.cpu_ns)
    }

    /// Of that, what the system took: its calls and wake-ups; the rest is our own work. NaN where
    /// too little was used to be split.
    fn system_percent(self) -> f64 {
        self.used
            .system_part_ns()
            .map_or(f64::NAN, |ns| self.of(ns))
    }

    fn of(self, ns: u64) -> f64 {
        100.0 * ns as f64 / self.elapsed.as_nanos().max(1) as f64
    }
}

/// What one way of waiting costs.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) mode: Mode,
    /// Of both processes.
    pub(super) steady: Share,
    pub(super) idle: Share,
    /// One way, among busy processes.
    pub(super) crowded: Spread,
}

impl Row {
    pub(super) fn record(&self) -> Record {
        Record::new()
            .text("product", Product::Whimbrel.name())
            .text("mode", self.mode.name())
            .number("steady_percent", self.steady.percent())
            .number("steady_system_percent", self.steady.system_percent())
            .number("idle_percent", self.idle.percent())
            .number("crowded_p50_us", self.crowded.us(0.5))
            .number("crowded_p90_us", self.crowded.us(0.9))
            .number("crowded_p99_us", self.crowded.us(0.99))
    }
}

/// All of `rows`: who waits how.
pub(super) fn table(rows: &[Row]) -> Table {
    let head = [
        "waiting",
        "1 kHz, % of a core",
        "of it in the system",
        "idle, % of a core",
        "crowded, one way p50 us",
        "p90 us",
        "p99 us",
    ];
    let line = |row: &Row| {
        vec![
            row.mode.name().to_owned(),
            format!("{:.2}", row.steady.percent()),
            format!("{:.2}", row.steady.system_percent()),
            format!("{:.3}", row.idle.percent()),
            format!("{:.2}", row.crowded.us(0.5)),
            format!("{:.2}", row.crowded.us(0.9)),
            format!("{:.2}", row.crowded.us(0.99)),
        ]
    };
    Table {
        title: "both processes".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        lines: rows.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_is_split_where_it_is_enough() {
        let mut share = Share::default();
        let used = |cpu_ns| Usage {
            cpu_ns,
            system_ns: cpu_ns / 4 * 3,
            ..Usage::default()
        };
        share.add(used(300_000_000), Duration::from_secs(5));
        assert!(share.percent() == 6.0 && share.system_percent().is_nan());
        share.add(used(300_000_000), Duration::from_secs(10));
        assert_eq!((share.percent(), share.system_percent()), (4.0, 3.0));
    }
}
