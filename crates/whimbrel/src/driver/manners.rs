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
