//! What the founding documents claim, judged by what was measured.

mod rates;
mod verdict;

use verdict::{claim, outcome, waiting};

use crate::report::model::{Claim, CodecFigure, LatencyFigure, Outcome, SavingFigure, Section};

/// The claims of the seeds that `sections` belong to.
pub(crate) fn judge(sections: &[Section]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for section in sections {
        match section.name.as_str() {
            "lat3-inter" | "lat3-intra" | "lat3-dual" => claims.extend(ordering(section)),
            "comp-codec" => claims.extend(codecs(section)),
            "comp-bw-batch" => claims.extend(savings(section)),
            "bundle" => claims.extend(rates::bundles(section)),
            "comp-lat-gbit" => claims.extend(cable(section)),
            "mak-compress" => claims.extend(rates::compressed(section)),
            "cft" => claims.push(waiting(
                "S1",
                "filtering at the writer costs about 7 µs and wins from 10 to 20 subscribers on",
            )),
            "flex-lan" => claims.push(waiting(
                "S2",
                "round trips: CDR below JSON and YAML, these below XML-DOM",
            )),
            "flex-wan" => claims.push(waiting(
                "S2",
                "over long paths every compressor but bzip2 helps, and losses fall with octets",
            )),
            _ => {}
        }
    }
    claims
}

/// At how many of the sizes that both have `holds`, and at how many sizes.
fn count(
    section: &Section,
    [a, b]: [&str; 2],
    holds: impl Fn(&LatencyFigure, &LatencyFigure) -> bool,
) -> (usize, usize) {
    let of = |name: &str| -> Vec<&LatencyFigure> {
        let named = section.latencies.iter().filter(|it| it.contestant == name);
        named.collect()
    };
    let mut found = (0, 0);
    for a in of(a) {
        if let Some(b) = of(b).into_iter().find(|it| it.size == a.size) {
            found.0 += usize::from(holds(a, b));
            found.1 += 1;
        }
    }
    found
}

/// Whether something holds of two contestants at one size.
type Holds = fn(&LatencyFigure, &LatencyFigure) -> bool;

/// By a listener as all others, and as its example waited in 2019.
const CYCLONE: [&str; 2] = ["Cyclone DDS", "Cyclone DDS by wait set"];

/// As it waits by default, and asleep at once as the peers.
const OURS: [&str; 2] = ["Whimbrel", "Whimbrel without polling"];

/// S3: orderings of means against minima, and of spreads.
fn ordering(section: &Section) -> Vec<Claim> {
    let place = section.title.trim_start_matches("latency ");
    let below: Holds = |a, b| a.mean_us < b.min_us;
    let narrow: Holds = |a, b| a.mean_us - a.min_us < b.mean_us - b.min_us;
    let mut claims = Vec::new();
    let holds: [(&str, Holds); 2] = [
        ("the mean of Fast DDS is below the minimum of", below),
        ("Fast DDS is spread less (mean less minimum) than", narrow),
    ];
    for (peer, (text, holds)) in CYCLONE.iter().flat_map(|peer| holds.map(|it| (*peer, it))) {
        let (yes, all) = count(section, ["Fast DDS", peer], holds);
        let text = format!("{place}: {text} {peer}, at every size");
        if all == 0 {
            // Only where processes differ is there a second way of waiting.
            if peer == CYCLONE[0] {
                claims.push(waiting("S3", &text));
            }
        } else {
            let figure = format!("at {yes} of {all} sizes");
            claims.push(claim("S3", text, outcome(yes == all), figure));
        }
    }
    let pairs = ["Fast DDS", "Cyclone DDS"]
        .into_iter()
        .flat_map(|peer| [[OURS[0], peer], [OURS[1], peer]]);
    for pair in pairs {
        let (yes, all) = count(section, pair, below);
        let (lower, _) = count(section, pair, |a, b| a.mean_us < b.mean_us);
        let [who, peer] = pair;
        if all > 0 {
            let better = if lower == all {
                Outcome::Better
            } else {
                Outcome::NotReproduced
            };
            claims.push(claim(
                "S3",
                format!("{place}, asked of {who}: its mean is below that of {peer}"),
                better,
                format!("at {lower} of {all} sizes, and below its minimum at {yes}"),
            ));
        }
    }
    claims
}

/// S0: where codecs beat the bare wire of 1 Gbit/s.
fn codecs(section: &Section) -> Vec<Claim> {
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
fn cable(section: &Section) -> Vec<Claim> {
    let texts = [
        "end to end over 1 Gbit/s, LZ4 beats the plain sample from 63,000 B up",
        "end to end over 1 Gbit/s, ZLIB at level 5 beats the plain sample at no size",
    ];
    if section.notes.iter().any(|it| it.contains("does not earn")) {
        let unknown = "the cable did not pass its self-test";
        let judge = |text| claim("S0", text, Outcome::Waiting, unknown.into());
        return texts.map(judge).into();
    }
    let pairs = |codec: &str| -> Vec<(usize, f64)> {
        let of = |name: &str| {
            let name = format!("Whimbrel {name}");
            let named = section
                .latencies
                .iter()
                .filter(move |it| it.contestant == name);
            named.map(|it| (it.size, it.p50_us)).collect::<Vec<_>>()
        };
        let codec = of(codec);
        let ratio = |(size, plain): (usize, f64)| {
            let (_, packed) = codec.iter().find(|it| it.0 == size)?;
            Some((size, packed / plain.max(1e-9)))
        };
        of("none").into_iter().filter_map(ratio).collect()
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
    claims
}

/// S0: what ZLIB saves in batches, within two points or better.
fn savings(section: &Section) -> Vec<Claim> {
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
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(contestant: &str, size: usize, min_us: f64, mean_us: f64) -> LatencyFigure {
        LatencyFigure {
            contestant: contestant.into(),
            size,
            min_us,
            mean_us,
            ..LatencyFigure::default()
        }
    }

    fn section(latencies: Vec<LatencyFigure>) -> Section {
        Section {
            name: "lat3-inter".into(),
            title: "latency between two processes".into(),
            latencies,
            ..Section::default()
        }
    }

    #[test]
    fn orderings_must_hold_at_every_size() {
        let mut latencies = vec![
            figure("Fast DDS", 16, 10.0, 12.0),
            figure("Cyclone DDS", 16, 13.0, 17.0),
            figure("Whimbrel", 16, 5.0, 8.0),
        ];
        let claims = judge(&[section(latencies.clone())]);
        let outcomes: Vec<Outcome> = claims.iter().map(|it| it.outcome).collect();
        let (yes, better) = (Outcome::Reproduced, Outcome::Better);
        assert_eq!(outcomes, [yes, yes, better, better]);
        latencies.push(figure("Fast DDS", 64, 14.0, 20.0));
        latencies.push(figure("Cyclone DDS", 64, 13.0, 17.0));
        let claims = judge(&[section(latencies)]);
        assert_eq!(claims[0].outcome, Outcome::NotReproduced);
        assert_eq!(claims[0].figure, "at 1 of 2 sizes");
    }

    #[test]
    fn codecs_are_judged_by_the_plain_sample_of_the_same_cable() {
        let of = |name: &str, size, p50_us| LatencyFigure {
            p50_us,
            ..figure(&format!("Whimbrel {name}"), size, 0.0, 0.0)
        };
        let mut section = Section {
            name: "comp-lat-gbit".into(),
            latencies: vec![
                of("none", 1024, 40.0),
                of("LZ4", 1024, 50.0),
                of("ZLIB", 1024, 90.0),
                of("none", 63_000, 500.0),
                of("LZ4", 63_000, 400.0),
                of("ZLIB", 63_000, 900.0),
            ],
            ..Section::default()
        };
        let outcomes = |section: &Section| -> Vec<Outcome> {
            let claims = judge(std::slice::from_ref(section));
            claims.iter().map(|it| it.outcome).collect()
        };
        let yes = Outcome::Reproduced;
        assert_eq!(outcomes(&section), [yes, yes]);
        section.latencies[4].p50_us = 501.0;
        section.latencies[5].p50_us = 499.0;
        let (no, better) = (Outcome::NotReproduced, Outcome::Better);
        assert_eq!(outcomes(&section), [no, better]);
        section
            .notes
            .push("the cable does not earn the name".into());
        assert_eq!(outcomes(&section), [Outcome::Waiting; 2]);
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let claims = judge(&[section(vec![])]);
        assert!(claims.iter().all(|it| it.outcome == Outcome::Waiting));
    }
}
