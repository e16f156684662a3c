//! Publishers: writers with QoS in common.

use std::sync::Arc;

use whimbrel_base::qos::{DataWriterQos, PublisherQos};
use whimbrel_types::DdsType;

use super::writer::DataWriter;
use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::status::EntityStatus;
use crate::error::Error;
use crate::topic::Topic;

/// A group of writers. DDS 1.4 §2.2.2.4.1.
#[derive(Clone, Debug)]
pub struct Publisher {
    pub(crate) inner: Arc<PublisherInner>,
}

#[derive(Debug)]
pub(crate) struct PublisherInner {
    pub(crate) qos: PublisherQos,
    pub(crate) participant: Arc<ParticipantInner>,
    pub(crate) status: Arc<EntityStatus>,
}

impl Publisher {
    pub(crate) fn new(participant: &DomainParticipant, qos: PublisherQos) -> Result<Self, Error> {
        qos.check()?;
        qos.check_supported()?;
        let participant = Arc::clone(&participant.inner);
        Ok(Self {
            inner: Arc::new(PublisherInner {
                qos,
                status: participant.core.new_status(),
                participant,
            }),
        })
    }

    /// Its QoS.
    pub fn qos(&self) -> &PublisherQos {
        &self.inner.qos
    }

    /// The participant it belongs to.
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant {
            inner: Arc::clone(&self.inner.participant),
        }
    }

    /// A writer of `topic`. DDS 1.4 §2.2.2.4.1.5.
    ///
    /// # Errors
    /// A topic of another participant, QoS that is inconsistent or does not exist yet.
    pub fn create_datawriter<T: DdsType>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, Error> {
        DataWriter::new(self, topic, qos)
    }
}
