//! What it costs a ping-pong, which sends nothing that could be smaller, that there are codecs and
//! bundles.

use std::collections::BTreeMap;

use whimbrel_bench::goal::{Goal, Side};

use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::Race;
use crate::progress::Progress;
use crate::scenario::{Extent, Setting};
use crate::world::{Place, World};

/// How many times the time of the other one may be taken.
const TIMES_MAX: f64 = 1.02;

/// The program of the ping-pong of `cargo xtask bench latency`, with the codecs that are built in
/// by default.
const WITH_CODECS: &str = "bench_whimbrel_codecs";
/// The same with none of them.
const WITHOUT_CODECS: &str = "bench_whimbrel_no_codecs";

/// One that is to take no longer than another.
struct Beside {
    goal: &'static str,
    it: Contestant,
    other: Contestant,
}

/// Whimbrel that bundles in some way.
pub(super) fn whimbrel(variant: &str, bundling: Option<&str>) -> Contestant {
    let words = bundling.map_or(Vec::new(), |it| vec!["--bundle".into(), it.into()]);
    Contestant {
        variant: variant.into(),
        words,
        ..Contestant::plain(Product::Whimbrel)
    }
}

/// What automatic bundles take beside `off`, which has neither bundles nor compression; a codec
/// that nothing is large enough for, beside the same; and a program in which codecs are built in,
/// beside one in which none is. That part of the code of which forms and bundles are made is in
/// both of these: nothing can leave it out.
///
/// All on one core: across cores a wake-up takes longer than what is measured here, and not always
/// the same time.
pub(super) fn measure(
    setting: &Setting,
    [automatic, off]: &[Contestant; 2],
) -> Result<Vec<Goal>, Failure> {
    let mut unused = whimbrel("a codec that nothing is large enough for", Some("off"));
    let threshold = ["--compress", "ZLIB:10:8192"];
    unused.words.extend(threshold.map(str::to_owned));
    let program = |variant: &str, program| Contestant {
        variant: variant.into(),
        program: Some(program),
        ..Contestant::plain(Product::Whimbrel)
    };
    let beside = |goal, it: &Contestant, other: &Contestant| Beside {
        goal,
        it: it.clone(),
        other: other.clone(),
    };
    let built = beside(
        "bytes.codecs-built-in-ping-pong-beside-none",
        &program("with codecs", WITH_CODECS),
        &program("without codecs", WITHOUT_CODECS),
    );
    let mut pairs = vec![
        beside("bytes.automatic-ping-pong-beside-off", automatic, off),
        beside("bytes.unused-codec-ping-pong-beside-off", &unused, off),
    ];
    let missing = [&built.it, &built.other].map(|it| setting.programs.missing_of(it));
    let missing = missing.into_iter().flatten().next();
    let not_measured = missing.map(|why| Goal {
        // A goal that was not measured was not met.
        name: built.goal.into(),
        measured: f64::NAN,
        at: why,
        side: Side::AtMost,
        bound: TIMES_MAX,
    });
    if not_measured.is_none() {
        pairs.push(built);
    }
    let world = World::new(Place::OneCore).map_err(Failure::Setup)?;
    let mut goals = race(setting, &world, &pairs)?;
    goals.extend(not_measured);
    Ok(goals)
}

/// Where a process and its memory lie makes it slower or faster by several percent for as long as
/// it lives, so all of them are started anew again and again, and the median over the starts
/// counts.
fn race(setting: &Setting, world: &World, pairs: &[Beside]) -> Result<Vec<Goal>, Failure> {
    let (starts, rounds, per_round) = match setting.extent {
        Extent::Miniature => (1, 5, 20),
        Extent::Quick => (41, 10, 200),
        Extent::Full => (81, 20, 200),
    };
    let mut contestants: Vec<Contestant> = Vec::new();
    for it in pairs.iter().flat_map(|pair| [&pair.it, &pair.other]) {
        if !contestants.contains(it) {
            contestants.push(it.clone());
        }
    }
    let mut race = Race {
        contestants,
        sizes: vec![64, 1024],
        rounds,
        per_round,
        domain: 51,
        link: None,
    };
    let progress = Progress::new("bytes ping-pong", starts * race.turns());
    let mut tries: BTreeMap<(usize, usize), Vec<Try>> = BTreeMap::new();
    for _ in 0..starts {
        race.run(world, &setting.programs, &progress, &mut |rows| {
            let of = |it: &Contestant| rows.iter().find(|row| row.contestant == *it);
            for (at, pair) in pairs.iter().enumerate() {
                let (Some(row), Some(other)) = (of(&pair.it), of(&pair.other)) else {
                    continue;
                };
                let tried = Try::of(row.spread.rounds(), other.spread.rounds());
                tries.entry((at, row.size)).or_default().extend(tried);
            }
        })?;
        // Nobody is always started after the same one.
        race.contestants.rotate_left(1);
    }
    let goals = pairs.iter().enumerate().filter_map(|(which, pair)| {
        let of_it = tries.iter().filter(|((at, _), _)| *at == which);
        let sizes = of_it.filter_map(|((_, size), tries)| Try::median(*size, tries));
        Goal::worst(pair.goal, sizes, Side::AtMost, TIMES_MAX)
    });
    Ok(goals.collect())
}

/// What one start of two ping-pongs came to.
#[derive(Clone, Copy, Debug)]
struct Try {
    ratio: f64,
    /// The medians of both, in microseconds.
    us: [f64; 2],
}

impl Try {
    /// Of the medians of rounds of both, run in turn.
    fn of(rounds: &[f64], off: &[f64]) -> Option<Self> {
        let ratios = rounds.iter().zip(off).map(|(a, b)| a / b);
        Some(Self {
            ratio: median(ratios)?,
            us: [
                median(rounds.iter().copied())?,
                median(off.iter().copied())?,
            ],
        })
    }

    /// The median of `tries` with samples of `size` octets, and what to say of it.
    fn median(size: usize, tries: &[Self]) -> Option<(f64, String)> {
        let ratio = median(tries.iter().map(|it| it.ratio))?;
        let us = |at: usize| median(tries.iter().map(|it| it.us[at]));
        let (low, high) = tries.iter().fold((f64::MAX, 0.0_f64), |(low, high), it| {
            (low.min(it.ratio), high.max(it.ratio))
        });
        let text = format!(
            "{size} B: {:.2} and {:.2} µs; {low:.3} to {high:.3} in {} starts",
            us(0)?,
            us(1)?,
            tries.len()
        );
        Some((ratio, text))
    }
}

/// The one in the middle; none of none.
pub(super) fn median(all: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = all.filter(|it| !it.is_nan()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_is_slow_by_chance_does_not_count() {
        let start =
            |factor: f64| Try::of(&[10.0 * factor, 12.0 * factor, 90.0], &[10.0, 12.0, 9.0]);
        let tries: Vec<Try> = [1.01, 0.99, 1.3, 1.0, 1.01]
            .into_iter()
            .filter_map(start)
            .collect();
        let (ratio, text) = Try::median(64, &tries).unwrap();
        assert!((ratio - 1.01).abs() < 1e-9, "{text}");
        assert!(text.contains("0.990 to 1.300 in 5 starts"), "{text}");
        assert!(Try::of(&[], &[1.0]).is_none() && Try::median(64, &[]).is_none());
    }
}
