//! Values as serialized payloads: encapsulation header, encoded value, padding to a multiple of
//! four octets. RTPS 2.5 §10, XTypes 1.3 §7.6.3.1.2.

use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::{Endian, padding};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::decoder::Decoder;
use crate::encoder::{Apart, EncodeError, Encoder};
use crate::representation::{EncapsulationId, Extensibility, Representation};
use crate::value::traits::DdsType;

/// Octets of the encapsulation header.
pub const HEADER_LEN: usize = 4;

/// Appends `value` as a serialized payload to `out`; on an error `out` is as before.
///
/// # Errors
/// A value that cannot be encoded.
pub fn to_payload<T: DdsType>(
    value: &T,
    representation: Representation,
    endian: Endian,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    write::<T>(representation, endian, out, |encoder| value.encode(encoder)).map(|_| ())
}

/// As [`to_payload`], but the first octets that `value` shares ([`SharedBytes`]) and that are
/// `bytes_min` or more are left out and given back, with where in `out` they belong.
///
/// # Errors
/// As [`to_payload`].
pub fn to_payload_apart<T: DdsType>(
    value: &T,
    representation: Representation,
    endian: Endian,
    out: &mut Vec<u8>,
    bytes_min: usize,
) -> Result<Option<Apart>, EncodeError> {
    write::<T>(representation, endian, out, |encoder| {
        encoder.leave_apart(bytes_min);
        value.encode(encoder);
    })
}

/// Appends the key of `value` as a serialized key to `out`: its key members as declared, nothing
/// for a type without keys. On an error `out` is as before. RTPS 2.5 §8.7.4, XTypes 1.3 §7.6.8.
///
/// # Errors
/// A value that cannot be encoded.
pub fn key_to_payload<T: DdsType>(
    value: &T,
    representation: Representation,
    endian: Endian,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    write::<T>(representation, endian, out, |encoder| {
        if T::KEYED {
            value.encode_key(encoder);
        }
    })
    .map(|_| ())
}

/// Reads a serialized payload.
///
/// Peers that declare the same type final where we declare it appendable, or the other way
/// round, are understood: the encapsulation says what was sent.
///
/// # Errors
/// [`RejectKind::Encapsulation`] for a header that is not XCDR1 or XCDR2, and malformed bytes.
pub fn from_payload<T: DdsType>(payload: &[u8]) -> Result<T, Reject> {
    read(payload, T::EXTENSIBILITY, T::decode)
}

/// As [`from_payload`]; sequences that are held as [`SharedBytes`] share the memory of `payload`.
///
/// # Errors
/// As [`from_payload`].
pub fn from_shared_payload<T: DdsType>(payload: &SharedBytes) -> Result<T, Reject> {
    let opened = open(payload)?.within(payload);
    opened.read(T::EXTENSIBILITY, T::decode)
}

/// Reads a serialized key; members that are not keys are those of
/// [`crate::DdsValue::missing`].
///
/// # Errors
/// [`RejectKind::Key`] for a type without keys; else as [`from_payload`].
pub fn key_from_payload<T: DdsType>(payload: &[u8]) -> Result<T, Reject> {
    if !T::KEYED {
        return Err(Reject::new(RejectKind::Key, 0));
    }
    read_key(payload, T::EXTENSIBILITY, T::decode_key)
}

#[inline(never)]
fn pad(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len().saturating_add(count), 0);
}

fn write<T: DdsType>(
    representation: Representation,
    endian: Endian,
    out: &mut Vec<u8>,
    encode: impl FnOnce(&mut Encoder<'_>),
) -> Result<Option<Apart>, EncodeError> {
    let start = out.len();
    let EncapsulationId(id) = EncapsulationId::new(representation, T::EXTENSIBILITY, endian);
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    let mut encoder = Encoder::new(out, representation, endian);
    encode(&mut encoder);
    let apart = match encoder.finish_apart() {
        Ok(apart) => apart,
        Err(error) => {
            out.truncate(start);
            return Err(error);
        }
    };
    let left_out = apart.as_ref().map_or(0, |apart| apart.bytes.len());
    let len = out.len().wrapping_sub(start).saturating_add(left_out);
    let count = padding(len, 4);
    if count > 0 {
        pad(out, count);
    }
    // XTypes 1.3 §7.6.3.1.2: the two lowest bits of the options count the padding.
    if let (Some(options), Ok(count)) = (out.get_mut(start.saturating_add(3)), u8::try_from(count))
    {
        *options = count;
    }
    Ok(apart)
}

/// As [`read`], for a serialized key.
///
/// Cyclone DDS 0.10 announces the delimiter of an appendable key and leaves it out. What cannot
/// be read with one is read without, where that takes up every octet.
pub(crate) fn read_key<R>(
    payload: &[u8],
    extensibility: Extensibility,
    mut decode: impl FnMut(&mut Decoder<'_>) -> Result<R, Reject>,
) -> Result<R, Reject> {
    let mut decode_key = |input: &mut Decoder<'_>| {
        *input = input.clone().of_key();
        decode(input)
    };
    let as_announced = read(payload, extensibility, &mut decode_key);
    if as_announced.is_ok() || extensibility == Extensibility::Final {
        return as_announced;
    }
    let mut input = open(payload)?.input.undelimited();
    match decode_key(&mut input) {
        Ok(key) if input.remaining() == 0 => Ok(key),
        _ => as_announced,
    }
}

/// Opens a payload and has `decode` read the value in it; offsets of refusals count from the
/// start of the payload.
pub(crate) fn read<R>(
    payload: &[u8],
    extensibility: Extensibility,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, Reject>,
) -> Result<R, Reject> {
    open(payload)?.read(extensibility, decode)
}

struct Opened<'a> {
    input: Decoder<'a>,
    delimited: bool,
}

impl<'a> Opened<'a> {
    /// The same, which is part of `origin`.
    #[inline]
    fn within(self, origin: &'a SharedBytes) -> Self {
        let input = self.input.within(origin);
        Self { input, ..self }
    }

    /// As [`read`].
    #[inline]
    fn read<R>(
        self,
        extensibility: Extensibility,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, Reject>,
    ) -> Result<R, Reject> {
        let mut input = self.input;
        let result = match (extensibility, self.delimited) {
            (Extensibility::Final, true) => input.appendable(decode),
            (Extensibility::Appendable, false) => decode(&mut input.undelimited()),
            (Extensibility::Final, false) | (Extensibility::Appendable, true) => decode(&mut input),
        };
        result.map_err(|reject| reject.shifted(HEADER_LEN))
    }
}

/// Reads the encapsulation header.
fn open(payload: &[u8]) -> Result<Opened<'_>, Reject> {
    let Some((&[id0, id1, _, options], body)) = payload.split_first_chunk::<HEADER_LEN>() else {
        return Err(Reject::new(RejectKind::Truncated, payload.len()));
    };
    let parts = EncapsulationId(u16::from_be_bytes([id0, id1])).parts();
    // Bits 4 to 2 of the options say that a vendor has compressed the body.
    let (Some((representation, endian, delimited)), 0) = (parts, options & 0b1_1100) else {
        return Err(Reject::new(RejectKind::Encapsulation, 0));
    };
    // XTypes 1.3 §7.6.3.1.2: the two lowest bits count the padding at the end.
    let end = body.len().saturating_sub(usize::from(options & 0b11));
    let body = body.get(..end).unwrap_or_default();
    Ok(Opened {
        input: Decoder::new(body, representation, endian),
        delimited,
    })
}
