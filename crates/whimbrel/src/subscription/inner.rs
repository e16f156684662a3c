//! What all handles of a reader share.

use crate::driver::sync::{Arc, Mutex, OnceLock, Weak, lock};
use std::any::{Any, TypeId};
use std::cell::Cell;

use whimbrel_base::guid::{EntityKind, Guid};
use whimbrel_base::qos::{DataReaderQos, ReliabilityKind};
use whimbrel_base::time::Instant;
use whimbrel_proto::cache::{CacheConfig, CachedSample, Selector};
use whimbrel_proto::reader::{KeyExtractor, ReaderConfig};
use whimbrel_proto::{LocalReader, Participant};

use super::sequence::{Room, SampleSeq};
use super::subscriber::{Subscriber, SubscriberInner};
use crate::driver::compression::{
    CompressionStatistics, Inflated, Inflater, built_in, check_built_in,
};
use crate::driver::manners::Manners;
use crate::driver::reader::ReaderCore;
use crate::driver::status::{Entity, EntityStatus};
use crate::error::Error;
use crate::members::Member;
use crate::topic::TopicInner;

/// Samples for which a thread keeps room between two calls.
const SCRATCH_MAX: usize = 512;

thread_local! {
    static SCRATCH: Cell<Vec<CachedSample>> = const { Cell::new(Vec::new()) };
}

pub(crate) struct ReaderInner {
    pub(crate) core: Arc<ReaderCore>,
    pub(crate) topic: Arc<TopicInner>,
    pub(crate) subscriber: Arc<SubscriberInner>,
    pub(crate) qos: Mutex<DataReaderQos>,
    /// The type that samples are decoded as; none for raw readers.
    pub(crate) data_type: Option<TypeId>,
    /// For what a call takes; there since the first.
    room: OnceLock<Arc<Room>>,
}

impl ReaderInner {
    /// A reader on the bus; one of a topic with key where there are `keys`.
    pub(super) fn open(
        subscriber: &Subscriber,
        topic: &Arc<TopicInner>,
        qos: DataReaderQos,
        keys: Option<Box<dyn KeyExtractor>>,
        data_type: Option<TypeId>,
    ) -> Result<Arc<Self>, Error> {
        qos.check()?;
        qos.check_supported()?;
        let compression = &qos.data_representation.compression;
        check_built_in(compression)?;
        let taken = compression.compression_ids.unwrap_or(built_in());
        let participant = &subscriber.inner.participant;
        if !Arc::ptr_eq(participant, &topic.participant) {
            return Err(Error::PreconditionNotMet(
                "the topic belongs to another participant; create it from the subscriber's".into(),
            ));
        }
        let kind = if keys.is_some() {
            EntityKind::ReaderWithKey
        } else {
            EntityKind::ReaderNoKey
        };
        let entity = participant.next_entity(kind);
        let limits = participant.core.look(|control| control.config().limits);
        let inflated = Arc::new(Inflated::default());
        let inflater = Inflater::new(taken, Arc::clone(&inflated));
        let core = ReaderCore::new(
            ReaderConfig {
                unpacker: Some(Box::new(inflater)),
                budget: Some(Arc::clone(&participant.core.budget)),
                ..machine_config(participant.core.guid(entity), &qos, keys).limits(&limits)
            },
            inflated,
            Arc::clone(&participant.core.sockets),
            participant.core.driver.engine(),
            EntityStatus::new(
                &participant.core.driver.callbacks,
                Some(&subscriber.inner.status),
            ),
            Manners {
                in_process: participant.core.in_process(),
                data_type,
            },
        );
        participant.core.add_reader(&core);
        let inner = Arc::new(Self {
            core,
            topic: Arc::clone(topic),
            subscriber: Arc::clone(&subscriber.inner),
            qos: Mutex::new(qos),
            data_type,
            room: OnceLock::new(),
        });
        // First: whoever finds it may have it told of something.
        let owner: Weak<Self> = Arc::downgrade(&inner);
        inner.core.status.set_owner(owner);
        let member: Arc<dyn Member> = Arc::clone(&inner) as _;
        inner.subscriber.readers.add(Arc::downgrade(&member));
        inner.topic.endpoints.add(Arc::downgrade(&member));
        drop(member);
        participant
            .core
            .change(|control, now| inner.announce(control, now));
        Ok(inner)
    }

    /// What `each` makes of the samples as the cache has them, in room that the thread keeps.
    pub(super) fn fetch_into_scratch<R>(
        &self,
        selector: &Selector,
        take: bool,
        each: impl FnOnce(&mut Vec<CachedSample>) -> R,
    ) -> R {
        let mut cached = SCRATCH.take();
        self.core.fetch(selector, take, &mut cached);
        let result = each(&mut cached);
        if cached.capacity() <= SCRATCH_MAX {
            SCRATCH.set(cached);
        }
        result
    }

    /// All of `samples`, in the reader's room for them.
    pub(super) fn all_of<S: Send + 'static>(
        &self,
        samples: &mut dyn Iterator<Item = S>,
    ) -> SampleSeq<S> {
        SampleSeq::collect(self.room.get_or_init(Arc::default), samples)
    }

    /// What compression did for this reader.
    pub(super) fn compression_statistics(&self) -> CompressionStatistics {
        let machine = self.core.lock().machine.statistics();
        self.core.inflated.statistics(&machine)
    }

    /// What discovery tells of this reader. Ask under the lock of the control machine, or what is
    /// told last may not be the newest.
    fn local(&self) -> LocalReader {
        let mut qos = lock(&self.qos).clone();
        let compression = &mut qos.data_representation.compression;
        compression.compression_ids.get_or_insert(built_in());
        LocalReader {
            entity: self.core.guid.entity,
            topic_name: self.topic.name.clone(),
            type_name: self.topic.type_name.clone(),
            qos,
            subscriber: lock(&self.subscriber.qos).clone(),
            topic: lock(&self.topic.qos).clone(),
        }
    }
}

impl Member for ReaderInner {
    fn announce(&self, control: &mut Participant, now: Instant) {
        control.update_reader(now, self.local());
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Entity for ReaderInner {
    fn status(&self) -> &EntityStatus {
        &self.core.status
    }
}

impl Drop for ReaderInner {
    fn drop(&mut self) {
        self.subscriber
            .participant
            .core
            .remove_reader(self.core.guid.entity);
        self.core.close();
        drop(self.core.status.close());
    }
}

fn machine_config(
    guid: Guid,
    qos: &DataReaderQos,
    keys: Option<Box<dyn KeyExtractor>>,
) -> ReaderConfig {
    let cache = CacheConfig {
        keyed: keys.is_some(),
        history: qos.history,
        limits: qos.resource_limits,
        ..CacheConfig::default()
    };
    let mut config = ReaderConfig::new(guid, cache);
    config.reliable = qos.reliability.kind == ReliabilityKind::Reliable;
    config.durable = qos.durability != Default::default();
    config.keys = keys;
    config
}
