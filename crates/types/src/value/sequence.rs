//! Sequences. XTypes 1.3 §7.4.3.5.

use alloc::vec::Vec;

use whimbrel_base::reject::Reject;

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::shape::Shape;

impl<T: DdsValue> DdsValue for Vec<T> {
    const SHAPE: Shape = Shape::Composite;
    const MIN_SIZE: usize = 4;
    const KEY_BOUNDS: KeyBounds = KeyBounds::UNBOUNDED;

    fn encode(&self, out: &mut Encoder<'_>) {
        let delimiter = out.begin_collection(T::SHAPE.is_primitive());
        out.length(self.len());
        T::encode_slice(self, out);
        out.end(delimiter);
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.collection(T::SHAPE.is_primitive(), |input| {
            let len = input.length(T::MIN_SIZE)?;
            T::decode_vec(len, input)
        })
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        let primitive = T::SHAPE.is_primitive();
        if input.skip_collection(primitive)? {
            return Ok(());
        }
        input.collection(primitive, |input| {
            let len = input.length(T::MIN_SIZE)?;
            if primitive {
                return T::skip_many(len, input);
            }
            for _ in 0..len {
                T::skip(input)?;
            }
            Ok(())
        })
    }

    fn missing(_input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Ok(Self::new())
    }

    fn kind() -> Kind {
        Kind::Sequence(T::kind)
    }

    fn held_bytes(&self) -> usize {
        let own = size_of_val(self.as_slice());
        if T::SHAPE.is_primitive() {
            return own;
        }
        let held = self.iter().map(T::held_bytes);
        held.fold(own, usize::saturating_add)
    }

    #[inline]
    fn duplicate(&self) -> Option<Self> {
        let mut other = Self::new();
        self.duplicate_into(&mut other).then_some(other)
    }

    #[inline]
    fn duplicate_into(&self, other: &mut Self) -> bool {
        T::duplicate_slice(self, other)
    }

    fn encode_key(&self, out: &mut Encoder<'_>) {
        if T::SHAPE.is_primitive() {
            return self.encode(out);
        }
        let delimiter = out.begin_collection(false);
        out.length(self.len());
        for value in self {
            value.encode_key(out);
        }
        out.end(delimiter);
    }

    fn decode_key(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        if T::SHAPE.is_primitive() {
            return Self::decode(input);
        }
        input.collection(false, |input| {
            let len = input.length(1)?;
            let mut values = Self::with_capacity(input.reservation::<T>(len));
            for _ in 0..len {
                values.push(T::decode_key(input)?);
            }
            Ok(values)
        })
    }
}
