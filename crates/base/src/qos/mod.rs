//! QoS policies: one file per policy with its request/offered rule, one per entity's set of them.
//!
//! The sets ([`DomainParticipantQos`], [`TopicQos`], [`PublisherQos`], [`SubscriberQos`],
//! [`DataWriterQos`], [`DataReaderQos`]) are plain structs whose defaults are those of
//! DDS 1.4 §2.2.3. Each has three checks: `check` for contradictions, `check_supported` for
//! policies that do not exist here yet and `check_change` for changes of an enabled entity.
//! [`compatibility`] compares what a writer offers with what a reader requests.
//!
//! Nothing here acts: what a policy does lives where it is done.

pub mod policy;

pub mod batch;
pub mod bundling;
pub mod compression;
pub mod data_representation;
pub mod deadline;
pub mod destination_order;
pub mod durability;
pub mod durability_service;
pub mod entity_factory;
pub mod group_data;
pub mod history;
pub mod latency_budget;
pub mod lifespan;
pub mod liveliness;
pub mod ownership;
pub mod ownership_strength;
pub mod partition;
pub mod presentation;
pub mod publish_mode;
pub mod reader_data_lifecycle;
pub mod reliability;
pub mod resource_limits;
pub mod time_based_filter;
pub mod topic_data;
pub mod transport_priority;
pub mod type_consistency;
pub mod user_data;
pub mod writer_data_lifecycle;

mod setters;

pub mod participant_qos;
pub mod publisher_qos;
pub mod reader_qos;
pub mod subscriber_qos;
pub mod topic_qos;
pub mod writer_qos;

pub mod compatibility;
pub mod features;

#[cfg(test)]
mod tests;

pub use batch::Batch;
pub use bundling::Bundling;
pub use compatibility::{Verdict, compare, is_compatible};
pub use compression::{Compression, CompressionIds};
pub use data_representation::{DataRepresentation, DataRepresentationId};
pub use deadline::Deadline;
pub use destination_order::DestinationOrder;
pub use durability::Durability;
pub use durability_service::DurabilityService;
pub use entity_factory::EntityFactory;
pub use features::{FEATURES, Feature, QosSet};
pub use group_data::GroupData;
pub use history::History;
pub use latency_budget::LatencyBudget;
pub use lifespan::Lifespan;
pub use liveliness::{Liveliness, LivelinessKind};
pub use ownership::Ownership;
pub use ownership_strength::OwnershipStrength;
pub use participant_qos::DomainParticipantQos;
pub use partition::Partition;
pub use policy::{
    ImmutablePolicy, InconsistentPolicy, Policy, PolicyId, RequestOffered, UnsupportedPolicy,
};
pub use presentation::{Presentation, PresentationScope};
pub use publish_mode::{FlowController, PublishMode};
pub use publisher_qos::PublisherQos;
pub use reader_data_lifecycle::ReaderDataLifecycle;
pub use reader_qos::DataReaderQos;
pub use reliability::{Reliability, ReliabilityKind};
pub use resource_limits::{Limit, ResourceLimits};
pub use setters::OCTETS_MAX;
pub use subscriber_qos::SubscriberQos;
pub use time_based_filter::TimeBasedFilter;
pub use topic_data::TopicData;
pub use topic_qos::TopicQos;
pub use transport_priority::TransportPriority;
pub use type_consistency::{TypeConsistency, TypeConsistencyKind};
pub use user_data::UserData;
pub use writer_data_lifecycle::WriterDataLifecycle;
pub use writer_qos::DataWriterQos;
