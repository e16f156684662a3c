//! Samples as they come out of a reader.

use std::marker::PhantomData;
use std::sync::Arc;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::Reject;
use whimbrel_base::sample::SampleInfo;
use whimbrel_proto::cache::CachedSample;
use whimbrel_proto::value::SharedValue;
use whimbrel_types::{
    DdsType, Representation, from_payload, from_shared_payload, key_from_payload, to_payload,
};

/// A sample: data where it has any, and everything DDS tells beside it. DDS 1.4 §2.2.2.5.4.
#[derive(Clone, Debug)]
pub struct Sample<T> {
    pub(super) content: Content<T>,
    pub(super) info: SampleInfo,
}

/// What a sample holds besides what is told of it.
#[derive(Clone, Debug)]
pub(super) enum Content<T> {
    /// Data.
    Own(T),
    /// Data as its writer in this process has it.
    Shared(Arc<T>),
    /// No data, but a value with the key of the instance.
    Key(T),
    /// No data, and the key is not known.
    Nothing,
}

impl<T: DdsType> Content<T> {
    /// Decodes that of a sample of the cache.
    fn decode(cached: &CachedSample) -> Result<Self, Reject> {
        if cached.info.valid_data {
            let shared = cached.value.clone().map(SharedValue::into_shared);
            return match shared {
                Some(Ok(value)) => Ok(Self::Shared(value)),
                _ => from_shared_payload(&cached.payload).map(Self::Own),
            };
        }
        if !T::KEYED || cached.payload.is_empty() {
            return Ok(Self::Nothing);
        }
        let value = if cached.payload_is_key {
            key_from_payload(&cached.payload)
        } else {
            from_shared_payload(&cached.payload)
        };
        value.map(Self::Key)
    }
}

impl<T: DdsType> Sample<T> {
    /// Decodes a sample of the cache.
    pub(crate) fn decode(cached: &CachedSample) -> Result<Self, Reject> {
        Ok(Self {
            content: Content::decode(cached)?,
            info: cached.info,
        })
    }

    /// The data; `None` for samples that only tell of a changed instance state.
    pub fn data(&self) -> Option<&T> {
        match &self.content {
            Content::Own(data) => Some(data),
            Content::Shared(data) => Some(data),
            Content::Key(_) | Content::Nothing => None,
        }
    }

    /// The data, taken out; a copy where its writer, which may use its memory again, or another
    /// reader of this process still has it too.
    pub fn into_data(self) -> Option<T> {
        match self.content {
            Content::Own(data) => Some(data),
            Content::Shared(data) => {
                let own = Arc::try_unwrap(data);
                own.or_else(|data| copied(&*data)).ok()
            }
            Content::Key(_) | Content::Nothing => None,
        }
    }

    /// The data, to be shared; not copied where it was handed over within the process: its writer
    /// may then refer to it too.
    pub fn into_shared(self) -> Option<Arc<T>> {
        match self.content {
            Content::Own(data) => Some(Arc::new(data)),
            Content::Shared(data) => Some(data),
            Content::Key(_) | Content::Nothing => None,
        }
    }

    /// A value with the key members of the instance, also for samples without data where the key
    /// is known. Other members may hold default values.
    pub fn key(&self) -> Option<&T> {
        match &self.content {
            Content::Key(key) => Some(key),
            _ => self.data(),
        }
    }

    /// What DDS tells of the sample. DDS 1.4 §2.2.2.5.5.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }
}

/// Takes the data out of `cached` where it is a `T` as its writer in this process has it.
#[inline(always)]
pub(super) fn take_shared<T: DdsType>(cached: &mut CachedSample) -> Option<Arc<T>> {
    match cached.value.take()?.into_shared() {
        Ok(data) => Some(data),
        Err(other) => {
            cached.value = Some(other);
            None
        }
    }
}

/// An equal value of its own.
fn copied<T: DdsType>(value: &T) -> Result<T, Reject> {
    let duplicate = value.duplicate();
    duplicate.map_or_else(|| from_payload(&encoded(value)), Ok)
}

/// Its payload; empty where it cannot be encoded.
fn encoded<T: DdsType>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    // On an error they are as before.
    let _ = to_payload(value, Representation::Xcdr2, Endian::NATIVE, &mut bytes);
    bytes
}

/// A sample that was not decoded: its bytes are those that arrived. Those of a value that was
/// handed over within the process are made when it is taken, in XCDR2.
#[derive(Clone, Debug)]
pub struct LoanedSample<T> {
    cached: CachedSample,
    marker: PhantomData<fn() -> T>,
}

impl<T: DdsType> LoanedSample<T> {
    pub(crate) fn new(mut cached: CachedSample) -> Self {
        let value = cached.value.as_ref().filter(|_| cached.payload.is_empty());
        if let Some(value) = value.and_then(SharedValue::get::<T>) {
            cached.payload = SharedBytes::from_vec(encoded(value));
        }
        Self {
            cached,
            marker: PhantomData,
        }
    }

    /// The serialized payload, encapsulation header included; the serialized key for samples
    /// without data.
    pub fn payload(&self) -> &[u8] {
        &self.cached.payload
    }

    /// The payload without copying, to be kept.
    pub fn shared_payload(&self) -> SharedBytes {
        self.cached.payload.clone()
    }

    /// What DDS tells of the sample. DDS 1.4 §2.2.2.5.5.
    pub fn info(&self) -> &SampleInfo {
        &self.cached.info
    }

    /// Decodes the sample.
    ///
    /// # Errors
    /// Bytes that are not a `T`.
    pub fn decode(&self) -> Result<Sample<T>, Reject> {
        Sample::decode(&self.cached)
    }
}
