//! From what was measured to what is reported.

use crate::contestant::Product;
use crate::measure::{DDSPERF, LatencyRow, OpenRow, StreamRow, VendorRow, judge};
use crate::report::Histograms;
use crate::report::model::{
    LatencyFigure, OpenFigure, Section, StreamFigure, VendorFigure, VerdictFigure,
};

/// Adds the rows of one size, which ran in turn.
pub(super) fn add_latencies(
    section: &mut Section,
    histograms: &mut Histograms,
    rows: Vec<LatencyRow>,
) {
    let raw = rows.iter().find(|it| it.contestant.product == Product::Raw);
    let floor = raw.map(|it| it.spread.p50_us());
    section.verdicts.extend(verdicts(&rows));
    for row in rows {
        let figure = latency(&section.name, &row, floor);
        histograms.push((figure.histogram.clone(), row.spread));
        section.latencies.push(figure);
    }
}

/// The first row of ours against all others, its further ones against the peers.
fn verdicts(rows: &[LatencyRow]) -> Vec<VerdictFigure> {
    let is_ours = |it: &&LatencyRow| it.contestant.product == Product::Whimbrel;
    let mut found = Vec::new();
    for (at, ours) in rows.iter().filter(is_ours).enumerate() {
        let others = rows.iter().filter(|it| {
            let is_rival =
                it.contestant.product != Product::Raw && it.contestant != ours.contestant;
            is_rival && (at == 0 || !is_ours(it))
        });
        for other in others {
            let (verdict, ratio) = judge(ours.spread.rounds(), other.spread.rounds());
            found.push(VerdictFigure {
                a: ours.contestant.name(),
                b: other.contestant.name(),
                size: ours.size,
                verdict,
                ratio,
            });
        }
    }
    found
}

fn latency(scenario: &str, row: &LatencyRow, floor: Option<f64>) -> LatencyFigure {
    let spread = &row.spread;
    // Each round trip is two messages.
    let messages = (2 * row.trips).max(1) as f64;
    let name = row.contestant.name();
    let file = format!("{scenario}-{name}-{}.hdr", row.size).replace(' ', "-");
    let [asking, answering] = row.usage;
    let used = asking.plus(answering);
    let cpu_us = |ns: u64| ns as f64 / messages / 1000.0;
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
        cpu_us: cpu_us(used.cpu_ns),
        cpu_sides_us: [cpu_us(asking.cpu_ns), cpu_us(answering.cpu_ns)],
        waits: used.waits as f64 / messages,
        preempted: used.preempted as f64 / messages,
        repairs: row.counters.map(|it| it.repairs),
        resident_kib: row.resident_kib,
        wire_bytes: row.wire_bytes.map(|it| it as f64 / messages),
        histogram: file.to_lowercase(),
    }
}

/// Adds the rows of one size.
pub(super) fn add_streams(section: &mut Section, rows: &[StreamRow]) {
    for row in rows {
        let samples = row.received.max(1) as f64;
        let cpu_us = row.usage.map(|it| it.cpu_ns as f64 / samples / 1000.0);
        section.streams.push(StreamFigure {
            contestant: row.contestant.name(),
            size: row.size,
            samples_per_s: row.rate(),
            mbytes_per_s: row.rate() * row.size as f64 / 1e6,
            lost_percent: row.lost_percent(),
            cpu_us: cpu_us.iter().sum(),
            cpu_sides_us: cpu_us,
            repairs: row.counters.map(|it| it.repairs),
            wire_bytes: row.wire_bytes.map(|it| it as f64 / samples),
        });
    }
}

/// What a maker's own tool says.
pub(super) fn vendor(row: &VendorRow) -> VendorFigure {
    VendorFigure {
        tool: DDSPERF,
        size: row.size,
        count: row.count,
        min_us: row.min_us,
        mean_us: row.mean_us,
        p50_us: row.p50_us,
        p90_us: row.p90_us,
        p99_us: row.p99_us,
        max_us: row.max_us,
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
