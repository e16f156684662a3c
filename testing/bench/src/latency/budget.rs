//! Where the time of a message goes: system calls, the wake-up, and the product's own work.
//!
//! Of the median by subtraction within the run, by raw sockets that are connected, as those are by
//! which Whimbrel sends (it receives by one that is not, which is part of its own here): `raw
//! calls` sends and receives in one thread, so it is the calls alone, between two hosts with the
//! way over the cable, which is in the call that sends; the raw socket that waits as the bus does
//! has the wake-up on top; what a bus needs beyond that is its own. Of p99 alike, beside the p99 of
//! those two: a comparison, as no trip's parts are known. Of the time on cores by the kernel's
//! count of it and of waits, also where no raw socket does the same; that may be more than the
//! latency, as both processes work at once. The kernel counts coarsely, so all sizes together tell
//! most.

use super::plan::{Kind, Part};
use super::rows::{Row, find};
use crate::contestant::{Contestant, Mode, Product};
use crate::parts::{self, OF_CORES, Parts, share};
use crate::placement::Placement;
use crate::report::{Record, Table};

/// Names of the parts of the time on cores of all sizes together.
const OF_CORES_ALL_SIZES: [&str; 3] = [
    "calls_us_of_cores_all_sizes",
    "wakes_us_of_cores_all_sizes",
    "own_us_of_cores_all_sizes",
];

/// Percentiles that are split.
const MEDIAN: f64 = 0.5;
const TAIL: f64 = 0.99;

/// Names of their parts in CSV and JSON.
const OF_MEDIAN: [&str; 3] = ["calls_us_of_p50", "wake_us_of_p50", "own_us_of_p50"];
const OF_TAIL: [&str; 3] = ["calls_us_of_p99", "wake_us_of_p99", "own_us_of_p99"];

/// Parts of a percentile, in microseconds; `None` where they cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budget {
    pub(super) calls_us: Option<f64>,
    pub(super) wake_us: Option<f64>,
    pub(super) own_us: Option<f64>,
}

/// The parts of `total_us`, where a raw socket takes `raw_us`, and `calls_us` for its calls alone.
/// No parts are more than the whole: where the bus is quicker than the raw socket, its calls and
/// wake-ups are no more than what it took. What disturbs one raw socket more than the other, or the
/// raw socket more than the bus, would make a part negative: it is none.
pub(super) fn split(total_us: f64, calls_us: Option<f64>, raw_us: f64) -> Budget {
    let positive = |us: f64| (us >= 0.0).then_some(us);
    let calls = calls_us.map(|it| it.min(total_us));
    Budget {
        calls_us: calls,
        wake_us: calls.and_then(|calls| positive(raw_us.min(total_us) - calls)),
        own_us: positive(total_us - raw_us.max(calls_us.unwrap_or(0.0))),
    }
}

/// How the raw socket waits that is compared with `mode`.
fn raw_mode(mode: Mode, placement: Placement) -> Mode {
    let polls = mode == Mode::Spinning || mode.without_polling().is_some();
    // On one core nobody spins: polling gives up there.
    if polls && placement != Placement::OneCore {
        Mode::SpinningConnected
    } else {
        Mode::BlockingConnected
    }
}

fn raw(rows: &[Row], placement: Placement, mode: Mode, size: usize) -> Option<&Row> {
    find(rows, placement, Product::Raw, mode, size)
}

/// The raw socket beside which the percentile `at` of `row` is split, that of it, and the parts;
/// none within a process.
fn of_percentile(at: f64, row: &Row, rows: &[Row]) -> Option<(Mode, f64, Budget)> {
    if row.contestant.is_within_a_process() {
        return None;
    }
    let (placement, size) = (row.placement, row.size);
    let like = raw_mode(row.contestant.mode, placement);
    let raw_us = |mode| Some(raw(rows, placement, mode, size)?.spread.us(at));
    let like_us = raw_us(like)?;
    let calls_us = raw_us(Mode::Calls);
    Some((like, like_us, split(row.spread.us(at), calls_us, like_us)))
}

/// Time on cores for one wait with its wake-up, in microseconds: what the blocking raw socket takes
/// beyond the calls, by the smallest size that was measured.
fn wait_us(rows: &[Row], placement: Placement) -> Option<f64> {
    let here = rows.iter().filter(|it| it.placement == placement);
    let calls = here.filter(|it| it.contestant.mode == Mode::Calls);
    let calls = calls.min_by_key(|it| it.size)?;
    let blocking = raw(rows, placement, Mode::BlockingConnected, calls.size)?;
    parts::wait_us(blocking.cpu_us(), calls.cpu_us(), blocking.waits())
}

/// The same of every placement where it was found.
pub(super) fn waits_us(rows: &[Row]) -> impl Iterator<Item = (Placement, f64)> {
    let all = Placement::ALL.iter();
    all.filter_map(|it| Some((*it, wait_us(rows, *it)?)))
}

/// Parts of the time on cores of `row`.
fn of_cores(row: &Row, rows: &[Row]) -> Option<Parts> {
    row.parts(wait_us(rows, row.placement))
}

/// For CSV and JSON: `row`, and where its time goes.
pub(super) fn record(row: &Row, rows: &[Row]) -> Record {
    let split = |record: Record, (at, names): (f64, [&'static str; 3])| {
        let budget = of_percentile(at, row, rows).map(|it| it.2);
        let parts = budget.map_or([None; 3], |it| [it.calls_us, it.wake_us, it.own_us]);
        let parts = names.into_iter().zip(parts);
        parts.fold(record, |record, (name, us)| {
            record.number(name, us.unwrap_or(f64::NAN))
        })
    };
    let percentiles = [(MEDIAN, OF_MEDIAN), (TAIL, OF_TAIL)];
    let record = percentiles.into_iter().fold(row.record(), split);
    let alike = |it: &&Row| (it.contestant, it.placement) == (row.contestant, row.placement);
    let of_all = Row::of_all_sizes(rows.iter().filter(alike)).and_then(|it| of_cores(&it, rows));
    let record = Parts::record(of_cores(row, rows), OF_CORES, record);
    Parts::record(of_all, OF_CORES_ALL_SIZES, record)
}

/// One table for each placement in which something was measured.
pub(super) fn tables(rows: &[Row], part: &Part) -> Vec<Table> {
    let placements = part.placements.iter();
    placements
        .flat_map(|it| [table(rows, *it, part), tails(rows, *it, part)])
        .flatten()
        .collect()
}

fn table(rows: &[Row], placement: Placement, part: &Part) -> Option<Table> {
    let line = |name: Vec<String>, median: Vec<String>, row: &Row| match part.kind {
        Kind::Usual => [name, median, cores(row, rows)].concat(),
        Kind::Large | Kind::InProcess => [name, cores(row, rows)].concat(),
    };
    let lines: Vec<Vec<String>> = buses(part)
        .flat_map(|it| {
            let of = sizes_of(rows, placement, *it, part);
            let all = Row::of_all_sizes(of.iter().copied()).filter(|_| of.len() > 1);
            let all = all.map(|row| line(name_of_all(&row), nothing_told_apart(), &row));
            let each = of.into_iter();
            let each = each.map(|row| line(name(row, MEDIAN), cells_of(MEDIAN, row, rows), row));
            each.chain(all).collect::<Vec<_>>()
        })
        .collect();
    let median = ["raw socket", "its p50 us", "calls", "wake-up", "own"];
    let cores = [
        "cpu us/message",
        "calls",
        "wake-ups",
        "own",
        "waits/message",
    ];
    let name = ["contestant", "size", "p50 us"];
    let (what, head) = match part.kind {
        Kind::Usual => (
            "the median and the time of cores go",
            [&name[..], &median, &cores].concat(),
        ),
        Kind::Large | Kind::InProcess => ("the time of cores goes", [&name[..], &cores].concat()),
    };
    let title = format!(
        "{}, {placement}: where {what} (-: not to be told apart)",
        part.kind.name()
    );
    let head = head.into_iter().map(str::to_owned).collect();
    (!lines.is_empty()).then_some(Table { title, head, lines })
}

/// Where p99 goes, where raw sockets do the same.
fn tails(rows: &[Row], placement: Placement, part: &Part) -> Option<Table> {
    if part.kind != Kind::Usual {
        return None;
    }
    let of = buses(part).flat_map(|it| sizes_of(rows, placement, *it, part));
    let lines = of.map(|row| [name(row, TAIL), cells_of(TAIL, row, rows)].concat());
    let lines: Vec<_> = lines.collect();
    let head = [
        "contestant",
        "size",
        "p99 us",
        "raw socket",
        "its p99 us",
        "calls",
        "wake-up",
        "own",
    ];
    (!lines.is_empty()).then(|| Table {
        title: format!(
            "{}, {placement}: where p99 goes (-: not to be told apart)",
            part.kind.name()
        ),
        head: head.map(str::to_owned).to_vec(),
        lines,
    })
}

fn buses(part: &Part) -> impl Iterator<Item = &Contestant> {
    let all = part.contestants.iter();
    all.filter(|it| it.product != Product::Raw)
}

/// The rows of one contestant in one placement, by size.
fn sizes_of<'a>(
    rows: &'a [Row],
    placement: Placement,
    of: Contestant,
    part: &Part,
) -> Vec<&'a Row> {
    let sizes = part.sizes.iter();
    sizes
        .filter_map(|size| find(rows, placement, of.product, of.mode, *size))
        .collect()
}

fn name_of_all(row: &Row) -> Vec<String> {
    vec![row.contestant.name(), "all".to_owned(), "-".to_owned()]
}

fn nothing_told_apart() -> Vec<String> {
    vec!["-".to_owned(); 5]
}

fn name(row: &Row, at: f64) -> Vec<String> {
    vec![
        row.contestant.name(),
        format!("{} B", row.size),
        format!("{:.2}", row.spread.us(at)),
    ]
}

fn cells_of(at: f64, row: &Row, rows: &[Row]) -> Vec<String> {
    let Some((like, like_us, budget)) = of_percentile(at, row, rows) else {
        return nothing_told_apart();
    };
    let total_us = row.spread.us(at);
    vec![
        like.name().to_owned(),
        format!("{like_us:.2}"),
        share(budget.calls_us, total_us),
        share(budget.wake_us, total_us),
        share(budget.own_us, total_us),
    ]
}

fn cores(row: &Row, rows: &[Row]) -> Vec<String> {
    let cpu_us = row.cpu_us();
    let [calls, wakes, own] = Parts::cells(of_cores(row, rows), cpu_us);
    let (cpu, waits) = (format!("{cpu_us:.2}"), format!("{:.3}", row.waits()));
    vec![cpu, calls, wakes, own, waits]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Order;
    use whimbrel_rig::process::Usage;

    const SIZE: usize = 16;

    #[test]
    fn the_parts_make_the_whole() {
        let budget = split(12.0, Some(3.0), 5.0);
        let parts = (budget.calls_us, budget.wake_us, budget.own_us);
        assert_eq!(parts, (Some(3.0), Some(2.0), Some(7.0)));
        assert_eq!(share(budget.own_us, 12.0), "7.00 (58 %)");
    }

    #[test]
    fn what_would_be_negative_is_no_part() {
        let budget = split(7.0, Some(6.0), 5.0);
        let parts = (budget.calls_us, budget.wake_us, budget.own_us);
        assert_eq!(parts, (Some(6.0), None, Some(1.0)));
        let budget = split(4.0, Some(3.0), 5.0);
        assert_eq!((budget.wake_us, budget.own_us), (Some(1.0), None));
        assert_eq!(share(budget.own_us, 4.0), "-");
    }

    #[test]
    fn parts_that_are_told_apart_are_the_whole_and_never_more() {
        for total in 1..8 {
            for calls in 1..8 {
                for raw in 1..8 {
                    let [total, calls, raw] = [total, calls, raw].map(f64::from);
                    let sum = |it: Budget| {
                        let parts = [it.calls_us, it.wake_us, it.own_us];
                        parts.iter().flatten().sum::<f64>()
                    };
                    assert_eq!(sum(split(total, Some(calls), raw)), total);
                    assert!(sum(split(total, None, raw)) <= total);
                }
            }
        }
    }

    /// Messages that took so long one way.
    fn add(row: &mut Row, us: &[u64], used: Usage) {
        let trips_ns: Vec<u64> = us.iter().map(|us| us * 2000).collect();
        let order = Order {
            size: SIZE,
            count: us.len(),
            warm: 0,
        };
        row.add(&trips_ns, used, order);
    }

    fn row(product: Product, mode: Mode, placement: Placement, us: u64, used: Usage) -> Row {
        let mut row = Row::new(Contestant { product, mode }, placement, SIZE);
        add(&mut row, &[us; 10], used);
        row
    }

    fn lines(placement: Placement, kind: Kind, ours: Mode, used: Usage) -> Vec<Vec<String>> {
        let raw = |mode, us| row(Product::Raw, mode, placement, us, Usage::default());
        let rows = [
            raw(Mode::Calls, 2),
            raw(Mode::BlockingConnected, 8),
            raw(Mode::SpinningConnected, 4),
            row(Product::Whimbrel, ours, placement, 10, used),
        ];
        tables(&rows, &part(kind, &rows, &[SIZE])).remove(0).lines
    }

    /// The contestants of `rows`, which are in one placement.
    fn part(kind: Kind, rows: &[Row], sizes: &[usize]) -> Part {
        Part {
            kind,
            contestants: rows.iter().map(|it| it.contestant).collect(),
            placements: vec![rows[0].placement],
            sizes: sizes.to_vec(),
            messages: 10,
            rounds: 1,
            starts: 1,
            warm: 0,
        }
    }

    /// `wanted`: the raw socket, and percents of calls, wake-up and own work.
    fn check(placement: Placement, ours: Mode, wanted: [&str; 4]) {
        let lines = lines(placement, Kind::Usual, ours, Usage::default());
        assert_eq!(lines.len(), 1);
        let [raw, _, shares @ ..] = &lines[0][3..8] else {
            panic!("{lines:?}")
        };
        let percents = shares.iter().map(|it| it.rsplit('(').next().unwrap());
        let found: Vec<&str> = std::iter::once(&raw[..]).chain(percents).collect();
        assert_eq!(found, wanted, "{placement}");
    }

    #[test]
    fn who_polls_is_split_by_the_socket_that_spins() {
        let (two, one) = (Placement::TwoCores, Placement::OneCore);
        let blocking = ["blocking-connected", "20 %)", "60 %)", "20 %)"];
        check(two, Mode::Take, blocking);
        check(one, Mode::Automatic, blocking);
        let spinning = ["spinning-connected", "20 %)", "20 %)", "60 %)"];
        check(two, Mode::Automatic, spinning);
    }

    #[test]
    fn between_two_hosts_the_median_is_split_alike() {
        let wanted = ["blocking-connected", "20 %)", "60 %)", "20 %)"];
        check(Placement::TwoHosts, Mode::Listener, wanted);
    }

    #[test]
    fn where_no_raw_socket_does_the_same_the_time_of_cores_is_split() {
        let used = |cpu_ns, system_ns| Usage {
            cpu_ns,
            system_ns,
            ..Usage::default()
        };
        let of =
            |used| lines(Placement::TwoCores, Kind::Large, Mode::Large, used)[0][3..7].to_vec();
        let whole = of(used(800_000_000, 600_000_000));
        let wanted = ["40000.00", "-", "-", "10000.00 (25 %)"];
        assert_eq!(whole, wanted);
        // Less than the system's clock can split.
        assert_eq!(of(used(20_000_000, 10_000_000))[1..], ["-", "-", "-"]);
    }

    #[test]
    fn a_wait_takes_what_the_blocking_socket_takes_beyond_its_calls() {
        let place = Placement::TwoCores;
        let used = |cpu_ns, waits| Usage {
            cpu_ns,
            system_ns: cpu_ns,
            waits,
            ..Usage::default()
        };
        let rows = [
            row(Product::Raw, Mode::Calls, place, 2, used(20_000_000, 0)),
            row(
                Product::Raw,
                Mode::BlockingConnected,
                place,
                8,
                used(100_000_000, 10),
            ),
            row(
                Product::Cyclone,
                Mode::Listener,
                place,
                9,
                used(800_000_000, 75),
            ),
        ];
        let found: Vec<_> = waits_us(&rows).collect();
        assert_eq!(found, [(place, 8000.0)]);
        let wanted = [
            "40000.00",
            "10000.00 (25 %)",
            "30000.00 (75 %)",
            "0.00 (0 %)",
            "3.750",
        ];
        assert_eq!(cores(&rows[2], &rows), wanted);
    }

    #[test]
    fn sizes_of_which_each_is_too_little_are_split_together() {
        let place = Placement::TwoCores;
        let used = Usage {
            cpu_ns: 300_000_000,
            system_ns: 150_000_000,
            ..Usage::default()
        };
        let mut rows = [(); 2].map(|()| row(Product::Cyclone, Mode::Listener, place, 9, used));
        rows[1].size = 2 * SIZE;
        let part = part(Kind::Usual, &rows[..1], &[SIZE, 2 * SIZE]);
        let lines = tables(&rows, &part).remove(0).lines;
        let own: Vec<[&str; 2]> = lines.iter().map(|it| [&it[1][..], &it[11]]).collect();
        let wanted = [["16 B", "-"], ["32 B", "-"], ["all", "7500.00 (50 %)"]];
        assert_eq!(own, wanted);
        let figure = |name| record(&rows[0], &rows).figure(name);
        assert_eq!(figure("own_us_of_cores_all_sizes"), Some(7500.0));
        assert!(figure("own_us_of_cores").is_none_or(f64::is_nan));
    }

    #[test]
    fn every_share_is_in_the_record_too() {
        let place = Placement::TwoCores;
        let idle = Usage::default();
        let rows = [
            row(Product::Raw, Mode::Calls, place, 2, idle),
            row(Product::Raw, Mode::BlockingConnected, place, 8, idle),
            row(Product::Cyclone, Mode::Listener, place, 10, idle),
        ];
        assert_eq!(recorded(OF_MEDIAN, &rows), [2.0, 6.0, 2.0]);
    }

    #[test]
    fn nothing_within_a_process_is_a_call_of_a_socket() {
        let (place, idle) = (Placement::Free, Usage::default());
        let rows = [
            row(Product::Raw, Mode::Calls, place, 8, idle),
            row(Product::Raw, Mode::BlockingConnected, place, 8, idle),
            row(Product::Whimbrel, Mode::InProcess, place, 2, idle),
        ];
        let figure = |name| record(&rows[2], &rows).figure(name);
        let mut told = [OF_MEDIAN, OF_TAIL].concat().into_iter().filter_map(figure);
        assert!(told.all(f64::is_nan));
    }

    /// The parts of these names of the third row.
    fn recorded(names: [&str; 3], rows: &[Row]) -> [f64; 3] {
        let record = record(&rows[2], rows);
        names.map(|it| record.figure(it).unwrap().round())
    }

    #[test]
    fn p99_is_split_beside_that_of_the_raw_sockets() {
        let place = Placement::TwoCores;
        let row = |product, mode, tail_us: u64| {
            let mut row = row(product, mode, place, 2, Usage::default());
            add(&mut row, &[tail_us], Usage::default());
            row
        };
        let rows = [
            row(Product::Raw, Mode::Calls, 10),
            row(Product::Raw, Mode::BlockingConnected, 30),
            row(Product::Whimbrel, Mode::Listener, 40),
        ];
        let tail = tables(&rows, &part(Kind::Usual, &rows, &[SIZE]));
        let tail = tail.last().unwrap();
        assert!(tail.title.contains("p99"), "{}", tail.title);
        let shares: Vec<&str> = tail.lines[0][5..]
            .iter()
            .map(|it| &it[it.len() - 6..])
            .collect();
        assert_eq!(
            (tail.lines.len(), shares),
            (1, vec!["(25 %)", "(50 %)", "(25 %)"])
        );
        assert_eq!(recorded(OF_TAIL, &rows), [10.0, 20.0, 10.0]);
    }
}
