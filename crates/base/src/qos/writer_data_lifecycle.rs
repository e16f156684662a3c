//! WRITER_DATA_LIFECYCLE: what becomes of an instance that its writer lets go.

use super::policy::{Policy, PolicyId};

/// Whether unregistering an instance also disposes it. DDS 1.4 §2.2.3.21. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WriterDataLifecycle {
    /// True by default. Instances of a writer that is dropped lose their writer either way, as
    /// with most vendors: they are disposed only where they were unregistered or disposed.
    pub autodispose_unregistered_instances: bool,
}

impl Default for WriterDataLifecycle {
    fn default() -> Self {
        Self {
            autodispose_unregistered_instances: true,
        }
    }
}

impl Policy for WriterDataLifecycle {
    const ID: PolicyId = PolicyId::WriterDataLifecycle;
    const CHANGEABLE: bool = true;
}
