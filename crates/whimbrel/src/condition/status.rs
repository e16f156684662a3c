//! Conditions on the statuses of an entity.

use std::sync::{Arc, Weak};

use whimbrel_base::status::StatusMask;
use whimbrel_types::DdsType;

use crate::domain::DomainParticipant;
use crate::driver::status::EntityStatus;
use crate::driver::wake::Bell;
use crate::publication::{DataWriter, Publisher};
use crate::subscription::{DataReader, Subscriber};
use crate::topic::Topic;

/// True while an enabled status of an entity has changed and was not read. DDS 1.4 §2.2.2.1.9.
///
/// An entity has one status condition; all handles from it enable the same statuses.
#[derive(Clone, Debug)]
pub struct StatusCondition {
    status: Weak<EntityStatus>,
    bell: Arc<Bell>,
}

impl StatusCondition {
    fn of(status: &Arc<EntityStatus>) -> Self {
        Self {
            status: Arc::downgrade(status),
            bell: Arc::clone(&status.bell),
        }
    }

    /// The statuses that make it true; all of them at first, none once the entity is gone.
    /// DDS 1.4 §2.2.2.1.9.2.
    pub fn enabled_statuses(&self) -> StatusMask {
        self.entity()
            .map_or(StatusMask::NONE, |status| status.enabled())
    }

    /// Sets the statuses that make it true. DDS 1.4 §2.2.2.1.9.1.
    pub fn set_enabled_statuses(&self, kinds: impl Into<StatusMask>) {
        if let Some(status) = self.entity() {
            status.enable(kinds.into());
        }
    }

    /// Whether an enabled status has changed. DDS 1.4 §2.2.2.1.7.1.
    pub fn trigger_value(&self) -> bool {
        self.entity()
            .is_some_and(|status| status.changed().intersects(status.enabled()))
    }

    fn entity(&self) -> Option<Arc<EntityStatus>> {
        self.status.upgrade().filter(|status| status.is_alive())
    }

    pub(super) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }
}

impl PartialEq for StatusCondition {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.status, &other.status)
    }
}

impl Eq for StatusCondition {}

impl<T: DdsType> DataWriter<T> {
    /// Its status condition. DDS 1.4 §2.2.2.1.1.5.
    pub fn status_condition(&self) -> StatusCondition {
        StatusCondition::of(&self.inner.core.status)
    }
}

impl<T: DdsType> DataReader<T> {
    /// Its status condition. DDS 1.4 §2.2.2.1.1.5.
    pub fn status_condition(&self) -> StatusCondition {
        StatusCondition::of(&self.inner.core.status)
    }
}

impl<T: DdsType> Topic<T> {
    /// Its status condition. DDS 1.4 §2.2.2.1.1.5.
    pub fn status_condition(&self) -> StatusCondition {
        StatusCondition::of(&self.inner.core.status)
    }
}

impl Publisher {
    /// Its status condition, which is never true: publishers have no statuses of their own.
    /// DDS 1.4 §2.2.2.1.1.5.
    pub fn status_condition(&self) -> StatusCondition {
        StatusCondition::of(&self.inner.status)
    }
}

impl Subscriber {
    /// Its status condition, for DATA_ON_READERS. DDS 1.4 §2.2.2.1.1.5.
    pub fn status_condition(&self) -> StatusCondition {
        StatusCondition::of(&self.inner.status)
    }
}

impl DomainParticipant {
    /// Its status condition, which is never true: participants have no statuses of their own.
    /// DDS 1.4 §2.2.2.1.1.5.
    pub fn status_condition(&self) -> StatusCondition {
        StatusCondition::of(&self.inner.core.status)
    }
}
