//! TOPIC_DATA: octets that discovery carries with an entity.

use alloc::vec::Vec;

use super::policy::{Policy, PolicyId};

/// Octets of the application's own, announced with a topic. DDS 1.4 §2.2.3.2. Changeable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct TopicData {
    /// The octets; none by default.
    pub value: Vec<u8>,
}

impl Policy for TopicData {
    const ID: PolicyId = PolicyId::TopicData;
    const CHANGEABLE: bool = true;
}
