//! All RTPS and DCPS behaviour as deterministic state machines.
//!
//! Nothing here reads a clock, opens a socket, starts a thread or calls the public API. Time,
//! bytes and randomness come in as arguments; messages, deadlines and events come out:
//!
//! ```text
//! handle_<input>(&mut self, now, …)   handle_timeout(&mut self, now)
//! poll_timeout(&self) -> Option<(Instant, Reason)>
//! poll_transmit(&mut self, now, &mut impl Outbox)   poll_event(&mut self) -> Option<Event>
//! ```
//!
//! Change once, then drain ([`Writer::poll_transmit`], events) to the next deadline, then change
//! again. Three machines: [`Participant`] (control plane), [`Writer`] and [`Reader`] (data plane).
//! They exchange values ([`peer`]), never references.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unreachable
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        missing_docs
    )
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cache;
pub mod change;
pub mod deadline;
pub mod discovery;
pub mod message;
pub mod outbox;
mod packing;
pub mod parcel;
pub mod participant;
pub mod peer;
pub mod reader;
pub mod receive;
#[cfg(test)]
mod tests;
pub mod together;
pub mod value;
pub mod writer;

pub use deadline::Reason;
pub use discovery::{InterfaceAddress, RuleVerdict};
pub use outbox::{Outbox, PartOf, PlainSamples};
pub use participant::{
    Addresses, Heard, LocalReader, LocalWriter, NearestWriter, Participant, ParticipantConfig,
    ParticipantEvent, ParticipantStatistics, RemoteParticipant, RemoteReader, RemoteWriter,
    Unserved,
};
pub use reader::{Reader, ReaderConfig, ReaderEvent};
pub use writer::{WriteError, Writer, WriterConfig, WriterEvent};
