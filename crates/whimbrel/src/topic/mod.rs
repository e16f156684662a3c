//! Topics: a name, a type and QoS.

use crate::driver::sync::{Arc, Mutex, lock};
use std::fmt;
use std::marker::PhantomData;

use whimbrel_base::qos::TopicQos;
use whimbrel_base::status::{InconsistentTopic, StatusMask};
use whimbrel_types::DdsType;

use crate::domain::{DomainParticipant, ParticipantInner};
use crate::driver::topic::TopicCore;
use crate::error::Error;
use crate::members::Members;

/// A name for data of type `T`. DDS 1.4 §2.2.2.3.
///
/// Clones name the same topic.
pub struct Topic<T> {
    pub(crate) inner: Arc<TopicInner>,
    marker: PhantomData<fn() -> T>,
}

pub(crate) struct TopicInner {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) qos: Mutex<TopicQos>,
    /// Its writers and readers.
    pub(crate) endpoints: Members,
    pub(crate) core: Arc<TopicCore>,
    pub(crate) participant: Arc<ParticipantInner>,
}

impl<T: DdsType> Topic<T> {
    pub(crate) fn new(inner: TopicInner) -> Self {
        Self {
            inner: Arc::new(inner),
            marker: PhantomData,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The name of its type on the bus.
    pub fn type_name(&self) -> &str {
        &self.inner.type_name
    }

    /// Its QoS.
    pub fn qos(&self) -> TopicQos {
        lock(&self.inner.qos).clone()
    }

    /// Changes its QoS; writers and readers made with it, or with clones of it, are announced
    /// anew. DDS 1.4 §2.2.2.1.2.
    ///
    /// # Errors
    /// Policies that cannot change, contradict each other or do not exist yet.
    pub fn set_qos(&self, qos: TopicQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        {
            let mut current = lock(&self.inner.qos);
            current.check_change(&qos)?;
            *current = qos;
        }
        let inner = &self.inner;
        inner.endpoints.announce(&inner.participant.core);
        Ok(())
    }

    /// Times that somebody used its name for another type. DDS 1.4 §2.2.2.3.2.1.
    ///
    /// Reading it starts the change count anew. All handles of one name share the status.
    pub fn inconsistent_topic_status(&self) -> InconsistentTopic {
        self.inner.core.take_inconsistent_topic()
    }

    /// The statuses that changed since they were last read. DDS 1.4 §2.2.2.1.1.6
    /// (get_status_changes).
    pub fn status_changes(&self) -> StatusMask {
        self.inner.core.status.changed()
    }

    /// The participant it belongs to.
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant {
            inner: Arc::clone(&self.inner.participant),
        }
    }
}

impl<T> Clone for Topic<T> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            marker: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Topic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topic({}: {})", self.inner.name, self.inner.type_name)
    }
}

impl Drop for TopicInner {
    fn drop(&mut self) {
        let listener = self.participant.forget_topic(&self.core);
        drop(listener);
    }
}
