//! What the demo's processes tell each other: JSON lines over pipes.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Latencies of a span of samples, in microseconds.
#[derive(Serialize, Deserialize, Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Latency {
    pub(crate) samples: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// What the publisher has done so far.
#[derive(Serialize, Deserialize, Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Written {
    pub(crate) lines: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) repairs: u64,
    /// What compression and bundles came to.
    #[serde(default)]
    pub(crate) smaller: Smaller,
    /// How long the steady lines took, in seconds; 0 before that.
    pub(crate) steady_seconds: f64,
    /// How long the lines at full speed took, in seconds.
    pub(crate) fast_seconds: f64,
}

/// What compression and bundles came to.
#[derive(Serialize, Deserialize, Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Smaller {
    /// Samples, alone or in a batch, and bundles that left compressed, with their octets before and
    /// after.
    pub(crate) compressed: u64,
    pub(crate) plain_bytes: u64,
    pub(crate) compressed_bytes: u64,
    /// Those that left plain: below the threshold, no smaller compressed, and to readers that do
    /// not take the codec.
    pub(crate) below_threshold: u64,
    pub(crate) incompressible: u64,
    #[serde(default)]
    pub(crate) not_taken: u64,
    /// How long the codec took, in seconds.
    pub(crate) seconds: f64,
    pub(crate) bundles: u64,
    pub(crate) bundled: u64,
    pub(crate) batches: u64,
}

/// What the subscriber has seen so far.
#[derive(Serialize, Deserialize, Clone, Default, PartialEq, Debug)]
pub(crate) struct Read {
    pub(crate) lines: u64,
    /// Of the lines since the last report.
    pub(crate) recent: Latency,
    pub(crate) steady: Latency,
    pub(crate) fast: Latency,
    pub(crate) sources: usize,
    pub(crate) checksum: u64,
    pub(crate) wire_bytes: u64,
}

/// A line from a child to its parent.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Matched,
    Writing(Written),
    HasWritten(Written),
    Reading(Read),
    HasRead(Read),
    Failed(String),
}

/// Tells the parent.
pub(crate) fn tell(report: &Report) -> Result<(), Failure> {
    let text = serde_json::to_string(report).map_err(Failure::setup("writing JSON"))?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.write_all(b"\n")?;
    Ok(stdout.flush()?)
}

/// Runs a child; the parent hears of its failure.
pub(crate) fn child(run: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let Err(failure) = run() else { return Ok(()) };
    if let Failure::Negative(text) | Failure::Usage(text) | Failure::Setup(text) = &failure {
        tell(&Report::Failed(text.clone()))?;
        return Err(Failure::Said);
    }
    if let Failure::Stopped(_) = failure {
        // Ctrl-C reaches the parent as well, which speaks for us all.
        return Err(Failure::Said);
    }
    Err(failure)
}
