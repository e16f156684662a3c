//! Subscribers: readers with QoS in common.

use crate::driver::sync::{Arc, Mutex, lock};

use whimbrel_base::qos::{DataReaderQos, SubscriberQos};

use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::status::EntityStatus;
use crate::error::Error;
use crate::members::Members;

/// A group of readers. DDS 1.4 §2.2.2.5.2.
#[derive(Clone, Debug)]
pub struct Subscriber {
    pub(crate) inner: Arc<SubscriberInner>,
}

#[derive(Debug)]
pub(crate) struct SubscriberInner {
    pub(crate) qos: Mutex<SubscriberQos>,
    default_datareader_qos: Mutex<DataReaderQos>,
    pub(super) readers: Members,
    pub(crate) participant: Arc<ParticipantInner>,
    pub(crate) status: Arc<EntityStatus>,
}

impl Drop for SubscriberInner {
    fn drop(&mut self) {
        drop(self.status.close());
    }
}

impl Subscriber {
    pub(crate) fn new(participant: &DomainParticipant, qos: SubscriberQos) -> Result<Self, Error> {
        qos.check()?;
        qos.check_supported()?;
        let participant = Arc::clone(&participant.inner);
        Ok(Self {
            inner: Arc::new(SubscriberInner {
                qos: Mutex::new(qos),
                default_datareader_qos: Mutex::default(),
                readers: Members::default(),
                status: participant.core.new_status(),
                participant,
            }),
        })
    }

    /// Its QoS.
    pub fn qos(&self) -> SubscriberQos {
        lock(&self.inner.qos).clone()
    }

    /// Changes its QoS; its readers are announced anew and matched again, so that a changed
    /// PARTITION ends matches and makes new ones. DDS 1.4 §2.2.2.1.2.
    ///
    /// # Errors
    /// Policies that cannot change, contradict each other or do not exist yet.
    pub fn set_qos(&self, qos: SubscriberQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        {
            let mut current = lock(&self.inner.qos);
            current.check_change(&qos)?;
            *current = qos;
        }
        let inner = &self.inner;
        inner.readers.announce(&inner.participant.core);
        Ok(())
    }

    /// The QoS to start from for readers created here. DDS 1.4 §2.2.2.5.2.16.
    pub fn default_datareader_qos(&self) -> DataReaderQos {
        lock(&self.inner.default_datareader_qos).clone()
    }

    /// Changes what [`Subscriber::default_datareader_qos`] returns; readers that exist stay as they
    /// are. DDS 1.4 §2.2.2.5.2.15.
    ///
    /// # Errors
    /// Policies that contradict each other or do not exist yet.
    pub fn set_default_datareader_qos(&self, qos: DataReaderQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        *lock(&self.inner.default_datareader_qos) = qos;
        Ok(())
    }

    /// The participant it belongs to.
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant {
            inner: Arc::clone(&self.inner.participant),
        }
    }
}
