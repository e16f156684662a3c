//! QoS of a data reader.

use alloc::vec::Vec;

use super::compression::CompressionIds;
use super::data_representation::{DataRepresentation, DataRepresentationId};
use super::deadline::Deadline;
use super::destination_order::DestinationOrder;
use super::durability::Durability;
use super::history::History;
use super::latency_budget::LatencyBudget;
use super::liveliness::{Liveliness, LivelinessKind};
use super::ownership::Ownership;
use super::policy::{
    ImmutablePolicy, InconsistentPolicy, PolicyId, UnsupportedPolicy, changeable, supported,
};
use super::reader_data_lifecycle::ReaderDataLifecycle;
use super::reliability::{Reliability, ReliabilityKind};
use super::resource_limits::ResourceLimits;
use super::setters::{
    check_history, check_octets, check_representation, consistent, endpoint_setters,
};
use super::time_based_filter::TimeBasedFilter;
use super::topic_qos::TopicQos;
use super::type_consistency::TypeConsistency;
use super::user_data::UserData;
use crate::time::Duration;

/// QoS of a data reader. By default BEST_EFFORT, KEEP_LAST 1, VOLATILE. DDS 1.4 §2.2.2.5.3.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DataReaderQos {
    /// Octets of the application's own.
    pub user_data: UserData,
    /// What late joiners get.
    pub durability: Durability,
    /// How often each instance is written at least.
    pub deadline: Deadline,
    /// How long a sample may be held back.
    pub latency_budget: LatencyBudget,
    /// Who may update an instance.
    pub ownership: Ownership,
    /// How a writer shows that it is alive.
    pub liveliness: Liveliness,
    /// How often an instance is heard of at most.
    pub time_based_filter: TimeBasedFilter,
    /// Whether lost samples are sent again.
    pub reliability: Reliability,
    /// By which time samples are sorted.
    pub destination_order: DestinationOrder,
    /// How many samples of each instance are kept.
    pub history: History,
    /// How much is kept at most.
    pub resource_limits: ResourceLimits,
    /// How long the rest of ended instances is kept.
    pub reader_data_lifecycle: ReaderDataLifecycle,
    /// How samples are encoded.
    pub data_representation: DataRepresentation,
    /// How far the types may differ.
    pub type_consistency: TypeConsistency,
}

impl DataReaderQos {
    endpoint_setters!();

    /// USER_DATA: octets of the application's own.
    #[must_use]
    pub fn user_data(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.user_data.value = value.into();
        self
    }

    /// TIME_BASED_FILTER: the shortest time between two samples of an instance.
    #[must_use]
    pub fn minimum_separation(mut self, span: Duration) -> Self {
        self.time_based_filter.minimum_separation = span;
        self
    }

    /// READER_DATA_LIFECYCLE: how long the rest of ended instances is kept.
    #[must_use]
    pub fn reader_data_lifecycle(mut self, lifecycle: ReaderDataLifecycle) -> Self {
        self.reader_data_lifecycle = lifecycle;
        self
    }

    /// TYPE_CONSISTENCY_ENFORCEMENT: how far the types may differ.
    #[must_use]
    pub fn type_consistency(mut self, consistency: TypeConsistency) -> Self {
        self.type_consistency = consistency;
        self
    }

    /// Takes over what the topic says where topics and readers have the same policy: the
    /// standard's `copy_from_topic_qos`. DDS 1.4 §2.2.2.5.2.11.
    #[must_use]
    pub fn from_topic(mut self, topic: &TopicQos) -> Self {
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
        self
    }

    /// Refuses values that contradict each other. DDS 1.4 §2.2.3.
    pub fn check(&self) -> Result<(), InconsistentPolicy> {
        check_octets(PolicyId::UserData, &self.user_data.value)?;
        check_history(PolicyId::History, self.history, &self.resource_limits)?;
        consistent(
            self.deadline.period >= self.time_based_filter.minimum_separation,
            PolicyId::Deadline,
            PolicyId::TimeBasedFilter,
            "the deadline must not be shorter than the minimum separation",
        )?;
        check_representation(&self.data_representation)?;
        Ok(())
    }

    /// Refuses, by name, policies whose behaviour does not exist here yet.
    pub fn check_supported(&self) -> Result<(), UnsupportedPolicy> {
        let Self {
            user_data,
            durability,
            deadline,
            latency_budget,
            ownership,
            liveliness,
            time_based_filter,
            reliability,
            destination_order,
            history,
            resource_limits,
            reader_data_lifecycle,
            data_representation,
            type_consistency,
        } = self;
        supported(user_data)?;
        supported(durability)?;
        supported(deadline)?;
        supported(latency_budget)?;
        supported(ownership)?;
        supported(liveliness)?;
        supported(time_based_filter)?;
        supported(reliability)?;
        supported(destination_order)?;
        supported(history)?;
        supported(resource_limits)?;
        supported(reader_data_lifecycle)?;
        supported(data_representation)?;
        supported(type_consistency)?;
        Ok(())
    }

    /// Refuses a change from this to `new` that an enabled reader cannot make.
    /// DDS 1.4 §2.2.3, table, "Changeable".
    pub fn check_change(&self, new: &Self) -> Result<(), ImmutablePolicy> {
        let Self {
            user_data,
            durability,
            deadline,
            latency_budget,
            ownership,
            liveliness,
            time_based_filter,
            reliability,
            destination_order,
            history,
            resource_limits,
            reader_data_lifecycle,
            data_representation,
            type_consistency,
        } = self;
        changeable(user_data, &new.user_data)?;
        changeable(durability, &new.durability)?;
        changeable(deadline, &new.deadline)?;
        changeable(latency_budget, &new.latency_budget)?;
        changeable(ownership, &new.ownership)?;
        changeable(liveliness, &new.liveliness)?;
        changeable(time_based_filter, &new.time_based_filter)?;
        changeable(reliability, &new.reliability)?;
        changeable(destination_order, &new.destination_order)?;
        changeable(history, &new.history)?;
        changeable(resource_limits, &new.resource_limits)?;
        changeable(reader_data_lifecycle, &new.reader_data_lifecycle)?;
        changeable(data_representation, &new.data_representation)?;
        changeable(type_consistency, &new.type_consistency)?;
        Ok(())
    }
}
