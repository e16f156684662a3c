//! QoS of a topic.

use alloc::vec::Vec;

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
use super::policy::{
    ImmutablePolicy, InconsistentPolicy, PolicyId, UnsupportedPolicy, changeable, supported,
};
use super::reliability::{Reliability, ReliabilityKind};
use super::resource_limits::ResourceLimits;
use super::setters::{check_history, check_octets, check_representation, endpoint_setters};
use super::topic_data::TopicData;
use super::transport_priority::TransportPriority;
use super::type_consistency::TypeConsistency;
use crate::time::Duration;

/// QoS of a topic. DDS 1.4 §2.2.2.3.2.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopicQos {
    /// Octets of the application's own.
    pub topic_data: TopicData,
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
    /// How samples are encoded.
    pub data_representation: DataRepresentation,
    /// How far the types may differ.
    pub type_consistency: TypeConsistency,
}

impl TopicQos {
    endpoint_setters!();

    /// TOPIC_DATA: octets of the application's own.
    #[must_use]
    pub fn topic_data(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.topic_data.value = value.into();
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

    /// Refuses values that contradict each other. DDS 1.4 §2.2.3.
    pub fn check(&self) -> Result<(), InconsistentPolicy> {
        check_octets(PolicyId::TopicData, &self.topic_data.value)?;
        check_history(PolicyId::History, self.history, &self.resource_limits)?;
        check_history(
            PolicyId::DurabilityService,
            self.durability_service.history,
            &self.durability_service.resource_limits,
        )?;
        check_representation(&self.data_representation)?;
        Ok(())
    }

    /// Refuses, by name, policies whose behaviour does not exist here yet.
    pub fn check_supported(&self) -> Result<(), UnsupportedPolicy> {
        let Self {
            topic_data,
            durability,
            durability_service,
            deadline,
            latency_budget,
            ownership,
            liveliness,
            reliability,
            transport_priority,
            lifespan,
            destination_order,
            history,
            resource_limits,
            data_representation,
            type_consistency,
        } = self;
        supported(topic_data)?;
        supported(durability)?;
        supported(durability_service)?;
        supported(deadline)?;
        supported(latency_budget)?;
        supported(ownership)?;
        supported(liveliness)?;
        supported(reliability)?;
        supported(transport_priority)?;
        supported(lifespan)?;
        supported(destination_order)?;
        supported(history)?;
        supported(resource_limits)?;
        supported(data_representation)?;
        supported(type_consistency)?;
        Ok(())
    }

    /// Refuses a change from this to `new` that an enabled topic cannot make.
    /// DDS 1.4 §2.2.3, table, "Changeable".
    pub fn check_change(&self, new: &Self) -> Result<(), ImmutablePolicy> {
        let Self {
            topic_data,
            durability,
            durability_service,
            deadline,
            latency_budget,
            ownership,
            liveliness,
            reliability,
            transport_priority,
            lifespan,
            destination_order,
            history,
            resource_limits,
            data_representation,
            type_consistency,
        } = self;
        changeable(topic_data, &new.topic_data)?;
        changeable(durability, &new.durability)?;
        changeable(durability_service, &new.durability_service)?;
        changeable(deadline, &new.deadline)?;
        changeable(latency_budget, &new.latency_budget)?;
        changeable(ownership, &new.ownership)?;
        changeable(liveliness, &new.liveliness)?;
        changeable(reliability, &new.reliability)?;
        changeable(transport_priority, &new.transport_priority)?;
        changeable(lifespan, &new.lifespan)?;
        changeable(destination_order, &new.destination_order)?;
        changeable(history, &new.history)?;
        changeable(resource_limits, &new.resource_limits)?;
        changeable(data_representation, &new.data_representation)?;
        changeable(type_consistency, &new.type_consistency)?;
        Ok(())
    }
}
