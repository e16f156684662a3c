//! Strings and sequences with a greatest length, for `#[dds(bound = N)]`.

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;

use crate::bounds::KeyBounds;
use crate::value::traits::DdsValue;

/// A value whose length may be bounded. XTypes 1.3 §7.2.2.4.3, §7.2.2.4.2.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have a bound",
    note = "`#[dds(bound = N)]` applies to String, Vec and SharedBytes"
)]
pub trait Bounded {
    /// Bounds of one element of a sequence; `None` for strings.
    const ELEMENT: Option<KeyBounds>;
    /// True where XCDR2 puts no delimiter around it.
    const PLAIN: bool;

    /// Its length: elements, or octets of UTF-8.
    fn bounded_len(&self) -> usize;
}

impl Bounded for String {
    const ELEMENT: Option<KeyBounds> = None;
    const PLAIN: bool = true;

    fn bounded_len(&self) -> usize {
        self.len()
    }
}

impl<T: DdsValue> Bounded for Vec<T> {
    const ELEMENT: Option<KeyBounds> = Some(T::KEY_BOUNDS);
    const PLAIN: bool = T::SHAPE.is_primitive();

    fn bounded_len(&self) -> usize {
        self.len()
    }
}

impl Bounded for SharedBytes {
    const ELEMENT: Option<KeyBounds> = Some(u8::KEY_BOUNDS);
    const PLAIN: bool = true;

    fn bounded_len(&self) -> usize {
        self.len()
    }
}

/// Bounds on a `T` of at most `bound` elements or octets as (part of) a key.
pub const fn key_bounds<T: Bounded>(bound: usize) -> KeyBounds {
    let Some(element) = T::ELEMENT else {
        let capped = if bound > 1 << 20 { 1 << 20 } else { bound };
        return KeyBounds::string(capped as u32);
    };
    let elements = KeyBounds::number(4).then(element.times(bound));
    if T::PLAIN {
        elements
    } else {
        elements.delimited()
    }
}
