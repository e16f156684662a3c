//! What the forms of output have in common.

use crate::options::Given;

/// What is printed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) format: Format,
    pub(crate) intervals: bool,
    pub(crate) headers: bool,
    pub(crate) cpu: bool,
    /// Columns with the cost of encoding.
    pub(crate) serialization: bool,
    /// Three decimals.
    pub(crate) nanoseconds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Json,
    Legacy,
}

impl Form {
    pub(crate) fn of(given: &Given) -> Self {
        Self {
            format: match given.text("outputFormat") {
                Some("json") => Format::Json,
                Some("legacy") => Format::Legacy,
                _ => Format::Csv,
            },
            intervals: !given.has("noPrintIntervals"),
            headers: !given.has("noOutputHeaders"),
            cpu: given.has("cpu"),
            serialization: given.has("showSerializationTime"),
            nanoseconds: given.has("nanoClock"),
        }
    }
}

/// Latencies so far. All in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Latencies {
    pub(crate) ave: f64,
    pub(crate) std: f64,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// The latencies of one size. In nanoseconds, but for the cost of encoding in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LatencySummary {
    /// Octets of a sample.
    pub(crate) length: usize,
    pub(crate) all: Latencies,
    /// 50, 90, 99, 99.99 and 99.9999 %.
    pub(crate) percentiles: [u64; 5],
    /// To encode and to decode.
    pub(crate) serialization_us: Option<(f64, f64)>,
    pub(crate) cpu: f64,
}

/// What one second received.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ThroughputInterval {
    pub(crate) length: usize,
    /// Samples since the beginning.
    pub(crate) packets: u64,
    pub(crate) per_s: u64,
    pub(crate) per_s_ave: f64,
    pub(crate) mbps: f64,
    pub(crate) mbps_ave: f64,
    pub(crate) lost: u64,
    pub(crate) lost_percent: f64,
    pub(crate) cpu: f64,
}

/// What was received of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ThroughputSummary {
    pub(crate) length: usize,
    pub(crate) packets: u64,
    pub(crate) per_s: u64,
    pub(crate) mbps: f64,
    pub(crate) lost: u64,
    pub(crate) lost_percent: f64,
    pub(crate) cpu: f64,
}

/// One form of output: each function gives the text to append.
pub(super) trait Layout: Send {
    fn begin(&mut self) -> String;
    fn latency_header(&mut self, length: usize) -> String;
    fn latency_interval(&mut self, length: usize, latest: u64, all: Latencies, cpu: f64) -> String;
    fn latency_summary(&mut self, summary: &LatencySummary) -> String;
    fn throughput_header(&mut self, length: usize) -> String;
    fn throughput_interval(&mut self, interval: &ThroughputInterval) -> String;
    fn throughput_summary(&mut self, summary: &ThroughputSummary) -> String;
    fn end(&mut self) -> String;
}

/// Nanoseconds as microseconds: whole ones, rounded down, or with three decimals.
pub(super) fn micros(nanoseconds: bool, ns: u64) -> String {
    if nanoseconds {
        format!("{:.3}", ns as f64 / 1000.0)
    } else {
        (ns / 1000).to_string()
    }
}

/// A mean of nanoseconds as microseconds with `decimals`, or three.
pub(super) fn mean_micros(nanoseconds: bool, ns: f64, decimals: usize) -> String {
    let decimals = if nanoseconds { 3 } else { decimals };
    format!("{:.decimals$}", ns / 1000.0)
}
