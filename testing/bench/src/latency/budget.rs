//! Where the time of a message goes: system calls, the wake-up, and the product's own work.
//!
//! By subtraction within the run: `raw calls` sends and receives in one thread, so it is the calls
//! alone; the raw socket that waits as the bus does has the wake-up on top; what a bus needs beyond
//! that is its own. Where no raw socket does the same, the kernel's count of time on cores tells
//! the system's part from the bus's.

use super::plan::{Kind, Part};
use super::rows::{Row, find};
use crate::contestant::{Mode, Product};
use crate::placement::Placement;
use crate::report::Table;

/// Parts of a median, in microseconds; `None` where they cannot be told apart.
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
    // On one core nobody spins: polling gives up there.
    if mode.without_polling().is_some() && placement != Placement::OneCore {
        Mode::Spinning
    } else {
        Mode::Blocking
    }
}

/// One table for each placement in which something was measured.
pub(super) fn tables(rows: &[Row], part: &Part) -> Vec<Table> {
    let placements = part.placements.iter();
    placements
        .filter_map(|placement| match part.kind {
            Kind::Usual => beside_raw(rows, *placement, part),
            Kind::Large | Kind::InProcess => on_cores(rows, *placement, part),
        })
        .collect()
}

fn beside_raw(rows: &[Row], placement: Placement, part: &Part) -> Option<Table> {
    let raw = |mode, size| {
        let row = find(rows, placement, Product::Raw, mode, size)?;
        Some(row.spread.us(0.5))
    };
    let mut lines = Vec::new();
    for (row, size) in ours(rows, placement, part) {
        let mode = row.contestant.mode;
        let Some(like_us) = raw(raw_mode(mode, placement), size) else {
            continue;
        };
        // A socket that hears itself sends nothing over the cable.
        let calls_us = raw(Mode::Calls, size).filter(|_| placement != Placement::TwoHosts);
        let total = row.spread.us(0.5);
        let budget = split(total, calls_us, like_us);
        lines.push(vec![
            row.contestant.name(),
            format!("{size} B"),
            format!("{total:.2}"),
            raw_mode(mode, placement).name().to_owned(),
            format!("{like_us:.2}"),
            share(budget.calls_us, total),
            share(budget.wake_us, total),
            share(budget.own_us, total),
            format!("{:.2}", row.cpu_us()),
            format!("{:.2}", row.waits()),
        ]);
    }
    let head = [
        "contestant",
        "size",
        "p50 us",
        "raw socket",
        "its p50 us",
        "calls",
        "wake-up",
        "own",
        "cpu us/message",
        "waits/message",
    ];
    table(format!("{placement}: where the median goes"), &head, lines)
}

/// Time on cores of both processes, which may be more than the latency: they work at once.
fn on_cores(rows: &[Row], placement: Placement, part: &Part) -> Option<Table> {
    let lines = ours(rows, placement, part).map(|(row, size)| {
        let cpu_us = row.cpu_us();
        let system_us = row.system_us();
        vec![
            row.contestant.name(),
            format!("{size} B"),
            format!("{:.2}", row.spread.us(0.5)),
            format!("{cpu_us:.2}"),
            share(system_us, cpu_us),
            share(system_us.map(|it| cpu_us - it), cpu_us),
            format!("{:.3}", row.waits()),
        ]
    });
    let head = [
        "contestant",
        "size",
        "p50 us",
        "cpu us/message",
        "system, with wake-ups",
        "own",
        "waits/message",
    ];
    let title = format!(
        "{}, {placement}: where the time of cores goes (-: too little to be split)",
        part.kind.name()
    );
    table(title, &head, lines.collect())
}

/// Our rows of one placement, with their sizes.
fn ours<'a>(
    rows: &'a [Row],
    placement: Placement,
    part: &'a Part,
) -> impl Iterator<Item = (&'a Row, usize)> {
    let ours = part.contestants.iter();
    let ours = ours.filter(|it| it.product == Product::Whimbrel);
    ours.flat_map(move |it| {
        let sizes = part.sizes.iter();
        sizes.filter_map(move |size| {
            Some((find(rows, placement, it.product, it.mode, *size)?, *size))
        })
    })
}

fn table(title: String, head: &[&str], lines: Vec<Vec<String>>) -> Option<Table> {
    let head = head.iter().map(|it| (*it).to_owned()).collect();
    (!lines.is_empty()).then_some(Table { title, head, lines })
}

fn share(part_us: Option<f64>, total_us: f64) -> String {
    part_us.map_or("-".to_owned(), |us| {
        let percent = 100.0 * us / total_us.max(f64::MIN_POSITIVE);
        format!("{us:.2} ({percent:.0} %)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::Contestant;
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

    fn row(product: Product, mode: Mode, placement: Placement, us: u64, used: Usage) -> Row {
        let mut row = Row::new(Contestant { product, mode }, placement, SIZE);
        let order = Order {
            size: SIZE,
            count: 10,
            warm: 0,
        };
        row.add(&[us * 2000; 10], used, order);
        row
    }

    fn lines(placement: Placement, kind: Kind, ours: Mode, used: Usage) -> Vec<Vec<String>> {
        let raw = |mode, us| row(Product::Raw, mode, placement, us, Usage::default());
        let rows = [
            raw(Mode::Calls, 2),
            raw(Mode::Blocking, 8),
            raw(Mode::Spinning, 4),
            row(Product::Whimbrel, ours, placement, 10, used),
        ];
        let part = Part {
            kind,
            contestants: rows.iter().map(|it| it.contestant).collect(),
            placements: vec![placement],
            sizes: vec![SIZE],
            messages: 10,
            starts: 1,
            warm: 0,
        };
        let tables = tables(&rows, &part);
        tables.into_iter().flat_map(|it| it.lines).collect()
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
        let blocking = ["blocking", "20 %)", "60 %)", "20 %)"];
        check(two, Mode::Take, blocking);
        check(one, Mode::Automatic, blocking);
        let spinning = ["spinning", "20 %)", "20 %)", "60 %)"];
        check(two, Mode::Automatic, spinning);
    }

    #[test]
    fn between_two_hosts_the_calls_are_not_told_apart() {
        let wanted = ["blocking", "-", "-", "20 %)"];
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
            |used| lines(Placement::TwoCores, Kind::Large, Mode::Large, used)[0][3..6].to_vec();
        let whole = of(used(200_000_000, 150_000_000));
        assert_eq!(whole, ["10000.00", "7500.00 (75 %)", "2500.00 (25 %)"]);
        // Less than the system's clock can split.
        assert_eq!(of(used(20_000_000, 10_000_000))[1..], ["-", "-"]);
    }
}
