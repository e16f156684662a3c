//! What became of a case.

use std::time::Duration;

use super::cases::Pair;

/// What became of a case with a pair.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Passed,
    /// Why.
    Failed(String),
    /// What the other product cannot do.
    NotApplicable(&'static str),
}

/// One line of the report.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) case: &'static str,
    pub(crate) pair: Pair,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
}
