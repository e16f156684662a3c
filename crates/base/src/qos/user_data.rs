//! USER_DATA: octets that discovery carries with an entity.

use alloc::vec::Vec;

use super::policy::{Policy, PolicyId};

/// Octets of the application's own, announced with a participant, writer or reader.
/// DDS 1.4 §2.2.3.1. Changeable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct UserData {
    /// The octets; none by default.
    pub value: Vec<u8>,
}

impl Policy for UserData {
    const ID: PolicyId = PolicyId::UserData;
    const CHANGEABLE: bool = true;
}
