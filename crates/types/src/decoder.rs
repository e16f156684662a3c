//! Reads values in XCDR1 or XCDR2.
//!
//! Everything read comes from outside: nothing here panics, allocates by a claimed length or
//! nests deeper than [`DEPTH_MAX`].

use core::mem;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::representation::Representation;
use crate::shape::Shape;

/// How deep sequences, maps and boxes may nest in encoded data.
pub const DEPTH_MAX: u8 = 64;

/// How deep structures and unions may nest where boxes cannot be told from what they hold: far
/// deeper than collections and boxes, since several structures may lie between two of these.
const TYPES_DEPTH_MAX: u8 = 250;

/// PID_EXTENDED without its flags. XTypes 1.3 §7.4.1.2.1.
const PID_EXTENDED: u16 = 0x3f01;

/// Reads encoded values. XTypes 1.3 §7.4.3.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    cursor: ReadCursor<'a>,
    /// What the bytes are part of, where that can be shared.
    origin: Option<&'a SharedBytes>,
    representation: Representation,
    align_max: usize,
    key_only: bool,
    bare: bool,
    inner_array: bool,
    depth: u8,
    types_depth: u8,
}

macro_rules! numbers {
    ($($name:ident $ty:ty, $size:literal, $doc:literal;)+) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self) -> Result<$ty, Reject> {
            self.align($size)?;
            self.cursor.$name()
        }
    )+};
}

impl<'a> Decoder<'a> {
    /// A decoder of `bytes`, alignment counting from their start.
    pub const fn new(bytes: &'a [u8], representation: Representation, endian: Endian) -> Self {
        Self {
            cursor: ReadCursor::new(bytes, endian),
            origin: None,
            representation,
            align_max: representation.align_max(),
            key_only: false,
            bare: false,
            inner_array: false,
            depth: 0,
            types_depth: 0,
        }
    }

    /// The same bytes, holding key members only.
    #[must_use]
    pub const fn of_key(mut self) -> Self {
        self.key_only = true;
        self
    }

    /// The same bytes, with no delimiter around the outermost value even if its type may grow.
    #[must_use]
    pub const fn undelimited(mut self) -> Self {
        self.bare = true;
        self
    }

    /// The same bytes, which are part of `origin`.
    #[must_use]
    pub const fn within(mut self, origin: &'a SharedBytes) -> Self {
        self.origin = Some(origin);
        self
    }

    /// The representation being read.
    pub const fn representation(&self) -> Representation {
        self.representation
    }

    /// The byte order being read.
    pub const fn endian(&self) -> Endian {
        self.cursor.endian()
    }

    /// True where only key members are present.
    pub const fn is_key_only(&self) -> bool {
        self.key_only
    }

    /// Octets consumed so far.
    pub const fn position(&self) -> usize {
        self.cursor.position()
    }

    /// Octets left in what is being read.
    pub const fn remaining(&self) -> usize {
        self.cursor.remaining()
    }

    /// True where the members that follow in an appendable type were not sent: the writer's type
    /// is shorter than ours. XTypes 1.3 §7.2.4.2.
    #[inline]
    pub const fn is_exhausted(&self) -> bool {
        matches!(self.representation, Representation::Xcdr2) && self.cursor.is_empty()
    }

    /// A refusal at the current position.
    #[cold]
    pub fn reject(&self, kind: RejectKind) -> Reject {
        self.cursor.reject(kind)
    }

    /// Passes over padding to a multiple of `size`, at most of the greatest alignment.
    ///
    /// # Errors
    /// When the bytes end before.
    #[inline]
    pub fn align(&mut self, size: usize) -> Result<(), Reject> {
        self.cursor.align(size.min(self.align_max))
    }

    /// The next `len` octets.
    ///
    /// # Errors
    /// When there are fewer.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Reject> {
        self.cursor.bytes(len)
    }

    /// The next `len` octets: without a copy where what they are part of is known and lies in a
    /// small slab, or they are not a small part of it.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn shared_bytes(&mut self, len: usize) -> Result<SharedBytes, Reject> {
        let bytes = self.bytes(len)?;
        // What keeps all of a large slab is for whoever gave it to say.
        let origin = self.origin.filter(|origin| {
            let is_small = origin.slab_len() <= SharedBytes::SMALL_SLAB_BYTES;
            is_small || len >= origin.len() / 4
        });
        let shared = origin.and_then(|origin| origin.slice_of(bytes));
        Ok(shared.unwrap_or_else(|| copy_of(bytes)))
    }

    /// Passes over `count` numbers of `size` octets.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn skip_numbers(&mut self, count: usize, size: usize) -> Result<(), Reject> {
        if count == 0 {
            return Ok(());
        }
        self.align(size)?;
        self.cursor.skip(count.saturating_mul(size))
    }

    /// The next octet.
    ///
    /// # Errors
    /// At the end.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Reject> {
        self.cursor.u8()
    }

    /// The next octet as a signed number.
    ///
    /// # Errors
    /// At the end.
    #[inline]
    pub fn i8(&mut self) -> Result<i8, Reject> {
        self.cursor.u8().map(u8::cast_signed)
    }

    /// The next octet as a boolean.
    ///
    /// # Errors
    /// At the end, and where it is neither 0 nor 1.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Reject> {
        let at = self.position();
        match self.cursor.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Reject::new(RejectKind::EnumValue, at)),
        }
    }

    numbers! {
        u16 u16, 2, "The next number, aligned.\n\n# Errors\nAt the end.";
        u32 u32, 4, "The next number, aligned.\n\n# Errors\nAt the end.";
        u64 u64, 8, "The next number, aligned.\n\n# Errors\nAt the end.";
        i16 i16, 2, "The next signed number, aligned.\n\n# Errors\nAt the end.";
        i32 i32, 4, "The next signed number, aligned.\n\n# Errors\nAt the end.";
        i64 i64, 8, "The next signed number, aligned.\n\n# Errors\nAt the end.";
        f32 f32, 4, "The next floating-point number, aligned.\n\n# Errors\nAt the end.";
        f64 f64, 8, "The next floating-point number, aligned.\n\n# Errors\nAt the end.";
    }

    /// The length of a collection whose elements take at least `element_min` octets each: never
    /// more than the bytes left can hold.
    ///
    /// # Errors
    /// [`RejectKind::Truncated`] for a claim beyond the bytes left.
    #[inline]
    pub fn length(&mut self, element_min: usize) -> Result<usize, Reject> {
        let claimed = self.u32()?;
        let len = usize::try_from(claimed).unwrap_or(usize::MAX);
        if len.saturating_mul(element_min.max(1)) > self.cursor.remaining() {
            return Err(self.reject(RejectKind::Truncated));
        }
        Ok(len)
    }

    /// Refuses a string or sequence of length `len` over the `bound` of its type.
    ///
    /// # Errors
    /// [`RejectKind::Length`].
    #[inline]
    pub fn check_bound(&self, len: usize, bound: usize) -> Result<(), Reject> {
        if len > bound {
            return Err(self.reject(RejectKind::Length));
        }
        Ok(())
    }

    /// For how many elements to reserve room when `len` of them are claimed: no more memory than
    /// there are bytes left, so that small packets cannot claim large memory.
    pub fn reservation<T>(&self, len: usize) -> usize {
        let room = self.cursor.remaining().checked_div(size_of::<T>());
        len.min(room.unwrap_or(0).saturating_add(4))
    }

    /// The next string, borrowed. A length of 0, which some peers send, is the empty string.
    /// XTypes 1.3 §7.4.3.5.
    ///
    /// # Errors
    /// [`RejectKind::String`] where the terminator is missing, a NUL is inside or it is not UTF-8.
    pub fn string(&mut self) -> Result<&'a str, Reject> {
        let octets = self.string_octets()?;
        let text = str::from_utf8(octets).ok().filter(|_| !octets.contains(&0));
        text.ok_or_else(|| self.reject(RejectKind::String))
    }

    /// Passes over a string without looking at its characters.
    ///
    /// # Errors
    /// Where the terminator is missing.
    pub fn skip_string(&mut self) -> Result<(), Reject> {
        self.string_octets().map(|_| ())
    }

    fn string_octets(&mut self) -> Result<&'a [u8], Reject> {
        let len = self.length(1)?;
        let octets = self.bytes(len)?;
        match octets.split_last() {
            None => Ok(octets),
            Some((0, text)) => Ok(text),
            Some(_) => Err(self.reject(RejectKind::String)),
        }
    }

    /// Goes one level deeper; to be paired with [`Decoder::leave`].
    ///
    /// # Errors
    /// [`RejectKind::Depth`] beyond [`DEPTH_MAX`].
    #[inline]
    pub fn enter(&mut self) -> Result<(), Reject> {
        if self.depth >= DEPTH_MAX {
            return Err(self.reject(RejectKind::Depth));
        }
        self.depth = self.depth.saturating_add(1);
        Ok(())
    }

    /// Comes back from [`Decoder::enter`].
    #[inline]
    pub const fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Goes into a structure or union; to be paired with [`Decoder::leave_type`].
    ///
    /// # Errors
    /// [`RejectKind::Depth`] beyond [`TYPES_DEPTH_MAX`].
    pub(crate) fn enter_type(&mut self) -> Result<(), Reject> {
        if self.types_depth >= TYPES_DEPTH_MAX {
            return Err(self.reject(RejectKind::Depth));
        }
        self.types_depth = self.types_depth.saturating_add(1);
        Ok(())
    }

    /// Comes back from [`Decoder::enter_type`].
    pub(crate) const fn leave_type(&mut self) {
        self.types_depth = self.types_depth.saturating_sub(1);
    }

    /// Reads a structure or union that may grow: in XCDR2 `read` sees only what its DHEADER
    /// spans, and what it leaves is passed over. XTypes 1.3 §7.4.3.4.2.
    ///
    /// # Errors
    /// Those of `read`, and a DHEADER that spans more than is left.
    #[inline]
    pub fn appendable<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, Reject>,
    ) -> Result<R, Reject> {
        let bare = mem::take(&mut self.bare);
        self.delimited(!bare, read)
    }

    /// Passes over an appendable value by its DHEADER; false where there is none to go by.
    ///
    /// # Errors
    /// A DHEADER that spans more than is left.
    pub fn skip_appendable(&mut self) -> Result<bool, Reject> {
        let bare = mem::take(&mut self.bare);
        self.skip_delimited(!bare)
    }

    /// Reads a sequence or map; delimited in XCDR2 unless all its elements are primitive.
    /// XTypes 1.3 §7.4.3.5.
    ///
    /// # Errors
    /// Those of `read`, a DHEADER that spans more than is left, and too deep nesting.
    #[inline]
    pub fn collection<R>(
        &mut self,
        primitive: bool,
        read: impl FnOnce(&mut Self) -> Result<R, Reject>,
    ) -> Result<R, Reject> {
        if primitive {
            return read(self);
        }
        self.enter()?;
        let result = self.delimited(true, read)?;
        self.leave();
        Ok(result)
    }

    /// Passes over a sequence or map by its DHEADER; false where there is none.
    ///
    /// # Errors
    /// A DHEADER that spans more than is left.
    pub fn skip_collection(&mut self, primitive: bool) -> Result<bool, Reject> {
        self.skip_delimited(!primitive)
    }

    /// Reads an array of elements of `shape`, see [`crate::Encoder::begin_array`].
    ///
    /// # Errors
    /// Those of `read`, and a DHEADER that spans more than is left.
    #[inline]
    pub fn array<R>(
        &mut self,
        shape: Shape,
        read: impl FnOnce(&mut Self) -> Result<R, Reject>,
    ) -> Result<R, Reject> {
        let inner = mem::take(&mut self.inner_array);
        self.delimited(!(inner || shape.is_flat()), read)
    }

    /// Passes over an array by its DHEADER; false where there is none.
    ///
    /// # Errors
    /// A DHEADER that spans more than is left.
    pub(crate) fn skip_array(&mut self, shape: Shape) -> Result<bool, Reject> {
        let inner = mem::take(&mut self.inner_array);
        self.skip_delimited(!(inner || shape.is_flat()))
    }

    /// To be called before each element of an array of elements of `shape`.
    #[inline]
    pub(crate) const fn array_element(&mut self, shape: Shape) {
        self.inner_array = matches!(shape, Shape::CompositeArray);
    }

    /// The content of the parameter that holds the optional member `id` in XCDR1; `None` where
    /// the member is absent. XTypes 1.3 §7.4.1.2, §7.4.3.4.1.
    ///
    /// # Errors
    /// [`RejectKind::Parameter`] for another member's parameter or a malformed header.
    pub(crate) fn parameter<R>(
        &mut self,
        id: u32,
        read: impl FnOnce(&mut Self) -> Result<R, Reject>,
    ) -> Result<Option<R>, Reject> {
        self.align(4)?;
        let start = self.position();
        let mut found = u32::from(self.cursor.u16()? & 0x3fff);
        let mut len = u32::from(self.cursor.u16()?);
        if found == u32::from(PID_EXTENDED) {
            if len < 8 {
                return Err(Reject::new(RejectKind::Parameter, start));
            }
            let more = len.saturating_sub(8);
            found = self.cursor.u32()? & 0x0fff_ffff;
            len = self.cursor.u32()?;
            self.cursor
                .skip(usize::try_from(more).unwrap_or(usize::MAX))?;
        }
        if found != id {
            return Err(Reject::new(RejectKind::Parameter, start));
        }
        if len == 0 {
            return Ok(None);
        }
        self.part(len, read).map(Some)
    }

    #[inline]
    fn delimited<R>(
        &mut self,
        delimited: bool,
        read: impl FnOnce(&mut Self) -> Result<R, Reject>,
    ) -> Result<R, Reject> {
        if !(delimited && self.representation == Representation::Xcdr2) {
            return read(self);
        }
        let len = self.u32()?;
        self.part(len, read)
    }

    fn skip_delimited(&mut self, delimited: bool) -> Result<bool, Reject> {
        if !(delimited && self.representation == Representation::Xcdr2) {
            return Ok(false);
        }
        let len = self.u32()?;
        self.cursor
            .skip(usize::try_from(len).unwrap_or(usize::MAX))?;
        Ok(true)
    }

    #[inline]
    fn part<R>(
        &mut self,
        len: u32,
        read: impl FnOnce(&mut Self) -> Result<R, Reject>,
    ) -> Result<R, Reject> {
        let base = self.cursor.position();
        let cursor = self
            .cursor
            .split(usize::try_from(len).unwrap_or(usize::MAX))?;
        let mut part = Self {
            cursor,
            ..self.clone()
        };
        read(&mut part).map_err(|reject| reject.shifted(base))
    }
}

#[inline(never)]
fn copy_of(bytes: &[u8]) -> SharedBytes {
    SharedBytes::copy_from(bytes)
}
