//! QoS of a data writer.

use alloc::vec::Vec;

use super::batch::Batch;
use super::bundling::Bundling;
use super::compression::CompressionIds;
use super::data_representation::{DataRepresentation, DataRepresentationId};
use super::deadline::Deadline;
use super::destination_order::DestinationOrder;
use super::durability::Durability;
use super::durability_service::DurabilityService;
use super::history::History;
use super::latency_budget::LatencyBudget;
use super::lifespan::Lifespan;
use super::liveliness::{Liveliness, LivelinessKind};
use super::ownership::Ownership;
use super::ownership_strength::OwnershipStrength;
use super::policy::{
    ImmutablePolicy, InconsistentPolicy, PolicyId, UnsupportedPolicy, changeable, supported,
};
use super::publish_mode::PublishMode;
use super::reliability::{Reliability, ReliabilityKind};
use super::resource_limits::ResourceLimits;
use super::setters::{
    check_codec, check_history, check_octets, check_representation, endpoint_setters,
};
use super::topic_qos::TopicQos;
use super::transport_priority::TransportPriority;
use super::user_data::UserData;
use super::writer_data_lifecycle::WriterDataLifecycle;
use crate::time::Duration;

/// QoS of a data writer. By default RELIABLE, KEEP_LAST 1, VOLATILE. DDS 1.4 §2.2.2.4.2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataWriterQos {
    /// Octets of the application's own.
    pub user_data: UserData,
    /// What late joiners get.
    pub durability: Durability,
    /// What a durability service keeps.
    pub durability_service: DurabilityService,
    /// How often each instance is written at least.
    pub deadline: Deadline,
    /// How long a sample may be held back.
    pub latency_budget: LatencyBudget,
    /// Who may update an instance.
    pub ownership: Ownership,
    /// Which writer wins an instance.
    pub ownership_strength: OwnershipStrength,
    /// How a writer shows that it is alive.
    pub liveliness: Liveliness,
    /// Whether lost samples are sent again.
    pub reliability: Reliability,
    /// How urgent samples are.
    pub transport_priority: TransportPriority,
    /// How long samples stay of use.
    pub lifespan: Lifespan,
    /// By which time samples are sorted.
    pub destination_order: DestinationOrder,
    /// How many samples of each instance are kept.
    pub history: History,
    /// How much is kept at most.
    pub resource_limits: ResourceLimits,
    /// What becomes of instances that the writer lets go.
    pub writer_data_lifecycle: WriterDataLifecycle,
    /// How samples are encoded.
    pub data_representation: DataRepresentation,
    /// When samples share messages; as the publisher says where nothing is said here.
    pub bundling: Option<Bundling>,
    /// When samples leave as batches, to those who understand them; off by default. Decides alone
    /// then when samples share messages.
    pub batch: Option<Batch>,
    /// Who sends samples, and how fast.
    pub publish_mode: PublishMode,
}

impl Default for DataWriterQos {
    fn default() -> Self {
        Self {
            user_data: UserData::default(),
            durability: Durability::default(),
            durability_service: DurabilityService::default(),
            deadline: Deadline::default(),
            latency_budget: LatencyBudget::default(),
            ownership: Ownership::default(),
            ownership_strength: OwnershipStrength::default(),
            liveliness: Liveliness::default(),
            reliability: Reliability::RELIABLE,
            transport_priority: TransportPriority::default(),
            lifespan: Lifespan::default(),
            destination_order: DestinationOrder::default(),
            history: History::default(),
            resource_limits: ResourceLimits::default(),
            writer_data_lifecycle: WriterDataLifecycle::default(),
            data_representation: DataRepresentation::default(),
            bundling: None,
            batch: None,
            publish_mode: PublishMode::Synchronous,
        }
    }
}

impl DataWriterQos {
    endpoint_setters!();

    /// USER_DATA: octets of the application's own.
    #[must_use]
    pub fn user_data(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.user_data.value = value.into();
        self
    }

    /// LIFESPAN: how long samples stay of use.
    #[must_use]
    pub fn lifespan(mut self, duration: Duration) -> Self {
        self.lifespan.duration = duration;
        self
    }

    /// TRANSPORT_PRIORITY: how urgent samples are.
    #[must_use]
    pub fn transport_priority(mut self, value: i32) -> Self {
        self.transport_priority.value = value;
        self
    }

    /// RELIABILITY: how long a write may wait for room.
    #[must_use]
    pub fn max_blocking_time(mut self, span: Duration) -> Self {
        self.reliability.max_blocking_time = span;
        self
    }

    /// DURABILITY_SERVICE: what a durability service keeps.
    #[must_use]
    pub fn durability_service(mut self, service: DurabilityService) -> Self {
        self.durability_service = service;
        self
    }

    /// OWNERSHIP_STRENGTH: which writer wins an instance.
    #[must_use]
    pub fn ownership_strength(mut self, value: i32) -> Self {
        self.ownership_strength.value = value;
        self
    }

    /// WRITER_DATA_LIFECYCLE: whether unregistering an instance also disposes it.
    #[must_use]
    pub fn autodispose_unregistered_instances(mut self, yes: bool) -> Self {
        self.writer_data_lifecycle
            .autodispose_unregistered_instances = yes;
        self
    }

    /// When samples share messages.
    #[must_use]
    pub fn bundling(mut self, bundling: Bundling) -> Self {
        self.bundling = Some(bundling);
        self
    }

    /// When samples leave as batches, to those who understand them.
    #[must_use]
    pub fn batch(mut self, batch: Batch) -> Self {
        self.batch = Some(batch);
        self
    }

    /// Who sends samples, and how fast.
    #[must_use]
    pub fn publish_mode(mut self, mode: PublishMode) -> Self {
        self.publish_mode = mode;
        self
    }

    /// Takes over what the topic says where topics and writers have the same policy: the
    /// standard's `copy_from_topic_qos`. DDS 1.4 §2.2.2.4.1.16.
    #[must_use]
    pub fn from_topic(mut self, topic: &TopicQos) -> Self {
        self.durability_service = topic.durability_service;
        self.transport_priority = topic.transport_priority;
        self.lifespan = topic.lifespan;
        self.durability = topic.durability;
        self.deadline = topic.deadline;
        self.latency_budget = topic.latency_budget;
        self.liveliness = topic.liveliness;
        self.reliability = topic.reliability;
        self.destination_order = topic.destination_order;
        self.history = topic.history;
        self.resource_limits = topic.resource_limits;
        self.ownership = topic.ownership;
        self.data_representation = topic.data_representation.clone();
        let compression = &mut self.data_representation.compression;
        compression.compression_ids = compression.compression_ids.map(CompressionIds::first);
        self
    }

    /// Refuses values that contradict each other. DDS 1.4 §2.2.3.
    pub fn check(&self) -> Result<(), InconsistentPolicy> {
        check_octets(PolicyId::UserData, &self.user_data.value)?;
        check_history(PolicyId::History, self.history, &self.resource_limits)?;
        check_history(
            PolicyId::DurabilityService,
            self.durability_service.history,
            &self.durability_service.resource_limits,
        )?;
        check_representation(&self.data_representation)?;
        check_codec(&self.data_representation)?;
        Ok(())
    }

    /// Refuses, by name, policies whose behaviour does not exist here yet.
    pub fn check_supported(&self) -> Result<(), UnsupportedPolicy> {
        let Self {
            user_data,
            durability,
            durability_service,
            deadline,
            latency_budget,
            ownership,
            ownership_strength,
            liveliness,
            reliability,
            transport_priority,
            lifespan,
            destination_order,
            history,
            resource_limits,
            writer_data_lifecycle,
            data_representation,
            bundling: _,
            batch: _,
            publish_mode: _,
        } = self;
        supported(user_data)?;
        supported(durability)?;
        supported(durability_service)?;
        supported(deadline)?;
        supported(latency_budget)?;
        supported(ownership)?;
        supported(ownership_strength)?;
        supported(liveliness)?;
        supported(reliability)?;
        supported(transport_priority)?;
        supported(lifespan)?;
        supported(destination_order)?;
        supported(history)?;
        supported(resource_limits)?;
        supported(writer_data_lifecycle)?;
        supported(data_representation)?;
        Ok(())
    }

    /// Refuses a change from this to `new` that an enabled writer cannot make.
    /// DDS 1.4 §2.2.3, table, "Changeable".
    pub fn check_change(&self, new: &Self) -> Result<(), ImmutablePolicy> {
        let Self {
            user_data,
            durability,
            durability_service,
            deadline,
            latency_budget,
            ownership,
            ownership_strength,
            liveliness,
            reliability,
            transport_priority,
            lifespan,
            destination_order,
            history,
            resource_limits,
            writer_data_lifecycle,
            data_representation,
            bundling: _,
            batch: _,
            publish_mode: _,
        } = self;
        changeable(user_data, &new.user_data)?;
        changeable(durability, &new.durability)?;
        changeable(durability_service, &new.durability_service)?;
        changeable(deadline, &new.deadline)?;
        changeable(latency_budget, &new.latency_budget)?;
        changeable(ownership, &new.ownership)?;
        changeable(ownership_strength, &new.ownership_strength)?;
        changeable(liveliness, &new.liveliness)?;
        changeable(reliability, &new.reliability)?;
        changeable(transport_priority, &new.transport_priority)?;
        changeable(lifespan, &new.lifespan)?;
        changeable(destination_order, &new.destination_order)?;
        changeable(history, &new.history)?;
        changeable(resource_limits, &new.resource_limits)?;
        changeable(writer_data_lifecycle, &new.writer_data_lifecycle)?;
        changeable(data_representation, &new.data_representation)?;
        Ok(())
    }
}
