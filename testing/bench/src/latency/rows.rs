//! What was measured of one contestant, placement and size.

use whimbrel_rig::process::Usage;

use super::plan::Part;
use crate::contestant::{Contestant, Mode, Product};
use crate::parts::Parts;
use crate::placement::Placement;
use crate::protocol::Order;
use crate::report::{Record, Table};
use crate::spread::Spread;

/// Latencies, and what the messages cost.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Who.
    pub(super) contestant: Contestant,
    /// Where.
    pub(super) placement: Placement,
    /// Octets of payload.
    pub(super) size: usize,
    /// One-way latencies.
    pub(super) spread: Spread,
    used: Usage,
    /// Messages during `used`, in both directions and with those before the ones that count.
    messages: u64,
}

impl Row {
    /// Nothing measured yet.
    pub(super) fn new(contestant: Contestant, placement: Placement, size: usize) -> Self {
        Self {
            contestant,
            placement,
            size,
            spread: Spread::default(),
            used: Usage::default(),
            messages: 0,
        }
    }

    /// Adds a round.
    pub(super) fn add(&mut self, round_trips_ns: &[u64], used: Usage, order: Order) {
        self.spread.add_round(round_trips_ns);
        self.used = self.used.plus(used);
        self.messages += 2 * (order.count + order.warm) as u64;
    }

    /// What messages of all sizes cost of who `rows` are of, as if they were of one; nothing where
    /// there are none.
    pub(super) fn of_all_sizes<'a>(mut rows: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let first = rows.next()?;
        let mut all = Self {
            used: first.used,
            messages: first.messages,
            ..Self::new(first.contestant, first.placement, 0)
        };
        for row in rows {
            all.used = all.used.plus(row.used);
            all.messages += row.messages;
        }
        Some(all)
    }

    /// Where the time on cores goes per message, each wait of a thread taking `wait_us`.
    pub(super) fn parts(&self, wait_us: Option<f64>) -> Option<Parts> {
        Parts::of(self.used, self.messages, wait_us)
    }

    /// Time on cores per message, of both processes, in microseconds.
    pub(super) fn cpu_us(&self) -> f64 {
        self.used.cpu_ns as f64 / 1000.0 / self.messages.max(1) as f64
    }

    /// How often a thread gave up its core per message, in both processes.
    pub(super) fn waits(&self) -> f64 {
        self.used.waits as f64 / self.messages.max(1) as f64
    }

    /// One line for a person who waits.
    pub(super) fn progress(&self) -> String {
        format!(
            "{:<10} {:>6} B  {:<18} p50 {:>8.2}  p90 {:>8.2}  p99 {:>8.2}  max {:>9.2} us",
            self.placement.name(),
            self.size,
            self.contestant.name(),
            self.spread.us(0.5),
            self.spread.us(0.9),
            self.spread.us(0.99),
            self.spread.max_us()
        )
    }

    /// For CSV and JSON.
    pub(super) fn record(&self) -> Record {
        let (round_low, round_high) = self.spread.round_p50s_us();
        Record::new()
            .text("placement", self.placement.name())
            .text("product", self.contestant.product.name())
            .text("mode", self.contestant.mode.name())
            .number("size_bytes", self.size as f64)
            .number("messages", self.spread.count() as f64)
            .number("min_us", self.spread.min_us())
            .number("p50_us", self.spread.us(0.5))
            .number("p90_us", self.spread.us(0.9))
            .number("p99_us", self.spread.us(0.99))
            .number("max_us", self.spread.max_us())
            .number("round_p50_min_us", round_low)
            .number("round_p50_max_us", round_high)
            .number("cpu_us_per_message", self.cpu_us())
            .number("waits_per_message", self.waits())
    }
}

/// The row of one contestant, placement and size.
pub(super) fn find(
    rows: &[Row],
    placement: Placement,
    product: Product,
    mode: Mode,
    size: usize,
) -> Option<&Row> {
    let contestant = Contestant { product, mode };
    rows.iter()
        .find(|row| row.contestant == contestant && row.placement == placement && row.size == size)
}

/// Quantiles of one placement, two a table.
pub(super) fn tables(rows: &[Row], placement: Placement, part: &Part) -> [Table; 2] {
    let of = |quantile: f64| move |spread: &Spread| spread.us(quantile);
    [
        table(rows, placement, part, ("p50 / p99", &of(0.5), &of(0.99))),
        table(
            rows,
            placement,
            part,
            ("p90 / max", &of(0.9), &Spread::max_us),
        ),
    ]
}

/// A name, and the two figures of it.
type Two<'a> = (
    &'a str,
    &'a dyn Fn(&Spread) -> f64,
    &'a dyn Fn(&Spread) -> f64,
);

fn table(rows: &[Row], placement: Placement, part: &Part, (name, first, second): Two<'_>) -> Table {
    let mut head = vec!["contestant".to_owned()];
    head.extend(part.sizes.iter().map(|size| format!("{size} B")));
    let line = |contestant: &Contestant| {
        let mut cells = vec![contestant.name()];
        let (product, mode) = (contestant.product, contestant.mode);
        for size in &part.sizes {
            let row = find(rows, placement, product, mode, *size);
            cells.push(row.map_or("-".to_owned(), |row| {
                format!("{:.2} / {:.2}", first(&row.spread), second(&row.spread))
            }));
        }
        cells
    };
    Table {
        title: format!("{placement}: one-way latency, {name}, us"),
        head,
        lines: part.contestants.iter().map(line).collect(),
    }
}
