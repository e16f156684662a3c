//! ENTITY_FACTORY: whether created entities are enabled at once.

use super::policy::{Policy, PolicyId};

/// Whether an entity enables those it creates. DDS 1.4 §2.2.3.20. Changeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntityFactory {
    /// True by default.
    pub autoenable_created_entities: bool,
}

impl Default for EntityFactory {
    fn default() -> Self {
        Self {
            autoenable_created_entities: true,
        }
    }
}

impl Policy for EntityFactory {
    const ID: PolicyId = PolicyId::EntityFactory;
    const CHANGEABLE: bool = true;

    fn unsupported(&self) -> Option<&'static str> {
        (!self.autoenable_created_entities).then_some("entities are enabled when they are created")
    }
}
