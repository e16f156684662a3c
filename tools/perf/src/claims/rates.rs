//! S4: what bundles and compression do to rates.

use super::codecs::unknown;
use super::verdict::{claim, outcome, waiting};
use crate::report::model::{Claim, Outcome, Section};

/// Rates within this of each other are equal.
const EQUAL: f64 = 1.05;
/// The same for bursts of different settings, which scatter more.
const ALIKE: f64 = 1.25;
/// What a federate was said to send.
const UPDATES_PER_S: f64 = 120_000.0;
/// What “greatly” means at least.
const GREATLY: f64 = 1.5;

/// By how much the rate of `to` is that of `from`, at each size that both have.
fn gains(section: &Section, from: &str, to: &str) -> Vec<(usize, f64)> {
    let of = |name: &str| -> Vec<(usize, f64)> {
        let named = section.streams.iter().filter(|it| it.contestant == name);
        named.map(|it| (it.size, it.samples_per_s)).collect()
    };
    let to = of(to);
    let gain = |(size, before): (usize, f64)| {
        let (_, after) = to.iter().find(|it| it.0 == size)?;
        Some((size, after / before.max(1e-9)))
    };
    of(from).into_iter().filter_map(gain).collect()
}

fn list(gains: &[(usize, f64)]) -> String {
    let texts: Vec<String> = gains
        .iter()
        .map(|(size, gain)| format!("{size} B × {gain:.2}"))
        .collect();
    texts.join(", ")
}

/// What compression does.
pub(super) fn compressed(section: &Section) -> Vec<Claim> {
    let texts = [
        "compression raises the rate at no size, even of compressible data, where the network is \
         no bottleneck",
        "compression pays where the network is the bottleneck (here 100 Mbit/s)",
    ];
    let judge = |text: &str, place: &str, holds: fn(&[(usize, f64)]) -> bool| {
        let name = |it: &str| format!("Whimbrel log {it}{place}");
        let all = gains(section, &name("plain"), &name("ZLIB"));
        if all.is_empty() {
            return waiting("S4", text);
        }
        let figure = format!("log text, rate with ZLIB: {}", list(&all));
        claim("S4", text, outcome(holds(&all)), figure)
    };
    vec![
        judge(texts[0], "", |all| all.iter().all(|it| it.1 <= EQUAL)),
        judge(texts[1], ", 100 Mbit/s", |all| {
            all.iter().any(|it| it.1 > EQUAL)
        }),
        small(section),
        cost(section),
    ]
}

/// Whether small messages gain nothing.
fn small(section: &Section) -> Claim {
    let text = "compression is poor on small messages (up to 256 B): updates of entities are to \
                be bundled, not compressed";
    let mut all = gains(section, "Whimbrel log plain", "Whimbrel log ZLIB");
    all.retain(|it| it.0 <= 256);
    if all.is_empty() {
        return waiting("S4", text);
    }
    let figure = format!("log text, rate with ZLIB: {}", list(&all));
    claim(
        "S4",
        text,
        outcome(all.iter().all(|it| it.1 <= 1.0)),
        figure,
    )
}

/// Whether compressing takes time on the cores.
fn cost(section: &Section) -> Claim {
    let text = "compression costs CPU time";
    let cpu = |name: &str, size: usize| -> Option<f64> {
        let mut named = section.streams.iter().filter(|it| it.contestant == name);
        Some(named.find(|it| it.size == size)?.cpu_us)
    };
    let sizes = gains(section, "Whimbrel log plain", "Whimbrel log ZLIB");
    let costs: Vec<(usize, f64)> = sizes
        .iter()
        .filter_map(|(size, _)| {
            let plain = cpu("Whimbrel log plain", *size)?;
            let packed = cpu("Whimbrel log ZLIB", *size)?;
            Some((*size, packed / plain.max(1e-9)))
        })
        .collect();
    if costs.is_empty() {
        return waiting("S4", text);
    }
    let figure = format!(
        "of both processes for a sample of log text: {}",
        list(&costs)
    );
    let found = if costs.iter().all(|it| it.1 > 1.0) {
        Outcome::Reproduced
    } else {
        // Fewer packets can save more than the codec costs.
        Outcome::Better
    };
    claim("S4", text, found, figure)
}

/// What MÄK said in 2010 of one message.
pub(super) fn gigabit(section: &Section) -> Claim {
    let text = "a message over gigabit takes a little over 100 µs (a note of 2010; here 1024 B \
                over a virtual cable of that rate)";
    if let Some(unknown) = unknown(section) {
        return claim("S4", text, Outcome::Unknown, unknown.into());
    }
    let mut plain = section
        .latencies
        .iter()
        .filter(|it| it.contestant == "Whimbrel none");
    let Some(it) = plain.find(|it| it.size == 1024) else {
        return waiting("S4", text);
    };
    let found = if it.p50_us <= 100.0 {
        Outcome::Better
    } else {
        outcome(it.p50_us <= 120.0)
    };
    claim("S4", text, found, format!("{:.1} µs one way", it.p50_us))
}

/// How many updates a second there are at least.
fn updates(section: &Section) -> Claim {
    let text = "a federate with all services on still sends more than 120,000 updates a second \
                (here samples up to 256 B of one writer as it comes, without HLA's services)";
    let rates: Vec<(usize, f64)> = section
        .streams
        .iter()
        .filter(|it| it.contestant == "Whimbrel automatic" && it.size <= 256)
        .map(|it| (it.size, it.samples_per_s))
        .collect();
    let Some(least) = rates.iter().map(|it| it.1).reduce(f64::min) else {
        return waiting("S4", text);
    };
    let texts: Vec<String> = rates
        .iter()
        .map(|it| format!("{} B {:.0}", it.0, it.1))
        .collect();
    let found = if least > UPDATES_PER_S {
        Outcome::Better
    } else {
        Outcome::NotReproduced
    };
    claim(
        "S4",
        text,
        found,
        format!("samples per second: {}", texts.join(", ")),
    )
}

/// What bundles do.
pub(super) fn bundles(section: &Section) -> Vec<Claim> {
    let texts = [
        "bundles of 1400 B raise the rate of small messages greatly (here: by half and more, up to \
         256 B)",
        "a small loss where only one message fits a bundle (700 to 1400 B)",
        "no difference above the size of the bundle",
        "bundles of 5000 B are a little better still for small messages",
        "larger datagrams are lost more (best effort, small messages, 5000 against 1400)",
    ];
    let all = gains(section, "Whimbrel off", "Whimbrel 1400");
    let within = |low: usize, high: usize| -> Vec<(usize, f64)> {
        let fitting = all.iter().filter(|it| (low..=high).contains(&it.0));
        fitting.copied().collect()
    };
    let judge = |text: &str, sizes: &[(usize, f64)], found: Outcome| {
        if sizes.is_empty() {
            return waiting("S4", text);
        }
        claim(
            "S4",
            text,
            found,
            format!("rate against none: {}", list(sizes)),
        )
    };
    let (small, single, above) = (within(1, 256), within(700, 1400), within(1401, usize::MAX));
    let lossless = single.iter().all(|it| it.1 >= 1.0 / EQUAL);
    let further: Vec<(usize, f64)> = gains(section, "Whimbrel 1400", "Whimbrel 5000")
        .into_iter()
        .filter(|it| it.0 <= 256)
        .collect();
    let mut claims = vec![
        judge(
            texts[0],
            &small,
            outcome(small.iter().all(|it| it.1 >= GREATLY)),
        ),
        judge(
            texts[1],
            &single,
            if lossless {
                Outcome::Better
            } else {
                outcome(single.iter().all(|it| it.1 >= 1.0 / ALIKE))
            },
        ),
        judge(
            texts[2],
            &above,
            outcome(above.iter().all(|it| (1.0 / ALIKE..=ALIKE).contains(&it.1))),
        ),
    ];
    claims.push(if further.is_empty() {
        waiting("S4", texts[3])
    } else {
        let holds = further.iter().all(|it| it.1 >= 1.0 / EQUAL);
        let figure = format!("rate against bundles of 1400 B: {}", list(&further));
        claim("S4", texts[3], outcome(holds), figure)
    });
    claims.push(losses(section, texts[4]));
    claims.push(updates(section));
    claims
}

/// Whether small messages in large datagrams are lost more.
fn losses(section: &Section, text: &str) -> Claim {
    let lost = |name: &str| -> Option<f64> {
        let all: Vec<f64> = section
            .streams
            .iter()
            .filter(|it| it.contestant == name && it.size <= 256)
            .map(|it| it.lost_percent)
            .collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let names = ["1400", "5000"].map(|it| format!("Whimbrel best effort, {it}"));
    let [Some(few), Some(many)] = names.each_ref().map(|it| lost(it)) else {
        return waiting("S4", text);
    };
    let figure = format!("{few:.2} % lost in messages of 1400 B, {many:.2} % in those of 5000 B");
    let found = if many == 0.0 {
        Outcome::Better
    } else {
        outcome(many > few)
    };
    claim("S4", text, found, figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::StreamFigure;

    fn section(name: &str, figures: &[(&str, usize, f64)]) -> Section {
        let figure = |(contestant, size, samples_per_s): &(&str, usize, f64)| StreamFigure {
            contestant: format!("Whimbrel {contestant}"),
            size: *size,
            samples_per_s: *samples_per_s,
            ..StreamFigure::default()
        };
        Section {
            name: name.into(),
            streams: figures.iter().map(figure).collect(),
            ..Section::default()
        }
    }

    fn outcomes(claims: &[Claim]) -> Vec<Outcome> {
        claims.iter().map(|it| it.outcome).collect()
    }

    #[test]
    fn compression_is_judged_with_and_without_a_bottleneck() {
        let section = section(
            "mak-compress",
            &[
                ("log plain", 1024, 100.0),
                ("log ZLIB", 1024, 30.0),
                ("log plain, 100 Mbit/s", 1024, 10.0),
                ("log ZLIB, 100 Mbit/s", 1024, 20.0),
            ],
        );
        let claims = compressed(&section);
        let yes = Outcome::Reproduced;
        let found = outcomes(&claims);
        // Nobody says what it cost, and there are no small messages.
        assert_eq!(found, [yes, yes, Outcome::Waiting, Outcome::Better]);
        assert!(claims[1].figure.contains("1024 B × 2.00"), "{claims:?}");
    }

    #[test]
    fn bundles_are_judged_in_three_regimes() {
        let mut section = section(
            "bundle",
            &[
                ("off", 64, 100.0),
                ("off", 1024, 90.0),
                ("off", 5000, 50.0),
                ("1400", 64, 600.0),
                ("1400", 1024, 85.0),
                ("1400", 5000, 51.0),
                ("5000", 64, 700.0),
                ("best effort, 1400", 64, 700.0),
                ("best effort, 5000", 64, 800.0),
            ],
        );
        let (yes, no, better) = (Outcome::Reproduced, Outcome::NotReproduced, Outcome::Better);
        assert_eq!(
            outcomes(&bundles(&section)),
            [yes, yes, yes, yes, better, Outcome::Waiting]
        );
        section.streams[4].samples_per_s = 90.0;
        section.streams[5].samples_per_s = 100.0;
        section.streams[3].samples_per_s = 120.0;
        section.streams[6].samples_per_s = 60.0;
        section.streams[8].lost_percent = 2.0;
        assert_eq!(
            outcomes(&bundles(&section)),
            [no, better, no, no, yes, Outcome::Waiting]
        );
        let nothing = bundles(&Section::default());
        assert_eq!(outcomes(&nothing), [Outcome::Waiting; 6]);
    }

    #[test]
    fn what_small_messages_gain_and_cost_is_judged() {
        let mut section = section(
            "mak-compress",
            &[("log plain", 64, 100.0), ("log ZLIB", 64, 99.0)],
        );
        section.streams[0].cpu_us = 2.0;
        section.streams[1].cpu_us = 3.0;
        let claims = compressed(&section);
        assert_eq!(outcomes(&claims)[2..], [Outcome::Reproduced; 2]);
        assert!(claims[3].figure.contains("64 B × 1.50"), "{claims:?}");
        section.streams[1].samples_per_s = 101.0;
        section.streams[1].cpu_us = 2.0;
        assert_eq!(
            outcomes(&compressed(&section))[2..],
            [Outcome::NotReproduced, Outcome::Better]
        );
    }

    #[test]
    fn updates_and_single_messages_are_held_against_what_was_said() {
        let bundle = |rate| section("bundle", &[("automatic", 8, 5e6), ("automatic", 256, rate)]);
        let found = [120_001.0, 120_000.0].map(|rate| outcomes(&bundles(&bundle(rate)))[5]);
        assert_eq!(found, [Outcome::Better, Outcome::NotReproduced]);
        let cable = |p50_us| {
            let mut section = Section::default();
            section.latencies.push(crate::report::model::LatencyFigure {
                contestant: "Whimbrel none".into(),
                size: 1024,
                p50_us,
                ..Default::default()
            });
            gigabit(&section).outcome
        };
        let wanted = [Outcome::Better, Outcome::Reproduced, Outcome::NotReproduced];
        assert_eq!([99.0, 110.0, 130.0].map(cable), wanted);
        assert_eq!(gigabit(&Section::default()).outcome, Outcome::Waiting);
    }
}
