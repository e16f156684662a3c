//! Samples with content over a slow cable, plain and with each codec of the benchmark.

use whimbrel_compress::CodecKind;

use super::latency::run;
use super::published::NO_CHARTS;
use super::setting::{Extent, Setting};
use super::{account, codecs, figures};
use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::{Race, Verdict, bisect, judge, test_link};
use crate::progress::Progress;
use crate::report::Histograms;
use crate::report::model::{CrossoverFigure, Section};
use crate::world::{Link, Place, World};

/// Sizes of the compression benchmark, in octets.
const SIZES: &[usize] = &[
    32, 64, 128, 256, 512, 1024, 8192, 63_000, 100_000, 500_000, 1_048_576, 1_548_576, 4_194_304,
    10_485_760,
];
/// The codecs of the benchmark.
const CODECS: [CodecKind; 3] = [CodecKind::Lz4, CodecKind::Zlib, CodecKind::Bzip2];
/// Who else might be expected, and why it is not here.
const NO_PEERS: &str = "Cyclone DDS, Fast DDS, RustDDS and Dust DDS compress no samples, so they \
    have no rows here";
/// Sizes are told apart down to this ratio.
const NEAR: f64 = 1.1;

/// Whimbrel with the payload of `setting`, plain or with `codec` as in the benchmark: level 5,
/// threshold 0.
fn contestant(setting: &Setting, codec: Option<CodecKind>) -> Contestant {
    let mut words = vec!["--payload".to_owned(), setting.payload.clone()];
    let name = codec.map_or("none", CodecKind::name);
    if codec.is_some() {
        words.extend(["--compress".to_owned(), format!("{name}:5:0")]);
    }
    Contestant {
        variant: name.to_uppercase().replace("NONE", "none"),
        words,
        ..Contestant::plain(Product::Whimbrel)
    }
}

/// Ping-pong over `link`.
pub(super) fn latencies(
    setting: &Setting,
    link: Link,
    section: &mut Section,
    histograms: &mut Histograms,
) -> Result<(), Failure> {
    let world = World::new(Place::Dual(Some(link))).map_err(Failure::Setup)?;
    section.notes.push(label(setting, &world, link));
    section.notes.push(format!(
        "samples below {} octets pass the cable unslowed: their rows show no wire time",
        link.burst_bytes
    ));
    section.notes.push(codecs::describe(&setting.payload)?);
    section.notes.push(NO_PEERS.into());
    section.notes.push(
        "RELIABLE at every size; the benchmark had BEST_EFFORT up to 63,000 B. Level 5 and \
         threshold 0 on both sides, so the answer is compressed too"
            .into(),
    );
    let (rounds, per_round) = match setting.extent {
        Extent::Miniature => (5, 10),
        Extent::Quick => (6, 100),
        Extent::Full => (6, 500),
    };
    let mut race = Race {
        contestants: vec![contestant(setting, None)],
        sizes: setting.sizes(&[1024], &[1024, 8192, 63_000, 100_000, 1_048_576], SIZES),
        rounds,
        per_round,
        domain: 1,
        link: Some(link),
    };
    let others = CODECS.map(|it| contestant(setting, Some(it)));
    race.contestants.extend(others);
    run(setting, &world, &race, section, histograms)?;
    account::add(setting, &world, &race, section)?;
    crossovers(setting, &world, &race, section)
}

/// What the cable may be called.
fn label(setting: &Setting, world: &World, link: Link) -> String {
    match test_link(world, &setting.programs, link) {
        Ok(text) => format!("{}: {text}", link.name()),
        Err(text) => format!(
            "the cable does not earn the name {}: {text}; read the figures as those of a slow \
             cable of unknown rate",
            link.name()
        ),
    }
}

/// From which size on each codec beats the plain sample: between sizes that were measured, then
/// by halving.
fn crossovers(
    setting: &Setting,
    world: &World,
    race: &Race,
    section: &mut Section,
) -> Result<(), Failure> {
    let steps = match setting.extent {
        Extent::Miniature => 0,
        Extent::Quick => 3,
        Extent::Full => 6,
    };
    for (number, other) in race.contestants.iter().enumerate().skip(1) {
        let verdicts: Vec<(usize, Verdict)> = section
            .verdicts
            .iter()
            .filter(|it| it.b == other.name())
            .map(|it| (it.size, it.verdict))
            .collect();
        let mut between = bracket(&verdicts);
        if let [Some(low), Some(high)] = between
            && steps > 0
        {
            let progress = Progress::new(&format!("{} crossover", section.name), steps as u64);
            let pair = Race {
                contestants: vec![race.contestants[0].clone(), other.clone()],
                rounds: 6,
                per_round: 60,
                domain: 20 + 10 * number as u32,
                ..race.clone()
            };
            let found = bisect([low, high], steps, NEAR, |size| {
                wins(setting, world, &pair, size, &progress)
            })?;
            between = found.map(Some);
        }
        section.crossovers.push(CrossoverFigure {
            a: race.contestants[0].name(),
            b: other.name(),
            between,
        });
    }
    Ok(())
}

/// The last size at which A is not slower than B, and the one after it from which it always is.
fn bracket(verdicts: &[(usize, Verdict)]) -> [Option<usize>; 2] {
    let lost = verdicts.iter().rposition(|it| it.1 != Verdict::Slower);
    match lost {
        None => [None, verdicts.first().map(|it| it.0)],
        Some(at) => [
            verdicts.get(at).map(|it| it.0),
            verdicts.get(at + 1).map(|it| it.0),
        ],
    }
}

/// Whether the second of `pair` is faster at `size`.
fn wins(
    setting: &Setting,
    world: &World,
    pair: &Race,
    size: usize,
    progress: &Progress,
) -> Result<bool, Failure> {
    let race = Race {
        sizes: vec![size],
        ..pair.clone()
    };
    let mut verdict = Verdict::CannotTell;
    race.run(world, &setting.programs, progress, &mut |rows| {
        if let [a, b] = &rows[..] {
            verdict = judge(a.spread.rounds(), b.spread.rounds()).0;
        }
    })?;
    Ok(verdict == Verdict::Slower)
}

/// Rates with and without compression, of text and of noise, on a cable without and with a limit.
pub(super) fn streams(setting: &Setting, section: &mut Section) -> Result<(), Failure> {
    let (bursts, ms) = match setting.extent {
        Extent::Miniature => (1, 100),
        Extent::Quick => (3, 300),
        Extent::Full => (3, 1000),
    };
    section.notes.push(codecs::describe("log")?);
    section.notes.push(codecs::describe("random")?);
    section.notes.push(NO_PEERS.into());
    section.notes.push(NO_CHARTS.into());
    section.notes.push(
        "ZLIB at level 1, threshold 0: MAK's compressor is ZLIB, its level is not published. \
         RELIABLE; what was not acknowledged is held back, not lost"
            .into(),
    );
    let sizes = setting.sizes(
        &[1024],
        &[64, 256, 1024, 8192, 65_536],
        &[64, 256, 1024, 1400, 4096, 8192, 16_384, 65_536, 262_144],
    );
    for (place, link) in [("", None), (", 100 Mbit/s", Some(Link::FAST_ETHERNET))] {
        let world = World::new(Place::Dual(link)).map_err(Failure::Setup)?;
        if let Some(link) = link {
            section.notes.push(label(setting, &world, link));
        }
        let contestants: Vec<(Contestant, &str)> = ["log", "random"]
            .into_iter()
            .flat_map(|payload| [false, true].map(|on| (mak(payload, on, place), "reliable")))
            .collect();
        let steps = sizes.len() * bursts * contestants.len();
        let progress = Progress::new(&section.name, steps as u64);
        for size in &sizes {
            let order = (*size, bursts, ms);
            let rows =
                crate::measure::sweep(&world, &setting.programs, &contestants, order, &progress)?;
            figures::add_streams(section, &rows);
        }
    }
    Ok(())
}

fn mak(payload: &str, on: bool, place: &str) -> Contestant {
    let mut words = vec!["--payload".to_owned(), payload.to_owned()];
    if on {
        words.extend(["--compress".to_owned(), "zlib:1:0".to_owned()]);
    }
    Contestant {
        variant: format!("{payload} {}{place}", if on { "ZLIB" } else { "plain" }),
        words,
        ..Contestant::plain(Product::Whimbrel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_is_where_the_last_size_was_not_won() {
        let verdicts = |text: &str| -> Vec<(usize, Verdict)> {
            let one = |(at, it)| {
                let verdict = match it {
                    'f' => Verdict::Faster,
                    's' => Verdict::Slower,
                    _ => Verdict::CannotTell,
                };
                (10 * (at + 1), verdict)
            };
            text.chars().enumerate().map(one).collect()
        };
        for (text, wanted) in [
            ("ffss", [Some(20), Some(30)]),
            ("f?ss", [Some(20), Some(30)]),
            ("fsfs", [Some(30), Some(40)]),
            ("ss", [None, Some(10)]),
            ("ff", [Some(20), None]),
            ("", [None, None]),
        ] {
            assert_eq!(bracket(&verdicts(text)), wanted, "{text}");
        }
    }
}
