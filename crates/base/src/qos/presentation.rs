//! PRESENTATION: how changes of several instances hang together.

use core::fmt;

use super::policy::{Policy, PolicyId, RequestOffered, policy_kind};

policy_kind! {
    /// The scope over which order and coherence reach. DDS 1.4 §2.2.3.6.
    PresentationScope {
        /// Within each instance.
        #[default]
        Instance = 0 "INSTANCE",
        /// Within each writer.
        Topic = 1 "TOPIC",
        /// Within each publisher.
        Group = 2 "GROUP",
    }
}

/// Order and coherence of changes in a publisher or subscriber. DDS 1.4 §2.2.3.6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Presentation {
    /// How far the other two reach.
    pub access_scope: PresentationScope,
    /// Sets of changes arrive whole or not at all.
    pub coherent_access: bool,
    /// Changes are seen in the order in which they were made.
    pub ordered_access: bool,
}

impl Policy for Presentation {
    const ID: PolicyId = PolicyId::Presentation;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        if self.coherent_access {
            Some("coherent access")
        } else if self.ordered_access {
            Some("ordered access")
        } else if self.access_scope != PresentationScope::Instance {
            Some("access scopes other than INSTANCE")
        } else {
            None
        }
    }
}

impl RequestOffered for Presentation {
    fn compatible(offered: &Self, requested: &Self) -> bool {
        offered.access_scope >= requested.access_scope
            && (offered.coherent_access || !requested.coherent_access)
            && (offered.ordered_access || !requested.ordered_access)
    }
}

impl fmt::Display for Presentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.access_scope.fmt(f)?;
        if self.coherent_access {
            f.write_str(" coherent")?;
        }
        if self.ordered_access {
            f.write_str(" ordered")?;
        }
        Ok(())
    }
}
