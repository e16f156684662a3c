//! DURABILITY: what a late joiner gets.

use super::policy::{Policy, PolicyId, RequestOffered, policy_kind};

policy_kind! {
    /// How long samples stay available to readers that join late. Each kind also gives what the
    /// kinds before it give. DDS 1.4 §2.2.3.4.
    Durability {
        /// Only to readers that exist when the sample is written.
        #[default]
        Volatile = 0 "VOLATILE",
        /// As long as their writer lives.
        TransientLocal = 1 "TRANSIENT_LOCAL",
        /// As long as some service lives.
        Transient = 2 "TRANSIENT",
        /// Beyond a restart of the system.
        Persistent = 3 "PERSISTENT",
    }
}

impl Policy for Durability {
    const ID: PolicyId = PolicyId::Durability;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        match self {
            Self::Volatile | Self::TransientLocal => None,
            Self::Transient => Some("there is no durability service for TRANSIENT"),
            Self::Persistent => Some("there is no durability service for PERSISTENT"),
        }
    }
}

impl RequestOffered for Durability {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered >= requested
    }
}
