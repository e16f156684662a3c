//! Where time and octets of a message go: a budget of its median, a ledger of what is on the cable.
//! Both come from turns of their own, because watching costs time.

use std::hint::black_box;
use std::time::Instant;

use whimbrel::SharedBytes;
use whimbrel::base::cursor::Endian;
use whimbrel::types::{Representation, from_shared_payload, to_payload};
use whimbrel_bench::exchange::Msg;
use whimbrel_bench::protocol::SAMPLE_BYTES;

use super::setting::{Extent, Setting};
use crate::contestant::{Contestant, Product};
use crate::failure::Failure;
use crate::measure::{Octets, Race, Stages, Staging, Watched};
use crate::progress::Progress;
use crate::report::model::{BudgetFigure, LatencyFigure, LedgerFigure, Section};
use crate::stop;
use crate::world::{Place, World};

/// How often encoding and decoding are measured.
const TIMES: u32 = 200;
/// How long the turns of one contestant and size may take about, in microseconds, by its median.
const TURNS_US: f64 = 400_000.0;
/// Octets that a capture of one contestant and size may have, about.
const CAPTURE_BYTES: usize = 4 << 20;
/// The first domain of the turns for budgets; those for ledgers come after them.
const DOMAIN: u32 = 160;

/// Budgets and ledgers of what `race` measured of Whimbrel.
///
/// # Errors
/// A process does not start, meet or answer; a signal.
pub(super) fn add(
    setting: &Setting,
    world: &World,
    race: &Race,
    section: &mut Section,
) -> Result<(), Failure> {
    let is_ours = |it: &&Contestant| it.product == Product::Whimbrel;
    let ours: Vec<&Contestant> = race.contestants.iter().filter(is_ours).collect();
    let has_cable = matches!(world.place, Place::Dual(_));
    let turns = ours.len() * race.sizes.len() * (1 + usize::from(has_cable));
    let progress = Progress::new(&format!("{} accounts", section.name), turns as u64);
    for (contestant, domain) in ours.into_iter().zip(DOMAIN..) {
        let name = contestant.name();
        let of_it = section.latencies.iter().filter(|it| it.contestant == name);
        let figures: Vec<LatencyFigure> = of_it.cloned().collect();
        let programs = &setting.programs;
        let mut staging =
            Staging::start(world, programs, contestant, domain).map_err(Failure::Broke)?;
        for figure in &figures {
            stop::check()?;
            let count = turns_of(setting, figure.p50_us);
            let stages = staging.measure(figure.size, count);
            if let Some(stages) = stages.map_err(Failure::Broke)? {
                section.budgets.push(budget(figure, stages));
            }
            progress.step(&format!("{name} {} B, stages", figure.size));
        }
        drop(staging);
        if !has_cable {
            continue;
        }
        let watched = Watched::start(world, programs, contestant, domain + 10);
        let mut watched = watched.map_err(Failure::Broke)?;
        let meeting = watched.meeting().map_err(Failure::Broke)?;
        section.notes.push(format!(
            "{name}: until both sides knew each other, {meeting} octets of discovery had passed \
             (packets and their headers, by the capture for the ledger)"
        ));
        for figure in &figures {
            stop::check()?;
            let fitting = CAPTURE_BYTES / (2 * figure.size.max(64));
            let count = turns_of(setting, figure.p50_us).min(fitting.max(2));
            let octets = watched.measure(figure.size, count);
            let octets = octets.map_err(Failure::Broke)?;
            section.ledgers.extend(ledger(figure, &octets));
            progress.step(&format!("{name} {} B, octets", figure.size));
        }
    }
    Ok(())
}

/// How many turns tell something, within bounds.
fn turns_of(setting: &Setting, p50_us: f64) -> usize {
    let most = match setting.extent {
        Extent::Miniature => 12,
        Extent::Quick => 240,
        Extent::Full => 600,
    };
    let fitting = TURNS_US / (2.0 * p50_us).max(1.0);
    (fitting as usize).clamp(6, most)
}

/// Where octets on the cable go, for one message in one direction; none where nothing was caught.
fn ledger(figure: &LatencyFigure, octets: &Octets) -> Option<LedgerFigure> {
    let wire_bytes = figure.wire_bytes?;
    let samples = octets.samples as f64;
    if octets.samples == 0 {
        return None;
    }
    let each = |octets: u64| octets as f64 / samples;
    let plain = (figure.size + SAMPLE_BYTES) as f64;
    let payload = each(octets.payload);
    // What pads a plain sample belongs to its encapsulation, which tells how much there is.
    let encapsulation = if octets.packed == 0 {
        payload - plain
    } else {
        each(octets.encapsulation)
    };
    let saved = plain + encapsulation - payload;
    let mut entries = vec![
        ("user", figure.size as f64),
        ("number, length", SAMPLE_BYTES as f64),
        ("saved by codec", 0.0 - saved),
        ("encapsulation", encapsulation),
        ("submessages", each(octets.submessages)),
        ("RTPS headers", each(octets.rtps)),
        ("heartbeats", each(octets.heartbeats)),
        ("acknowledgments", each(octets.acknowledgments)),
        ("repairs", each(octets.repairs)),
        ("discovery", each(octets.discovery)),
        ("unknown", each(octets.other)),
        ("UDP, IP, Ethernet", each(octets.packets)),
    ];
    let sum: f64 = entries.iter().map(|it| it.1).sum();
    entries.push(("counter less these", wire_bytes - sum));
    Some(LedgerFigure {
        contestant: figure.contestant.clone(),
        size: figure.size,
        wire_bytes,
        entries,
    })
}

/// The parts of the median of `figure`.
fn budget(figure: &LatencyFigure, stages: Stages) -> BudgetFigure {
    // The bus need not copy what alone is copied.
    let (encode_us, decode_us) = coding_us(figure.size);
    let encode_us = encode_us.min(stages.prepare_us);
    let decode_us = decode_us.min(stages.take_us);
    BudgetFigure {
        contestant: figure.contestant.clone(),
        size: figure.size,
        total_us: figure.p50_us,
        stages: vec![
            ("serialize", encode_us),
            ("compress", stages.compress_us),
            ("filter", 0.0),
            ("enqueue", stages.prepare_us - encode_us),
            ("send call", stages.send_us),
            ("kernel, cable, waking", stages.path_us),
            ("receive", stages.receive_us),
            ("decompress", stages.decompress_us),
            ("deserialize", decode_us),
            ("callback", stages.take_us - decode_us),
            ("50 % less these", figure.p50_us - stages.whole_us()),
        ],
        samples: stages.count,
    }
}

/// What encoding and decoding a sample of `size` octets cost, in microseconds, in this process.
fn coding_us(size: usize) -> (f64, f64) {
    let sample = Msg {
        seq: 1,
        payload: vec![0x55; size].into(),
    };
    let times = if size > 1 << 18 { 5 } else { TIMES };
    let mean_us = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    let mut bytes = Vec::new();
    let mut encode = || {
        bytes.clear();
        let encoded = to_payload(
            black_box(&sample),
            Representation::Xcdr1,
            Endian::NATIVE,
            &mut bytes,
        );
        debug_assert!(encoded.is_ok());
    };
    encode();
    let begun = Instant::now();
    (0..times).for_each(|_| encode());
    let out = mean_us(begun);
    let bytes = SharedBytes::from(bytes);
    let begun = Instant::now();
    for _ in 0..times {
        let _ = black_box(from_shared_payload::<Msg>(black_box(&bytes)));
    }
    (out, mean_us(begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(size: usize, wire_bytes: Option<f64>) -> LatencyFigure {
        LatencyFigure {
            contestant: "Whimbrel".into(),
            size,
            wire_bytes,
            p50_us: 20.0,
            ..LatencyFigure::default()
        }
    }

    fn octets(payload: u64, packed: u64) -> Octets {
        Octets {
            samples: 2,
            packed,
            payload,
            encapsulation: if packed == 0 { 8 } else { 16 },
            submessages: 72,
            rtps: 40,
            heartbeats: 32,
            packets: 84,
            ..Octets::default()
        }
    }

    fn entry(it: &LedgerFigure, name: &str) -> f64 {
        it.entries.iter().find(|it| it.0 == name).unwrap().1
    }

    #[test]
    fn the_ledger_is_the_counter() {
        for (it, saved, encapsulation) in [
            // 61 octets, 8 of the bench's own, 4 of encapsulation and 3 of padding.
            (ledger(&figure(61, Some(200.0)), &octets(152, 0)), 0.0, 7.0),
            (ledger(&figure(64, Some(150.0)), &octets(80, 2)), 40.0, 8.0),
        ] {
            let it = it.unwrap();
            let sum: f64 = it.entries.iter().map(|it| it.1).sum();
            assert!((sum - it.wire_bytes).abs() < 1e-9);
            assert_eq!(entry(&it, "saved by codec"), -saved);
            assert_eq!(entry(&it, "encapsulation"), encapsulation);
            assert_eq!(entry(&it, "heartbeats"), 16.0);
        }
        // 76 + 36 + 20 + 16 + 42 octets were caught.
        let it = ledger(&figure(61, Some(200.0)), &octets(152, 0)).unwrap();
        assert_eq!(entry(&it, "counter less these"), 10.0);
        assert!(ledger(&figure(64, None), &octets(152, 0)).is_none());
        assert!(ledger(&figure(64, Some(1.0)), &Octets::default()).is_none());
    }

    #[test]
    fn the_stages_are_the_total() {
        let stages = Stages {
            count: 9,
            prepare_us: 2.0,
            send_us: 3.0,
            path_us: 4.0,
            receive_us: 1.5,
            take_us: 0.5,
            ..Stages::default()
        };
        let it = budget(&figure(1024, None), stages);
        let sum: f64 = it.stages.iter().map(|it| it.1).sum();
        assert!((sum - 20.0).abs() < 1e-9, "{it:?}");
        assert!(it.stages[0].1 > 0.0);
        assert_eq!(it.stages.last().unwrap().1, 9.0);
        let quick = Stages {
            prepare_us: 1e-6,
            take_us: 1e-6,
            ..stages
        };
        let it = budget(&figure(1 << 20, None), quick);
        assert!(it.stages[..10].iter().all(|it| it.1 >= 0.0), "{it:?}");
    }
}
