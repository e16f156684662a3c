//! Writes values in XCDR1 or XCDR2.
//!
//! Writing cannot fail half-way: the first impossible value is remembered and reported by
//! [`Encoder::finish`].

use core::fmt;

use alloc::vec::Vec;
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::{Endian, WriteCursor};

use crate::representation::Representation;
use crate::shape::Shape;

/// A value that cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string holds a NUL character.
    NulInString,
    /// A string, sequence, map or delimited value is longer than 2³²−1.
    TooLong,
    /// A string or sequence is longer than the bound its type declares.
    OverBound,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NulInString => "a string holds a NUL character",
            Self::TooLong => "a value is longer than 4294967295",
            Self::OverBound => "a string or sequence is longer than its bound",
        })
    }
}

impl core::error::Error for EncodeError {}

/// True for what no string on the wire can hold. XTypes 1.3 §7.4.3.5.
#[inline]
pub(crate) fn holds_nul(text: &str) -> bool {
    text.as_bytes().contains(&0)
}

/// Where a delimiter waits for its value; to be given to [`Encoder::end`].
#[derive(Debug)]
#[must_use]
pub struct Delimiter {
    at: Option<usize>,
}

/// Where the header of an optional member waits for its length.
#[derive(Debug)]
#[must_use]
pub(crate) struct ParameterMark {
    id: u32,
    content: usize,
    origin: usize,
    extended: bool,
    apart_min: Option<usize>,
}

/// PID_EXTENDED with the must-understand flag. XTypes 1.3 §7.4.1.2.1.
const PID_EXTENDED: u16 = 0x7f01;
/// The first member id that the short parameter header cannot carry. XTypes 1.3 §7.4.1.2.1.
const SHORT_ID_END: u32 = 0x3f00;

/// Appends encoded values to a buffer. XTypes 1.3 §7.4.3.
#[derive(Debug)]
pub struct Encoder<'a> {
    cursor: WriteCursor<'a>,
    representation: Representation,
    align_max: usize,
    key_holder: bool,
    inner_array: bool,
    /// From how many octets on the first shared ones are left out; `None` where nothing is.
    apart_min: Option<usize>,
    apart: Option<Apart>,
    error: Option<EncodeError>,
}

/// Shared octets that an encoding was made without.
#[derive(Clone, Debug)]
pub struct Apart {
    /// Where in the buffer they belong.
    pub at: usize,
    /// What belongs there.
    pub bytes: SharedBytes,
}

macro_rules! numbers {
    ($($name:ident $ty:ty, $size:literal, $doc:literal;)+) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self, value: $ty) {
            self.align($size);
            self.cursor.$name(value);
        }
    )+};
}

impl<'a> Encoder<'a> {
    /// An encoder that appends to `bytes`, alignment counting from their end.
    pub fn new(bytes: &'a mut Vec<u8>, representation: Representation, endian: Endian) -> Self {
        Self {
            cursor: WriteCursor::new(bytes, endian),
            representation,
            align_max: representation.align_max(),
            key_holder: false,
            inner_array: false,
            apart_min: None,
            apart: None,
            error: None,
        }
    }

    /// An encoder for key hashes: big-endian, every type as if final, members in the order of
    /// their ids. XTypes 1.3 §7.6.8.4, RTPS 2.5 §9.6.4.8.
    pub fn new_key_holder(bytes: &'a mut Vec<u8>, representation: Representation) -> Self {
        let mut encoder = Self::new(bytes, representation, Endian::Big);
        encoder.key_holder = true;
        encoder
    }

    /// Leaves out the first shared octets that are `bytes_min` or more; what they are tells
    /// [`Encoder::finish_apart`].
    pub const fn leave_apart(&mut self, bytes_min: usize) {
        self.apart_min = Some(bytes_min);
    }

    /// The representation being written.
    pub const fn representation(&self) -> Representation {
        self.representation
    }

    /// The byte order being written.
    pub const fn endian(&self) -> Endian {
        self.cursor.endian()
    }

    /// True where key members must be written in the order of their ids.
    pub const fn is_key_holder(&self) -> bool {
        self.key_holder
    }

    /// Remembers that a value could not be encoded; the first failure stays.
    #[cold]
    pub fn fail(&mut self, error: EncodeError) {
        self.error.get_or_insert(error);
    }

    /// Refuses a string or sequence of length `len` over `bound`.
    #[inline]
    pub fn check_bound(&mut self, len: usize, bound: usize) {
        if len > bound {
            self.fail(EncodeError::OverBound);
        }
    }

    /// Ends the encoding.
    ///
    /// # Errors
    /// The first value that could not be encoded; the buffer then holds rubbish.
    pub fn finish(self) -> Result<(), EncodeError> {
        self.finish_apart().map(|_| ())
    }

    /// Ends the encoding and tells what was left out of it.
    ///
    /// # Errors
    /// As [`Encoder::finish`].
    pub fn finish_apart(self) -> Result<Option<Apart>, EncodeError> {
        self.error.map_or(Ok(self.apart), Err)
    }

    /// Pads to a multiple of `size`, at most of the representation's greatest alignment.
    #[inline]
    pub fn align(&mut self, size: usize) {
        self.cursor.align(size.min(self.align_max));
    }

    /// Appends `bytes` as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.cursor.bytes(bytes);
    }

    /// Appends `bytes` as they are, or leaves them out, see [`Encoder::leave_apart`].
    pub fn shared_bytes(&mut self, bytes: &SharedBytes) {
        if self.apart_min.is_some_and(|min| bytes.len() >= min) {
            self.leave_out(bytes);
        } else {
            self.bytes(bytes);
        }
    }

    #[inline(never)]
    fn leave_out(&mut self, bytes: &SharedBytes) {
        self.apart_min = None;
        self.apart = Some(Apart {
            at: self.cursor.position(),
            bytes: bytes.clone(),
        });
        // What follows is aligned as if they were there.
        let origin = self.cursor.origin().wrapping_sub(bytes.len());
        self.cursor.restore_origin(origin);
    }

    /// Octets that were left out after buffer position `at`.
    fn apart_after(&self, at: usize) -> usize {
        let within = self.apart.as_ref().filter(|apart| apart.at > at);
        within.map_or(0, |apart| apart.bytes.len())
    }

    /// Appends an octet.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.cursor.u8(value);
    }

    /// Appends a signed octet.
    #[inline]
    pub fn i8(&mut self, value: i8) {
        self.cursor.u8(value.cast_unsigned());
    }

    /// Appends a boolean, 0 or 1.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.cursor.u8(u8::from(value));
    }

    numbers! {
        u16 u16, 2, "Appends a number, aligned.";
        u32 u32, 4, "Appends a number, aligned.";
        u64 u64, 8, "Appends a number, aligned.";
        i16 i16, 2, "Appends a signed number, aligned.";
        i32 i32, 4, "Appends a signed number, aligned.";
        i64 i64, 8, "Appends a signed number, aligned.";
        f32 f32, 4, "Appends a floating-point number, aligned.";
        f64 f64, 8, "Appends a floating-point number, aligned.";
    }

    /// Appends the length of a string or collection.
    #[inline]
    pub fn length(&mut self, len: usize) {
        match u32::try_from(len) {
            Ok(len) => self.u32(len),
            Err(_) => self.fail(EncodeError::TooLong),
        }
    }

    /// Appends a string: its length with the terminator, its octets, a NUL. XTypes 1.3 §7.4.3.5.
    #[inline]
    pub fn string(&mut self, text: &str) {
        if holds_nul(text) {
            self.fail(EncodeError::NulInString);
        }
        self.length(text.len().saturating_add(1));
        self.bytes(text.as_bytes());
        self.u8(0);
    }

    /// Begins a structure or union that may grow: a DHEADER in XCDR2. XTypes 1.3 §7.4.3.4.2.
    #[inline]
    pub fn begin_appendable(&mut self) -> Delimiter {
        self.begin(self.representation == Representation::Xcdr2 && !self.key_holder)
    }

    /// Begins a sequence or map: a DHEADER in XCDR2 unless all its elements are primitive.
    /// XTypes 1.3 §7.4.3.5.
    #[inline]
    pub fn begin_collection(&mut self, primitive: bool) -> Delimiter {
        self.begin(self.representation == Representation::Xcdr2 && !primitive)
    }

    /// Begins an array of elements of `shape`: as a sequence, but the inner arrays of an array of
    /// arrays are one array with it. XTypes 1.3 §7.4.3.5.
    #[inline]
    pub fn begin_array(&mut self, shape: Shape) -> Delimiter {
        let inner = core::mem::take(&mut self.inner_array);
        self.begin_collection(inner || shape.is_flat())
    }

    /// To be called before each element of an array of elements of `shape`.
    #[inline]
    pub(crate) const fn array_element(&mut self, shape: Shape) {
        self.inner_array = matches!(shape, Shape::CompositeArray);
    }

    /// Ends what `delimiter` began.
    #[inline]
    pub fn end(&mut self, delimiter: Delimiter) {
        let Some(at) = delimiter.at else { return };
        let len = self.cursor.position().wrapping_sub(at).wrapping_sub(4);
        let len = len.saturating_add(self.apart_after(at));
        match u32::try_from(len) {
            Ok(len) => self.cursor.patch_u32(at, len),
            Err(_) => self.fail(EncodeError::TooLong),
        }
    }

    #[inline]
    fn begin(&mut self, delimited: bool) -> Delimiter {
        if !delimited {
            return Delimiter { at: None };
        }
        self.align(4);
        let at = Some(self.cursor.position());
        self.cursor.u32(0);
        Delimiter { at }
    }

    /// Begins the parameter that holds the optional member `id` in XCDR1; alignment counts from
    /// its content. XTypes 1.3 §7.4.1.2, §7.4.3.4.1.
    pub(crate) fn begin_parameter(&mut self, id: u32) -> ParameterMark {
        self.align(4);
        let short = u16::try_from(id).ok().filter(|_| id < SHORT_ID_END);
        if let Some(id) = short {
            self.cursor.u16(id);
            self.cursor.u16(0);
        } else {
            self.cursor.u16(PID_EXTENDED);
            self.cursor.u16(8);
            self.cursor.u32(id);
            self.cursor.u32(0);
        }
        let origin = self.cursor.origin();
        self.cursor.set_origin();
        // The header may have to grow once the length is known, which would move them.
        let apart_min = self.apart_min.take();
        ParameterMark {
            id,
            content: self.cursor.position(),
            origin,
            extended: short.is_none(),
            apart_min,
        }
    }

    /// Ends a parameter, in the extended form where its content is longer than 65,535 octets.
    pub(crate) fn end_parameter(&mut self, mark: ParameterMark) {
        let ParameterMark {
            id,
            content,
            origin,
            extended,
            apart_min,
        } = mark;
        self.apart_min = apart_min;
        self.cursor.restore_origin(origin);
        let len = self.cursor.position().wrapping_sub(content);
        if let (Ok(len), false) = (u16::try_from(len), extended) {
            self.cursor.patch_u16(content.wrapping_sub(2), len);
            return;
        }
        let Ok(len) = u32::try_from(len) else {
            return self.fail(EncodeError::TooLong);
        };
        let mut header = content.wrapping_sub(12);
        if !extended {
            self.cursor.insert_zeros(content, 8);
            header = content.wrapping_sub(4);
        }
        self.cursor.patch_u16(header, PID_EXTENDED);
        self.cursor.patch_u16(header.wrapping_add(2), 8);
        self.cursor.patch_u32(header.wrapping_add(4), id);
        self.cursor.patch_u32(header.wrapping_add(8), len);
    }
}
