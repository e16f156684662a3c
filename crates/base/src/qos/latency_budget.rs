//! LATENCY_BUDGET: how long delivery may take.

use core::fmt;

use super::policy::{Policy, PolicyId, RequestOffered};
use crate::time::Duration;

/// A hint at how long a sample may be held back on its way. DDS 1.4 §2.2.3.8. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LatencyBudget {
    /// Zero by default: nothing is to wait that need not.
    pub duration: Duration,
}

impl Policy for LatencyBudget {
    const ID: PolicyId = PolicyId::LatencyBudget;
    const CHANGEABLE: bool = true;
}

impl RequestOffered for LatencyBudget {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered.duration <= requested.duration
    }
}

impl fmt::Display for LatencyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.duration.fmt(f)
    }
}
