//! The participant and what it can tell of the bus.

use crate::driver::sync::atomic::{AtomicU32, Ordering};
use crate::driver::sync::{Arc, Mutex, lock};
use std::collections::BTreeMap;

use whimbrel_base::guid::{EntityId, EntityKind, Guid};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::{DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_net::interfaces::Interface;

use crate::driver::callbacks::Callback;
use crate::driver::handle::handle_of;
use crate::driver::participant::ParticipantCore;
use crate::driver::topic::TopicCore;
use crate::error::Error;

/// A program's membership in a domain. DDS 1.4 §2.2.2.2.1.
///
/// Clones are the same participant; it leaves the domain when the last clone and the last entity
/// made from it are dropped.
#[derive(Clone, Debug)]
pub struct DomainParticipant {
    pub(crate) inner: Arc<ParticipantInner>,
}

/// QoS of what is created without any being given.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub(super) topic: Mutex<TopicQos>,
    pub(super) publisher: Mutex<PublisherQos>,
    pub(super) subscriber: Mutex<SubscriberQos>,
}

#[derive(Debug)]
pub(crate) struct ParticipantInner {
    pub(crate) core: Arc<ParticipantCore>,
    domain: u32,
    name: String,
    qos: Mutex<DomainParticipantQos>,
    pub(super) defaults: Defaults,
    next_entity: AtomicU32,
    /// Type name and number of handles of each topic.
    pub(super) topics: Mutex<BTreeMap<String, (String, usize)>>,
}

impl ParticipantInner {
    pub(super) fn new(
        core: Arc<ParticipantCore>,
        domain: u32,
        name: String,
        qos: DomainParticipantQos,
    ) -> Self {
        Self {
            core,
            domain,
            name,
            qos: Mutex::new(qos),
            defaults: Defaults::default(),
            next_entity: AtomicU32::new(1),
            topics: Mutex::new(BTreeMap::new()),
        }
    }

    /// A number for the next endpoint.
    pub(crate) fn next_entity(&self, kind: EntityKind) -> EntityId {
        EntityId::user(self.next_entity.fetch_add(1, Ordering::Relaxed), kind)
    }

    /// A handle of `topic` is gone. Its listener, to be dropped, where that was the last.
    pub(crate) fn forget_topic(&self, topic: &TopicCore) -> Vec<Callback> {
        let mut topics = lock(&self.topics);
        let Some((_, handles)) = topics.get_mut(&topic.name) else {
            return Vec::new();
        };
        *handles -= 1;
        if *handles > 0 {
            return Vec::new();
        }
        topics.remove(&topic.name);
        topic.status.close()
    }
}

impl Drop for ParticipantInner {
    fn drop(&mut self) {
        self.core.leave();
        drop(self.core.status.close());
    }
}

impl DomainParticipant {
    /// Its domain.
    pub fn domain_id(&self) -> u32 {
        self.inner.domain
    }

    /// Its name, empty where none was given.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its QoS.
    pub fn qos(&self) -> DomainParticipantQos {
        lock(&self.inner.qos).clone()
    }

    /// Changes its QoS; the others are told at once. DDS 1.4 §2.2.2.1.2.
    ///
    /// # Errors
    /// Policies that cannot change, contradict each other or do not exist yet.
    pub fn set_qos(&self, qos: DomainParticipantQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        {
            let mut current = lock(&self.inner.qos);
            current.check_change(&qos)?;
            *current = qos;
        }
        self.inner.core.change(|control, now| {
            let user_data = lock(&self.inner.qos).user_data.value.clone();
            control.set_user_data(now, user_data);
        });
        Ok(())
    }

    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid(EntityId::PARTICIPANT)
    }

    /// Its identity as an instance handle.
    pub fn instance_handle(&self) -> InstanceHandle {
        handle_of(self.guid())
    }

    /// The network interfaces in use at the moment: they are followed as they come and go.
    pub fn interfaces(&self) -> Vec<Interface> {
        self.inner.core.interfaces()
    }
}
