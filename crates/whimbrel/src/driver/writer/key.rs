//! Keys as they travel in place of data.

use whimbrel_base::cursor::Endian;
use whimbrel_types::{DdsType, EncodeError, Representation, key_to_payload};

/// Serialized keys are padded to more octets than a key hash has, or one peer takes them for one.
const BYTES_MIN: usize = 20;

/// Writes the encapsulated key of `value` to `out`, which is empty, for a change without data.
///
/// # Errors
/// A key that cannot be encoded.
pub(crate) fn encode_key<T: DdsType>(
    value: &T,
    representation: Representation,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    key_to_payload(value, representation, Endian::NATIVE, out)?;
    out.resize(out.len().max(BYTES_MIN), 0);
    Ok(())
}
