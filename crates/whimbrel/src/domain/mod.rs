//! Participants: where a program joins a domain.
//!
//! Entities end with their last handle, and what they contain keeps them: the standard's delete
//! operations, `delete_contained_entities` among them, have nothing to do here and do not exist.
//! Entities are enabled when they are created, so there is no `enable` either. `ignore_topic`,
//! `lookup_topicdescription` and `assert_liveliness` (DDS 1.4 §2.2.2.2.1.15, §2.2.2.2.1.12,
//! §2.2.2.2.1.18) do not exist yet.

mod builder;
mod discovered;
mod environment;
mod factory;
mod ignore;
mod in_process;
mod interfaces;
mod ip;
mod join;
mod nearest;
mod offload;
mod participant;
mod settings;
mod values;
mod waiting;

pub use self::builder::DomainParticipantBuilder;
pub use self::discovered::{
    Diagnostics, DiscoveredEndpoint, DiscoveredParticipant, DiscoveredReader, DiscoveredWriter,
    SocketDiagnostics,
};
pub use self::environment::{EnvironmentProblem, environment_problems};
pub use self::in_process::InProcess;
pub use self::interfaces::{Interface, InterfaceAddress, system_interfaces};
pub use self::ip::IpVersions;
pub use self::offload::SegmentationOffload;
pub use self::participant::DomainParticipant;
pub(crate) use self::participant::ParticipantInner;
pub use self::settings::{Setting, SettingSource};
pub use self::waiting::Waiting;
pub use crate::driver::memory::{DiscoveryMemory, EndpointMemory, ParticipantMemory};
pub use crate::driver::warning::Warning;
pub use whimbrel_proto::{NearestWriter, Unserved};
