//! Reads payloads by a description alone: what tools print when they know a type's description
//! and not the type.
//!
//! The limits are those of [`Decoder`]: nothing is allocated by a claimed length and nothing
//! nests deeper than [`crate::DEPTH_MAX`].

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::copying;
use whimbrel_base::reject::{Reject, RejectKind};

use crate::decoder::Decoder;
use crate::describe::{Case, Kind, Literal, TypeBody, TypeDescription};
use crate::payload::read;
use crate::representation::{Extensibility, Representation};
use crate::shape::Shape;

/// A value of any type.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Boolean.
    Bool(bool),
    /// Signed number.
    Int(i64),
    /// Unsigned number.
    UInt(u64),
    /// Floating-point number.
    Float(f64),
    /// String.
    String(String),
    /// Sequence or array of octets.
    Bytes(Vec<u8>),
    /// Any other sequence or array.
    Sequence(Vec<Self>),
    /// Keys and values of a map.
    Map(Vec<(Self, Self)>),
    /// Members of a structure that were sent, with their names.
    Struct(Vec<(&'static str, Self)>),
    /// A union: name and value of the case, where one is selected.
    Union {
        /// The discriminator.
        discriminator: i64,
        /// The selected case; `None` where no case has this discriminator.
        case: Option<&'static str>,
        /// Its value; `None` where it has none.
        value: Option<Box<Self>>,
    },
    /// A literal of an enumeration; no name where the number is unknown.
    Enumeration {
        /// Its name.
        name: Option<&'static str>,
        /// Its number.
        value: i64,
    },
    /// An optional member.
    Optional(Option<Box<Self>>),
}

impl Value {
    /// The member `name` of a structure.
    pub fn member(&self, name: &str) -> Option<&Self> {
        let Self::Struct(members) = self else {
            return None;
        };
        let found = members.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value)
    }
}

/// Reads the payload of a sample whose type `description` describes.
///
/// Unlike a typed reader it accepts unknown numbers of enumerations and unknown cases of unions
/// without a value, and leaves out members of appendable types that were not sent.
///
/// # Errors
/// As [`crate::from_payload`].
pub fn value_from_payload(
    description: &'static TypeDescription,
    payload: &[u8],
) -> Result<Value, Reject> {
    read(payload, description.extensibility, |input| {
        named(description, input)
    })
}

/// Reads a serialized key of the type that `description` describes: its key members only.
///
/// # Errors
/// [`RejectKind::Key`] for a type without keys; else as [`crate::from_payload`].
pub fn key_value_from_payload(
    description: &'static TypeDescription,
    payload: &[u8],
) -> Result<Value, Reject> {
    if !description.is_keyed() {
        return Err(Reject::new(RejectKind::Key, 0));
    }
    read(payload, description.extensibility, |input| {
        *input = input.clone().of_key();
        named(description, input)
    })
}

fn value(kind: Kind, input: &mut Decoder<'_>) -> Result<Value, Reject> {
    Ok(match kind {
        Kind::Bool => Value::Bool(input.bool()?),
        Kind::I8 => Value::Int(input.i8()?.into()),
        Kind::U8 => Value::UInt(input.u8()?.into()),
        Kind::I16 => Value::Int(input.i16()?.into()),
        Kind::U16 => Value::UInt(input.u16()?.into()),
        Kind::I32 => Value::Int(input.i32()?.into()),
        Kind::U32 => Value::UInt(input.u32()?.into()),
        Kind::I64 => Value::Int(input.i64()?),
        Kind::U64 => Value::UInt(input.u64()?),
        Kind::F32 => Value::Float(input.f32()?.into()),
        Kind::F64 => Value::Float(input.f64()?),
        Kind::String => Value::String(input.string()?.to_owned()),
        Kind::Sequence(element) => sequence(element(), input)?,
        Kind::Array(len, element) => array(len, element(), input)?,
        Kind::Map(key, to) => map(key(), to(), input)?,
        Kind::Named(description) => {
            // Recursive types reach themselves through boxes, which leave no trace in a kind.
            input.enter_type()?;
            let value = named(description, input)?;
            input.leave_type();
            value
        }
    })
}

fn sequence(element: Kind, input: &mut Decoder<'_>) -> Result<Value, Reject> {
    input.collection(element.is_primitive(), |input| {
        let len = input.length(1)?;
        if matches!(element, Kind::U8) {
            return Ok(Value::Bytes(copying::to_vec(input.bytes(len)?)));
        }
        Ok(Value::Sequence(values(
            len,
            element,
            Shape::Composite,
            input,
        )?))
    })
}

fn array(len: usize, element: Kind, input: &mut Decoder<'_>) -> Result<Value, Reject> {
    let shape = shape(element);
    input.array(shape, |input| {
        if matches!(element, Kind::U8) {
            return Ok(Value::Bytes(copying::to_vec(input.bytes(len)?)));
        }
        Ok(Value::Sequence(values(len, element, shape, input)?))
    })
}

fn values(
    len: usize,
    element: Kind,
    shape: Shape,
    input: &mut Decoder<'_>,
) -> Result<Vec<Value>, Reject> {
    let mut values = Vec::with_capacity(input.reservation::<Value>(len));
    for _ in 0..len {
        input.array_element(shape);
        values.push(value(element, input)?);
    }
    Ok(values)
}

fn shape(kind: Kind) -> Shape {
    match kind {
        Kind::Array(_, element) if shape(element()).is_flat() => Shape::PrimitiveArray,
        Kind::Array(..) => Shape::CompositeArray,
        other if other.is_primitive() => Shape::Primitive,
        _ => Shape::Composite,
    }
}

fn map(key: Kind, to: Kind, input: &mut Decoder<'_>) -> Result<Value, Reject> {
    input.collection(key.is_primitive() && to.is_primitive(), |input| {
        let len = input.length(2)?;
        let mut pairs = Vec::with_capacity(input.reservation::<(Value, Value)>(len));
        for _ in 0..len {
            let key = value(key, input)?;
            pairs.push((key, value(to, input)?));
        }
        Ok(Value::Map(pairs))
    })
}

fn named(description: &'static TypeDescription, input: &mut Decoder<'_>) -> Result<Value, Reject> {
    let read = |input: &mut Decoder<'_>| match description.body {
        TypeBody::Struct(_) => structure(description, input),
        TypeBody::Union {
            discriminator,
            cases,
        } => union(discriminator(), cases, input),
        TypeBody::Enumeration {
            bit_bound,
            literals,
        } => enumeration(bit_bound, literals, input),
    };
    let delimited = !matches!(description.body, TypeBody::Enumeration { .. });
    match description.extensibility {
        Extensibility::Appendable if delimited => input.appendable(read),
        Extensibility::Appendable | Extensibility::Final => read(input),
    }
}

fn structure(
    description: &'static TypeDescription,
    input: &mut Decoder<'_>,
) -> Result<Value, Reject> {
    let members = description.members();
    let keyed = description.is_keyed();
    let appendable = description.extensibility == Extensibility::Appendable;
    let mut values = Vec::with_capacity(members.len());
    for member in members {
        if input.is_key_only() && keyed && !member.key {
            continue;
        }
        if appendable && input.is_exhausted() {
            break;
        }
        let kind = (member.kind)();
        let found = match (member.optional, input.representation()) {
            (false, _) => value(kind, input)?,
            (true, Representation::Xcdr1) => {
                optional(input.parameter(member.id, |input| value(kind, input))?)
            }
            (true, Representation::Xcdr2) if input.bool()? => optional(Some(value(kind, input)?)),
            (true, Representation::Xcdr2) => optional(None),
        };
        values.push((member.name, found));
    }
    Ok(Value::Struct(values))
}

fn optional(value: Option<Value>) -> Value {
    Value::Optional(value.map(Box::new))
}

fn union(
    discriminator: Kind,
    cases: &'static [Case],
    input: &mut Decoder<'_>,
) -> Result<Value, Reject> {
    let at = input.position();
    let selector = match value(discriminator, input)? {
        Value::Bool(selector) => selector.into(),
        Value::Int(selector) => selector,
        // Labels are at most 2⁶³−1, so a greater one selects the default case.
        Value::UInt(selector) => i64::try_from(selector).unwrap_or(i64::MAX),
        _ => return Err(Reject::new(RejectKind::EnumValue, at)),
    };
    let labelled = cases.iter().find(|case| case.labels.contains(&selector));
    let case = labelled.or_else(|| cases.iter().find(|case| case.default));
    let inner = match case.and_then(|case| case.kind) {
        Some(kind) => Some(Box::new(value(kind(), input)?)),
        None => None,
    };
    Ok(Value::Union {
        discriminator: selector,
        case: case.map(|case| case.name),
        value: inner,
    })
}

fn enumeration(
    bit_bound: u8,
    literals: &'static [Literal],
    input: &mut Decoder<'_>,
) -> Result<Value, Reject> {
    let number: i32 = match bit_bound {
        8 => input.i8()?.into(),
        16 => input.i16()?.into(),
        _ => input.i32()?,
    };
    let literal = literals.iter().find(|literal| literal.value == number);
    Ok(Value::Enumeration {
        name: literal.map(|literal| literal.name),
        value: number.into(),
    })
}

/// One line, JSON-like: names without quotes, octets in hexadecimal.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::UInt(value) => value.fmt(f),
            Self::Float(value) => fmt::Debug::fmt(value, f),
            Self::String(text) => fmt::Debug::fmt(text, f),
            Self::Bytes(octets) => {
                f.write_str("0x")?;
                octets.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
            }
            Self::Sequence(values) => list(f, "[", values, "]", |f, value| value.fmt(f)),
            Self::Map(pairs) => list(f, "{", pairs, "}", |f, (key, value)| {
                write!(f, "{key}: {value}")
            }),
            Self::Struct(members) => list(f, "{", members, "}", |f, (name, value)| {
                write!(f, "{name}: {value}")
            }),
            Self::Union {
                discriminator,
                case,
                value,
            } => {
                match case {
                    Some(case) => f.write_str(case)?,
                    None => write!(f, "case {discriminator}")?,
                }
                match value {
                    Some(value) => write!(f, "({value})"),
                    None => Ok(()),
                }
            }
            Self::Enumeration {
                name: Some(name), ..
            } => f.write_str(name),
            Self::Enumeration { name: None, value } => value.fmt(f),
            Self::Optional(Some(value)) => value.fmt(f),
            Self::Optional(None) => f.write_str("none"),
        }
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    items: &[T],
    close: &str,
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str(open)?;
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        show(f, item)?;
    }
    f.write_str(close)
}
