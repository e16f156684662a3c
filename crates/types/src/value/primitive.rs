//! Numbers and booleans.

use alloc::vec::Vec;

use whimbrel_base::copying;
use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::{Reject, RejectKind};

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::shape::Shape;

/// Octets put together on the stack before they are appended.
const BLOCK: usize = 512;

macro_rules! basics {
    ($ty:ty, $size:literal, $kind:ident, $zero:expr, $name:ident) => {
        const SHAPE: Shape = Shape::Primitive;
        const MIN_SIZE: usize = $size;
        const KEY_BOUNDS: KeyBounds = KeyBounds::number($size);

        #[inline]
        fn encode(&self, out: &mut Encoder<'_>) {
            out.$name(*self);
        }

        #[inline]
        fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
            input.$name()
        }

        #[inline]
        fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
            input.skip_numbers(1, $size)
        }

        fn missing(_input: &mut Decoder<'_>) -> Result<Self, Reject> {
            Ok($zero)
        }

        fn kind() -> Kind {
            Kind::$kind
        }

        #[inline]
        fn duplicate(&self) -> Option<Self> {
            Some(*self)
        }

        #[inline]
        fn duplicate_into(&self, other: &mut Self) -> bool {
            *other = *self;
            true
        }

        #[inline]
        fn duplicate_slice(values: &[Self], others: &mut Vec<Self>) -> bool {
            others.clear();
            copying::append(others, values);
            true
        }

        #[inline]
        fn duplicate_array<const N: usize>(values: &[Self; N]) -> Option<[Self; N]> {
            Some(*values)
        }

        fn skip_many(len: usize, input: &mut Decoder<'_>) -> Result<(), Reject> {
            input.skip_numbers(len, $size)
        }
    };
}

macro_rules! numbers {
    ($($name:ident $ty:ty, $size:literal, $kind:ident, $zero:expr;)+) => {$(
        impl DdsValue for $ty {
            basics!($ty, $size, $kind, $zero, $name);

            fn encode_slice(values: &[Self], out: &mut Encoder<'_>) {
                if values.is_empty() {
                    return;
                }
                out.align($size);
                let endian = out.endian();
                let mut block = [0; BLOCK];
                for part in values.chunks(BLOCK / $size) {
                    let (places, _) = block.as_chunks_mut::<$size>();
                    let pairs = places.iter_mut().zip(part);
                    match endian {
                        Endian::Big => pairs.for_each(|(place, v)| *place = v.to_be_bytes()),
                        Endian::Little => pairs.for_each(|(place, v)| *place = v.to_le_bytes()),
                    }
                    let len = part.len().saturating_mul($size);
                    out.bytes(block.get(..len).unwrap_or_default());
                }
            }

            fn decode_vec(len: usize, input: &mut Decoder<'_>) -> Result<Vec<Self>, Reject> {
                if len == 0 {
                    return Ok(Vec::new());
                }
                input.align($size)?;
                let (values, _) = input.bytes(len.saturating_mul($size))?.as_chunks::<$size>();
                let endian = input.endian();
                let mut out = Vec::with_capacity(values.len());
                // All at once may become one copy of a block, see `whimbrel_base::copying`.
                for part in values.chunks(BLOCK / $size) {
                    match endian {
                        Endian::Big => out.extend(part.iter().map(|raw| Self::from_be_bytes(*raw))),
                        Endian::Little => {
                            out.extend(part.iter().map(|raw| Self::from_le_bytes(*raw)));
                        }
                    }
                }
                Ok(out)
            }

            fn decode_array<const N: usize>(
                input: &mut Decoder<'_>,
            ) -> Result<[Self; N], Reject> {
                input.align($size)?;
                let (values, _) = input.bytes(N.saturating_mul($size))?.as_chunks::<$size>();
                let mut array = [$zero; N];
                let pairs = array.iter_mut().zip(values);
                match input.endian() {
                    Endian::Big => pairs.for_each(|(v, raw)| *v = Self::from_be_bytes(*raw)),
                    Endian::Little => pairs.for_each(|(v, raw)| *v = Self::from_le_bytes(*raw)),
                }
                Ok(array)
            }
        }
    )+};
}

numbers! {
    i8 i8, 1, I8, 0;
    i16 i16, 2, I16, 0;
    u16 u16, 2, U16, 0;
    i32 i32, 4, I32, 0;
    u32 u32, 4, U32, 0;
    i64 i64, 8, I64, 0;
    u64 u64, 8, U64, 0;
    f32 f32, 4, F32, 0.0;
    f64 f64, 8, F64, 0.0;
}

impl DdsValue for u8 {
    basics!(u8, 1, U8, 0, u8);

    fn encode_slice(values: &[Self], out: &mut Encoder<'_>) {
        out.bytes(values);
    }

    fn decode_vec(len: usize, input: &mut Decoder<'_>) -> Result<Vec<Self>, Reject> {
        input.bytes(len).map(copying::to_vec)
    }

    fn decode_array<const N: usize>(input: &mut Decoder<'_>) -> Result<[Self; N], Reject> {
        let octets = input.bytes(N)?;
        octets
            .try_into()
            .map_err(|_| input.reject(RejectKind::Length))
    }
}

impl DdsValue for bool {
    basics!(bool, 1, Bool, false, bool);
}
