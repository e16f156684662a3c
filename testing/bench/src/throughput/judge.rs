//! The goals of throughput: ratios within the run for one writer and one reader, and losses.

use super::course::Course;
use super::flow::{Flow, Kind};
use super::plan::Plan;
use super::rows::{Row, find};
use crate::contestant::Product;
use crate::goal::{Goal, Side};

/// Samples up to this size are judged against the rate of raw datagrams.
const SMALL_BYTES: usize = 8192;
/// The largest sample in one datagram that is measured.
const DATAGRAM_BYTES: usize = 63_000;
/// The smallest with fragments.
const LARGE_BYTES: usize = 1 << 20;
/// Sizes at which bundles are judged.
const BUNDLED_BYTES: std::ops::RangeInclusive<usize> = 32..=1024;

const RAW: Flow = flow(Product::Raw, Kind::BestEffort);
const RELIABLE: Flow = flow(Product::Whimbrel, Kind::Reliable);
const BATCHED: Flow = flow(Product::Whimbrel, Kind::Batched);
const UNBUNDLED: Flow = flow(Product::Whimbrel, Kind::Unbundled);

const fn flow(product: Product, kind: Kind) -> Flow {
    Flow { product, kind }
}

/// Every goal for which something was measured, by its worst size.
pub(super) fn goals(rows: &[Row], plan: &Plan) -> Vec<Goal> {
    let on = |course| Judge { rows, plan, course };
    let (judge, other_host) = (on(Course::MAIN), on(Course::OTHER_HOST));
    [rates(&judge), rates_to_hosts(&other_host), losses(&judge)].concat()
}

/// The streams of both peers that are of these kinds, whether they have them or not.
fn peers(kinds: &[Kind]) -> Vec<Flow> {
    let products = [Product::Cyclone, Product::FastDds];
    let of = |product| kinds.iter().map(move |kind| flow(product, *kind));
    products.into_iter().flat_map(of).collect()
}

fn cyclone(kind: Kind) -> [Flow; 1] {
    [flow(Product::Cyclone, kind)]
}

/// To another host, where segmentation offload is.
fn rates_to_hosts(judge: &Judge<'_>) -> Vec<Goal> {
    let peers = peers(&[Kind::Reliable, Kind::Batched, Kind::Tuned]);
    [
        judge.rate("two-hosts.of-best-peer", &peers, |_| true, 1.0),
        judge.bundles(RELIABLE, "two-hosts.bundles-of-cyclone-batched"),
        judge.bundles(BATCHED, "two-hosts.batched-of-cyclone-batched"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn rates(judge: &Judge<'_>) -> Vec<Goal> {
    let peers = peers(&[Kind::Reliable, Kind::Tuned]);
    [
        judge.rate_of(
            UNBUNDLED,
            "unbundled-of-raw",
            &[RAW],
            |size| size <= SMALL_BYTES,
            0.85,
        ),
        judge.rate_of(
            UNBUNDLED,
            "63000-B-unbundled-of-raw",
            &[RAW],
            |size| size == DATAGRAM_BYTES,
            0.6,
        ),
        judge.rate_of(
            UNBUNDLED,
            "63000-B-of-cyclone-tuned",
            &cyclone(Kind::Tuned),
            |size| size == DATAGRAM_BYTES,
            2.0,
        ),
        judge.rate_of(
            UNBUNDLED,
            "1-MiB-of-best-peer",
            &peers,
            |size| size == LARGE_BYTES,
            1.3,
        ),
        judge.bundles(RELIABLE, "bundles-of-cyclone-batched"),
        judge.bundles(BATCHED, "batched-of-cyclone-batched"),
        judge.rate(
            "automatic-of-batched",
            &[BATCHED],
            |size| BUNDLED_BYTES.contains(&size),
            0.9,
        ),
        judge.rate("automatic-of-unbundled", &[UNBUNDLED], |_| true, 0.97),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn losses(judge: &Judge<'_>) -> Vec<Goal> {
    [
        judge.reliable("reliable-lost-percent", Row::lost),
        judge.reliable("reliable-surplus", Row::surplus),
        judge.reliable("reliable-refused", Row::refused),
        judge.lost("best-effort-lost-percent", Side::Below, 0.1, |row| {
            Some(row.lost())
        }),
        judge.lost(
            "best-effort-lost-percent-at-80",
            Side::AtMost,
            0.0,
            Row::lost_easy,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct Judge<'a> {
    rows: &'a [Row],
    plan: &'a Plan,
    /// Of which rates are judged.
    course: Course,
}

impl Judge<'_> {
    /// Our reliable rate as a multiple of the best of `others`.
    fn rate(
        &self,
        name: &str,
        others: &[Flow],
        counts: impl Fn(usize) -> bool,
        bound: f64,
    ) -> Option<Goal> {
        self.rate_of(RELIABLE, name, others, counts, bound)
    }

    /// The bundles of `ours` as a multiple of those that Cyclone DDS is told to write.
    fn bundles(&self, ours: Flow, name: &str) -> Option<Goal> {
        let is_bundled = |size| BUNDLED_BYTES.contains(&size);
        self.rate_of(ours, name, &cyclone(Kind::Batched), is_bundled, 2.0)
    }

    /// The rate of `ours` as a multiple of the best of `others`.
    fn rate_of(
        &self,
        ours: Flow,
        name: &str,
        others: &[Flow],
        counts: impl Fn(usize) -> bool,
        bound: f64,
    ) -> Option<Goal> {
        let row = |flow, size| find(self.rows, flow, self.course, size);
        let sizes = self.plan.sizes.iter().filter(|size| counts(**size));
        let figures = sizes.filter_map(|size| {
            let ours = row(ours, *size)?;
            let theirs = others.iter().filter_map(|it| row(*it, *size));
            let least = theirs.map(|it| ours.rate_of(it)).reduce(f64::min)?;
            Some((least, format!("{size} B")))
        });
        Goal::worst(format!("throughput.{name}"), figures, Side::AtLeast, bound)
    }

    /// What must be none in every reliable stream of ours.
    fn reliable(&self, name: &str, of: fn(&Row) -> f64) -> Option<Goal> {
        let of = |row: &Row| Some(of(row));
        self.of_ours(name, Flow::is_reliable, (Side::AtMost, 0.0), of)
    }

    /// What is lost of every best-effort stream of ours.
    fn lost(
        &self,
        name: &str,
        side: Side,
        bound: f64,
        of: fn(&Row) -> Option<f64>,
    ) -> Option<Goal> {
        self.of_ours(name, Flow::is_best_effort, (side, bound), of)
    }

    /// A figure of every stream of ours of some `sort`, wherever it goes and however it is bundled.
    fn of_ours(
        &self,
        name: &str,
        sort: fn(Flow) -> bool,
        (side, bound): (Side, f64),
        of: impl Fn(&Row) -> Option<f64>,
    ) -> Option<Goal> {
        let ours = self
            .rows
            .iter()
            .filter(|row| row.flow.product == Product::Whimbrel && sort(row.flow));
        let figures = ours.filter_map(|row| {
            let (kind, course, size) = (row.flow.kind.name(), row.course, row.size);
            Some((of(row)?, format!("{kind}, {course}, {size} B")))
        });
        Goal::worst(format!("throughput.{name}"), figures, side, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use crate::stream::{Received, Sent};
    use crate::throughput::rows::Used;

    const BEST_EFFORT: Flow = flow(Product::Whimbrel, Kind::BestEffort);

    fn row(flow: Flow, size: usize, sent: u64, count: u64) -> Row {
        let mut row = Row::new(flow, Course::MAIN, size);
        add_round(&mut row, [sent, 0, count]);
        row
    }

    /// A second in which so many were written, were refused and came.
    fn add_round(row: &mut Row, [written, refused, count]: [u64; 3]) {
        let sent = Sent {
            written,
            refused,
            ns: 1,
        };
        let ns = 1_000_000_000;
        let received = [Received { count, ns }];
        row.add(sent, &received, Used::default());
        row.note_rate(&received);
    }

    fn judged(rows: &[Row]) -> Vec<(String, bool)> {
        let words = ["throughput".to_owned()];
        let plan = Plan::new(&Arguments::parse(&words).unwrap()).unwrap();
        let goals = goals(rows, &plan);
        goals.iter().map(|it| (it.name.clone(), it.met())).collect()
    }

    fn check(rows: &[Row], wanted: &[(&str, bool)]) {
        let wanted: Vec<_> = wanted.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        assert_eq!(judged(rows), wanted);
    }

    #[test]
    fn rates_are_compared_at_their_sizes() {
        let rows = [
            row(RAW, 32, 1001, 1001),
            row(UNBUNDLED, 32, 841, 841),
            row(RELIABLE, 32, 901, 901),
            row(flow(Product::Cyclone, Kind::Batched), 32, 5001, 5001),
            row(BATCHED, 32, 1001, 1001),
            row(RELIABLE, LARGE_BYTES, 131, 131),
            row(UNBUNDLED, LARGE_BYTES, 141, 141),
            row(flow(Product::FastDds, Kind::Tuned), LARGE_BYTES, 101, 101),
            row(flow(Product::Cyclone, Kind::Reliable), LARGE_BYTES, 51, 51),
        ];
        check(
            &rows,
            &[
                ("throughput.unbundled-of-raw", false),
                ("throughput.1-MiB-of-best-peer", true),
                ("throughput.bundles-of-cyclone-batched", false),
                ("throughput.batched-of-cyclone-batched", false),
                ("throughput.automatic-of-batched", true),
                ("throughput.automatic-of-unbundled", false),
                ("throughput.reliable-lost-percent", true),
                ("throughput.reliable-surplus", true),
                ("throughput.reliable-refused", true),
            ],
        );
    }

    #[test]
    fn the_easy_rate_is_judged_where_it_ran() {
        let mut lossy = row(BEST_EFFORT, 32, 100, 100);
        let written = Sent {
            written: 10,
            refused: 0,
            ns: 1,
        };
        lossy.note_easy(8, written, &[Received { count: 9, ns: 1 }]);
        let wanted = [
            ("throughput.best-effort-lost-percent", true),
            ("throughput.best-effort-lost-percent-at-80", false),
        ];
        check(&[lossy], &wanted);
    }

    #[test]
    fn bundles_do_not_make_up_for_what_a_sample_alone_costs() {
        let rows = [
            row(RAW, DATAGRAM_BYTES, 1001, 1001),
            row(RELIABLE, DATAGRAM_BYTES, 2001, 2001),
            row(UNBUNDLED, DATAGRAM_BYTES, 591, 591),
        ];
        assert!(judged(&rows).contains(&("throughput.63000-B-unbundled-of-raw".into(), false)));
    }

    #[test]
    fn what_goes_to_another_host_is_compared_with_what_goes_there() {
        let mut ours = row(RELIABLE, 32, 1001, 1001);
        let mut theirs = row(flow(Product::Cyclone, Kind::Batched), 32, 1101, 1101);
        let met = |rows: &[Row]| {
            let of_hosts = |it: &(String, bool)| it.0.starts_with("throughput.two-hosts.");
            let met = judged(rows).into_iter().filter(of_hosts).map(|it| it.1);
            met.collect::<Vec<bool>>()
        };
        assert_eq!(met(&[ours.clone(), theirs.clone()]), [false; 0]);
        ours.course = Course::OTHER_HOST;
        assert_eq!(met(&[ours.clone(), theirs.clone()]), [false; 0]);
        theirs.course = Course::OTHER_HOST;
        assert_eq!(met(&[ours.clone(), theirs.clone()]), [false, false]);
        add_round(&mut ours, [1301, 0, 1301]);
        add_round(&mut theirs, [701, 0, 701]);
        assert_eq!(met(&[ours.clone(), theirs.clone()]), [true, false]);
        for _ in 0..2 {
            add_round(&mut ours, [1501, 0, 1501]);
            add_round(&mut theirs, [701, 0, 701]);
        }
        assert_eq!(met(&[ours, theirs]), [true, true]);
    }

    #[test]
    fn bundles_of_a_size_are_compared_with_those_of_cyclone_by_themselves() {
        for (count, met) in [(2000, false), (2002, true)] {
            let mut rows = [
                row(BATCHED, 32, count, count),
                row(flow(Product::Cyclone, Kind::Batched), 32, 1001, 1001),
            ];
            let name = "throughput.batched-of-cyclone-batched";
            assert!(judged(&rows).contains(&(name.into(), met)), "{count}");
            for row in &mut rows {
                row.course = Course::OTHER_HOST;
            }
            let name = "throughput.two-hosts.batched-of-cyclone-batched";
            assert!(judged(&rows).contains(&(name.into(), met)), "{count}");
        }
    }

    #[test]
    fn losses_are_judged_by_kind() {
        check(
            &[
                row(RELIABLE, 32, 100_000, 99_999),
                row(BEST_EFFORT, 32, 100_000, 99_950),
            ],
            &[
                ("throughput.reliable-lost-percent", false),
                ("throughput.reliable-surplus", true),
                ("throughput.reliable-refused", true),
                ("throughput.best-effort-lost-percent", true),
            ],
        );
    }

    #[test]
    fn what_finds_no_room_in_time_is_no_reliable_stream() {
        let mut row = row(RELIABLE, 32, 9, 9);
        add_round(&mut row, [9, 1, 9]);
        assert!(judged(&[row]).contains(&("throughput.reliable-refused".into(), false)));
    }

    #[test]
    fn rates_are_compared_round_by_round() {
        let mut ours = row(UNBUNDLED, 32, 101, 101);
        let mut raw = row(RAW, 32, 101, 101);
        // Twice a machine of another speed, which both meet.
        for (row, counts) in [(&mut ours, [181, 181]), (&mut raw, [201, 201])] {
            for count in counts {
                add_round(row, [count, 0, count]);
            }
        }
        assert_eq!(ours.rate_of(&raw), 0.9);
        assert!(ours.rate_of(&Row::new(RAW, Course::MAIN, 64)).is_nan());
    }

    #[test]
    fn every_reliable_stream_must_be_whole() {
        let whole = |flow| row(flow, 32, 100, 100);
        let mut four = whole(flow(Product::Whimbrel, Kind::Batched));
        four.course.readers = 4;
        let lossy = |mut row: Row| {
            add_round(&mut row, [10, 0, 9]);
            judged(&[row])[0].clone()
        };
        let missed = ("throughput.reliable-lost-percent".to_owned(), false);
        assert_eq!(lossy(four), missed);
        assert_eq!(lossy(whole(UNBUNDLED)), missed);
        let peers = whole(flow(Product::Cyclone, Kind::Reliable));
        assert_eq!(judged(&[peers]), []);
    }
}
