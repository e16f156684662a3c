//! Key hashes. RTPS 2.5 §9.6.4.8, XTypes 1.3 §7.6.8.4.
//!
//! A key hash is the encoded key, big-endian and padded with zeros, where it can never exceed 16
//! octets, else the MD5 digest of it. The representation is disputed: RTPS 2.5 says XCDR2 always,
//! as Fast DDS 3 does; XTypes says, and Cyclone DDS does, that of the sample; older Fast DDS
//! takes XCDR1 always. It matters only for keys with 64-bit numbers behind smaller ones.
//! Whimbrel identifies instances by the XCDR2 form ([`key_hash`]), whatever arrived, and sends
//! the form of the representation it writes ([`key_hash_in`]).
//!
//! Who hashes every sample keeps a [`KeyHasher`], which allocates once.

use alloc::vec::Vec;

use md5::{Digest, Md5};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::decoder::Decoder;
use crate::encoder::{EncodeError, Encoder};
use crate::payload::{read, read_key};
use crate::representation::Representation;
use crate::value::traits::{DdsType, DdsValue};

/// Computes key hashes, using one buffer again and again.
#[derive(Debug)]
pub struct KeyHasher {
    representation: Representation,
    key: Vec<u8>,
}

impl KeyHasher {
    /// A hasher of the form of `representation`: XCDR2 to identify instances, the representation
    /// of the samples for hashes that are sent.
    pub const fn new(representation: Representation) -> Self {
        Self {
            representation,
            key: Vec::new(),
        }
    }

    /// How many octets its buffer has room for.
    pub const fn held_bytes(&self) -> usize {
        self.key.capacity()
    }

    /// The key hash of `value`; zeros for a type without keys.
    ///
    /// # Errors
    /// A key that cannot be encoded.
    pub fn of_value<T: DdsType>(&mut self, value: &T) -> Result<[u8; 16], EncodeError> {
        if !T::KEYED {
            return Ok([0; 16]);
        }
        self.key.clear();
        let mut encoder = Encoder::new_key_holder(&mut self.key, self.representation);
        value.encode_key(&mut encoder);
        encoder.finish()?;
        Ok(self.digest::<T>())
    }

    /// The key hash of an encoded sample (or of a serialized key) of type `T`, without building
    /// the value; zeros for a type without keys. The payload may be in any representation.
    ///
    /// # Errors
    /// As [`crate::from_payload`].
    pub fn of_payload<T: DdsType>(
        &mut self,
        payload: &[u8],
        is_serialized_key: bool,
    ) -> Result<[u8; 16], Reject> {
        if !T::KEYED {
            return Ok([0; 16]);
        }
        let representation = self.representation;
        let key = &mut self.key;
        let transcode = |input: &mut Decoder<'_>| {
            key.clear();
            let mut encoder = Encoder::new_key_holder(key, representation);
            T::transcode_key(input, &mut encoder)?;
            let finished = encoder.finish();
            finished.map_err(|_| Reject::new(RejectKind::Key, payload.len()))
        };
        if is_serialized_key {
            read_key(payload, T::EXTENSIBILITY, transcode)?;
        } else {
            read(payload, T::EXTENSIBILITY, transcode)?;
        }
        Ok(self.digest::<T>())
    }

    fn digest<T: DdsType>(&self) -> [u8; 16] {
        let bounds = <T as DdsValue>::KEY_BOUNDS;
        if !bounds.fits_key_hash(self.representation) {
            return Md5::digest(&self.key).into();
        }
        let mut hash = [0; 16];
        for (place, octet) in hash.iter_mut().zip(&self.key) {
            *place = *octet;
        }
        hash
    }
}

/// The key hash by which an instance is identified here, in the XCDR2 form; zeros for a type
/// without keys.
///
/// # Errors
/// A key that cannot be encoded.
pub fn key_hash<T: DdsType>(value: &T) -> Result<[u8; 16], EncodeError> {
    key_hash_in(value, Representation::Xcdr2)
}

/// The key hash in the form of `representation`, to be sent with samples in it.
///
/// # Errors
/// As [`key_hash`].
pub fn key_hash_in<T: DdsType>(
    value: &T,
    representation: Representation,
) -> Result<[u8; 16], EncodeError> {
    KeyHasher::new(representation).of_value(value)
}

/// The key hash, in the XCDR2 form, of an encoded sample or a serialized key, see
/// [`KeyHasher::of_payload`].
///
/// # Errors
/// As [`crate::from_payload`].
pub fn key_hash_from_payload<T: DdsType>(
    payload: &[u8],
    is_serialized_key: bool,
) -> Result<[u8; 16], Reject> {
    key_hash_from_payload_in::<T>(payload, is_serialized_key, Representation::Xcdr2)
}

/// As [`key_hash_from_payload`], in the form of `representation`, which need not be that of the
/// payload.
///
/// # Errors
/// As [`crate::from_payload`].
pub fn key_hash_from_payload_in<T: DdsType>(
    payload: &[u8],
    is_serialized_key: bool,
    representation: Representation,
) -> Result<[u8; 16], Reject> {
    KeyHasher::new(representation).of_payload::<T>(payload, is_serialized_key)
}
