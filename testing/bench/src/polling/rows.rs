//! The figures, as tables and records show them.

use std::time::Duration;

use whimbrel_rig::process::Usage;

use crate::contestant::{Mode, Product};
use crate::parts::{self, Parts};
use crate::report::{Record, Table};
use crate::spread::Spread;

/// Names of the parts where it is crowded in CSV and JSON.
const CROWDED: [&str; 3] = ["crowded_calls_us", "crowded_wakes_us", "crowded_own_us"];

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

/// What is used of a core where nobody else wants it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calm {
    /// By both processes at a steady stream of which each sample is answered.
    pub(super) steady: Share,
    /// Of that, by the one that answers: it waits for the next sample of the stream, the other one
    /// for the answer.
    pub(super) answering: Share,
    /// By both where nothing happens.
    pub(super) idle: Share,
}

/// Round trips among busy processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowded {
    /// One way.
    pub(super) spread: Spread,
    /// By both processes, and for so many messages.
    used: Usage,
    messages: u64,
}

impl Crowded {
    /// Adds a round of `trips` that count, in which so much was used for `all_trips`.
    pub(super) fn add_round(&mut self, trips: &[u64], all_trips: usize, used: Usage) {
        self.spread.add_round(trips);
        self.used = self.used.plus(used);
        self.messages += 2 * all_trips as u64;
    }

    /// Time on cores for each message, in microseconds.
    fn cpu_us(&self) -> f64 {
        self.used.cpu_ns as f64 / 1000.0 / self.messages.max(1) as f64
    }

    /// How often threads waited for each message.
    fn waits(&self) -> f64 {
        self.used.waits as f64 / self.messages.max(1) as f64
    }
}

/// Time on cores for one wait with its wake-up, in microseconds, by raw sockets that are crowded
/// too: one that waits, and one that makes the same calls and never does.
pub(super) fn wait_us(raw: &[Crowded]) -> Option<f64> {
    let [waiting, calling] = raw else { return None };
    parts::wait_us(waiting.cpu_us(), calling.cpu_us(), waiting.waits())
}

/// What one way of waiting costs.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) mode: Mode,
    pub(super) calm: Calm,
    pub(super) crowded: Crowded,
    /// What one wait takes where it is crowded, if that is known.
    pub(super) wait_us: Option<f64>,
}

impl Row {
    /// Where the time on cores goes for each message where it is crowded.
    fn parts(&self) -> Option<Parts> {
        Parts::of(self.crowded.used, self.crowded.messages, self.wait_us)
    }

    pub(super) fn record(&self) -> Record {
        let spread = &self.crowded.spread;
        let record = Record::new()
            .text("product", Product::Whimbrel.name())
            .text("mode", self.mode.name())
            .number("steady_percent", self.calm.steady.percent())
            .number("steady_system_percent", self.calm.steady.system_percent())
            .number("answering_percent", self.calm.answering.percent())
            .number("idle_percent", self.calm.idle.percent())
            .number("crowded_p50_us", spread.us(0.5))
            .number("crowded_p90_us", spread.us(0.9))
            .number("crowded_p99_us", spread.us(0.99))
            .number("crowded_cpu_us", self.crowded.cpu_us());
        Parts::record(self.parts(), CROWDED, record)
    }
}

/// All of `rows`: who waits how.
pub(super) fn table(rows: &[Row]) -> Table {
    let head = [
        "waiting",
        "1 kHz, % of a core",
        "of it in the system",
        "of it who answers",
        "idle, % of a core",
        "crowded, one way p50 us",
        "p90 us",
        "p99 us",
        "us of cores each",
        "of it calls",
        "wake-ups",
        "our own",
    ];
    let line = |row: &Row| {
        let spread = &row.crowded.spread;
        let mut line = vec![
            row.mode.name().to_owned(),
            format!("{:.2}", row.calm.steady.percent()),
            format!("{:.2}", row.calm.steady.system_percent()),
            format!("{:.2}", row.calm.answering.percent()),
            format!("{:.3}", row.calm.idle.percent()),
            format!("{:.2}", spread.us(0.5)),
            format!("{:.2}", spread.us(0.9)),
            format!("{:.2}", spread.us(0.99)),
            format!("{:.2}", row.crowded.cpu_us()),
        ];
        line.extend(Parts::cells(row.parts(), row.crowded.cpu_us()));
        line
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
        let mut row = Row {
            mode: Mode::Take,
            calm: Calm::default(),
            crowded: Crowded::default(),
            wait_us: None,
        };
        row.crowded.add_round(&[1000], 50_000, used(300_000_000));
        assert!(row.crowded.cpu_us() == 3.0 && row.parts().is_none());
        row.crowded.add_round(&[1000], 50_000, used(500_000_000));
        let own_us = row.parts().unwrap().own_us;
        assert_eq!((row.crowded.cpu_us(), own_us), (4.0, 1.0));
    }

    #[test]
    fn where_it_is_crowded_waits_are_told_from_calls_by_raw_sockets() {
        let crowded = |cpu_ns, waits| {
            let mut crowded = Crowded::default();
            let used = Usage {
                cpu_ns,
                system_ns: cpu_ns / 4 * 3,
                waits,
                ..Usage::default()
            };
            crowded.add_round(&[1000], 100_000, used);
            crowded
        };
        // For 200,000 messages.
        let raw = [crowded(600_000_000, 200_000), crowded(400_000_000, 0)];
        let row = |cpu_ns| Row {
            mode: Mode::Take,
            calm: Calm::default(),
            crowded: crowded(cpu_ns, 200_000),
            wait_us: wait_us(&raw),
        };
        let parts = row(800_000_000).parts().unwrap();
        assert_eq!((parts.calls_us, parts.wakes_us), (Some(2.0), Some(1.0)));
        assert_eq!(parts.own_us, 1.0);
        assert_eq!(row(100_000_000).parts(), None);
        assert_eq!(wait_us(&[]), None);
    }
}
