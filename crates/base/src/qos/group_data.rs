//! GROUP_DATA: octets that discovery carries with an entity.

use alloc::vec::Vec;

use super::policy::{Policy, PolicyId};

/// Octets of the application's own, announced with a publisher or subscriber.
/// DDS 1.4 §2.2.3.3. Changeable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct GroupData {
    /// The octets; none by default.
    pub value: Vec<u8>,
}

impl Policy for GroupData {
    const ID: PolicyId = PolicyId::GroupData;
    const CHANGEABLE: bool = true;
}
