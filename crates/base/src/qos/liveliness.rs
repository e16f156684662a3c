//! LIVELINESS: how a writer shows that it is alive.

use core::fmt;

use super::policy::{Policy, PolicyId, RequestOffered, policy_kind};
use crate::time::Duration;

policy_kind! {
    /// Who asserts liveliness. DDS 1.4 §2.2.3.11.
    LivelinessKind {
        /// The middleware, as long as the participant runs.
        #[default]
        Automatic = 0 "AUTOMATIC",
        /// The application, for all writers of the participant at once.
        ManualByParticipant = 1 "MANUAL_BY_PARTICIPANT",
        /// The application, for each writer.
        ManualByTopic = 2 "MANUAL_BY_TOPIC",
    }
}

/// How a writer shows that it is alive, and how often. DDS 1.4 §2.2.3.11.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Liveliness {
    /// Who asserts.
    pub kind: LivelinessKind,
    /// The longest time between two signs of life; infinite by default.
    pub lease_duration: Duration,
}

impl Default for Liveliness {
    fn default() -> Self {
        Self {
            kind: LivelinessKind::Automatic,
            lease_duration: Duration::INFINITE,
        }
    }
}

impl Policy for Liveliness {
    const ID: PolicyId = PolicyId::Liveliness;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        if self.kind != LivelinessKind::Automatic {
            Some("manual kinds")
        } else if !self.lease_duration.is_infinite() {
            Some("finite leases")
        } else {
            None
        }
    }
}

impl RequestOffered for Liveliness {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered.kind >= requested.kind && offered.lease_duration <= requested.lease_duration
    }
}

impl fmt::Display for Liveliness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lease {}", self.kind, self.lease_duration)
    }
}
