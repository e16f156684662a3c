//! Boxes, which travel like what they hold. They make recursive types possible, so each counts
//! as a level of nesting.

use alloc::boxed::Box;

use whimbrel_base::reject::Reject;

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::shape::Shape;

impl<T: DdsValue> DdsValue for Box<T> {
    const SHAPE: Shape = T::SHAPE;
    const MIN_SIZE: usize = T::MIN_SIZE;
    // That of `T` would be defined by itself in a recursive type.
    const KEY_BOUNDS: KeyBounds = KeyBounds::UNBOUNDED;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>) {
        T::encode(self, out);
    }

    fn held_bytes(&self) -> usize {
        size_of::<T>().saturating_add(T::held_bytes(self))
    }

    fn duplicate(&self) -> Option<Self> {
        T::duplicate(self).map(Self::new)
    }

    fn duplicate_into(&self, other: &mut Self) -> bool {
        T::duplicate_into(self, other)
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.enter()?;
        let value = T::decode(input)?;
        input.leave();
        Ok(Self::new(value))
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        input.enter()?;
        T::skip(input)?;
        input.leave();
        Ok(())
    }

    fn missing(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.enter()?;
        let value = T::missing(input)?;
        input.leave();
        Ok(Self::new(value))
    }

    fn kind() -> Kind {
        T::kind()
    }

    #[inline]
    fn encode_key(&self, out: &mut Encoder<'_>) {
        T::encode_key(self, out);
    }

    fn decode_key(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.enter()?;
        let value = T::decode_key(input)?;
        input.leave();
        Ok(Self::new(value))
    }

    fn transcode_key(input: &mut Decoder<'_>, out: &mut Encoder<'_>) -> Result<(), Reject> {
        input.enter()?;
        T::transcode_key(input, out)?;
        input.leave();
        Ok(())
    }
}
