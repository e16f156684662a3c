//! The type model: what a type is called and what it consists of.
//!
//! Descriptions are static. Kinds are reached through functions, so that recursive types can be
//! described.

use crate::representation::Extensibility;

/// The kind of a value. XTypes 1.3 §7.2.2.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Boolean.
    Bool,
    /// 8-bit signed.
    I8,
    /// 8-bit unsigned.
    U8,
    /// 16-bit signed.
    I16,
    /// 16-bit unsigned.
    U16,
    /// 32-bit signed.
    I32,
    /// 32-bit unsigned.
    U32,
    /// 64-bit signed.
    I64,
    /// 64-bit unsigned.
    U64,
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// String of UTF-8 characters.
    String,
    /// Sequence of elements.
    Sequence(fn() -> Self),
    /// Array with this many elements.
    Array(usize, fn() -> Self),
    /// Map of keys to values.
    Map(fn() -> Self, fn() -> Self),
    /// Structure, union or enumeration.
    Named(&'static TypeDescription),
}

impl Kind {
    /// True for what the standard calls primitive: numbers and booleans. XTypes 1.3 §7.2.2.2.
    pub const fn is_primitive(self) -> bool {
        !matches!(
            self,
            Self::String | Self::Sequence(_) | Self::Array(..) | Self::Map(..) | Self::Named(_)
        )
    }
}

/// A structure, union or enumeration.
#[derive(Clone, Copy, Debug)]
pub struct TypeDescription {
    /// Its name, scopes separated by `::`.
    pub name: &'static str,
    /// How it may change.
    pub extensibility: Extensibility,
    /// What it consists of.
    pub body: TypeBody,
}

impl TypeDescription {
    /// The members of a structure; none for other types.
    pub const fn members(&self) -> &'static [MemberDescription] {
        match self.body {
            TypeBody::Struct(members) => members,
            TypeBody::Union { .. } | TypeBody::Enumeration { .. } => &[],
        }
    }

    /// True for a structure with key members.
    pub fn is_keyed(&self) -> bool {
        self.members().iter().any(|member| member.key)
    }
}

/// What a type consists of.
#[derive(Clone, Copy, Debug)]
pub enum TypeBody {
    /// A structure with its members, as declared.
    Struct(&'static [MemberDescription]),
    /// A union.
    Union {
        /// Kind of the discriminator.
        discriminator: fn() -> Kind,
        /// Its cases, as declared.
        cases: &'static [Case],
    },
    /// An enumeration.
    Enumeration {
        /// Bits of the number that stands for it: 8, 16 or 32. XTypes 1.3 §7.3.1.2.1.5.
        bit_bound: u8,
        /// Its literals, as declared.
        literals: &'static [Literal],
    },
}

/// A member of a structure.
#[derive(Clone, Copy, Debug)]
pub struct MemberDescription {
    /// Its name.
    pub name: &'static str,
    /// Its member id. XTypes 1.3 §7.2.2.4.4.4.4.
    pub id: u32,
    /// True where it is part of the key.
    pub key: bool,
    /// True where it may be absent.
    pub optional: bool,
    /// The greatest length of a string or sequence, where there is one.
    pub bound: Option<usize>,
    /// Kind of its value.
    pub kind: fn() -> Kind,
}

/// A case of a union.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The discriminator values that select it.
    pub labels: &'static [i64],
    /// True where it is selected by every value that no other case names.
    pub default: bool,
    /// Kind of its value; `None` where it has none.
    pub kind: Option<fn() -> Kind>,
}

/// A literal of an enumeration.
#[derive(Clone, Copy, Debug)]
pub struct Literal {
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub value: i32,
    /// True where it stands for numbers that are not known.
    pub default: bool,
}
