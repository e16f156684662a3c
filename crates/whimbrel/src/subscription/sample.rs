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
    data: Option<Data<T>>,
    key: Option<T>,
    info: SampleInfo,
}

#[derive(Clone, Debug)]
enum Data<T> {
    Own(T),
    /// As its writer in this process has it.
    Shared(SharedValue),
}

/// What a sample holds besides what is told of it.
pub(crate) struct Content<T> {
    data: Option<Data<T>>,
    key: Option<T>,
}

impl<T: DdsType> Content<T> {
    /// Decodes that of a sample of the cache.
    fn decode(cached: &CachedSample) -> Result<Self, Reject> {
        let (mut data, mut key) = (None, None);
        if cached.info.valid_data {
            data = Some(match &cached.value {
                Some(value) if value.get::<T>().is_some() => Data::Shared(value.clone()),
                _ => Data::Own(from_shared_payload(&cached.payload)?),
            });
        } else if T::KEYED && !cached.payload.is_empty() {
            let value = if cached.payload_is_key {
                key_from_payload(&cached.payload)?
            } else {
                from_shared_payload(&cached.payload)?
            };
            key = Some(value);
        }
        Ok(Self { data, key })
    }

    /// As [`Content::decode`], of a sample that nobody else needs.
    #[inline]
    pub(crate) fn of(cached: &mut CachedSample) -> Result<Self, Reject> {
        match cached.value.take() {
            Some(value) if value.get::<T>().is_some() => Ok(Self {
                data: Some(Data::Shared(value)),
                key: None,
            }),
            _ => Self::decode(cached),
        }
    }
}

impl<T: DdsType> Sample<T> {
    /// The sample of which `info` tells.
    #[inline]
    pub(crate) fn new(content: Content<T>, info: SampleInfo) -> Self {
        let Content { data, key } = content;
        Self { data, key, info }
    }

    /// Decodes a sample of the cache.
    pub(crate) fn decode(cached: &CachedSample) -> Result<Self, Reject> {
        Ok(Self::new(Content::decode(cached)?, cached.info))
    }

    /// The data; `None` for samples that only tell of a changed instance state.
    pub fn data(&self) -> Option<&T> {
        match self.data.as_ref()? {
            Data::Own(data) => Some(data),
            Data::Shared(value) => value.get(),
        }
    }

    /// The data, taken out; a copy where its writer, which may use its memory again, or another
    /// reader of this process still has it too.
    pub fn into_data(self) -> Option<T> {
        match self.data? {
            Data::Own(data) => Some(data),
            Data::Shared(value) => {
                let own = value.into_inner();
                own.or_else(|value| copied(&value)).ok()
            }
        }
    }

    /// The data, to be shared; not copied where it was handed over within the process: its writer
    /// may then refer to it too.
    pub fn into_shared(self) -> Option<Arc<T>> {
        match self.data? {
            Data::Own(data) => Some(Arc::new(data)),
            Data::Shared(value) => value.into_shared(),
        }
    }

    /// A value with the key members of the instance, also for samples without data where the key
    /// is known. Other members may hold default values.
    pub fn key(&self) -> Option<&T> {
        self.data().or(self.key.as_ref())
    }

    /// What DDS tells of the sample. DDS 1.4 §2.2.2.5.5.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }
}

/// An equal value of its own.
fn copied<T: DdsType>(value: &SharedValue) -> Result<T, Reject> {
    let duplicate = value.get().and_then(T::duplicate);
    duplicate.map_or_else(|| from_payload(&encoded::<T>(value)), Ok)
}

/// Its payload; empty where it cannot be encoded.
fn encoded<T: DdsType>(value: &SharedValue) -> Vec<u8> {
    let mut bytes = Vec::new();
    let value = value.get::<T>();
    let encode = |it| to_payload(it, Representation::Xcdr2, Endian::NATIVE, &mut bytes).ok();
    // On an error they are as before.
    let _ = value.and_then(encode);
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
        if let Some(value) = cached.value.as_ref().filter(|_| cached.payload.is_empty()) {
            cached.payload = SharedBytes::from_vec(encoded::<T>(value));
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
