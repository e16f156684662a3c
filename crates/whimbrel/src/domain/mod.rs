//! Participants: where a program joins a domain.

mod builder;
mod discovered;
mod factory;
mod interfaces;
mod participant;

pub use self::builder::{DomainParticipantBuilder, IpVersions};
pub use self::discovered::{
    Diagnostics, DiscoveredEndpoint, DiscoveredParticipant, DiscoveredReader, DiscoveredWriter,
    SocketDiagnostics,
};
pub use self::interfaces::{Interface, InterfaceAddress, system_interfaces};
pub use self::participant::DomainParticipant;
pub(crate) use self::participant::ParticipantInner;
