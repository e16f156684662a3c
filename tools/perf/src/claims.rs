//! What the founding documents claim, judged by what was measured.

mod codecs;
mod rates;
mod verdict;

use verdict::{claim, outcome, waiting};

use crate::report::model::{Claim, LatencyFigure, Outcome, Section};

/// The claims of the seeds that `sections` belong to.
pub(crate) fn judge(sections: &[Section]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for section in sections {
        match section.name.as_str() {
            "lat3-inter" | "lat3-intra" | "lat3-dual" => claims.extend(ordering(section)),
            "comp-codec" => claims.extend(codecs::alone(section)),
            "comp-bw-batch" => claims.extend(codecs::savings(section)),
            "bundle" => claims.extend(rates::bundles(section)),
            "comp-lat-gbit" => {
                claims.extend(codecs::cable(section));
                claims.push(rates::gigabit(section));
            }
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
    claims.sort_by(|a, b| a.seed.cmp(&b.seed));
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
    claims.push(claim(
        "S3",
        format!(
            "{place}: the mean of Fast DDS is below the minimum of OpenSplice, and spread less"
        ),
        Outcome::Unknown,
        "OpenSplice is here by what was published only, and of that the charts are lost".into(),
    ));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::SavingFigure;

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
        assert_eq!(outcomes, [yes, yes, Outcome::Unknown, better, better]);
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
        let (yes, absent) = (Outcome::Reproduced, Outcome::Waiting);
        let (no, better) = (Outcome::NotReproduced, Outcome::Better);
        // No large samples; one that small takes less than MÄK's 100 µs.
        let wanted = [yes, yes, yes, absent, absent, better];
        assert_eq!(outcomes(&section), wanted);
        section.latencies[4].p50_us = 501.0;
        section.latencies[5].p50_us = 499.0;
        // 3.2 and 1.6 Gbit/s.
        section.latencies.push(of("LZ4", 500_000, 1250.0));
        section.latencies.push(of("ZLIB", 500_000, 2500.0));
        let wanted = [no, better, no, yes, better, better];
        assert_eq!(outcomes(&section), wanted);
        section
            .notes
            .push("the cable does not earn the name".into());
        assert_eq!(outcomes(&section), [Outcome::Unknown; 6]);
    }

    #[test]
    fn savings_are_judged_within_two_points_and_headers_by_what_they_fall() {
        let saving = |batch, saved_percent, wire_bytes| SavingFigure {
            payload: "log".into(),
            batch,
            plain_bytes: 100,
            packed_bytes: 50,
            saved_percent,
            published_percent: 50.0,
            wire_bytes,
            wire_saved_percent: 40.0,
        };
        let section = Section {
            name: "comp-bw-batch".into(),
            savings: vec![
                saving(1, 48.1, [1000, 600]),
                saving(2, 47.9, [900, 500]),
                saving(10, 52.1, [980, 400]),
            ],
            ..Section::default()
        };
        let claims = judge(&[section]);
        let outcomes: Vec<Outcome> = claims.iter().map(|it| it.outcome).collect();
        let (yes, no) = (Outcome::Reproduced, Outcome::NotReproduced);
        assert_eq!(outcomes, [yes, no, Outcome::Better, no, yes]);
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let claims = judge(&[section(vec![])]);
        let judged = [Outcome::Waiting, Outcome::Unknown];
        assert!(claims.iter().all(|it| judged.contains(&it.outcome)));
    }
}
