//! Publishers: writers with QoS in common.

use std::sync::Arc;

use whimbrel_base::qos::PublisherQos;

use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::status::EntityStatus;
use crate::error::Error;

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
}
