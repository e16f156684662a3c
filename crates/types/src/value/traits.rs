//! The traits of values and of the types of topics.

use alloc::vec::Vec;

use whimbrel_base::reject::{Reject, RejectKind};

use crate::bounds::KeyBounds;
use crate::decoder::Decoder;
use crate::describe::{Kind, TypeDescription};
use crate::encoder::Encoder;
use crate::representation::Extensibility;
use crate::shape::Shape;

/// A value that can be encoded: numbers, booleans, strings, sequences (`Vec`), arrays, maps
/// (`BTreeMap`), boxes, and types with `#[derive(DdsType)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a DDS type",
    note = "supported: numbers, bool, String, Vec, arrays, BTreeMap, Box and types with \
            `#[derive(DdsType)]`; Option only as a member of a structure"
)]
pub trait DdsValue: Sized {
    /// What it is to the collection around it.
    const SHAPE: Shape;
    /// The fewest octets that one takes in any representation.
    const MIN_SIZE: usize;
    /// Bounds on its size as (part of) a key.
    const KEY_BOUNDS: KeyBounds;

    /// Appends the value.
    fn encode(&self, out: &mut Encoder<'_>);

    /// Reads a value.
    ///
    /// # Errors
    /// Malformed bytes.
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject>;

    /// Passes over a value without building it.
    ///
    /// # Errors
    /// Malformed bytes, as far as they are looked at.
    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject>;

    /// The value of a member that an appendable type's writer did not know: zero, empty, the
    /// first literal. XTypes 1.3 §7.2.2.4.4.4.7.
    ///
    /// # Errors
    /// Too deep nesting.
    fn missing(input: &mut Decoder<'_>) -> Result<Self, Reject>;

    /// The kind of the value.
    fn kind() -> Kind;

    /// Octets that the value keeps beside its own size: those of strings, sequences and maps.
    fn held_bytes(&self) -> usize {
        0
    }

    /// A value of its own that equals this one, as who decodes the encoded value has it; `None`
    /// where the type does not say how, or the value cannot be encoded.
    ///
    /// Readers of the writer's process get such values unencoded. Both may share octets.
    fn duplicate(&self) -> Option<Self> {
        None
    }

    /// As [`DdsValue::duplicate`], in the place and the memory of `other`. Whether it is done; if
    /// not, `other` is any value.
    fn duplicate_into(&self, other: &mut Self) -> bool {
        self.duplicate().map(|value| *other = value).is_some()
    }

    /// [`DdsValue::duplicate_into`] for all of `values`.
    fn duplicate_slice(values: &[Self], others: &mut Vec<Self>) -> bool {
        others.truncate(values.len());
        let (known, new) = values.split_at_checked(others.len()).unwrap_or_default();
        let mut pairs = known.iter().zip(others.iter_mut());
        if !pairs.all(|(value, other)| value.duplicate_into(other)) {
            return false;
        }
        others.reserve_exact(new.len());
        let mut add = |value: &Self| value.duplicate().map(|value| others.push(value));
        new.iter().all(|value| add(value).is_some())
    }

    /// [`DdsValue::duplicate`] for an array.
    fn duplicate_array<const N: usize>(values: &[Self; N]) -> Option<[Self; N]> {
        let mut others = Vec::new();
        let done = Self::duplicate_slice(values, &mut others);
        done.then_some(others)?.try_into().ok()
    }

    /// Appends what the value contributes to a key: of a structure with key members only those.
    /// XTypes 1.3 §7.6.8.3.
    #[inline]
    fn encode_key(&self, out: &mut Encoder<'_>) {
        self.encode(out);
    }

    /// Reads what [`DdsValue::encode_key`] wrote; other members are those of
    /// [`DdsValue::missing`].
    ///
    /// # Errors
    /// Malformed bytes.
    #[inline]
    fn decode_key(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        Self::decode(input)
    }

    /// Copies what an encoded value contributes to a key. `input` holds a whole value, or its key
    /// where [`Decoder::is_key_only`].
    ///
    /// # Errors
    /// Malformed bytes.
    fn transcode_key(input: &mut Decoder<'_>, out: &mut Encoder<'_>) -> Result<(), Reject> {
        let value = if input.is_key_only() {
            Self::decode_key(input)?
        } else {
            Self::decode(input)?
        };
        value.encode_key(out);
        Ok(())
    }

    /// Appends all of `values`; faster for numbers than one at a time.
    fn encode_slice(values: &[Self], out: &mut Encoder<'_>) {
        for value in values {
            value.encode(out);
        }
    }

    /// Reads `len` values, `len` as from [`Decoder::length`].
    ///
    /// # Errors
    /// Malformed bytes.
    fn decode_vec(len: usize, input: &mut Decoder<'_>) -> Result<Vec<Self>, Reject> {
        let mut values = Vec::with_capacity(input.reservation::<Self>(len));
        for _ in 0..len {
            values.push(Self::decode(input)?);
        }
        Ok(values)
    }

    /// Reads an array's elements.
    ///
    /// # Errors
    /// Malformed bytes.
    fn decode_array<const N: usize>(input: &mut Decoder<'_>) -> Result<[Self; N], Reject> {
        let mut values = Vec::with_capacity(input.reservation::<Self>(N));
        for _ in 0..N {
            input.array_element(Self::SHAPE);
            values.push(Self::decode(input)?);
        }
        values
            .try_into()
            .map_err(|_| input.reject(RejectKind::Length))
    }

    /// Passes over `len` values.
    ///
    /// # Errors
    /// Malformed bytes, as far as they are looked at.
    fn skip_many(len: usize, input: &mut Decoder<'_>) -> Result<(), Reject> {
        for _ in 0..len {
            input.array_element(Self::SHAPE);
            Self::skip(input)?;
        }
        Ok(())
    }
}

/// The type of a topic: a structure or union, normally with `#[derive(DdsType)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a topic",
    note = "add `#[derive(DdsType)]` to a structure, or to an enum with data"
)]
pub trait DdsType: DdsValue + Send + Sync + 'static {
    /// The name by which it is known on the bus, scopes separated by `::`.
    const TYPE_NAME: &'static str;
    /// How it may change.
    const EXTENSIBILITY: Extensibility;
    /// True where it has key members, so that its topics have instances.
    const KEYED: bool;

    /// What it consists of.
    fn describe() -> &'static TypeDescription;
}
