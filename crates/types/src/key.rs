//! Key hashes. RTPS 2.5 §9.6.4.8, XTypes 1.3 §7.6.8.4.
//!
//! A key hash is the encoded key, big-endian and padded with zeros, where it can never exceed 16
//! octets, else the MD5 digest of it. The standards differ on the representation: RTPS 2.5 says
//! XCDR2 always, XTypes and Cyclone DDS take that of the sample, older Fast DDS takes XCDR1. It
//! matters only for keys with 64-bit numbers behind smaller ones. Whimbrel identifies instances
//! by the XCDR2 form ([`key_hash`]), whatever arrived, and sends the form of the representation
//! it writes ([`key_hash_in`]).

use alloc::vec::Vec;

use md5::{Digest, Md5};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::encoder::{EncodeError, Encoder};
use crate::payload::read;
use crate::representation::Representation;
use crate::value::traits::{DdsType, DdsValue};

/// The key hash by which an instance is identified here, in the XCDR2 form; zeros for a type
/// without keys.
///
/// # Errors
/// A key that cannot be encoded.
pub fn key_hash<T: DdsType>(value: &T) -> Result<[u8; 16], EncodeError> {
    key_hash_in(value, Representation::Xcdr2)
}

/// The key hash in the form of `representation`, to be sent with samples in it; zeros for a type
/// without keys.
///
/// # Errors
/// A key that cannot be encoded.
pub fn key_hash_in<T: DdsType>(
    value: &T,
    representation: Representation,
) -> Result<[u8; 16], EncodeError> {
    if !T::KEYED {
        return Ok([0; 16]);
    }
    let mut key = Vec::with_capacity(16);
    let mut encoder = Encoder::new_key_holder(&mut key, representation);
    value.encode_key(&mut encoder);
    encoder.finish()?;
    Ok(digest::<T>(&key, representation))
}

/// The key hash, in the XCDR2 form, of an encoded sample (or of a serialized key) of type `T`,
/// without building the value; zeros for a type without keys.
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
    if !T::KEYED {
        return Ok([0; 16]);
    }
    let mut key = Vec::with_capacity(16);
    let mut encoder = Encoder::new_key_holder(&mut key, representation);
    read(payload, T::EXTENSIBILITY, |input| {
        if is_serialized_key {
            *input = input.clone().of_key();
        }
        T::transcode_key(input, &mut encoder)
    })?;
    let finished = encoder.finish();
    finished.map_err(|_| Reject::new(RejectKind::Key, payload.len()))?;
    Ok(digest::<T>(&key, representation))
}

fn digest<T: DdsType>(key: &[u8], representation: Representation) -> [u8; 16] {
    let bounds = <T as DdsValue>::KEY_BOUNDS;
    if !bounds.fits_key_hash(representation) {
        return Md5::digest(key).into();
    }
    let mut hash = [0; 16];
    for (place, octet) in hash.iter_mut().zip(key) {
        *place = *octet;
    }
    hash
}
