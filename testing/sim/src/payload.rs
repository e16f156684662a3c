//! Samples whose octets follow from who wrote them, so that any octet can be checked.
//!
//! ```text
//! 0   encapsulation, CDR_LE          4   key          8   writer, number
//! 24  octets that follow from writer and number
//! ```

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_proto::reader::KeyExtractor;

use crate::random::{Random, mix};

/// What begins each sample: XCDR1, little-endian. RTPS 2.5 §10.5.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// Octets of a serialized key.
pub const KEY_BYTES: usize = 8;

/// The sample numbered `number` of the writer `writer`, `len` octets long. Samples of topics with
/// key are at least [`KEY_BYTES`] long.
pub fn sample(writer: u64, number: u64, key: Option<u32>, len: usize) -> SharedBytes {
    let len = if key.is_some() {
        len.max(KEY_BYTES)
    } else {
        len
    };
    let mut bytes = Vec::with_capacity(len + 32);
    bytes.extend(ENCAPSULATION);
    bytes.extend(key.unwrap_or_default().to_le_bytes());
    bytes.extend(writer.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    let mut random = Random::new(mix(writer).wrapping_add(number));
    let head = bytes.len();
    bytes.resize(len.max(head), 0);
    // Of most samples much comes again, of few octets, as in what people send; of some nothing.
    let noise = number.is_multiple_of(5);
    let mut octets = [0; 8];
    for (at, chunk) in bytes[head..].chunks_mut(8).enumerate() {
        if noise || at.is_multiple_of(4) {
            let mask = if noise { 0xff } else { 0x1f };
            octets = random.next_u64().to_le_bytes().map(|octet| octet & mask);
        }
        chunk.copy_from_slice(&octets[..chunk.len()]);
    }
    bytes.truncate(len);
    SharedBytes::from_vec(bytes)
}

/// The serialized key `key`.
pub fn key(key: u32) -> SharedBytes {
    let mut bytes = Vec::with_capacity(KEY_BYTES);
    bytes.extend(ENCAPSULATION);
    bytes.extend(key.to_le_bytes());
    SharedBytes::from_vec(bytes)
}

/// The instance that `key` names.
pub fn instance(key: u32) -> InstanceHandle {
    let mut bytes = [0x4b; 16];
    bytes[..4].copy_from_slice(&key.to_be_bytes());
    InstanceHandle(bytes)
}

/// Reads keys as [`sample`] and [`key`] write them.
#[derive(Debug)]
pub struct Keys;

impl KeyExtractor for Keys {
    fn instance_of(&self, payload: &[u8], is_key: bool) -> Option<InstanceHandle> {
        if is_key && payload.len() != KEY_BYTES {
            return None;
        }
        let key = payload.get(4..)?.first_chunk()?;
        Some(instance(u32::from_le_bytes(*key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_differ_and_tell_their_key() {
        let one = sample(1, 1, Some(7), 100);
        assert_eq!(one.len(), 100);
        assert_eq!(one, sample(1, 1, Some(7), 100));
        assert_ne!(one[24..], sample(1, 2, Some(7), 100)[24..]);
        assert_ne!(one[24..], sample(2, 1, Some(7), 100)[24..]);
        assert_eq!(Keys.instance_of(&one, false), Some(instance(7)));
        assert_eq!(Keys.instance_of(&key(7), true), Some(instance(7)));
        assert_eq!(Keys.instance_of(&one, true), None);
        assert_eq!(sample(1, 1, Some(7), 0).len(), KEY_BYTES);
        assert!(sample(1, 1, None, 0).is_empty());
    }
}
