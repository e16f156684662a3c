//! QoS of a publisher.

use alloc::string::String;
use alloc::vec::Vec;

use super::bundling::Bundling;
use super::entity_factory::EntityFactory;
use super::group_data::GroupData;
use super::partition::Partition;
use super::policy::{
    ImmutablePolicy, InconsistentPolicy, PolicyId, UnsupportedPolicy, changeable, supported,
};
use super::presentation::Presentation;
use super::setters::check_octets;

/// QoS of a publisher. DDS 1.4 §2.2.2.4.1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PublisherQos {
    /// Octets of the application's own.
    pub group_data: GroupData,
    /// How changes of several instances hang together.
    pub presentation: Presentation,
    /// Names that publisher and subscriber must share.
    pub partition: Partition,
    /// Whether created entities are enabled at once.
    pub entity_factory: EntityFactory,
    /// When the samples of its writers share messages.
    pub bundling: Bundling,
}

impl PublisherQos {
    /// GROUP_DATA: octets of the application's own.
    #[must_use]
    pub fn group_data(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.group_data.value = value.into();
        self
    }

    /// PARTITION: one more partition to be in, a name or a pattern.
    #[must_use]
    pub fn partition(mut self, name: impl Into<String>) -> Self {
        self.partition.names.push(name.into());
        self
    }

    /// PRESENTATION: how changes of several instances hang together.
    #[must_use]
    pub fn presentation(mut self, presentation: Presentation) -> Self {
        self.presentation = presentation;
        self
    }

    /// ENTITY_FACTORY: whether created entities are enabled at once.
    #[must_use]
    pub fn autoenable_created_entities(mut self, yes: bool) -> Self {
        self.entity_factory.autoenable_created_entities = yes;
        self
    }

    /// When the samples of its writers share messages, where they say nothing else.
    #[must_use]
    pub fn bundling(mut self, bundling: Bundling) -> Self {
        self.bundling = bundling;
        self
    }

    /// Refuses values that contradict each other. DDS 1.4 §2.2.3.
    pub fn check(&self) -> Result<(), InconsistentPolicy> {
        check_octets(PolicyId::GroupData, &self.group_data.value)?;
        Ok(())
    }

    /// Refuses, by name, policies whose behaviour does not exist here yet.
    pub fn check_supported(&self) -> Result<(), UnsupportedPolicy> {
        let Self {
            group_data,
            presentation,
            partition,
            entity_factory,
            bundling: _,
        } = self;
        supported(group_data)?;
        supported(presentation)?;
        supported(partition)?;
        supported(entity_factory)?;
        Ok(())
    }

    /// Refuses a change from this to `new` that an enabled publisher cannot make.
    /// DDS 1.4 §2.2.3, table, "Changeable".
    pub fn check_change(&self, new: &Self) -> Result<(), ImmutablePolicy> {
        let Self {
            group_data,
            presentation,
            partition,
            entity_factory,
            bundling: _,
        } = self;
        changeable(group_data, &new.group_data)?;
        changeable(presentation, &new.presentation)?;
        changeable(partition, &new.partition)?;
        changeable(entity_factory, &new.entity_factory)?;
        Ok(())
    }
}
