//! S0: what codecs win and save.

use super::verdict::{claim, outcome, waiting};
use crate::report::model::{Claim, CodecFigure, Outcome, SavingFigure, Section};

/// The size at which the published LZ4 is out of line with all others.
const OUTLIER_BYTES: usize = 8192;
/// Samples that are large: what the cable carries of them hardly changes any more.
const LARGE_BYTES: usize = 500_000;

/// S0: where codecs beat the bare wire of 1 Gbit/s.
pub(super) fn alone(section: &Section) -> Vec<Claim> {
    let wins = |codec: &str| -> Vec<&CodecFigure> {
        let of = section.codecs.iter().filter(|it| it.codec == codec);
        of.filter(|it| it.total_us < it.wire_us).collect()
    };
    let sizes = |all: &[&CodecFigure]| match all.first() {
        None => "at no size that was measured".to_owned(),
        Some(first) => format!("from {} B up, at {} sizes", first.size, all.len()),
    };
    let has_large = section.codecs.iter().any(|it| it.size >= 63_000);
    let (lz4, zlib) = (wins("lz4"), wins("zlib"));
    let large_lz4 = section
        .codecs
        .iter()
        .filter(|it| it.codec == "lz4" && it.size >= 63_000);
    let all_large =
        large_lz4.clone().count() > 0 && large_lz4.clone().all(|it| it.total_us < it.wire_us);
    vec![
        if has_large {
            claim(
                "S0",
                "LZ4 beats the bare wire of 1 Gbit/s from 63,000 B up (codec in process, wire \
                 by arithmetic)",
                outcome(all_large),
                sizes(&lz4),
            )
        } else {
            waiting("S0", "LZ4 beats the bare wire of 1 Gbit/s from 63,000 B up")
        },
        claim(
            "S0",
            "ZLIB at level 5 never beats the bare wire of 1 Gbit/s (codec in process, wire by \
             arithmetic)",
            if zlib.is_empty() {
                Outcome::Reproduced
            } else {
                Outcome::Better
            },
            sizes(&zlib),
        ),
    ]
}

/// S0 end to end over a cable of 1 Gbit/s.
pub(super) fn cable(section: &Section) -> Vec<Claim> {
    let texts = [
        "end to end over 1 Gbit/s, LZ4 beats the plain sample from 63,000 B up",
        "end to end over 1 Gbit/s, ZLIB at level 5 beats the plain sample at no size",
        "end to end over 1 Gbit/s, LZ4 takes less time than ZLIB at every size but 8192 B",
        "over 1 Gbit/s, LZ4 carries 3.07 to 3.64 Gbit/s of samples from 500,000 B up",
        "over 1 Gbit/s, ZLIB at level 5 carries 0.81 to 0.85 Gbit/s of samples from 500,000 B up",
    ];
    if let Some(unknown) = unknown(section) {
        let judge = |text| claim("S0", text, Outcome::Unknown, unknown.into());
        return texts.map(judge).into();
    }
    let pairs = |codec: &str| -> Vec<(usize, f64)> {
        let codec = medians(section, codec);
        let ratio = |(size, plain): (usize, f64)| {
            let (_, packed) = codec.iter().find(|it| it.0 == size)?;
            Some((size, packed / plain.max(1e-9)))
        };
        let plain = medians(section, "none");
        plain.into_iter().filter_map(ratio).collect()
    };
    let figure = |all: &[(usize, f64)]| {
        let texts: Vec<String> = all
            .iter()
            .map(|(size, ratio)| format!("{size} B {ratio:.2}"))
            .collect();
        format!(
            "latency as a multiple of the plain sample's: {}",
            texts.join(", ")
        )
    };
    let (lz4, zlib) = (pairs("LZ4"), pairs("ZLIB"));
    let large: Vec<&(usize, f64)> = lz4.iter().filter(|it| it.0 >= 63_000).collect();
    let mut claims = Vec::new();
    if large.is_empty() {
        claims.push(waiting("S0", texts[0]));
    } else {
        let holds = large.iter().all(|it| it.1 < 1.0);
        claims.push(claim("S0", texts[0], outcome(holds), figure(&lz4)));
    }
    if !zlib.is_empty() {
        let never = zlib.iter().all(|it| it.1 >= 1.0);
        let outcome = if never {
            Outcome::Reproduced
        } else {
            Outcome::Better
        };
        claims.push(claim("S0", texts[1], outcome, figure(&zlib)));
    }
    claims.push(quicker(section, texts[2]));
    claims.push(carries(section, "LZ4", [3.07, 3.64], texts[3]));
    claims.push(carries(section, "ZLIB", [0.81, 0.85], texts[4]));
    claims
}

/// Why the figures of a cable say nothing of a cable of its rate, if they do not.
pub(super) fn unknown(section: &Section) -> Option<&'static str> {
    let fails = |note: &String| note.contains("does not earn");
    let failed = section.notes.iter().any(fails);
    failed.then_some("the cable did not pass its self-test")
}

/// Medians of Whimbrel with `codec`, by size.
fn medians(section: &Section, codec: &str) -> Vec<(usize, f64)> {
    let name = format!("Whimbrel {codec}");
    let named = section.latencies.iter().filter(|it| it.contestant == name);
    named.map(|it| (it.size, it.p50_us)).collect()
}

/// Whether LZ4 takes less time than ZLIB where `text` says so.
fn quicker(section: &Section, text: &str) -> Claim {
    let zlib = medians(section, "ZLIB");
    let ratios: Vec<(usize, f64)> = medians(section, "LZ4")
        .into_iter()
        .filter(|it| it.0 != OUTLIER_BYTES)
        .filter_map(|(size, lz4)| {
            let (_, zlib) = zlib.iter().find(|it| it.0 == size)?;
            Some((size, lz4 / zlib.max(1e-9)))
        })
        .collect();
    if ratios.is_empty() {
        return waiting("S0", text);
    }
    let texts: Vec<String> = ratios
        .iter()
        .map(|it| format!("{} B {:.2}", it.0, it.1))
        .collect();
    let figure = format!(
        "LZ4's latency as a multiple of ZLIB's: {}",
        texts.join(", ")
    );
    claim(
        "S0",
        text,
        outcome(ratios.iter().all(|it| it.1 < 1.0)),
        figure,
    )
}

/// Whether large samples with `codec` take as little time as those that were published, which is
/// told as the rate at which they cross the cable.
fn carries(section: &Section, codec: &str, [low, high]: [f64; 2], text: &str) -> Claim {
    let rates: Vec<(usize, f64)> = medians(section, codec)
        .into_iter()
        .filter(|it| it.0 >= LARGE_BYTES)
        .map(|(size, p50_us)| (size, size as f64 * 8.0 / 1000.0 / p50_us.max(1e-9)))
        .collect();
    let Some(least) = rates.iter().map(|it| it.1).reduce(f64::min) else {
        return waiting("S0", text);
    };
    let found = if least > high {
        Outcome::Better
    } else {
        outcome(least >= low)
    };
    let texts: Vec<String> = rates
        .iter()
        .map(|it| format!("{} B {:.2}", it.0, it.1))
        .collect();
    claim("S0", text, found, format!("Gbit/s: {}", texts.join(", ")))
}

/// S0: what ZLIB saves in batches, within two points or better.
pub(super) fn savings(section: &Section) -> Vec<Claim> {
    let judge = |it: &SavingFigure| {
        let beyond = it.saved_percent - it.published_percent;
        let outcome = if beyond > 2.0 {
            Outcome::Better
        } else {
            outcome(beyond >= -2.0)
        };
        claim(
            "S0",
            format!(
                "ZLIB saves {:.2} % of samples in batches of {}",
                it.published_percent, it.batch
            ),
            outcome,
            format!(
                "{:.1} % of the payload of our log, {:.1} % of all octets on the wire",
                it.saved_percent, it.wire_saved_percent
            ),
        )
    };
    let mut claims: Vec<Claim> = section.savings.iter().map(judge).collect();
    if !claims.is_empty() {
        let within = |it: &SavingFigure| it.wire_saved_percent >= it.published_percent - 2.0;
        let count = section.savings.iter().filter(|it| within(it)).count();
        claims.push(claim(
            "S0",
            "the same savings of all octets on the wire, headers and heartbeats counted",
            outcome(count == section.savings.len()),
            format!("at {count} of {} sizes of batches", section.savings.len()),
        ));
    }
    claims.extend(framing(section));
    claims
}

/// By how much the plain octets fall where ten samples travel together.
fn framing(section: &Section) -> Option<Claim> {
    let plain = |batch| {
        let of = section.savings.iter().find(|it| it.batch == batch)?;
        Some(of.wire_bytes[0] as f64)
    };
    let (alone, together) = (plain(1)?, plain(10)?);
    let percent = 100.0 - 100.0 * together / alone.max(1.0);
    let found = if percent > 1.9 + 0.5 {
        Outcome::Better
    } else {
        outcome(percent >= 1.9 - 0.5)
    };
    Some(claim(
        "S0",
        "plain octets fall by 1.9 % from single samples to batches of ten (whether headers were \
         counted is not told)",
        found,
        format!("{percent:.1} % of all octets on the wire, none of the payload"),
    ))
}
