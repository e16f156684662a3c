//! TRANSPORT_PRIORITY: how urgent a writer's samples are to the network.

use super::policy::{Policy, PolicyId};

/// A hint to the transport. DDS 1.4 §2.2.3.15. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TransportPriority {
    /// Greater is more urgent; 0 by default.
    pub value: i32,
}

impl Policy for TransportPriority {
    const ID: PolicyId = PolicyId::TransportPriority;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (self.value != 0).then_some("all samples have the same priority")
    }
}
