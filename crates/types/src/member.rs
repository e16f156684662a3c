//! Members of structures: values, or `Option`s of values.
//!
//! Only members may be optional (XTypes 1.3 §7.2.2.4.4.4.3), so `Option` is a [`Member`] and not
//! a [`DdsValue`].

use whimbrel_base::reject::Reject;

use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::Kind;
use crate::encoder::Encoder;
use crate::representation::Representation;
use crate::value::traits::DdsValue;

/// What a structure may hold; `id` is the member's id.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a member of a DDS type",
    label = "not supported in DDS types",
    note = "supported: numbers of fixed size, bool, String, Vec, arrays, BTreeMap, Box, types \
            with `#[derive(DdsType)]` and Option of these"
)]
pub trait Member: Sized {
    /// True for `Option`.
    const OPTIONAL: bool;
    /// The fewest octets that one takes.
    const MIN_SIZE: usize;
    /// Bounds on its size in a key.
    const KEY_BOUNDS: KeyBounds;

    /// Appends the member.
    fn encode_member(&self, id: u32, out: &mut Encoder<'_>);
    /// Reads the member.
    ///
    /// # Errors
    /// Malformed bytes.
    fn decode_member(id: u32, input: &mut Decoder<'_>) -> Result<Self, Reject>;
    /// Passes over the member.
    ///
    /// # Errors
    /// Malformed bytes.
    fn skip_member(id: u32, input: &mut Decoder<'_>) -> Result<(), Reject>;
    /// Appends what the member contributes to a key.
    fn encode_key_member(&self, id: u32, out: &mut Encoder<'_>);
    /// Reads what [`Member::encode_key_member`] wrote.
    ///
    /// # Errors
    /// Malformed bytes.
    fn decode_key_member(id: u32, input: &mut Decoder<'_>) -> Result<Self, Reject>;
    /// Copies what the member contributes to a key.
    ///
    /// # Errors
    /// Malformed bytes.
    fn transcode_key_member(
        id: u32,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), Reject>;
    /// The value of a member that was not sent.
    ///
    /// # Errors
    /// Too deep nesting.
    fn missing_member(input: &mut Decoder<'_>) -> Result<Self, Reject>;
    /// The kind of the value.
    fn member_kind() -> Kind;
    /// Octets that the member keeps beside its own size.
    fn held_member_bytes(&self) -> usize;
    /// [`DdsValue::duplicate`].
    fn duplicate_member(&self) -> Option<Self>;
    /// [`DdsValue::duplicate_into`].
    fn duplicate_member_into(&self, other: &mut Self) -> bool;
}

#[diagnostic::do_not_recommend]
impl<T: DdsValue> Member for T {
    const OPTIONAL: bool = false;
    const MIN_SIZE: usize = <T as DdsValue>::MIN_SIZE;
    const KEY_BOUNDS: KeyBounds = <T as DdsValue>::KEY_BOUNDS;

    #[inline]
    fn encode_member(&self, _id: u32, out: &mut Encoder<'_>) {
        self.encode(out);
    }

    #[inline]
    fn decode_member(_id: u32, input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Self::decode(input)
    }

    #[inline]
    fn skip_member(_id: u32, input: &mut Decoder<'_>) -> Result<(), Reject> {
        Self::skip(input)
    }

    #[inline]
    fn encode_key_member(&self, _id: u32, out: &mut Encoder<'_>) {
        self.encode_key(out);
    }

    #[inline]
    fn decode_key_member(_id: u32, input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Self::decode_key(input)
    }

    #[inline]
    fn transcode_key_member(
        _id: u32,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), Reject> {
        Self::transcode_key(input, out)
    }

    fn missing_member(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Self::missing(input)
    }

    fn member_kind() -> Kind {
        Self::kind()
    }

    #[inline]
    fn held_member_bytes(&self) -> usize {
        self.held_bytes()
    }

    #[inline]
    fn duplicate_member(&self) -> Option<Self> {
        self.duplicate()
    }

    #[inline]
    fn duplicate_member_into(&self, other: &mut Self) -> bool {
        self.duplicate_into(other)
    }
}

impl<T: DdsValue> Member for Option<T> {
    const OPTIONAL: bool = true;
    const MIN_SIZE: usize = 1;
    const KEY_BOUNDS: KeyBounds = KeyBounds::UNBOUNDED;

    fn held_member_bytes(&self) -> usize {
        self.as_ref().map_or(0, T::held_bytes)
    }

    #[inline]
    fn duplicate_member(&self) -> Option<Self> {
        match self {
            Some(value) => value.duplicate().map(Some),
            None => Some(None),
        }
    }

    #[inline]
    fn duplicate_member_into(&self, other: &mut Self) -> bool {
        match (self, other) {
            (Some(value), Some(other)) => value.duplicate_into(other),
            (value, other) => {
                let value = value.duplicate_member();
                value.map(|value| *other = value).is_some()
            }
        }
    }

    // XCDR2: a boolean in front; XCDR1: a parameter, empty where absent. XTypes 1.3 §7.4.3.5.
    #[inline]
    fn encode_member(&self, id: u32, out: &mut Encoder<'_>) {
        match out.representation() {
            Representation::Xcdr1 => {
                let mark = out.begin_parameter(id);
                if let Some(value) = self {
                    value.encode(out);
                }
                out.end_parameter(mark);
            }
            Representation::Xcdr2 => {
                out.bool(self.is_some());
                if let Some(value) = self {
                    value.encode(out);
                }
            }
        }
    }

    #[inline]
    fn decode_member(id: u32, input: &mut Decoder<'_>) -> Result<Self, Reject> {
        match input.representation() {
            Representation::Xcdr1 => input.parameter(id, T::decode),
            Representation::Xcdr2 if input.bool()? => T::decode(input).map(Some),
            Representation::Xcdr2 => Ok(None),
        }
    }

    #[inline]
    fn skip_member(id: u32, input: &mut Decoder<'_>) -> Result<(), Reject> {
        match input.representation() {
            Representation::Xcdr1 => input.parameter(id, |_| Ok(())).map(|_| ()),
            Representation::Xcdr2 if input.bool()? => T::skip(input),
            Representation::Xcdr2 => Ok(()),
        }
    }

    fn encode_key_member(&self, id: u32, out: &mut Encoder<'_>) {
        self.encode_member(id, out);
    }

    fn decode_key_member(id: u32, input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Self::decode_member(id, input)
    }

    fn transcode_key_member(
        id: u32,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), Reject> {
        Self::decode_member(id, input)?.encode_member(id, out);
        Ok(())
    }

    fn missing_member(_input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Ok(None)
    }

    fn member_kind() -> Kind {
        T::kind()
    }
}
