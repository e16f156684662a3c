//! Payloads of discovery: what participants and endpoints announce of themselves. RTPS 2.5 §9.6.3.
//!
//! [`ParticipantData`] is what SPDP carries, [`WriterData`] and [`ReaderData`] what SEDP carries,
//! [`ParticipantMessageData`] what asserts liveliness. All are read in either byte order and
//! composed little-endian. Parameters that are absent take the standard's defaults; padding may
//! hold anything.

mod context;
mod encapsulation;
mod policy;

pub mod content_filter;
pub mod endpoint_data;
pub mod participant_data;
pub mod participant_message;
pub mod reader_data;
pub mod writer_data;

pub use content_filter::ContentFilter;
pub use context::Context;
pub use encapsulation::{compose_key, parameter_list, parse_key};
pub use endpoint_data::EndpointData;
pub use participant_data::{BuiltinEndpoints, ParticipantData};
pub use participant_message::{ParticipantMessageData, ParticipantMessageKind};
pub use reader_data::ReaderData;
pub use writer_data::WriterData;

#[cfg(test)]
mod tests;
