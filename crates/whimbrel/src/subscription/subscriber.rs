//! Subscribers: readers with QoS in common.

use std::sync::Arc;

use whimbrel_base::qos::SubscriberQos;

use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::status::EntityStatus;
use crate::error::Error;

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
}
