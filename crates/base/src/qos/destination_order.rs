//! DESTINATION_ORDER: by which time a reader sorts the samples of an instance.

use super::policy::{Policy, PolicyId, RequestOffered, policy_kind};

policy_kind! {
    /// By which timestamp the samples of an instance are sorted. DDS 1.4 §2.2.3.17.
    DestinationOrder {
        /// When they arrived.
        #[default]
        ByReceptionTimestamp = 0 "BY_RECEPTION_TIMESTAMP",
        /// When they were written.
        BySourceTimestamp = 1 "BY_SOURCE_TIMESTAMP",
    }
}

impl Policy for DestinationOrder {
    const ID: PolicyId = PolicyId::DestinationOrder;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        (*self == Self::BySourceTimestamp).then_some("BY_SOURCE_TIMESTAMP order")
    }
}

impl RequestOffered for DestinationOrder {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered >= requested
    }
}
