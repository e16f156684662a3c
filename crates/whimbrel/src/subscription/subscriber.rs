//! Subscribers: readers with QoS in common.

use std::sync::Arc;

use whimbrel_base::qos::{DataReaderQos, SubscriberQos};
use whimbrel_types::DdsType;

use super::reader::DataReader;
use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::status::EntityStatus;
use crate::error::Error;
use crate::topic::Topic;

/// A group of readers. DDS 1.4 §2.2.2.5.2.
#[derive(Clone, Debug)]
pub struct Subscriber {
    pub(crate) inner: Arc<SubscriberInner>,
}

#[derive(Debug)]
pub(crate) struct SubscriberInner {
    pub(crate) qos: SubscriberQos,
    pub(crate) participant: Arc<ParticipantInner>,
    pub(crate) status: Arc<EntityStatus>,
}

impl Subscriber {
    pub(crate) fn new(participant: &DomainParticipant, qos: SubscriberQos) -> Result<Self, Error> {
        qos.check()?;
        qos.check_supported()?;
        let participant = Arc::clone(&participant.inner);
        Ok(Self {
            inner: Arc::new(SubscriberInner {
                qos,
                status: participant.core.new_status(),
                participant,
            }),
        })
    }

    /// Its QoS.
    pub fn qos(&self) -> &SubscriberQos {
        &self.inner.qos
    }

    /// The participant it belongs to.
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant {
            inner: Arc::clone(&self.inner.participant),
        }
    }

    /// A reader of `topic`. DDS 1.4 §2.2.2.5.2.5.
    ///
    /// # Errors
    /// A topic of another participant, QoS that is inconsistent or does not exist yet.
    pub fn create_datareader<T: DdsType>(
        &self,
        topic: &Topic<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, Error> {
        DataReader::new(self, topic, qos)
    }
}
