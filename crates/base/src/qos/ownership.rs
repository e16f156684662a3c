//! OWNERSHIP: whether several writers may update one instance.

use super::policy::{Policy, PolicyId, RequestOffered, policy_kind};

policy_kind! {
    /// Who may update an instance. DDS 1.4 §2.2.3.9.
    Ownership {
        /// Every writer.
        #[default]
        Shared = 0 "SHARED",
        /// Only the strongest live writer.
        Exclusive = 1 "EXCLUSIVE",
    }
}

impl Policy for Ownership {
    const ID: PolicyId = PolicyId::Ownership;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        (*self == Self::Exclusive).then_some("EXCLUSIVE ownership")
    }
}

impl RequestOffered for Ownership {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered == requested
    }
}
