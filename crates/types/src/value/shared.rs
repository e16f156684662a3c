//! Octets that share the memory in which they came.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::reject::Reject;

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::shape::Shape;

/// A sequence of octets, on the wire the same as `Vec<u8>`. XTypes 1.3 §7.4.3.5.
///
/// Decoded from a sample it is a slice of the received one and copies nothing, unless it is a
/// small part of that: then it is copied, so as not to keep the rest alive.
impl DdsValue for SharedBytes {
    const SHAPE: Shape = Shape::Composite;
    const MIN_SIZE: usize = 4;
    const KEY_BOUNDS: KeyBounds = KeyBounds::UNBOUNDED;

    fn encode(&self, out: &mut Encoder<'_>) {
        out.length(self.len());
        out.shared_bytes(self);
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        let len = input.length(1)?;
        input.shared_bytes(len)
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        let len = input.length(1)?;
        input.skip_numbers(len, 1)
    }

    fn missing(_input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Ok(Self::default())
    }

    fn kind() -> Kind {
        Kind::Sequence(u8::kind)
    }

    fn held_bytes(&self) -> usize {
        self.len()
    }

    #[inline]
    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    /// Few octets are copied, so as to keep nothing else alive.
    #[inline]
    fn duplicate_into(&self, other: &mut Self) -> bool {
        if self.len() > Self::SMALL_SLAB_BYTES {
            other.clone_from(self);
        } else {
            other.overwrite(self);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use whimbrel_base::cursor::Endian;
    use whimbrel_base::reject::RejectKind;

    use super::*;
    use crate::representation::Representation;

    fn encoded<T: DdsValue>(value: &T) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, Representation::Xcdr2, Endian::Little);
        value.encode(&mut encoder);
        encoder.finish().unwrap();
        out
    }

    fn decoder(bytes: &[u8]) -> Decoder<'_> {
        Decoder::new(bytes, Representation::Xcdr2, Endian::Little)
    }

    #[test]
    fn it_travels_as_a_sequence_of_octets() {
        let octets: Vec<u8> = (0..200).collect();
        let shared = SharedBytes::copy_from(&octets);
        let wire = encoded(&octets);
        assert_eq!(encoded(&shared), wire);
        assert_eq!(SharedBytes::decode(&mut decoder(&wire)).unwrap(), shared);
        let mut skipping = decoder(&wire);
        SharedBytes::skip(&mut skipping).unwrap();
        assert_eq!(skipping.remaining(), 0);
        assert_eq!(encoded(&SharedBytes::default()), [0; 4]);
        let cut = SharedBytes::decode(&mut decoder(&wire[..50]));
        assert_eq!(cut.unwrap_err().kind, RejectKind::Truncated);
    }

    #[test]
    fn what_is_most_of_the_sample_shares_its_memory() {
        let octets = SharedBytes::from_vec(alloc::vec![7; 5000]);
        let wire = SharedBytes::from_vec(encoded(&octets));
        let read = SharedBytes::decode(&mut decoder(&wire).within(&wire)).unwrap();
        assert_eq!(read, octets);
        assert_eq!(read.as_ptr(), wire[4..].as_ptr());
        // What is within something else is told by where it lies.
        let elsewhere = SharedBytes::copy_from(&wire);
        let read = SharedBytes::decode(&mut decoder(&wire).within(&elsewhere)).unwrap();
        assert_eq!(read, octets);
        assert_ne!(read.as_ptr(), wire[4..].as_ptr());
    }

    #[test]
    fn what_is_a_small_part_of_it_does_not_keep_it_alive() {
        let small = SharedBytes::from_vec(alloc::vec![7; 50]);
        let mut wire = encoded(&small);
        wire.resize(8000, 0);
        let wire = SharedBytes::from_vec(wire);
        let read = SharedBytes::decode(&mut decoder(&wire).within(&wire)).unwrap();
        assert_eq!(read, small);
        assert!(read.slab_len() < 100);
    }

    #[test]
    fn what_is_part_of_a_small_sample_is_not_copied_however_small() {
        let small = SharedBytes::from_vec(alloc::vec![7; 50]);
        let mut wire = encoded(&small);
        wire.resize(4000, 0);
        let wire = SharedBytes::from_vec(wire);
        let read = SharedBytes::decode(&mut decoder(&wire).within(&wire)).unwrap();
        assert_eq!(read.as_ptr(), wire[4..].as_ptr());
    }
}
