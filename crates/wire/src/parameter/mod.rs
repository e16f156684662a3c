//! Parameter lists: identifiers, reading and writing. RTPS 2.5 §9.4.2.11, §9.6.3.

mod id;
mod list;
pub(crate) mod value;
mod writer;

pub use id::ParameterId;
pub use list::{Parameter, ParameterList, Parameters};
pub use writer::ParameterListWriter;
