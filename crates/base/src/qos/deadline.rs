//! DEADLINE: how often each instance is written at least.

use core::fmt;

use super::policy::{Policy, PolicyId, RequestOffered};
use crate::time::Duration;

/// The longest time between two samples of an instance. DDS 1.4 §2.2.3.7. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Deadline {
    /// Infinite by default.
    pub period: Duration,
}

impl Default for Deadline {
    fn default() -> Self {
        Self {
            period: Duration::INFINITE,
        }
    }
}

impl Policy for Deadline {
    const ID: PolicyId = PolicyId::Deadline;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (!self.period.is_infinite()).then_some("finite periods")
    }
}

impl RequestOffered for Deadline {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered.period <= requested.period
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.period.fmt(f)
    }
}
