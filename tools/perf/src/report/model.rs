//! The shape of `report.json`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::measure::Verdict;

/// Changes with every change of the shape that readers could trip over.
pub(crate) const SCHEMA: &str = "whimbrel-perf/1";

/// All of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) command: String,
    /// The machine, its system and all versions, without which a figure means nothing.
    pub(crate) passport: BTreeMap<String, String>,
    pub(crate) sections: Vec<Section>,
    pub(crate) claims: Vec<Claim>,
}

/// One scenario.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) seed: String,
    pub(crate) title: String,
    /// One sentence that says what the figures show.
    pub(crate) shows: String,
    pub(crate) state: State,
    pub(crate) notes: Vec<String>,
    pub(crate) floor: Option<Floor>,
    pub(crate) latencies: Vec<LatencyFigure>,
    pub(crate) streams: Vec<StreamFigure>,
    pub(crate) schedules: Vec<OpenFigure>,
    pub(crate) codecs: Vec<CodecFigure>,
    pub(crate) savings: Vec<SavingFigure>,
    pub(crate) verdicts: Vec<VerdictFigure>,
    pub(crate) crossovers: Vec<CrossoverFigure>,
    pub(crate) budgets: Vec<BudgetFigure>,
    pub(crate) ledgers: Vec<LedgerFigure>,
    pub(crate) vendors: Vec<VendorFigure>,
    pub(crate) published: Option<Published>,
}

/// What became of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "why")]
pub(crate) enum State {
    #[default]
    Ran,
    /// What it measures does not exist yet.
    Waiting(String),
    /// It cannot run here.
    Skipped(String),
    /// It began and did not end; the figures are those until then.
    Broke(String),
}

/// The raw socket before and after, one way.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Floor {
    pub(crate) first_us: f64,
    pub(crate) last_us: f64,
}

impl Floor {
    /// By how much the machine changed meanwhile, in percent of the lower.
    pub(crate) fn drift_percent(self) -> f64 {
        let low = self.first_us.min(self.last_us).max(1e-9);
        (self.first_us.max(self.last_us) / low - 1.0) * 100.0
    }
}

/// Latencies of one contestant and size, one way, in microseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LatencyFigure {
    pub(crate) contestant: String,
    pub(crate) size: usize,
    pub(crate) count: u64,
    pub(crate) min_us: f64,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p90_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
    pub(crate) p999_us: Option<f64>,
    pub(crate) p9999_us: Option<f64>,
    pub(crate) max_us: f64,
    /// The median as a multiple of the raw socket's at this size.
    pub(crate) floor_multiple: Option<f64>,
    /// Medians of the rounds.
    pub(crate) rounds_us: Vec<f64>,
    /// Time on a core of both processes for one message.
    pub(crate) cpu_us: f64,
    /// Of that, the process that asks, and the one that answers.
    pub(crate) cpu_sides_us: [f64; 2],
    /// Waits of all threads for one message.
    pub(crate) waits: f64,
    /// How often a thread lost its core to another, for one message.
    pub(crate) preempted: f64,
    /// Samples or fragments sent again, of all; none where nobody tells.
    pub(crate) repairs: Option<u64>,
    pub(crate) resident_kib: u64,
    /// Octets on the cable for one message in one direction.
    pub(crate) wire_bytes: Option<f64>,
    pub(crate) histogram: String,
}

/// One contestant and size as fast as it goes.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StreamFigure {
    pub(crate) contestant: String,
    pub(crate) size: usize,
    pub(crate) samples_per_s: f64,
    pub(crate) mbytes_per_s: f64,
    pub(crate) lost_percent: f64,
    pub(crate) cpu_us: f64,
    /// Of that, the process that writes, and the one that reads.
    pub(crate) cpu_sides_us: [f64; 2],
    /// Samples or fragments sent again, of all; none where nobody tells.
    pub(crate) repairs: Option<u64>,
    pub(crate) wire_bytes: Option<f64>,
}

/// One rate of a schedule, one way, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OpenFigure {
    pub(crate) size: usize,
    pub(crate) rate: u64,
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    /// From when samples should have left.
    pub(crate) intended_p50_us: f64,
    pub(crate) intended_p99_us: Option<f64>,
    /// From when they left.
    pub(crate) actual_p50_us: f64,
    pub(crate) actual_p99_us: Option<f64>,
}

/// A codec on one sample, without a bus.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CodecFigure {
    pub(crate) codec: String,
    pub(crate) size: usize,
    pub(crate) entropy_bits: f64,
    pub(crate) ratio: f64,
    pub(crate) compress_us: f64,
    pub(crate) decompress_us: f64,
    /// What the plain sample takes on a wire of 1 Gbit/s.
    pub(crate) wire_us: f64,
    /// What the compressed one takes there with compressing and decompressing.
    pub(crate) total_us: f64,
}

/// What batches save.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SavingFigure {
    pub(crate) payload: String,
    pub(crate) batch: usize,
    pub(crate) plain_bytes: u64,
    pub(crate) packed_bytes: u64,
    pub(crate) saved_percent: f64,
    pub(crate) published_percent: f64,
    /// All octets that batches of the bus take on the wire, with everything around them: plain,
    /// and compressed.
    pub(crate) wire_bytes: [u64; 2],
    pub(crate) wire_saved_percent: f64,
}

/// A against B.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictFigure {
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) size: usize,
    pub(crate) verdict: Verdict,
    /// Latency of A over that of B: the lower bound, the mean, the upper bound, of 95 %.
    pub(crate) ratio: [f64; 3],
}

/// From which size on B is faster than A.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CrossoverFigure {
    pub(crate) a: String,
    pub(crate) b: String,
    /// The largest size at which it is not, the smallest from which it is; either may be missing.
    pub(crate) between: [Option<usize>; 2],
}

/// Where the median of one size goes, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BudgetFigure {
    pub(crate) contestant: String,
    pub(crate) size: usize,
    pub(crate) total_us: f64,
    /// Stages as turns of their own had them, and by how much these turns differed: together the
    /// total.
    pub(crate) stages: Vec<(&'static str, f64)>,
    /// Samples of these turns.
    pub(crate) samples: usize,
}

/// What the octets of one message on the cable are.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LedgerFigure {
    pub(crate) contestant: String,
    pub(crate) size: usize,
    /// By the counters of the interface.
    pub(crate) wire_bytes: f64,
    /// Entries, which together are those.
    pub(crate) entries: Vec<(&'static str, f64)>,
}

/// One size by a maker's own tool, one way, in microseconds, by its clock and rules.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VendorFigure {
    pub(crate) tool: &'static str,
    pub(crate) size: usize,
    pub(crate) count: u64,
    pub(crate) min_us: f64,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// A table as it was published.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Published {
    pub(crate) caption: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: &'static [&'static [&'static str]],
}

/// What a seed says, and what came of it here.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Claim {
    pub(crate) seed: String,
    pub(crate) claim: String,
    pub(crate) outcome: Outcome,
    pub(crate) figure: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Reproduced,
    NotReproduced,
    /// Whimbrel does better than what was claimed.
    Better,
    /// It was not measured in this run.
    Waiting,
    /// Nothing that can run here could tell.
    Unknown,
}

impl Outcome {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::Better => "better",
            Self::Waiting => "waiting",
            Self::Unknown => "cannot be judged",
        }
    }
}
