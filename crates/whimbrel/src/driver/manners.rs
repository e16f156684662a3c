//! What an endpoint brings to a meeting within the process.

use std::any::TypeId;

use crate::domain::InProcess;

/// What an endpoint brings to a meeting within the process.
#[derive(Clone, Copy)]
pub(crate) struct Manners {
    pub(crate) in_process: InProcess,
    /// The type of its data; none for raw readers.
    pub(crate) data_type: Option<TypeId>,
}

impl Manners {
    /// Whether values pass between it and `other` as the program has them, not encoded.
    pub(super) fn takes_values(self, other: Self) -> bool {
        let encoded = [self, other]
            .iter()
            .any(|it| it.in_process == InProcess::Encoded);
        !encoded && self.data_type.is_some() && self.data_type == other.data_type
    }
}
