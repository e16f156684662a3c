//! TIME_BASED_FILTER: how often a reader wants to hear of an instance at most.

use super::policy::{Policy, PolicyId};
use crate::time::Duration;

/// The shortest time between two samples of an instance. DDS 1.4 §2.2.3.12. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TimeBasedFilter {
    /// Zero by default: every sample.
    pub minimum_separation: Duration,
}

impl Policy for TimeBasedFilter {
    const ID: PolicyId = PolicyId::TimeBasedFilter;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (!self.minimum_separation.is_zero()).then_some("separations above zero")
    }
}
