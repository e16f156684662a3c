//! Strings.

use alloc::borrow::ToOwned;
use alloc::string::String;

use whimbrel_base::reject::Reject;

use super::traits::DdsValue;
use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::{Encoder, holds_nul};
use crate::shape::Shape;

impl DdsValue for String {
    const SHAPE: Shape = Shape::Composite;
    const MIN_SIZE: usize = 4;
    const KEY_BOUNDS: KeyBounds = KeyBounds::UNBOUNDED;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>) {
        out.string(self);
    }

    #[inline]
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        input.string().map(str::to_owned)
    }

    #[inline]
    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        input.skip_string()
    }

    fn missing(_input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Ok(Self::new())
    }

    fn kind() -> Kind {
        Kind::String
    }

    #[inline]
    fn held_bytes(&self) -> usize {
        self.len()
    }

    #[inline]
    fn duplicate(&self) -> Option<Self> {
        (!holds_nul(self)).then(|| self.clone())
    }

    #[inline]
    fn duplicate_into(&self, other: &mut Self) -> bool {
        other.clone_from(self);
        !holds_nul(self)
    }

    #[inline]
    fn transcode_key(input: &mut Decoder<'_>, out: &mut Encoder<'_>) -> Result<(), Reject> {
        out.string(input.string()?);
        Ok(())
    }
}
