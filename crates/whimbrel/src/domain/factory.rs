//! What a participant makes: topics, publishers, subscribers and, for short, writers and readers.

use std::sync::Arc;

use whimbrel_base::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};
use whimbrel_types::DdsType;

use super::participant::DomainParticipant;
use crate::driver::wake::lock;
use crate::error::Error;
use crate::publication::{DataWriter, Publisher};
use crate::subscription::{DataReader, Subscriber};
use crate::topic::{Topic, TopicInner};

/// Longest topic name, in octets.
const TOPIC_NAME_BYTES_MAX: usize = 255;

impl DomainParticipant {
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
