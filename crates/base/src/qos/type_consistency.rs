//! TYPE_CONSISTENCY_ENFORCEMENT: how far a reader's type may differ from the writer's.

use super::policy::{Policy, PolicyId, policy_kind};

policy_kind! {
    /// Whether types may differ at all. XTypes 1.3 §7.6.3.4.1.
    TypeConsistencyKind {
        /// The types must be the same.
        DisallowTypeCoercion = 0 "DISALLOW_TYPE_COERCION",
        /// The writer's type must be assignable to the reader's.
        #[default]
        AllowTypeCoercion = 1 "ALLOW_TYPE_COERCION",
    }
}

/// How far a reader's type may differ from the writer's. XTypes 1.3 §7.6.3.4.
///
/// It is no request/offered policy: it takes part in the matching of types. Until types travel
/// in discovery they are matched by name only, so every value but the default is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeConsistency {
    /// Whether types may differ at all.
    pub kind: TypeConsistencyKind,
    /// Bounds of sequences need not fit; true by default.
    pub ignore_sequence_bounds: bool,
    /// Bounds of strings need not fit; true by default.
    pub ignore_string_bounds: bool,
    /// Members pair by id alone; false by default.
    pub ignore_member_names: bool,
    /// The reader's type must not have fewer members; false by default.
    pub prevent_type_widening: bool,
    /// Without full type information there is no match; false by default.
    pub force_type_validation: bool,
}

impl Default for TypeConsistency {
    fn default() -> Self {
        Self {
            kind: TypeConsistencyKind::AllowTypeCoercion,
            ignore_sequence_bounds: true,
            ignore_string_bounds: true,
            ignore_member_names: false,
            prevent_type_widening: false,
            force_type_validation: false,
        }
    }
}

impl Policy for TypeConsistency {
    const ID: PolicyId = PolicyId::TypeConsistency;
    const CHANGEABLE: bool = false;

    fn unsupported(&self) -> Option<&'static str> {
        (*self != Self::default()).then_some("types are matched by name only")
    }
}
