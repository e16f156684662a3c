//! Readers of data.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ref_cast::{RefCastCustom, ref_cast_custom};
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::DataReaderQos;
use whimbrel_base::sample::{SampleState, SampleStates};
use whimbrel_proto::cache::{CachedSample, Selector, Which};
use whimbrel_proto::reader::KeyExtractor;
use whimbrel_types::{DdsType, from_payload, key_from_payload};

use super::inner::ReaderInner;
use super::sample::{Content, LoanedSample, Sample, take_shared};
use super::sequence::SampleSeq;
use super::subscriber::Subscriber;
use crate::domain::DiscoveredWriter;
use crate::driver::contain::contain;
use crate::driver::handle::{handle_of, instance_of, instance_of_payload};
use crate::driver::reader::Glance;
use crate::driver::sync::lock;
use crate::error::Error;
use crate::members::Member;
use crate::topic::Topic;

/// Reads data of type `T` from a topic. DDS 1.4 §2.2.2.5.3.
///
/// Clones are the same reader; it leaves the bus when the last one is dropped.
#[derive(RefCastCustom)]
#[repr(transparent)]
pub struct DataReader<T: DdsType> {
    pub(crate) inner: Arc<ReaderInner>,
    marker: PhantomData<fn() -> T>,
}

impl Subscriber {
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

    /// A reader of this subscriber for data of type `T` from the topic `topic_name`, if there is
    /// one. DDS 1.4 §2.2.2.5.2.7.
    pub fn lookup_datareader<T: DdsType>(&self, topic_name: &str) -> Option<DataReader<T>> {
        let wanted = |it: &ReaderInner| {
            it.topic.name == topic_name && it.data_type == Some(TypeId::of::<T>())
        };
        self.inner.readers.find(wanted).map(DataReader::from_inner)
    }
}

impl<T: DdsType> DataReader<T> {
    fn new(subscriber: &Subscriber, topic: &Topic<T>, qos: DataReaderQos) -> Result<Self, Error> {
        let keys: Option<Box<dyn KeyExtractor>> = if T::KEYED {
            Some(Box::new(TypeKeys::<T>(PhantomData)))
        } else {
            None
        };
        let data_type = Some(TypeId::of::<T>());
        let inner = ReaderInner::open(subscriber, &topic.inner, qos, keys, data_type)?;
        Ok(Self::from_inner(inner))
    }

    pub(crate) fn from_inner(inner: Arc<ReaderInner>) -> Self {
        Self {
            inner,
            marker: PhantomData,
        }
    }

    /// As [`DataReader::from_inner`], without a handle more.
    #[ref_cast_custom]
    pub(crate) const fn of_inner(inner: &Arc<ReaderInner>) -> &Self;

    /// Its identity on the bus.
    pub fn guid(&self) -> Guid {
        self.inner.core.guid
    }

    /// Its identity as an instance handle.
    pub fn instance_handle(&self) -> InstanceHandle {
        handle_of(self.guid())
    }

    /// Its QoS.
    pub fn qos(&self) -> DataReaderQos {
        lock(&self.inner.qos).clone()
    }

    /// Changes its QoS. DDS 1.4 §2.2.2.1.2.
    ///
    /// # Errors
    /// Policies that cannot change, contradict each other or do not exist yet.
    pub fn set_qos(&self, qos: DataReaderQos) -> Result<(), Error> {
        qos.check()?;
        qos.check_supported()?;
        {
            let mut current = lock(&self.inner.qos);
            current.check_change(&qos)?;
            *current = qos;
        }
        let participant = &self.inner.subscriber.participant;
        participant
            .core
            .change(|control, now| self.inner.announce(control, now));
        Ok(())
    }

    /// The subscriber it belongs to.
    pub fn subscriber(&self) -> Subscriber {
        Subscriber {
            inner: Arc::clone(&self.inner.subscriber),
        }
    }

    /// The name of its topic.
    pub fn topic_name(&self) -> &str {
        &self.inner.topic.name
    }

    /// Takes up to `max_samples` samples out of the reader; empty when there are none.
    /// DDS 1.4 §2.2.2.5.3.9.
    ///
    /// # Errors
    /// None yet; the standard's operation has some.
    pub fn take(&self, max_samples: usize) -> Result<SampleSeq<Sample<T>>, Error> {
        self.take_selected(&Selector {
            max_samples,
            ..Selector::ALL
        })
    }

    /// As [`DataReader::take`], but leaves the samples in the reader and marks them as read.
    /// DDS 1.4 §2.2.2.5.3.8.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn read(&self, max_samples: usize) -> Result<SampleSeq<Sample<T>>, Error> {
        self.read_selected(&Selector {
            max_samples,
            ..Selector::ALL
        })
    }

    /// As [`DataReader::take`], but appends to `out` what is there, and allocates nothing where
    /// `out` has room and the samples need no memory of their own.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn take_into(&self, max_samples: usize, out: &mut Vec<Sample<T>>) -> Result<(), Error> {
        let selector = Selector {
            max_samples,
            ..Selector::ALL
        };
        self.fetch_decoded(&selector, true, |samples| out.extend(samples))
    }

    /// Takes the samples that `selector` picks: by states, instance and number.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an instance that is not known here.
    pub fn take_selected(&self, selector: &Selector) -> Result<SampleSeq<Sample<T>>, Error> {
        self.fetch_decoded(selector, true, |samples| self.inner.all_of(samples))
    }

    /// Reads the samples that `selector` picks: by states, instance and number.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an instance that is not known here.
    pub fn read_selected(&self, selector: &Selector) -> Result<SampleSeq<Sample<T>>, Error> {
        self.fetch_decoded(selector, false, |samples| self.inner.all_of(samples))
    }

    /// Takes samples of one instance. DDS 1.4 §2.2.2.5.3.15.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an instance that is not known here.
    pub fn take_instance(
        &self,
        instance: InstanceHandle,
        max_samples: usize,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        let instance = Which::Exactly(instance);
        self.take_selected(&Selector {
            max_samples,
            instance,
            ..Selector::ALL
        })
    }

    /// Reads samples of one instance. DDS 1.4 §2.2.2.5.3.14.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an instance that is not known here.
    pub fn read_instance(
        &self,
        instance: InstanceHandle,
        max_samples: usize,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        let instance = Which::Exactly(instance);
        self.read_selected(&Selector {
            max_samples,
            instance,
            ..Selector::ALL
        })
    }

    /// Takes samples of the instance after `previous` (nil: the first) that has any.
    /// DDS 1.4 §2.2.2.5.3.17.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn take_next_instance(
        &self,
        previous: InstanceHandle,
        max_samples: usize,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        let instance = Which::Next(previous);
        self.take_selected(&Selector {
            max_samples,
            instance,
            ..Selector::ALL
        })
    }

    /// Reads samples of the instance after `previous` (nil: the first) that has any.
    /// DDS 1.4 §2.2.2.5.3.16.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn read_next_instance(
        &self,
        previous: InstanceHandle,
        max_samples: usize,
    ) -> Result<SampleSeq<Sample<T>>, Error> {
        let instance = Which::Next(previous);
        self.read_selected(&Selector {
            max_samples,
            instance,
            ..Selector::ALL
        })
    }

    /// Takes the next sample not read yet, if there is one. DDS 1.4 §2.2.2.5.3.13.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn take_next_sample(&self) -> Result<Option<Sample<T>>, Error> {
        let selector = next_unread();
        match &mut self.inner.core.glance(&selector, true) {
            Glance::Nothing => Ok(None),
            Glance::One(one) => {
                // As `of`, which would put it together elsewhere first.
                if let Some(data) = take_shared(one) {
                    let (content, info) = (Content::Shared(data), one.info);
                    return Ok(Some(Sample { content, info }));
                }
                Ok(self.decoded(one))
            }
            Glance::More => Ok(self.fetch_more(&selector, true, |samples| samples.next())),
        }
    }

    /// Reads the next sample not read yet, if there is one. DDS 1.4 §2.2.2.5.3.12.
    ///
    /// # Errors
    /// As [`DataReader::take`].
    pub fn read_next_sample(&self) -> Result<Option<Sample<T>>, Error> {
        self.fetch_decoded(&next_unread(), false, |samples| samples.next())
    }

    /// Takes samples without decoding them: the bytes are those that arrived, not copied.
    ///
    /// # Errors
    /// As [`DataReader::take_selected`].
    pub fn take_loaned(&self, selector: &Selector) -> Result<SampleSeq<LoanedSample<T>>, Error> {
        self.check_instance(selector)?;
        Ok(self.inner.fetch_into_scratch(selector, true, |cached| {
            self.inner
                .all_of(&mut cached.drain(..).map(LoanedSample::new))
        }))
    }

    /// Names the instance of `value` where this reader knows it. DDS 1.4 §2.2.2.5.3.30.
    ///
    /// # Errors
    /// A key that cannot be encoded.
    pub fn lookup_instance(&self, value: &T) -> Result<Option<InstanceHandle>, Error> {
        if !T::KEYED {
            return Ok(None);
        }
        let instance = instance_of(value)?;
        let known = self.inner.core.lock().machine.cache().contains(instance);
        Ok(known.then_some(instance))
    }

    /// A value with the key members of `instance`. DDS 1.4 §2.2.2.5.3.29.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for an instance that is not known here.
    pub fn key_value(&self, instance: InstanceHandle) -> Result<T, Error> {
        let source = self.inner.core.lock().machine.cache().key_of(instance);
        let value = source.and_then(|source| {
            if source.is_key {
                key_from_payload(&source.payload).ok()
            } else {
                from_payload(&source.payload).ok()
            }
        });
        value.ok_or_else(|| unknown_instance(instance))
    }

    /// The matched writers. DDS 1.4 §2.2.2.5.3.34.
    pub fn matched_publications(&self) -> Vec<InstanceHandle> {
        self.inner
            .core
            .lock()
            .matched
            .iter()
            .copied()
            .map(handle_of)
            .collect()
    }

    /// What is known of the matched writer with this handle. DDS 1.4 §2.2.2.5.3.35.
    ///
    /// # Errors
    /// [`Error::BadParameter`] for a writer that is not matched.
    pub fn matched_publication_data(
        &self,
        writer: InstanceHandle,
    ) -> Result<DiscoveredWriter, Error> {
        let participant = self.subscriber().participant();
        let mut matched = self.matched_publications().into_iter();
        let known = matched.any(|handle| handle == writer).then(|| {
            let mut writers = participant.discovered_writers().into_iter();
            writers.find(|it| handle_of(it.guid) == writer)
        });
        known
            .flatten()
            .ok_or_else(|| Error::BadParameter(format!("writer {writer} is not matched")))
    }

    /// What `each` makes of the samples, decoded one by one.
    fn fetch_decoded<R>(
        &self,
        selector: &Selector,
        take: bool,
        each: impl FnOnce(&mut dyn Iterator<Item = Sample<T>>) -> R,
    ) -> Result<R, Error> {
        self.check_instance(selector)?;
        Ok(match &mut self.inner.core.glance(selector, take) {
            Glance::Nothing => each(&mut std::iter::empty()),
            Glance::One(one) => each(&mut self.of(one).into_iter()),
            Glance::More => self.fetch_more(selector, take, each),
        })
    }

    /// The same, of what a glance has not settled.
    #[inline(never)]
    fn fetch_more<R>(
        &self,
        selector: &Selector,
        take: bool,
        each: impl FnOnce(&mut dyn Iterator<Item = Sample<T>>) -> R,
    ) -> R {
        self.inner.fetch_into_scratch(selector, take, |cached| {
            let of = |mut one| self.of(&mut one);
            each(&mut cached.drain(..).filter_map(of))
        })
    }

    fn check_instance(&self, selector: &Selector) -> Result<(), Error> {
        if let Which::Exactly(instance) = selector.instance
            && T::KEYED
            && !self.inner.core.lock().machine.cache().contains(instance)
        {
            return Err(unknown_instance(instance));
        }
        Ok(())
    }

    /// The sample that `cached` is, which may be taken from there, or nothing and one more
    /// undecodable one.
    // A way of its own for values: where both are put together by the same code it writes them in
    // pieces and reads those in larger ones to move them, for which processors wait.
    #[inline(always)]
    pub(super) fn of(&self, cached: &mut CachedSample) -> Option<Sample<T>> {
        if let Some(data) = take_shared(cached) {
            let (content, info) = (Content::Shared(data), cached.info);
            return Some(Sample { content, info });
        }
        self.decoded(cached)
    }

    #[inline(never)]
    fn decoded(&self, cached: &CachedSample) -> Option<Sample<T>> {
        let decoded = Sample::decode(cached).ok();
        if decoded.is_none() {
            self.inner.core.undecodable.fetch_add(1, Ordering::Relaxed);
        }
        decoded
    }
}

impl<T: DdsType> Clone for DataReader<T> {
    fn clone(&self) -> Self {
        Self::from_inner(Arc::clone(&self.inner))
    }
}

impl<T: DdsType> fmt::Debug for DataReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DataReader({} {})",
            self.inner.topic.name, self.inner.core.guid
        )
    }
}

/// Finds instances by the type's key members.
struct TypeKeys<T>(PhantomData<fn() -> T>);

impl<T> fmt::Debug for TypeKeys<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeKeys")
    }
}

impl<T: DdsType> KeyExtractor for TypeKeys<T> {
    fn instance_of(&self, payload: &[u8], is_key: bool) -> Option<InstanceHandle> {
        // The type's own code, in the middle of the machine's work: a panic must not end that.
        contain(|| instance_of_payload::<T>(payload, is_key))
            .ok()?
            .ok()
    }
}

fn next_unread() -> Selector {
    Selector {
        max_samples: 1,
        sample_states: SampleStates::of(SampleState::NotRead),
        ..Selector::ALL
    }
}

fn unknown_instance(instance: InstanceHandle) -> Error {
    Error::BadParameter(format!("instance {instance} is not known to this reader"))
}
