//! Samples as they come out of a reader.

use std::marker::PhantomData;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::reject::Reject;
use whimbrel_base::sample::SampleInfo;
use whimbrel_proto::cache::CachedSample;
use whimbrel_types::{DdsType, from_payload, key_from_payload};

/// A sample: data where it has any, and everything DDS tells beside it. DDS 1.4 §2.2.2.5.4.
#[derive(Clone, Debug)]
pub struct Sample<T> {
    data: Option<T>,
    key: Option<T>,
    info: SampleInfo,
}

impl<T: DdsType> Sample<T> {
    /// Decodes a sample of the cache.
    pub(crate) fn decode(cached: &CachedSample) -> Result<Self, Reject> {
        let (mut data, mut key) = (None, None);
        if cached.info.valid_data {
            data = Some(from_payload(&cached.payload)?);
        } else if T::KEYED && !cached.payload.is_empty() {
            let value = if cached.payload_is_key {
                key_from_payload(&cached.payload)?
            } else {
                from_payload(&cached.payload)?
            };
            key = Some(value);
        }
        Ok(Self {
            data,
            key,
            info: cached.info,
        })
    }

    /// The data; `None` for samples that only tell of a changed instance state.
    pub fn data(&self) -> Option<&T> {
        self.data.as_ref()
    }

    /// The data, taken out.
    pub fn into_data(self) -> Option<T> {
        self.data
    }

    /// A value with the key members of the instance, also for samples without data where the key
    /// is known. Other members may hold default values.
    pub fn key(&self) -> Option<&T> {
        self.data.as_ref().or(self.key.as_ref())
    }

    /// What DDS tells of the sample. DDS 1.4 §2.2.2.5.5.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }
}

/// A sample that was not decoded: its bytes are those that arrived.
#[derive(Clone, Debug)]
pub struct LoanedSample<T> {
    cached: CachedSample,
    marker: PhantomData<fn() -> T>,
}

impl<T: DdsType> LoanedSample<T> {
    pub(crate) fn new(cached: CachedSample) -> Self {
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
