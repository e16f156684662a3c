//! What a value is to the collection around it.
//!
//! Enumerations are not primitive (XTypes 1.3 §7.2.2.2), so XCDR2 puts a delimiter around
//! sequences and arrays of them, as Cyclone DDS does and Fast DDS does not. Fast DDS also leaves
//! out the delimiter of maps whose values alone are numbers. Nothing on the wire tells the two
//! apart; we follow the standard.

/// What a value is to the collection around it, which decides about delimiters in XCDR2.
/// XTypes 1.3 §7.4.3.5.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A number or boolean.
    Primitive,
    /// An array of numbers or booleans, in one or more dimensions.
    PrimitiveArray,
    /// Another array.
    CompositeArray,
    /// Anything else.
    Composite,
}

impl Shape {
    /// True for a number or boolean.
    pub const fn is_primitive(self) -> bool {
        matches!(self, Self::Primitive)
    }

    /// True where an array of such elements has no delimiter.
    pub const fn is_flat(self) -> bool {
        matches!(self, Self::Primitive | Self::PrimitiveArray)
    }
}
