//! Reading topics whose type is known by name only: for tools and bridges.
//!
//! Nothing is decoded here: whoever reads raw gets the serialized payloads as they arrived, and no
//! more is known of their keys than the key hashes that their writers sent along.

use std::fmt;
use std::sync::Arc;
use std::time::Duration as StdDuration;

use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::{DataReaderQos, SubscriberQos};
use whimbrel_base::sample::{InstanceStates, SampleInfo, SampleState, SampleStates, ViewStates};
use whimbrel_proto::cache::{CachedSample, Selector};
use whimbrel_proto::reader::{KeyExtractor, ReaderStatistics};

use super::inner::ReaderInner;
use super::sequence::SampleSeq;
use crate::domain::DomainParticipant;
use crate::driver::clock;
use crate::driver::compression::CompressionStatistics;
use crate::driver::packing::BundleCompressionStatistics;
use crate::error::Error;
use crate::topic::TopicInner;

/// A topic whose type is known by name only.
///
/// Clones name the same topic.
#[derive(Clone)]
pub struct RawTopic {
    inner: Arc<TopicInner>,
    keyed: bool,
}

impl RawTopic {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The name of its type on the bus.
    pub fn type_name(&self) -> &str {
        &self.inner.type_name
    }

    /// Whether its type has a key.
    pub fn is_keyed(&self) -> bool {
        self.keyed
    }
}

impl fmt::Debug for RawTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawTopic({}: {})", self.name(), self.type_name())
    }
}

/// Reads the serialized samples of a topic, whatever their type. DDS 1.4 §2.2.2.5.3.
///
/// The instance of a sample is that of the key hash which came with it (RTPS 2.5 §9.6.4.8).
/// Samples of a topic with key that come without one all belong to one instance, so that changes
/// of instance states may then mean any of them.
///
/// Clones are the same reader; it leaves the bus when the last one is dropped.
#[derive(Clone)]
pub struct RawDataReader {
    inner: Arc<ReaderInner>,
}

impl RawDataReader {
    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid
    }

    /// Takes up to `max_samples` samples out of the reader; empty when there are none.
    /// DDS 1.4 §2.2.2.5.3.9.
    pub fn take(&self, max_samples: usize) -> SampleSeq<RawSample> {
        let selector = Selector {
            max_samples,
            ..Selector::ALL
        };
        self.inner.fetch_into_scratch(&selector, true, |cached| {
            let mut raw = cached.drain(..).map(|cached| RawSample { cached });
            self.inner.all_of(&mut raw)
        })
    }

    /// Waits until there is something to take.
    ///
    /// # Errors
    /// [`Error::Timeout`] when nothing came within `timeout`.
    pub fn wait_for_data(&self, timeout: StdDuration) -> Result<(), Error> {
        let unread = SampleStates::of(SampleState::NotRead);
        let ready = || {
            let state = self.inner.core.lock();
            let cache = state.machine.cache();
            cache
                .has_matching(unread, ViewStates::ANY, InstanceStates::ANY)
                .then_some(())
        };
        self.inner
            .core
            .bell
            .wait_until(clock::deadline(timeout), ready)
            .ok_or(Error::Timeout)
    }

    /// What compression did for this reader.
    pub fn compression_statistics(&self) -> CompressionStatistics {
        self.inner.compression_statistics()
    }

    /// What compression did for whole bundles that brought something to this reader.
    pub fn bundle_compression_statistics(&self) -> BundleCompressionStatistics {
        self.inner.core.lock().bundles
    }

    /// Counters of this reader.
    pub fn statistics(&self) -> ReaderStatistics {
        self.inner.core.lock().machine.statistics()
    }
}

impl fmt::Debug for RawDataReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topic = &self.inner.topic;
        write!(f, "RawDataReader({} {})", topic.name, self.guid())
    }
}

/// A sample that was not decoded: its bytes are those that arrived.
#[derive(Clone, Debug)]
pub struct RawSample {
    cached: CachedSample,
}

impl RawSample {
    /// The serialized payload, encapsulation header included. Samples without data have the
    /// serialized key or the instance's last data instead, or nothing.
    pub fn payload(&self) -> &[u8] {
        &self.cached.payload
    }

    /// Whether the payload is a serialized key.
    pub fn payload_is_key(&self) -> bool {
        self.cached.payload_is_key
    }

    /// What DDS tells of the sample. DDS 1.4 §2.2.2.5.5.
    pub fn info(&self) -> &SampleInfo {
        &self.cached.info
    }
}

impl DomainParticipant {
    /// A topic to read without knowing its type: `type_name` is the type's name on the bus, as
    /// [`DomainParticipant::discovered_writers`] tells it, and `keyed` says whether it has a key.
    ///
    /// # Errors
    /// An empty or over-long name, or a name in use here for another type.
    pub fn create_raw_topic(
        &self,
        name: &str,
        type_name: &str,
        keyed: bool,
    ) -> Result<RawTopic, Error> {
        let inner = self.register_topic(name, type_name, Default::default())?;
        Ok(RawTopic {
            inner: Arc::new(inner),
            keyed,
        })
    }

    /// A reader of `topic` in a subscriber of its own with QoS `subscriber`.
    ///
    /// # Errors
    /// A topic of another participant, QoS that is inconsistent or does not exist yet.
    pub fn create_raw_datareader(
        &self,
        topic: &RawTopic,
        subscriber: SubscriberQos,
        qos: DataReaderQos,
    ) -> Result<RawDataReader, Error> {
        let subscriber = self.create_subscriber(subscriber)?;
        let keys: Option<Box<dyn KeyExtractor>> = if topic.keyed {
            Some(Box::new(KeyHashes))
        } else {
            None
        };
        let inner = ReaderInner::open(&subscriber, &topic.inner, qos, keys, None)?;
        Ok(RawDataReader { inner })
    }
}

/// Finds instances by key hash alone.
#[derive(Debug)]
struct KeyHashes;

impl KeyExtractor for KeyHashes {
    fn instance_of(&self, _payload: &[u8], _is_key: bool) -> Option<InstanceHandle> {
        None
    }

    fn instance_of_unreadable(&self, key_hash: Option<InstanceHandle>) -> Option<InstanceHandle> {
        Some(key_hash.unwrap_or(InstanceHandle::from_key_hash([0; 16])))
    }
}
