//! From what was measured to what is reported.

use whimbrel_bench::protocol::{RTPS_BYTES, SAMPLE_BYTES};

use crate::contestant::Product;
use crate::measure::{LatencyRow, OpenRow, StreamRow, judge};
use crate::report::Histograms;
use crate::report::model::{LatencyFigure, OpenFigure, Section, StreamFigure, VerdictFigure};

/// Of them, octets of the encapsulation header.
const ENCAPSULATION_BYTES: usize = 4;

/// Adds the rows of one size, which ran in turn.
pub(super) fn add_latencies(
    section: &mut Section,
    histograms: &mut Histograms,
    rows: Vec<LatencyRow>,
) {
    let raw = rows.iter().find(|it| it.contestant.product == Product::Raw);
    let floor = raw.map(|it| it.spread.p50_us());
    let ours = rows
        .iter()
        .find(|it| it.contestant.product == Product::Whimbrel);
    if let Some(ours) = ours {
        let others = rows
            .iter()
            .filter(|it| it.contestant != ours.contestant && it.contestant.product != Product::Raw);
        for other in others {
            let (verdict, ratio) = judge(ours.spread.rounds(), other.spread.rounds());
            section.verdicts.push(VerdictFigure {
                a: ours.contestant.name(),
                b: other.contestant.name(),
                size: ours.size,
                verdict,
                ratio,
            });
        }
    }
    for row in rows {
        let figure = latency(&section.name, &row, floor);
        histograms.push((figure.histogram.clone(), row.spread));
        section.latencies.push(figure);
    }
}

fn latency(scenario: &str, row: &LatencyRow, floor: Option<f64>) -> LatencyFigure {
    let spread = &row.spread;
    // Each round trip is two messages.
    let messages = (2 * row.trips).max(1) as f64;
    let name = row.contestant.name();
    let file = format!("{scenario}-{name}-{}.hdr", row.size).replace(' ', "-");
    LatencyFigure {
        contestant: name,
        size: row.size,
        count: spread.count(),
        min_us: spread.min_us(),
        mean_us: spread.mean_us(),
        p50_us: spread.p50_us(),
        p90_us: spread.percentile_us(0.9),
        p99_us: spread.percentile_us(0.99),
        p999_us: spread.percentile_us(0.999),
        p9999_us: spread.percentile_us(0.9999),
        max_us: spread.max_us(),
        floor_multiple: floor.filter(|it| *it > 0.0).map(|it| spread.p50_us() / it),
        rounds_us: spread.rounds().to_vec(),
        cpu_us: row.usage.cpu_ns as f64 / messages / 1000.0,
        waits: row.usage.waits as f64 / messages,
        resident_kib: row.resident_kib,
        wire_bytes: row.wire_bytes.map(|it| it as f64 / messages),
        histogram: file.to_lowercase(),
    }
}

/// Octets around a datagram: UDP 8, IPv4 20, Ethernet 14.
const PACKET_BYTES: usize = 42;
/// Largest sample that surely fits one packet.
const ONE_PACKET_BYTES: usize = 1300;

/// Where the octets on the cable go, sample by sample that fits a packet.
pub(super) fn ledger(figures: &[LatencyFigure]) -> Vec<String> {
    let fitting = figures.iter().filter(|it| it.size <= ONE_PACKET_BYTES);
    fitting
        .filter(|it| it.contestant.starts_with(Product::Whimbrel.name()))
        .filter_map(|it| {
            let wire = it.wire_bytes?;
            let around = RTPS_BYTES - ENCAPSULATION_BYTES;
            let known = it.size + SAMPLE_BYTES + RTPS_BYTES + PACKET_BYTES;
            let rest = wire - known as f64;
            Some(format!(
                "octets of a message with {} B: payload {}, rest of the sample {SAMPLE_BYTES}, \
                 encapsulation {ENCAPSULATION_BYTES}, RTPS {around}, UDP, IP and Ethernet \
                 {PACKET_BYTES}, everything else (heartbeats, acknowledgments, discovery) \
                 {rest:.1}; together {wire:.1} by the counters of the interface",
                it.size, it.size
            ))
        })
        .collect()
}

/// Adds the rows of one size.
pub(super) fn add_streams(section: &mut Section, rows: &[StreamRow]) {
    for row in rows {
        let samples = row.received.max(1) as f64;
        section.streams.push(StreamFigure {
            contestant: row.contestant.name(),
            size: row.size,
            samples_per_s: row.rate(),
            mbytes_per_s: row.rate() * row.size as f64 / 1e6,
            lost_percent: row.lost_percent(),
            cpu_us: row.usage.cpu_ns as f64 / samples / 1000.0,
            wire_bytes: row.wire_bytes.map(|it| it as f64 / samples),
        });
    }
}

/// Adds the rates of a schedule.
pub(super) fn add_schedules(
    section: &mut Section,
    histograms: &mut Histograms,
    rows: Vec<OpenRow>,
) {
    for row in rows {
        section.schedules.push(OpenFigure {
            size: row.size,
            rate: row.rate,
            sent: row.sent,
            lost: row.lost,
            intended_p50_us: row.intended.p50_us(),
            intended_p99_us: row.intended.percentile_us(0.99),
            actual_p50_us: row.actual.p50_us(),
            actual_p99_us: row.actual.percentile_us(0.99),
        });
        let name = format!("{}-{}-{}", section.name, row.size, row.rate);
        histograms.push((format!("{name}-intended.hdr"), row.intended));
        histograms.push((format!("{name}-actual.hdr"), row.actual));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_adds_up() {
        let figure = |contestant: &str, size, wire_bytes| LatencyFigure {
            contestant: contestant.into(),
            size,
            wire_bytes,
            ..LatencyFigure::default()
        };
        let lines = ledger(&[
            figure("Whimbrel", 64, Some(200.0)),
            figure("Whimbrel", 64, None),
            figure("Whimbrel", 4096, Some(5000.0)),
            figure("Fast DDS", 64, Some(200.0)),
        ]);
        // 64 + 8 + 4 + 56 + 42 are 174.
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("everything else (heartbeats, acknowledgments, discovery) 26.0"));
    }
}
