//! What a participant makes: topics, publishers, subscribers and, for short, writers and readers.

use crate::driver::sync::{Arc, Mutex, lock};

use whimbrel_base::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_types::DdsType;

use super::participant::DomainParticipant;
use crate::error::Error;
use crate::members::Members;
use crate::publication::{DataWriter, Publisher};
use crate::subscription::{DataReader, Subscriber};
use crate::topic::{Topic, TopicInner};

/// Longest topic name, in octets.
const TOPIC_NAME_BYTES_MAX: usize = 255;

impl DomainParticipant {
    /// A topic for data of type `T`, with [`DomainParticipant::default_topic_qos`].
    ///
    /// # Errors
    /// As [`DomainParticipant::create_topic_with_qos`].
    pub fn create_topic<T: DdsType>(&self, name: &str) -> Result<Topic<T>, Error> {
        self.create_topic_with_qos(name, self.default_topic_qos())
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
            qos: Mutex::new(qos),
            endpoints: Members::default(),
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

    /// A writer in a publisher of its own with [`DomainParticipant::default_publisher_qos`].
    ///
    /// # Errors
    /// As [`Publisher::create_datawriter`].
    pub fn create_datawriter<T: DdsType>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, Error> {
        self.create_publisher(self.default_publisher_qos())?
            .create_datawriter(topic, qos)
    }

    /// A reader in a subscriber of its own with [`DomainParticipant::default_subscriber_qos`].
    ///
    /// # Errors
    /// As [`Subscriber::create_datareader`].
    pub fn create_datareader<T: DdsType>(
        &self,
        topic: &Topic<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, Error> {
        self.create_subscriber(self.default_subscriber_qos())?
            .create_datareader(topic, qos)
    }

    /// The QoS of topics created without any. DDS 1.4 §2.2.2.2.1.25.
    pub fn default_topic_qos(&self) -> TopicQos {
        lock(&self.inner.defaults.topic).clone()
    }

    /// Changes [`DomainParticipant::default_topic_qos`]; topics that exist stay as they are.
    /// DDS 1.4 §2.2.2.2.1.24.
    ///
    /// # Errors
    /// Policies that contradict each other or do not exist yet.
    pub fn set_default_topic_qos(&self, qos: TopicQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        *lock(&self.inner.defaults.topic) = qos;
        Ok(())
    }

    /// The QoS of publishers created without any. DDS 1.4 §2.2.2.2.1.21.
    pub fn default_publisher_qos(&self) -> PublisherQos {
        lock(&self.inner.defaults.publisher).clone()
    }

    /// Changes [`DomainParticipant::default_publisher_qos`]; publishers that exist stay as they
    /// are. DDS 1.4 §2.2.2.2.1.20.
    ///
    /// # Errors
    /// Policies that contradict each other or do not exist yet.
    pub fn set_default_publisher_qos(&self, qos: PublisherQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        *lock(&self.inner.defaults.publisher) = qos;
        Ok(())
    }

    /// The QoS of subscribers created without any. DDS 1.4 §2.2.2.2.1.23.
    pub fn default_subscriber_qos(&self) -> SubscriberQos {
        lock(&self.inner.defaults.subscriber).clone()
    }

    /// Changes [`DomainParticipant::default_subscriber_qos`]; subscribers that exist stay as they
    /// are. DDS 1.4 §2.2.2.2.1.22.
    ///
    /// # Errors
    /// Policies that contradict each other or do not exist yet.
    pub fn set_default_subscriber_qos(&self, qos: SubscriberQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        *lock(&self.inner.defaults.subscriber) = qos;
        Ok(())
    }
}
