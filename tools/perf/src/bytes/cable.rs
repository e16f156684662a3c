//! Text over cables of 100 Mbit/s and 1 Gbit/s, plain and compressed: how much more the cable
//! carries than its rate, and how much sooner a sample arrives.

use whimbrel_bench::goal::{Goal, Side};

use crate::contestant::Contestant;
use crate::failure::Failure;
use crate::measure::{LatencyRow, Race, StreamRow, sweep, test_link};
use crate::progress::Progress;
use crate::scenario::{Extent, Setting};
use crate::world::{Link, Place, World};

/// Octets of samples.
const SIZES: &[usize] = &[
    63_000, 100_000, 500_000, 1_048_576, 1_548_576, 4_194_304, 10_485_760,
];
const SIZES_QUICK: &[usize] = &[63_000, 1_048_576, 10_485_760];
/// How many times the rate of the cable LZ4 carries, at least.
const CARRIED: f64 = 3.0;
/// How many times its rate a cable carries of what is plain, at most: otherwise it is none.
const CARRIED_PLAIN: f64 = 1.02;
/// Samples of a burst, at the rate of the cable.
const BURST_SAMPLES: u64 = 6;

/// The goals of the slower cable; the figures of the faster one are printed only.
pub(super) fn measure(setting: &Setting) -> Result<Vec<Goal>, Failure> {
    let goals = one(setting, Link::FAST_ETHERNET)?;
    match one(setting, Link::GIGABIT) {
        Ok(stretch) => {
            for goal in stretch {
                let text = goal.to_string();
                println!("stretch, 1 Gbit/s: {}", text.trim_start_matches("goal: "));
            }
        }
        Err(Failure::Signal(number)) => return Err(Failure::Signal(number)),
        Err(why) => println!("stretch, 1 Gbit/s: {why}"),
    }
    Ok(goals)
}

fn one(setting: &Setting, link: Link) -> Result<Vec<Goal>, Failure> {
    let world = World::new(Place::Dual(Some(link))).map_err(Failure::Setup)?;
    let tested = test_link(&world, &setting.programs, link);
    match &tested {
        Ok(text) => println!("{}: {text}", link.name()),
        Err(text) => println!("{}, of which the self-test says: {text}", link.name()),
    }
    let contestants = ["none", "LZ4", "ZLIB"].map(contestant);
    let mut goals = carried(setting, &world, link, &contestants)?;
    goals.extend(latencies(setting, &world, link, &contestants)?);
    Ok(match tested {
        Ok(_) => goals,
        Err(why) => missed(goals, &why),
    })
}

/// `goals` without their figures: over a cable that is not what it is called they mean nothing.
fn missed(goals: Vec<Goal>, why: &str) -> Vec<Goal> {
    let missed = |goal| Goal {
        measured: f64::NAN,
        at: why.to_owned(),
        ..goal
    };
    goals.into_iter().map(missed).collect()
}

/// Level 5 and threshold 0, as in the benchmark.
fn contestant(codec: &str) -> Contestant {
    let mut words = vec!["--payload".to_owned(), "log".to_owned()];
    if codec != "none" {
        words.extend(["--compress".to_owned(), format!("{codec}:5:0")]);
    }
    Contestant {
        variant: codec.to_owned(),
        words,
        ..Contestant::plain(crate::contestant::Product::Whimbrel)
    }
}

fn sizes(setting: &Setting) -> Vec<usize> {
    match setting.extent {
        Extent::Miniature => vec![63_000],
        Extent::Quick => SIZES_QUICK.to_vec(),
        Extent::Full => SIZES.to_vec(),
    }
}

/// How many times the rate of the cable is carried as payload.
fn carried(
    setting: &Setting,
    world: &World,
    link: Link,
    contestants: &[Contestant],
) -> Result<Vec<Goal>, Failure> {
    let all: Vec<(Contestant, &str)> = contestants
        .iter()
        .map(|it| (it.clone(), "reliable+off"))
        .collect();
    let progress = Progress::new("bytes carried", (sizes(setting).len() * all.len()) as u64);
    let mut found = Vec::new();
    for size in sizes(setting) {
        let sample_ms = link.ideal_us(size) / 1000.0;
        let ms = ((sample_ms * BURST_SAMPLES as f64) as u64).max(400);
        let rows = sweep(world, &setting.programs, &all, (size, 1, ms), &progress)?;
        for row in &rows {
            let times = times_carried(row, link);
            println!(
                "{}: {size} B {} carries {times:.2} x the rate",
                link.name(),
                row.contestant.variant
            );
            found.push((row.contestant.variant.clone(), size, times));
        }
    }
    Ok(judged(&found, link))
}

/// The goals of how many times the rate of `link` each way of compressing carries, by size.
fn judged(found: &[(String, usize, f64)], link: Link) -> Vec<Goal> {
    let of = |name: &'static str| {
        let rows = found.iter().filter(move |it| it.0 == name);
        rows.map(|(_, size, times)| (*times, format!("{size} B")))
    };
    let name = |what: &str| format!("bytes.{what}-times-the-rate.{}mbit", link.mbit_per_s);
    let goals = [
        Goal::worst(
            name("plain-carries"),
            of("none"),
            Side::AtMost,
            CARRIED_PLAIN,
        ),
        Goal::worst(name("lz4-carries"), of("LZ4"), Side::AtLeast, CARRIED),
    ];
    goals.into_iter().flatten().collect()
}

fn times_carried(row: &StreamRow, link: Link) -> f64 {
    row.rate() * row.size as f64 * 8.0 / (f64::from(link.mbit_per_s) * 1e6)
}

/// How long samples take, beside plain ones.
fn latencies(
    setting: &Setting,
    world: &World,
    link: Link,
    contestants: &[Contestant],
) -> Result<Vec<Goal>, Failure> {
    let race = Race {
        contestants: contestants.to_vec(),
        sizes: sizes(setting),
        rounds: 5,
        per_round: 20,
        domain: 31,
        link: Some(link),
    };
    let progress = Progress::new("bytes latency", race.turns());
    let (mut lz4, mut zlib) = (Vec::new(), Vec::new());
    race.run(world, &setting.programs, &progress, &mut |rows: Vec<
        LatencyRow,
    >| {
        let [plain, others @ ..] = &rows[..] else {
            return;
        };
        for row in others {
            let (ours, theirs) = (row.spread.p50_us(), plain.spread.p50_us());
            let at = format!("{} B: {ours:.0} and {theirs:.0} µs", row.size);
            println!("{}: {} {at}", link.name(), row.contestant.variant);
            let ratio = ours / theirs;
            match row.contestant.variant.as_str() {
                "LZ4" => lz4.push((ratio, at)),
                _ => zlib.push((ratio, at)),
            }
        }
    })?;
    let name = format!("bytes.lz4-latency-beside-plain.{}mbit", link.mbit_per_s);
    let goal = Goal::worst(name, lz4, Side::Below, 1.0);
    if let Some((worst, at)) = zlib.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
        println!(
            "{}: ZLIB latency at most {worst:.2} x plain ({at})",
            link.name()
        );
    }
    Ok(goal.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cable_that_limits_nothing_proves_nothing() {
        let link = Link::FAST_ETHERNET;
        let row = |name: &str, size, times| (name.to_owned(), size, times);
        let mut found = vec![
            row("none", 63_000, 0.91),
            row("LZ4", 63_000, 5.5),
            row("ZLIB", 63_000, 12.6),
            row("none", 100_000, 0.95),
            row("LZ4", 100_000, 3.1),
        ];
        let met = |goals: Vec<Goal>| goals.iter().map(Goal::met).collect::<Vec<_>>();
        assert_eq!(met(judged(&found, link)), [true, true]);
        assert_eq!(met(missed(judged(&found, link), "no tbf")), [false, false]);
        found[4].2 = 2.9;
        assert_eq!(met(judged(&found, link)), [true, false]);
        found[4].2 = 31.0;
        found[3].2 = 9.3;
        assert_eq!(met(judged(&found, link)), [false, true]);
    }
}
