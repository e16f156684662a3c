//! The participant and what it can tell of the bus.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use whimbrel_base::guid::{EntityId, EntityKind, Guid};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::{
    DataReaderQos, DataWriterQos, DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos,
};
use whimbrel_net::interfaces::Interface;
use whimbrel_types::DdsType;

use super::builder::DomainParticipantBuilder;
use crate::driver::participant::ParticipantCore;
use crate::driver::wake::lock;
use crate::driver::writer::handle_of;
use crate::error::Error;
use crate::publication::{DataWriter, Publisher};
use crate::subscription::{DataReader, Subscriber};
use crate::topic::{Topic, TopicInner};

/// Longest topic name, in octets.
const TOPIC_NAME_BYTES_MAX: usize = 255;

/// A program's membership in a domain. DDS 1.4 §2.2.2.2.1.
///
/// Clones are the same participant; it leaves the domain when the last clone and the last entity
/// made from it are dropped.
#[derive(Clone, Debug)]
pub struct DomainParticipant {
    pub(crate) inner: Arc<ParticipantInner>,
}

#[derive(Debug)]
pub(crate) struct ParticipantInner {
    pub(crate) core: Arc<ParticipantCore>,
    domain: u32,
    name: String,
    qos: DomainParticipantQos,
    interfaces: Vec<Interface>,
    next_entity: AtomicU32,
    /// Type name and number of handles of each topic.
    topics: Mutex<BTreeMap<String, (String, usize)>>,
}

impl ParticipantInner {
    pub(super) fn new(
        core: Arc<ParticipantCore>,
        domain: u32,
        name: String,
        qos: DomainParticipantQos,
        interfaces: Vec<Interface>,
    ) -> Self {
        Self {
            core,
            domain,
            name,
            qos,
            interfaces,
            next_entity: AtomicU32::new(1),
            topics: Mutex::new(BTreeMap::new()),
        }
    }

    /// A number for the next endpoint.
    pub(crate) fn next_entity(&self, kind: EntityKind) -> EntityId {
        EntityId::user(self.next_entity.fetch_add(1, Ordering::Relaxed), kind)
    }

    pub(crate) fn forget_topic(&self, name: &str) {
        let mut topics = lock(&self.topics);
        if let Some((_, handles)) = topics.get_mut(name) {
            *handles -= 1;
            if *handles == 0 {
                topics.remove(name);
            }
        }
    }
}

impl DomainParticipant {
    /// Joins `domain` with default settings.
    ///
    /// # Errors
    /// As [`DomainParticipantBuilder::build`].
    pub fn new(domain: u32) -> Result<Self, Error> {
        Self::builder(domain).build()
    }

    /// Settings for a participant of `domain`.
    pub fn builder(domain: u32) -> DomainParticipantBuilder {
        DomainParticipantBuilder::new(domain)
    }

    /// Its domain.
    pub fn domain_id(&self) -> u32 {
        self.inner.domain
    }

    /// Its name, empty where none was given.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its QoS.
    pub fn qos(&self) -> &DomainParticipantQos {
        &self.inner.qos
    }

    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid(EntityId::PARTICIPANT)
    }

    /// Its identity as an instance handle.
    pub fn instance_handle(&self) -> InstanceHandle {
        handle_of(self.guid())
    }

    /// The network interfaces in use.
    pub fn interfaces(&self) -> &[Interface] {
        &self.inner.interfaces
    }

    /// A topic for data of type `T`, with default QoS.
    ///
    /// # Errors
    /// As [`DomainParticipant::create_topic_with_qos`].
    pub fn create_topic<T: DdsType>(&self, name: &str) -> Result<Topic<T>, Error> {
        self.create_topic_with_qos(name, TopicQos::default())
    }

    /// A topic for data of type `T`. DDS 1.4 §2.2.2.2.1.5.
    ///
    /// # Errors
    /// An empty or over-long name, a name in use here for another type, QoS that is inconsistent
    /// or does not exist yet.
    pub fn create_topic_with_qos<T: DdsType>(
        &self,
        name: &str,
        qos: TopicQos,
    ) -> Result<Topic<T>, Error> {
        let inner = self.register_topic(name, T::TYPE_NAME, qos)?;
        Ok(Topic::new(inner))
    }

    pub(crate) fn register_topic(
        &self,
        name: &str,
        type_name: &str,
        qos: TopicQos,
    ) -> Result<TopicInner, Error> {
        if name.is_empty() || name.len() > TOPIC_NAME_BYTES_MAX || name.contains('\0') {
            return Err(Error::BadParameter(format!(
                "topic names have 1 to {TOPIC_NAME_BYTES_MAX} octets without NUL, not {name:?}"
            )));
        }
        qos.check()?;
        qos.check_supported()?;
        let mut topics = lock(&self.inner.topics);
        let known = topics
            .entry(name.to_owned())
            .or_insert_with(|| (type_name.to_owned(), 0));
        if known.0 != type_name {
            return Err(Error::PreconditionNotMet(format!(
                "topic {name:?} exists here with type {:?}, not {type_name:?}",
                known.0
            )));
        }
        known.1 += 1;
        Ok(TopicInner {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            core: self.inner.core.topic(name),
            qos,
            participant: Arc::clone(&self.inner),
        })
    }

    /// A publisher. DDS 1.4 §2.2.2.2.1.1.
    ///
    /// # Errors
    /// QoS that is inconsistent or does not exist yet.
    pub fn create_publisher(&self, qos: PublisherQos) -> Result<Publisher, Error> {
        Publisher::new(self, qos)
    }

    /// A subscriber. DDS 1.4 §2.2.2.2.1.3.
    ///
    /// # Errors
    /// QoS that is inconsistent or does not exist yet.
    pub fn create_subscriber(&self, qos: SubscriberQos) -> Result<Subscriber, Error> {
        Subscriber::new(self, qos)
    }

    /// A writer in a publisher of its own with default QoS.
    ///
    /// # Errors
    /// As [`Publisher::create_datawriter`].
    pub fn create_datawriter<T: DdsType>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, Error> {
        self.create_publisher(PublisherQos::default())?
            .create_datawriter(topic, qos)
    }

    /// A reader in a subscriber of its own with default QoS.
    ///
    /// # Errors
    /// As [`Subscriber::create_datareader`].
    pub fn create_datareader<T: DdsType>(
        &self,
        topic: &Topic<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, Error> {
        self.create_subscriber(SubscriberQos::default())?
            .create_datareader(topic, qos)
    }
}
