//! LIFESPAN: how long a sample stays of use.

use super::policy::{Policy, PolicyId};
use crate::time::Duration;

/// How long after its source timestamp a sample expires. DDS 1.4 §2.2.3.16. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lifespan {
    /// Infinite by default.
    pub duration: Duration,
}

impl Default for Lifespan {
    fn default() -> Self {
        Self {
            duration: Duration::INFINITE,
        }
    }
}

impl Policy for Lifespan {
    const ID: PolicyId = PolicyId::Lifespan;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (!self.duration.is_infinite()).then_some("samples never expire")
    }
}
