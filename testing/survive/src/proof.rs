//! What a proof is given and what it gives.

use std::process::ExitCode;
use std::time::Duration;

/// One claim about the bus, and the run that shows it.
pub struct Proof {
    /// Subcommand of `whimbrel-survive`.
    pub name: &'static str,
    /// The claim in one line.
    pub claim: &'static str,
    /// Runs the proof; progress may be printed.
    pub run: fn(&Share) -> Figure,
    /// What `whimbrel-survive child NAME WORD...` does, for proofs that need processes.
    pub child: Option<fn(&[String]) -> ExitCode>,
}

/// How much a proof may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Time to run, besides a fixed cost to set up; a proof repeats or scales its work to fill it.
    pub time: Duration,
    /// The whole numbers of the claim, however long they take.
    pub full: bool,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// One line: what was run, numbers with units, bounds beside them.
    pub text: String,
    /// Whether every bound held.
    pub held: bool,
}

impl Figure {
    /// All bounds held.
    pub fn held(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            held: true,
        }
    }

    /// A bound was missed, or the proof could not be run.
    pub fn missed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            held: false,
        }
    }
}
