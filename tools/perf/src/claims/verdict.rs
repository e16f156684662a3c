//! How a claim is said to hold or not.

use crate::report::model::{Claim, Outcome};

/// A claim of `seed`, what became of it, and by which figure.
pub(super) fn claim(
    seed: &str,
    claim: impl Into<String>,
    outcome: Outcome,
    figure: String,
) -> Claim {
    Claim {
        seed: seed.into(),
        claim: claim.into(),
        outcome,
        figure,
    }
}

/// A claim that nothing in the run can judge.
pub(super) fn waiting(seed: &str, text: &str) -> Claim {
    claim(seed, text, Outcome::Waiting, "not measured yet".into())
}

/// Whether a claim holds.
pub(super) fn outcome(holds: bool) -> Outcome {
    if holds {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    }
}
