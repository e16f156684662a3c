//! RELIABILITY: whether lost samples are sent again.

use core::fmt;

use super::policy::{Policy, PolicyId, RequestOffered, policy_kind};
use crate::time::Duration;

policy_kind! {
    /// Whether lost samples are sent again. Numbers as in RTPS 2.5 §9.6.3.
    ReliabilityKind {
        /// Samples may be lost.
        #[default]
        BestEffort = 1 "BEST_EFFORT",
        /// Samples are repeated until acknowledged.
        Reliable = 2 "RELIABLE",
    }
}

/// Whether lost samples are sent again, and how long a write may wait. DDS 1.4 §2.2.3.14.
///
/// The default is that of readers and topics, BEST_EFFORT; writers default to
/// [`Reliability::RELIABLE`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reliability {
    /// Whether lost samples are sent again.
    pub kind: ReliabilityKind,
    /// How long a write may wait for room; 100 ms by default. Means nothing at a reader.
    pub max_blocking_time: Duration,
}

impl Reliability {
    /// RELIABLE, with writes that wait up to 100 ms.
    pub const RELIABLE: Self = Self {
        kind: ReliabilityKind::Reliable,
        max_blocking_time: Duration::from_millis(100),
    };
    /// BEST_EFFORT.
    pub const BEST_EFFORT: Self = Self {
        kind: ReliabilityKind::BestEffort,
        max_blocking_time: Duration::from_millis(100),
    };

    /// True for RELIABLE.
    pub const fn is_reliable(&self) -> bool {
        matches!(self.kind, ReliabilityKind::Reliable)
    }
}

impl Default for Reliability {
    fn default() -> Self {
        Self::BEST_EFFORT
    }
}

impl Policy for Reliability {
    const ID: PolicyId = PolicyId::Reliability;
    const CHANGEABLE: bool = false;
}

impl RequestOffered for Reliability {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered.kind >= requested.kind
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}
