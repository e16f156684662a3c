//! Publishers: writers with QoS in common.

use crate::driver::sync::{Arc, Mutex, lock};

use whimbrel_base::qos::{DataWriterQos, PublisherQos};

use super::settings::check_bundling;
use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::status::EntityStatus;
use crate::error::Error;
use crate::members::Members;

/// A group of writers. DDS 1.4 §2.2.2.4.1.
#[derive(Clone, Debug)]
pub struct Publisher {
    pub(crate) inner: Arc<PublisherInner>,
}

#[derive(Debug)]
pub(crate) struct PublisherInner {
    pub(crate) qos: Mutex<PublisherQos>,
    default_datawriter_qos: Mutex<DataWriterQos>,
    pub(super) writers: Members,
    /// How often publications are suspended.
    pub(super) suspended: Mutex<u32>,
    pub(crate) participant: Arc<ParticipantInner>,
    pub(crate) status: Arc<EntityStatus>,
}

impl Drop for PublisherInner {
    fn drop(&mut self) {
        drop(self.status.close());
    }
}

impl Publisher {
    pub(crate) fn new(participant: &DomainParticipant, qos: PublisherQos) -> Result<Self, Error> {
        qos.check()?;
        qos.check_supported()?;
        check_bundling(qos.bundling)?;
        let participant = Arc::clone(&participant.inner);
        Ok(Self {
            inner: Arc::new(PublisherInner {
                qos: Mutex::new(qos),
                default_datawriter_qos: Mutex::default(),
                writers: Members::default(),
                suspended: Mutex::default(),
                status: participant.core.new_status(),
                participant,
            }),
        })
    }

    /// Its QoS.
    pub fn qos(&self) -> PublisherQos {
        lock(&self.inner.qos).clone()
    }

    /// Changes its QoS; its writers are announced anew and matched again, so that a changed
    /// PARTITION ends matches and makes new ones. DDS 1.4 §2.2.2.1.2.
    ///
    /// # Errors
    /// Policies that cannot change, contradict each other or do not exist yet.
    pub fn set_qos(&self, qos: PublisherQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        check_bundling(qos.bundling)?;
        {
            let mut current = lock(&self.inner.qos);
            current.check_change(&qos)?;
            *current = qos;
        }
        let inner = &self.inner;
        inner.writers.announce(&inner.participant.core);
        Ok(())
    }

    /// The QoS to start from for writers created here. DDS 1.4 §2.2.2.4.1.16.
    pub fn default_datawriter_qos(&self) -> DataWriterQos {
        lock(&self.inner.default_datawriter_qos).clone()
    }

    /// Changes what [`Publisher::default_datawriter_qos`] returns; writers that exist stay as they
    /// are. DDS 1.4 §2.2.2.4.1.15.
    ///
    /// # Errors
    /// Policies that contradict each other or do not exist yet.
    pub fn set_default_datawriter_qos(&self, qos: DataWriterQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        *lock(&self.inner.default_datawriter_qos) = qos;
        Ok(())
    }

    /// The participant it belongs to.
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant {
            inner: Arc::clone(&self.inner.participant),
        }
    }
}
