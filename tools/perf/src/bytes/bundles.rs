//! Bundles of small samples on one host: off, 1400 and 5000 octets and automatic, beside Cyclone
//! DDS with its batching of writes; and what automatic bundles cost where nothing is to be gained.

use std::collections::BTreeMap;
use std::path::Path;

use whimbrel_bench::goal::{Goal, Side};

use super::ping_pong::{self, median, whimbrel};
use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::{OpenRow, Spread, Turns, side_by_side, sweep};
use crate::progress::Progress;
use crate::report::plot::{self, Plot, Series};
use crate::scenario::{Extent, Setting};
use crate::world::{Place, World};

/// Sizes of samples in octets.
const SIZES: &[usize] = &[
    8, 16, 32, 64, 128, 256, 512, 1024, 1400, 2048, 4096, 5000, 8192, 16_384,
];
const SIZES_QUICK: &[usize] = &[8, 32, 128, 512, 1024, 1400, 5000, 16_384];
/// Sizes at which Cyclone DDS is the measure.
const SMALL: std::ops::RangeInclusive<usize> = 16..=1024;
/// Our ways of bundling.
const WAYS: [(&str, &str); 4] = [
    ("off", "reliable+off"),
    ("1400", "reliable+1400"),
    ("5000", "reliable+5000"),
    ("automatic", "reliable+automatic"),
];
const CYCLONE: &str = "Cyclone DDS batching";
const BESIDE_CYCLONE: &str = "bytes.bundles-beside-cyclone-batching";
/// How many times its rate ours is to be.
const TIMES_CYCLONE: f64 = 2.0;
/// The file of the picture.
const PICTURE: &str = "bundles.svg";

/// Samples per second by name and size.
type Rates = BTreeMap<(String, usize), f64>;

pub(super) fn measure(setting: &Setting, out: &Path) -> Result<Vec<Goal>, Failure> {
    let world = World::new(Place::Inter).map_err(Failure::Setup)?;
    let rates = rates(setting, &world)?;
    draw(&rates, out)?;
    let mut goals = judged(&rates);
    if let Some(why) = setting.programs.missing(Product::Cyclone) {
        // A goal that was not measured was not met.
        goals.push(Goal {
            name: BESIDE_CYCLONE.into(),
            measured: f64::NAN,
            at: format!("without Cyclone DDS: {why}"),
            side: Side::AtLeast,
            bound: TIMES_CYCLONE,
        });
    }
    goals.extend(where_nothing_is_gained(setting, &world)?);
    Ok(goals)
}

fn rates(setting: &Setting, world: &World) -> Result<Rates, Failure> {
    let mut contestants: Vec<(Contestant, &str)> = WAYS
        .iter()
        .map(|(name, mode)| (whimbrel(name, None), *mode))
        .collect();
    if setting.programs.missing(Product::Cyclone).is_none() {
        contestants.push((Contestant::plain(Product::Cyclone), "batched"));
    }
    let (sizes, bursts, ms) = match setting.extent {
        Extent::Miniature => (&[64][..], 1, 100),
        Extent::Quick => (SIZES_QUICK, 5, 300),
        Extent::Full => (SIZES, 7, 1000),
    };
    let steps = sizes.len() * bursts * contestants.len();
    let progress = Progress::new("bytes bundles", steps as u64);
    let mut rates = Rates::new();
    for size in sizes {
        let order = (*size, bursts, ms);
        for row in sweep(world, &setting.programs, &contestants, order, &progress)? {
            let name = match row.contestant.product {
                Product::Cyclone => CYCLONE.to_owned(),
                _ => row.contestant.variant.clone(),
            };
            println!(
                "bundles: {size:>6} B {name:<20} {:>10.0} samples/s",
                row.rate()
            );
            rates.insert((name, *size), row.rate());
        }
    }
    Ok(rates)
}

fn draw(rates: &Rates, out: &Path) -> Result<(), Failure> {
    let mut series: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for ((name, size), rate) in rates {
        let points = series.entry(name).or_default();
        points.push((*size as f64, *rate));
    }
    let plot = Plot {
        x_label: "octets of a sample",
        y_label: "samples per second",
        series: series
            .into_iter()
            .map(|(name, points)| Series {
                name: name.to_owned(),
                points,
            })
            .collect(),
    };
    let path = out.join(PICTURE);
    std::fs::write(&path, plot::file(&plot.svg()))
        .map_err(|error| Failure::Broke(format!("{}: {error}", path.display())))
}

/// The goals of rates, each by its worst size.
fn judged(rates: &Rates) -> Vec<Goal> {
    let rate = |name: &str, size: usize| rates.get(&(name.to_owned(), size)).copied();
    let sizes: Vec<usize> = rates
        .keys()
        .filter(|(name, _)| name == "automatic")
        .map(|(_, size)| *size)
        .collect();
    let beside = |size: usize, ours: &[&str], theirs: &[&str]| {
        let best = |names: &[&str]| {
            let found = names.iter().filter_map(|it| rate(it, size));
            found.reduce(f64::max)
        };
        let (a, b) = (best(ours)?, best(theirs)?);
        Some((a / b, format!("{size} B: {a:.0} and {b:.0}/s")))
    };
    let small = || sizes.iter().copied().filter(|it| SMALL.contains(it));
    let fixed = ["off", "1400", "5000"];
    let any = ["off", "1400", "5000", "automatic"];
    let goals = [
        Goal::worst(
            BESIDE_CYCLONE,
            small().filter_map(|it| beside(it, &any, &[CYCLONE])),
            Side::AtLeast,
            TIMES_CYCLONE,
        ),
        Goal::worst(
            "bytes.automatic-beside-the-best-limit",
            small().filter_map(|it| beside(it, &["automatic"], &fixed)),
            Side::AtLeast,
            0.9,
        ),
        Goal::worst(
            "bytes.automatic-beside-off-and-1400",
            sizes
                .iter()
                .filter_map(|it| beside(*it, &["automatic"], &["off", "1400"])),
            Side::AtLeast,
            0.97,
        ),
    ];
    goals.into_iter().flatten().collect()
}

/// Ping-pong and a stream of 1 kHz: nothing is to be bundled, and nothing may be lost by that.
fn where_nothing_is_gained(setting: &Setting, world: &World) -> Result<Vec<Goal>, Failure> {
    let both = [whimbrel("automatic", None), whimbrel("off", Some("off"))];
    let mut goals = ping_pong::measure(setting, &both)?;
    goals.extend(one_khz(setting, world, &both)?);
    Ok(goals)
}

/// What automatic bundles do to a stream of 1 kHz.
fn one_khz(setting: &Setting, world: &World, both: &[Contestant; 2]) -> Result<[Goal; 2], Failure> {
    let (turns, count) = match setting.extent {
        Extent::Miniature => (1, 100),
        // Some are replaced before they are answered; enough are to be left for p99.
        Extent::Quick => (15, 1500),
        Extent::Full => (21, 2500),
    };
    let progress = Progress::new("bytes 1 kHz", turns as u64);
    let order = Turns {
        size: 64,
        rate: 1000,
        count,
        turns,
    };
    let rows = side_by_side(world, &setting.programs, both, order, &progress)?;
    Ok(judged_1_khz(&rows))
}

/// What turns of automatic bundles and of none come to: what the former add to the p99, and how
/// many more samples they leave unanswered. Each is the median over turns, so that what else the
/// machine did in one of them does not count.
fn judged_1_khz(rows: &[[OpenRow; 2]]) -> [Goal; 2] {
    let p99 = |row: &OpenRow| row.intended.percentile_us(0.99);
    let added = rows.iter().filter_map(|[automatic, off]| {
        let off = p99(off)?;
        // Of too few answers there is no p99, and what did not come was slower than all.
        Some(p99(automatic).map_or(f64::INFINITY, |it| it - off))
    });
    let added: Vec<f64> = added.collect();
    let lost_percent = |row: &OpenRow| row.lost as f64 * 100.0 / row.sent as f64;
    let more = rows
        .iter()
        .map(|[automatic, off]| lost_percent(automatic) - lost_percent(off));
    let all = |at: usize| {
        let mut all = Spread::default();
        rows.iter().for_each(|it| all.merge(&it[at].intended));
        all.percentile_us(0.99).unwrap_or(f64::NAN)
    };
    let lost = |at: usize| rows.iter().map(|it| it[at].lost).sum::<u64>();
    let sent = rows.iter().map(|it| it[0].sent).sum::<u64>();
    let turns = added.len();
    [
        Goal {
            name: "bytes.automatic-adds-us-at-p99-of-1-khz".into(),
            measured: median(added.into_iter()).unwrap_or(f64::NAN),
            at: format!(
                "median of {turns} turns; {:.1} and {:.1} µs over all",
                all(0),
                all(1)
            ),
            side: Side::Below,
            bound: 20.0,
        },
        Goal {
            name: "bytes.automatic-loses-percent-more-of-1-khz".into(),
            measured: median(more).unwrap_or(f64::NAN),
            at: format!("{} and {} of {sent} unanswered", lost(0), lost(1)),
            side: Side::AtMost,
            bound: 1.0,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_goal_takes_its_worst_size() {
        let mut rates = Rates::new();
        for (name, at_8, at_64) in [
            ("off", 100.0, 100.0),
            ("1400", 200.0, 400.0),
            ("5000", 300.0, 500.0),
            ("automatic", 150.0, 480.0),
            (CYCLONE, 1.0, 250.0),
        ] {
            rates.insert((name.into(), 8), at_8);
            rates.insert((name.into(), 64), at_64);
        }
        let measured: Vec<f64> = judged(&rates).iter().map(|it| it.measured).collect();
        assert_eq!(measured, [2.0, 0.96, 0.75]);
    }

    /// A turn in which each answer took so many microseconds there and back, and some never came.
    fn turn(trip_us: u64, lost: u64) -> OpenRow {
        let mut spread = Spread::default();
        spread.add_round(&vec![trip_us * 1000; 1500 - lost as usize]);
        OpenRow {
            size: 64,
            rate: 1000,
            intended: spread.clone(),
            actual: spread,
            sent: 1500,
            lost,
        }
    }

    #[test]
    fn answers_that_never_came_do_not_make_a_stream_fast() {
        let met = |rows: &[[OpenRow; 2]]| judged_1_khz(rows).map(|it| it.met());
        let steady = || [turn(100, 3), turn(90, 5)];
        assert_eq!(met(&[steady(), steady(), steady()]), [true, true]);
        // One turn in which the machine did something else does not count.
        let broken = || [turn(50, 1490), turn(90, 5)];
        assert_eq!(met(&[steady(), broken(), steady()]), [true, true]);
        assert_eq!(met(&[broken(), broken(), steady()]), [false, false]);
        let lossy = || [turn(50, 25), turn(90, 5)];
        assert_eq!(met(&[lossy(), lossy(), lossy()]), [true, false]);
        let slow = || [turn(200, 3), turn(90, 5)];
        assert_eq!(met(&[slow(), slow(), slow()]), [false, true]);
        assert_eq!(met(&[]), [false, false]);
    }
}
