//! OWNERSHIP_STRENGTH: which writer wins an instance.

use super::policy::{Policy, PolicyId};

/// A writer's strength where ownership is exclusive. DDS 1.4 §2.2.3.10. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct OwnershipStrength {
    /// The strongest wins; 0 by default.
    pub value: i32,
}

impl Policy for OwnershipStrength {
    const ID: PolicyId = PolicyId::OwnershipStrength;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (self.value != 0).then_some("EXCLUSIVE ownership, which alone gives strength a meaning")
    }
}
