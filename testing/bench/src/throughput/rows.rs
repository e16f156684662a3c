//! What was measured of one flow, course and size.

use whimbrel_rig::process::Usage;

use super::course::Course;
use super::flow::Flow;
use super::plan::Plan;
use crate::parts::{OF_CORES, Parts};
use crate::report::{Record, Table};
use crate::spread::median_of_rounds;
use crate::stream::{Received, Sent};

/// Rates, losses and work.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) flow: Flow,
    pub(super) course: Course,
    pub(super) size: usize,
    /// Of each round: arrivals per second at the slowest reader.
    rates: Vec<f64>,
    total: Total,
    /// At so many samples per second, which should be easy: the rate of the last burst, and the
    /// sums over all of them.
    easy: Option<(u64, Total)>,
    used: Used,
}

/// What processes used of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) writing: Usage,
    /// All readers together.
    pub(super) reading: Usage,
}

impl Used {
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            writing: self.writing.since(before.writing),
            reading: self.reading.since(before.reading),
        }
    }

    fn plus(self, more: Self) -> Self {
        Self {
            writing: self.writing.plus(more.writing),
            reading: self.reading.plus(more.reading),
        }
    }

    fn of_all(self) -> Usage {
        self.writing.plus(self.reading)
    }
}

/// Sums over bursts and readers.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    sent: u64,
    received: u64,
    refused: u64,
    /// What each reader lacked in each round.
    missing: u64,
    /// What each reader had in each round beyond what was written: duplicates.
    surplus: u64,
}

impl Total {
    fn add(&mut self, sent: Sent, received: &[Received]) {
        self.refused += sent.refused;
        for count in received.iter().map(|it| it.count) {
            self.sent += sent.written;
            self.received += count;
            self.missing += sent.written.saturating_sub(count);
            self.surplus += count.saturating_sub(sent.written);
        }
    }

    /// In percent. What one reader or round has too many of makes up for no other's losses.
    fn lost(&self) -> f64 {
        100.0 * self.missing as f64 / self.sent.max(1) as f64
    }
}

impl Row {
    pub(super) fn new(flow: Flow, course: Course, size: usize) -> Self {
        Self {
            flow,
            course,
            size,
            rates: Vec::new(),
            total: Total::default(),
            easy: None,
            used: Used::default(),
        }
    }

    /// Adds what was sent and received in a burst, and what it took.
    pub(super) fn add(&mut self, sent: Sent, received: &[Received], used: Used) {
        self.total.add(sent, received);
        self.used = self.used.plus(used);
    }

    /// Notes the rate of the burst that counts in a round.
    pub(super) fn note_rate(&mut self, received: &[Received]) {
        let slowest = received.iter().map(|it| it.rate()).reduce(f64::min);
        self.rates.push(slowest.unwrap_or(0.0));
    }

    /// Notes a burst at `rate` samples per second, which should be easy.
    pub(super) fn note_easy(&mut self, rate: u64, sent: Sent, received: &[Received]) {
        let (latest, total) = self.easy.get_or_insert_default();
        *latest = rate;
        total.add(sent, received);
    }

    /// Samples per second: the median of the rounds.
    pub(super) fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }

    /// How many times the rate of `other` ours is, whose rounds were run by turns with ours: the
    /// middle of what it is in each round, as machines have speeds that they keep for a while. Not
    /// a number where there is no such round.
    pub(super) fn rate_of(&self, other: &Self) -> f64 {
        median_of_rounds(&self.rates, &other.rates)
    }

    /// The lowest and the highest rate of a round: how steady the machine was.
    fn bounds(&self) -> (f64, f64) {
        let of = |pick: fn(f64, f64) -> f64| self.rates.iter().copied().reduce(pick);
        (of(f64::min).unwrap_or(0.0), of(f64::max).unwrap_or(0.0))
    }

    /// Share of samples that did not arrive, in percent.
    pub(super) fn lost(&self) -> f64 {
        self.total.lost()
    }

    /// Samples that arrived beyond those that were written.
    pub(super) fn surplus(&self) -> f64 {
        self.total.surplus as f64
    }

    /// Writes that found no room in time.
    pub(super) fn refused(&self) -> f64 {
        self.total.refused as f64
    }

    /// The lost share at a rate that should be easy.
    pub(super) fn lost_easy(&self) -> Option<f64> {
        self.easy.map(|(_, total)| total.lost())
    }

    /// Time on cores for each sample, of writer and readers, in microseconds.
    pub(super) fn cpu_us(&self) -> f64 {
        self.each(self.used.of_all().cpu_ns) / 1000.0
    }

    /// Of that, the writer's, for each reader.
    pub(super) fn writing_us(&self) -> f64 {
        self.each(self.used.writing.cpu_ns) / 1000.0
    }

    /// A part of `sum` for each sample that was received.
    fn each(&self, sum: u64) -> f64 {
        sum as f64 / self.total.received.max(1) as f64
    }

    /// Where that goes, each wait of a thread taking `wait_us`, if that is known.
    fn parts(&self, wait_us: Option<f64>) -> Option<Parts> {
        Parts::of(self.used.of_all(), self.total.received, wait_us)
    }

    /// How often a thread waited, for each sample.
    pub(super) fn waits(&self) -> f64 {
        self.each(self.used.of_all().waits)
    }

    /// One line for a person who waits.
    pub(super) fn progress(&self) -> String {
        format!(
            "{} {:>7} B  {:<20} {:>9.0} samples/s  lost {:.3} %  {:.2} us of cores each",
            self.course,
            self.size,
            self.flow.name(),
            self.rate(),
            self.lost(),
            self.cpu_us()
        )
    }

    /// For CSV and JSON, each wait of a thread taking `wait_us`.
    pub(super) fn record(&self, wait_us: Option<f64>) -> Record {
        let (lowest, highest) = self.bounds();
        let easy_rate = self.easy.map_or(f64::NAN, |(rate, _)| rate as f64);
        let record = Record::new()
            .text("product", self.flow.product.name())
            .text("kind", self.flow.kind.name())
            .text("placement", self.course.placement.name())
            .number("readers", self.course.readers as f64)
            .number("size_bytes", self.size as f64)
            .number("samples_per_s", self.rate())
            .number("samples_per_s_min", lowest)
            .number("samples_per_s_max", highest)
            .number("mbit_per_s", self.rate() * self.size as f64 * 8e-6)
            .number("lost_percent", self.lost())
            .number("samples_per_s_at_80", easy_rate)
            .number("lost_percent_at_80", self.lost_easy().unwrap_or(f64::NAN))
            .number("surplus", self.surplus())
            .number("refused", self.refused())
            .number("cpu_us_per_sample", self.cpu_us())
            .number("writing_us_per_sample", self.writing_us())
            .number("waits_per_sample", self.waits());
        Parts::record(self.parts(wait_us), OF_CORES, record)
    }
}

/// The row of one flow, course and size.
pub(super) fn find(rows: &[Row], flow: Flow, course: Course, size: usize) -> Option<&Row> {
    rows.iter()
        .find(|row| row.flow == flow && row.course == course && row.size == size)
}

/// Where the time of cores goes, each wait of a thread taking `wait_us`.
pub(super) fn work(rows: &[Row], course: Course, wait_us: Option<f64>) -> Table {
    let line = |row: &Row| {
        let [calls, wakes, own] = Parts::cells(row.parts(wait_us), row.cpu_us());
        vec![
            row.flow.name(),
            format!("{} B", row.size),
            format!("{:.2}", row.cpu_us()),
            format!("{:.2}", row.writing_us()),
            calls,
            wakes,
            own,
            format!("{:.3}", row.waits()),
        ]
    };
    let of_course = rows.iter().filter(|row| row.course == course);
    let head = [
        "stream",
        "size",
        "cpu us/sample",
        "the writer's",
        "calls",
        "wake-ups",
        "own",
        "waits/sample",
    ];
    Table {
        title: format!("{course}: where the time of cores goes (-: too little to be told apart)"),
        head: head.map(str::to_owned).to_vec(),
        lines: of_course.map(line).collect(),
    }
}

/// Rates, with losses where there were any.
pub(super) fn table(rows: &[Row], course: Course, plan: &Plan) -> Table {
    let mut head = vec!["stream".to_owned()];
    head.extend(plan.sizes.iter().map(|size| format!("{size} B")));
    let line = |flow: &Flow| {
        let mut cells = vec![flow.name()];
        for size in &plan.sizes {
            cells.push(find(rows, *flow, course, *size).map_or("-".to_owned(), cell));
        }
        cells
    };
    Table {
        title: format!("{course}: samples/s (lost), us of cores per sample and reader"),
        head,
        lines: plan.flows.iter().map(line).collect(),
    }
}

fn cell(row: &Row) -> String {
    let lost = if row.lost() > 0.0 {
        format!(" (lost {:.2} %)", row.lost())
    } else {
        String::new()
    };
    format!("{:.0}{lost}, {:.1}", row.rate(), row.cpu_us())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::flow::FLOWS;

    const SECOND: u64 = 1_000_000_000;
    const TWO: Course = Course {
        readers: 2,
        ..Course::MAIN
    };

    fn sent(written: u64) -> Sent {
        Sent {
            written,
            refused: 0,
            ns: SECOND,
        }
    }

    fn received(count: u64) -> Received {
        Received { count, ns: SECOND }
    }

    #[test]
    fn the_rate_is_the_median_of_the_slowest_reader() {
        let mut row = Row::new(FLOWS[0], TWO, 16);
        for slow in [11, 31, 21] {
            row.note_rate(&[received(101), received(slow)]);
        }
        assert_eq!(row.rate(), 20.0);
        assert_eq!(row.bounds(), (10.0, 30.0));
    }

    #[test]
    fn where_the_time_of_cores_goes_is_shown_for_each_course() {
        let mut row = Row::new(FLOWS[0], Course::MAIN, 16);
        let writing = Usage {
            cpu_ns: 200_000_000,
            system_ns: 200_000_000,
            ..Usage::default()
        };
        let reading = Usage {
            cpu_ns: 600_000_000,
            system_ns: 400_000_000,
            waits: 100_000,
            ..Usage::default()
        };
        let used = Used { writing, reading };
        row.add(sent(200_000), &[received(200_000)], used);
        assert!(work(&[row.clone()], TWO, Some(2.0)).lines.is_empty());
        let shares = ["2.00 (50 %)", "1.00 (25 %)", "1.00 (25 %)", "0.500"];
        let found = work(&[row], Course::MAIN, Some(2.0)).lines.remove(0);
        assert_eq!(found[2..4], ["4.00", "1.00"]);
        assert_eq!(found[4..], shares);
    }

    #[test]
    fn what_did_not_arrive_at_some_reader_is_lost() {
        let mut row = Row::new(FLOWS[0], TWO, 16);
        row.add(sent(100), &[received(100), received(90)], Used::default());
        assert_eq!(row.lost(), 5.0);
        assert_eq!(row.lost_easy(), None);
        row.note_easy(8, sent(10), &[received(10), received(10)]);
        assert_eq!(row.lost_easy(), Some(0.0));
        row.note_easy(8, sent(10), &[received(10), received(8)]);
        assert_eq!(row.lost_easy(), Some(5.0));
    }

    #[test]
    fn what_arrives_twice_hides_no_loss() {
        let mut row = Row::new(FLOWS[0], TWO, 16);
        row.add(sent(100), &[received(90), received(110)], Used::default());
        assert_eq!((row.lost(), row.surplus()), (5.0, 10.0));
        row.add(sent(100), &[received(110), received(100)], Used::default());
        assert_eq!((row.lost(), row.surplus()), (2.5, 20.0));
    }
}
