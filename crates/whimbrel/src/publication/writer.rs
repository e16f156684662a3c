//! Writers of data.

use crate::driver::sync::{Arc, Mutex, Weak, lock};
use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration as StdDuration;

use whimbrel_base::guid::{EntityKind, Guid};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::DataWriterQos;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_proto::change::ChangeKind;
use whimbrel_proto::writer::{WriteError, WriterStatistics};
use whimbrel_proto::{LocalWriter, Participant};
use whimbrel_types::{DdsType, Representation};

use super::publisher::{Publisher, PublisherInner};
use super::settings::{
    WriterPacker, bundling_of, check, check_way_change, in_process, limit, machine_config,
    set_packers,
};
use super::stamp::Stamp;
use crate::domain::DiscoveredReader;
use crate::driver::clock;
use crate::driver::compression::{CompressionStatistics, check_built_in};
use crate::driver::handle::handle_of;
use crate::driver::manners::Manners;
use crate::driver::memory::EndpointMemory;
use crate::driver::status::{Entity, EntityStatus};
use crate::driver::writer::WriterCore;
use crate::error::Error;
use crate::members::Member;
use crate::topic::{Topic, TopicInner};

/// Writes data of type `T` to a topic. DDS 1.4 §2.2.2.4.2.
///
/// Clones are the same writer; it leaves the bus when the last one is dropped. Its instances then
/// lose their writer; they are not disposed (dispose or unregister them where that is meant).
pub struct DataWriter<T: DdsType> {
    pub(crate) inner: Arc<WriterInner>,
    marker: PhantomData<fn(T)>,
}

pub(crate) struct WriterInner {
    pub(crate) core: Arc<WriterCore>,
    pub(crate) topic: Arc<TopicInner>,
    pub(crate) publisher: Arc<PublisherInner>,
    pub(crate) qos: Mutex<DataWriterQos>,
    pub(super) representation: Representation,
    /// Compresses what is written.
    pub(super) packer: Option<WriterPacker>,
    /// The type of what is written.
    pub(crate) data_type: TypeId,
}

impl Publisher {
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

    /// A writer of this publisher for data of type `T` on the topic `topic_name`, if there is one.
    /// DDS 1.4 §2.2.2.4.1.7.
    pub fn lookup_datawriter<T: DdsType>(&self, topic_name: &str) -> Option<DataWriter<T>> {
        let wanted =
            |it: &WriterInner| it.topic.name == topic_name && it.data_type == TypeId::of::<T>();
        self.inner.writers.find(wanted).map(DataWriter::from_inner)
    }
}

impl<T: DdsType> DataWriter<T> {
    fn new(publisher: &Publisher, topic: &Topic<T>, qos: DataWriterQos) -> Result<Self, Error> {
        check(&qos)?;
        let participant = &publisher.inner.participant;
        if !Arc::ptr_eq(participant, &topic.inner.participant) {
            return Err(Error::PreconditionNotMet(
                "the topic belongs to another participant; create it from the publisher's".into(),
            ));
        }
        let representation = Representation::of_writer(&qos.data_representation)
            .ok_or_else(|| Error::BadParameter("the writer needs XCDR1 or XCDR2".into()))?;
        let compression = qos.data_representation.compression;
        check_built_in(&compression)?;
        let kind = if T::KEYED {
            EntityKind::WriterWithKey
        } else {
            EntityKind::WriterNoKey
        };
        let entity = participant.next_entity(kind);
        let guid = participant.core.guid(entity);
        let shared = &participant.core;
        let automatic = shared.automatic_bundling();
        let bundling = bundling_of(&qos, &lock(&publisher.inner.qos), automatic);
        let mut config = machine_config(guid, &qos, bundling);
        config.budget = Some(Arc::clone(&shared.budget));
        config.shared_rate = Some(Arc::clone(&shared.rate));
        config.joined_bytes_max = shared.joined_bytes_max();
        shared.look(|control| limit(&mut config, control.config()));
        let core = WriterCore::new(
            config,
            Arc::clone(&shared.sockets),
            shared.driver.engine(),
            EntityStatus::new(&shared.driver.callbacks, Some(&publisher.inner.status)),
            Arc::clone(&shared.warnings),
            Arc::clone(&shared.rejects),
            Manners {
                in_process: in_process(&qos, shared.in_process()),
                data_type: Some(TypeId::of::<T>()),
            },
        );
        let packer = set_packers(&core, &qos);
        participant.core.add_writer(&core);
        let inner = Arc::new(WriterInner {
            core,
            topic: Arc::clone(&topic.inner),
            publisher: Arc::clone(&publisher.inner),
            qos: Mutex::new(qos),
            representation,
            packer,
            data_type: TypeId::of::<T>(),
        });
        // First: whoever finds it may have it told of something.
        let owner: Weak<WriterInner> = Arc::downgrade(&inner);
        inner.core.status.set_owner(owner);
        let member: Arc<dyn Member> = Arc::clone(&inner) as _;
        {
            let suspended = lock(&publisher.inner.suspended);
            if *suspended > 0 {
                inner.core.suspend();
            }
            inner.publisher.writers.add(Arc::downgrade(&member));
        }
        inner.topic.endpoints.add(Arc::downgrade(&member));
        drop(member);
        participant
            .core
            .change(|control, now| inner.announce(control, now));
        Ok(Self::from_inner(inner))
    }

    pub(crate) fn from_inner(inner: Arc<WriterInner>) -> Self {
        Self {
            inner,
            marker: PhantomData,
        }
    }

    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid
    }

    /// Its identity as an instance handle.
    pub fn instance_handle(&self) -> InstanceHandle {
        handle_of(self.guid())
    }

    /// Its QoS.
    pub fn qos(&self) -> DataWriterQos {
        lock(&self.inner.qos).clone()
    }

    /// Changes its QoS. DDS 1.4 §2.2.2.1.2.
    ///
    /// # Errors
    /// Policies that cannot change, contradict each other or do not exist yet.
    pub fn set_qos(&self, qos: DataWriterQos) -> Result<(), Error> {
        check(&qos)?;
        {
            let mut current = lock(&self.inner.qos);
            current.check_change(&qos)?;
            check_way_change(&current, &qos)?;
            *current = qos;
        }
        self.inner.follow_group();
        let participant = &self.inner.publisher.participant;
        participant
            .core
            .change(|control, now| self.inner.announce(control, now));
        Ok(())
    }

    /// The publisher it belongs to.
    pub fn publisher(&self) -> Publisher {
        Publisher {
            inner: Arc::clone(&self.inner.publisher),
        }
    }

    /// The name of its topic.
    pub fn topic_name(&self) -> &str {
        &self.inner.topic.name
    }

    /// Writes `value` with the current time. DDS 1.4 §2.2.2.4.2.11.
    ///
    /// Stamps of one writer do not go back, whichever threads write by it, unless the wall clock is
    /// stepped back or the program itself gives them.
    ///
    /// Blocks while history is full, at most for `max_blocking_time`.
    ///
    /// Where all matched readers are in this process and read the same Rust type, they get a copy
    /// ([`DdsValue::duplicate`]), and nothing is encoded; they count what it keeps
    /// ([`DdsValue::held_bytes`]) towards their limits. The thread keeps such copies to use them
    /// again, of each type at most 64 and 256 KiB.
    ///
    /// [`DdsValue::duplicate`]: whimbrel_types::DdsValue::duplicate
    /// [`DdsValue::held_bytes`]: whimbrel_types::DdsValue::held_bytes
    ///
    /// # Errors
    /// [`Error::Timeout`] when history stayed full, [`Error::OutOfResources`] over a limit, or a
    /// value that cannot be encoded.
    pub fn write(&self, value: &T) -> Result<(), Error> {
        self.put((ChangeKind::Alive, value), None, || self.max_blocking())
    }

    /// As [`DataWriter::write`], with a timestamp. DDS 1.4 §2.2.2.4.2.12.
    ///
    /// # Errors
    /// As [`DataWriter::write`].
    pub fn write_with_timestamp(&self, value: &T, timestamp: Timestamp) -> Result<(), Error> {
        let at = Some(Stamp::of(timestamp));
        self.put((ChangeKind::Alive, value), at, || self.max_blocking())
    }

    /// As [`DataWriter::write`] but never blocks.
    ///
    /// # Errors
    /// [`Error::Timeout`] when history is full; else as [`DataWriter::write`].
    pub fn try_write(&self, value: &T) -> Result<(), Error> {
        self.put((ChangeKind::Alive, value), None, || Some(StdDuration::ZERO))
    }

    /// Deletes the instance that `value` belongs to. DDS 1.4 §2.2.2.4.2.13.
    ///
    /// # Errors
    /// [`Error::PreconditionNotMet`] for a type without key; else as [`DataWriter::write`].
    pub fn dispose(&self, value: &T) -> Result<(), Error> {
        needs_key::<T>()?;
        self.put((ChangeKind::Disposed, value), None, || self.max_blocking())
    }

    /// As [`DataWriter::dispose`], with a timestamp. DDS 1.4 §2.2.2.4.2.14.
    ///
    /// # Errors
    /// As [`DataWriter::dispose`].
    pub fn dispose_with_timestamp(&self, value: &T, timestamp: Timestamp) -> Result<(), Error> {
        needs_key::<T>()?;
        let at = Some(Stamp::of(timestamp));
        self.put((ChangeKind::Disposed, value), at, || self.max_blocking())
    }

    pub(super) fn max_blocking(&self) -> Option<StdDuration> {
        let wait = lock(&self.inner.qos).reliability.max_blocking_time;
        (!wait.is_infinite()).then(|| clock::span(wait))
    }

    /// The matched readers. DDS 1.4 §2.2.2.4.2.21.
    pub fn matched_subscriptions(&self) -> Vec<InstanceHandle> {
        self.inner
            .core
            .lock()
            .matched
            .iter()
            .copied()
            .map(handle_of)
            .collect()
    }

    /// What is known of the matched reader with this handle. DDS 1.4 §2.2.2.4.2.22.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a reader that is not matched.
    pub fn matched_subscription_data(
        &self,
        reader: InstanceHandle,
    ) -> Result<DiscoveredReader, Error> {
        let participant = self.publisher().participant();
        let mut matched = self.matched_subscriptions().into_iter();
        let known = matched.any(|handle| handle == reader).then(|| {
            let mut readers = participant.discovered_readers().into_iter();
            readers.find(|it| handle_of(it.guid) == reader)
        });
        known
            .flatten()
            .ok_or_else(|| Error::BadParameter(format!("reader {reader} is not matched")))
    }

    /// What this writer holds.
    pub fn memory(&self) -> EndpointMemory {
        self.inner.core.memory(&self.inner.topic.name)
    }

    /// What compression did for this writer; nothing where it does not compress.
    pub fn compression_statistics(&self) -> CompressionStatistics {
        let packer = self.inner.packer.as_ref().map(|it| &it.packer);
        let mut statistics = packer.map_or_else(Default::default, |it| lock(it).statistics());
        self.inner.core.lock().left_plain().add_to(&mut statistics);
        statistics
    }

    /// Counters of this writer.
    pub fn statistics(&self) -> WriterStatistics {
        self.inner.core.lock().machine.statistics()
    }
}

impl WriterInner {
    /// What discovery tells of this writer. Ask under the lock of the control machine, or what is
    /// told last may not be the newest.
    fn local(&self) -> LocalWriter {
        LocalWriter {
            entity: self.core.guid.entity,
            topic_name: self.topic.name.clone(),
            type_name: self.topic.type_name.clone(),
            qos: lock(&self.qos).clone(),
            publisher: lock(&self.publisher.qos).clone(),
            topic: lock(&self.topic.qos).clone(),
        }
    }
}

impl Entity for WriterInner {
    fn status(&self) -> &EntityStatus {
        &self.core.status
    }
}

impl Member for WriterInner {
    fn announce(&self, control: &mut Participant, now: Instant) {
        control.update_writer(now, self.local());
    }

    fn follow_group(&self) {
        let automatic = self.publisher.participant.core.automatic_bundling();
        let bundling = bundling_of(&lock(&self.qos), &lock(&self.publisher.qos), automatic);
        self.core.set_bundling(bundling);
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Drop for WriterInner {
    fn drop(&mut self) {
        self.core.flush_last();
        self.publisher
            .participant
            .core
            .remove_writer(self.core.guid.entity);
        drop(self.core.status.close());
    }
}

impl<T: DdsType> Clone for DataWriter<T> {
    fn clone(&self) -> Self {
        Self::from_inner(Arc::clone(&self.inner))
    }
}

impl<T: DdsType> fmt::Debug for DataWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DataWriter({} {})",
            self.inner.topic.name, self.inner.core.guid
        )
    }
}

pub(super) fn needs_key<T: DdsType>() -> Result<(), Error> {
    if T::KEYED {
        return Ok(());
    }
    Err(Error::PreconditionNotMet(format!(
        "type {} has no key, so no instances",
        T::TYPE_NAME
    )))
}

pub(crate) fn write_error(error: WriteError) -> Error {
    match error {
        WriteError::WouldBlock => Error::Timeout,
        WriteError::TooLarge { bytes_max } => {
            Error::OutOfResources(format!("the sample is larger than {bytes_max} octets"))
        }
        WriteError::OutOfMemory => Error::OutOfResources(
            "the participant holds as many octets as its limit memory_bytes_max allows; take \
             samples, dispose and unregister instances, or raise it"
                .into(),
        ),
        WriteError::TooManyInstances => Error::OutOfResources(
            "RESOURCE_LIMITS max_instances is reached; unregister instances or raise it".into(),
        ),
    }
}
