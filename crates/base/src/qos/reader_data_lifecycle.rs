//! READER_DATA_LIFECYCLE: how long a reader keeps what is left of ended instances.

use super::policy::{Policy, PolicyId};
use crate::time::Duration;

/// When a reader forgets the samples of ended instances untaken. DDS 1.4 §2.2.3.22. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReaderDataLifecycle {
    /// After an instance lost its last writer; never by default.
    pub autopurge_nowriter_samples_delay: Duration,
    /// After an instance was disposed; never by default.
    pub autopurge_disposed_samples_delay: Duration,
}

impl Default for ReaderDataLifecycle {
    fn default() -> Self {
        Self {
            autopurge_nowriter_samples_delay: Duration::INFINITE,
            autopurge_disposed_samples_delay: Duration::INFINITE,
        }
    }
}

impl Policy for ReaderDataLifecycle {
    const ID: PolicyId = PolicyId::ReaderDataLifecycle;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (*self != Self::default()).then_some("finite autopurge delays")
    }
}
