//! QoS of a domain participant.

use alloc::vec::Vec;

use super::entity_factory::EntityFactory;
use super::policy::{
    ImmutablePolicy, InconsistentPolicy, PolicyId, UnsupportedPolicy, changeable, supported,
};
use super::setters::check_octets;
use super::user_data::UserData;

/// QoS of a domain participant. DDS 1.4 §2.2.2.2.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DomainParticipantQos {
    /// Octets of the application's own.
    pub user_data: UserData,
    /// Whether created entities are enabled at once.
    pub entity_factory: EntityFactory,
}

impl DomainParticipantQos {
    /// USER_DATA: octets of the application's own.
    #[must_use]
    pub fn user_data(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.user_data.value = value.into();
        self
    }

    /// ENTITY_FACTORY: whether created entities are enabled at once.
    #[must_use]
    pub fn autoenable_created_entities(mut self, yes: bool) -> Self {
        self.entity_factory.autoenable_created_entities = yes;
        self
    }

    /// Refuses values that contradict each other. DDS 1.4 §2.2.3.
    pub fn check(&self) -> Result<(), InconsistentPolicy> {
        check_octets(PolicyId::UserData, &self.user_data.value)?;
        Ok(())
    }

    /// Refuses, by name, policies whose behaviour does not exist here yet.
    pub fn check_supported(&self) -> Result<(), UnsupportedPolicy> {
        let Self {
            user_data,
            entity_factory,
        } = self;
        supported(user_data)?;
        supported(entity_factory)?;
        Ok(())
    }

    /// Refuses a change from this to `new` that an enabled participant cannot make.
    /// DDS 1.4 §2.2.3, table, "Changeable".
    pub fn check_change(&self, new: &Self) -> Result<(), ImmutablePolicy> {
        let Self {
            user_data,
            entity_factory,
        } = self;
        changeable(user_data, &new.user_data)?;
        changeable(entity_factory, &new.entity_factory)?;
        Ok(())
    }
}
