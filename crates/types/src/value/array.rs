//! Arrays; an array of arrays is one array of several dimensions. XTypes 1.3 §7.4.3.5.

use alloc::vec::Vec;

use whimbrel_base::reject::{Reject, RejectKind};

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::shape::Shape;

impl<T: DdsValue, const N: usize> DdsValue for [T; N] {
    const SHAPE: Shape = if T::SHAPE.is_flat() {
        Shape::PrimitiveArray
    } else {
        Shape::CompositeArray
    };
    const MIN_SIZE: usize = T::MIN_SIZE.saturating_mul(N);
    const KEY_BOUNDS: KeyBounds = if T::SHAPE.is_flat() {
        T::KEY_BOUNDS.times(N)
    } else {
        T::KEY_BOUNDS.times(N).delimited()
    };

    fn encode(&self, out: &mut Encoder<'_>) {
        let delimiter = out.begin_array(T::SHAPE);
        if T::SHAPE.is_primitive() {
            T::encode_slice(self, out);
        } else {
            for value in self {
                out.array_element(T::SHAPE);
                value.encode(out);
            }
        }
        out.end(delimiter);
    }

    fn held_bytes(&self) -> usize {
        if T::SHAPE.is_flat() {
            return 0;
        }
        let held = self.iter().map(T::held_bytes);
        held.fold(0, usize::saturating_add)
    }

    #[inline]
    fn duplicate(&self) -> Option<Self> {
        T::duplicate_array(self)
    }

    #[inline]
    fn duplicate_into(&self, other: &mut Self) -> bool {
        let mut pairs = self.iter().zip(other);
        pairs.all(|(value, other)| value.duplicate_into(other))
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.array(T::SHAPE, T::decode_array)
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        if input.skip_array(T::SHAPE)? {
            return Ok(());
        }
        T::skip_many(N, input)
    }

    fn missing(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        let values: Result<Vec<T>, Reject> = (0..N).map(|_| T::missing(input)).collect();
        values?
            .try_into()
            .map_err(|_| input.reject(RejectKind::Length))
    }

    fn kind() -> Kind {
        Kind::Array(N, T::kind)
    }

    fn encode_key(&self, out: &mut Encoder<'_>) {
        if T::SHAPE.is_primitive() {
            return self.encode(out);
        }
        let delimiter = out.begin_array(T::SHAPE);
        for value in self {
            out.array_element(T::SHAPE);
            value.encode_key(out);
        }
        out.end(delimiter);
    }

    fn decode_key(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        if T::SHAPE.is_primitive() {
            return Self::decode(input);
        }
        input.array(T::SHAPE, |input| {
            let mut values = Vec::with_capacity(input.reservation::<T>(N));
            for _ in 0..N {
                input.array_element(T::SHAPE);
                values.push(T::decode_key(input)?);
            }
            values
                .try_into()
                .map_err(|_| input.reject(RejectKind::Length))
        })
    }
}
