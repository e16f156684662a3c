//! DURABILITY_SERVICE: what a durability service keeps for a topic.

use super::history::History;
use super::policy::{Policy, PolicyId};
use super::resource_limits::ResourceLimits;
use crate::time::Duration;

/// History and limits of the service behind TRANSIENT and PERSISTENT durability.
/// DDS 1.4 §2.2.3.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct DurabilityService {
    /// When all information about a disposed instance without writers may go; at once by default.
    pub service_cleanup_delay: Duration,
    /// What the service keeps per instance; KEEP_LAST 1 by default.
    pub history: History,
    /// What the service keeps in sum; no limit by default.
    pub resource_limits: ResourceLimits,
}

impl Policy for DurabilityService {
    const ID: PolicyId = PolicyId::DurabilityService;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        (*self != Self::default()).then_some("there is no durability service")
    }
}
