//! The one checked byte reader and writer.
//!
//! All parsing in Whimbrel goes through [`ReadCursor`]: it never reads past its end, never panics
//! and says where it stopped. Alignment is relative to the cursor's origin, the first byte of the
//! slice unless moved with [`ReadCursor::set_origin`].

use alloc::vec::Vec;

use crate::copying;
use crate::reject::{Reject, RejectKind};

/// Byte order of encoded numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Endian {
    /// Most significant octet first.
    Big,
    /// Least significant octet first.
    Little,
}

impl Endian {
    /// This machine's order, the cheap one to send.
    pub const NATIVE: Self = if cfg!(target_endian = "big") {
        Self::Big
    } else {
        Self::Little
    };

    /// From the E flag of a submessage: set means little. RTPS 2.5 §9.4.5.1.2.
    pub const fn from_flag(little: bool) -> Self {
        if little { Self::Little } else { Self::Big }
    }

    /// The octets of `value` as they travel.
    pub const fn u16_bytes(self, value: u16) -> [u8; 2] {
        match self {
            Self::Big => value.to_be_bytes(),
            Self::Little => value.to_le_bytes(),
        }
    }

    /// The octets of `value` as they travel.
    pub const fn u32_bytes(self, value: u32) -> [u8; 4] {
        match self {
            Self::Big => value.to_be_bytes(),
            Self::Little => value.to_le_bytes(),
        }
    }
}

/// Reads numbers and slices from bytes, checking every length.
#[derive(Clone, Debug)]
pub struct ReadCursor<'a> {
    bytes: &'a [u8],
    position: usize,
    origin: usize,
    endian: Endian,
}

macro_rules! read_numbers {
    ($($name:ident $ty:ty, $doc:literal;)+) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self) -> Result<$ty, Reject> {
            let raw = self.array()?;
            Ok(match self.endian {
                Endian::Big => <$ty>::from_be_bytes(raw),
                Endian::Little => <$ty>::from_le_bytes(raw),
            })
        }
    )+};
}

impl<'a> ReadCursor<'a> {
    /// A cursor at the first of `bytes`.
    pub const fn new(bytes: &'a [u8], endian: Endian) -> Self {
        Self {
            bytes,
            position: 0,
            origin: 0,
            endian,
        }
    }

    /// Octets already consumed.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Octets left.
    pub const fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// True when nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// The byte order in use.
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// Changes the byte order from here on.
    pub const fn set_endian(&mut self, endian: Endian) {
        self.endian = endian;
    }

    /// Makes the current position the one from which alignment counts.
    pub const fn set_origin(&mut self) {
        self.origin = self.position;
    }

    /// A refusal at the current position.
    #[cold]
    pub fn reject(&self, kind: RejectKind) -> Reject {
        Reject::new(kind, self.position)
    }

    /// What is left, without consuming it.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// The next `len` octets.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Reject> {
        let end = self.position.checked_add(len);
        match end.and_then(|end| Some((end, self.bytes.get(self.position..end)?))) {
            Some((end, taken)) => {
                self.position = end;
                Ok(taken)
            }
            None => Err(self.reject(RejectKind::Truncated)),
        }
    }

    /// The next `N` octets.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Reject> {
        match self.rest().first_chunk::<N>() {
            Some(chunk) => {
                self.position = self.position.saturating_add(N);
                Ok(*chunk)
            }
            None => Err(self.reject(RejectKind::Truncated)),
        }
    }

    /// Passes over `len` octets.
    pub fn skip(&mut self, len: usize) -> Result<(), Reject> {
        self.bytes(len).map(|_| ())
    }

    /// Passes over padding up to a multiple of `to` (a power of two) from the origin.
    #[inline]
    pub fn align(&mut self, to: usize) -> Result<(), Reject> {
        let padding = padding(self.position.wrapping_sub(self.origin), to);
        if padding == 0 {
            Ok(())
        } else {
            self.skip(padding)
        }
    }

    /// A cursor over the next `len` octets only, with the same byte order, alignment origin at its
    /// start; this cursor moves past them.
    pub fn split(&mut self, len: usize) -> Result<Self, Reject> {
        let endian = self.endian;
        self.bytes(len).map(|part| Self::new(part, endian))
    }

    /// The next octet.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Reject> {
        let [octet] = self.array()?;
        Ok(octet)
    }

    read_numbers! {
        u16 u16, "The next two octets as a number.";
        u32 u32, "The next four octets as a number.";
        u64 u64, "The next eight octets as a number.";
        i16 i16, "The next two octets as a signed number.";
        i32 i32, "The next four octets as a signed number.";
        i64 i64, "The next eight octets as a signed number.";
        f32 f32, "The next four octets as a floating-point number.";
        f64 f64, "The next eight octets as a floating-point number.";
    }
}

/// Appends numbers and slices to a growing buffer.
///
/// Alignment is relative to the buffer's length when the cursor was made, or to where
/// [`WriteCursor::set_origin`] was called.
#[derive(Debug)]
pub struct WriteCursor<'a> {
    bytes: &'a mut Vec<u8>,
    origin: usize,
    endian: Endian,
}

macro_rules! write_numbers {
    ($($name:ident $ty:ty, $doc:literal;)+) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self, value: $ty) {
            match self.endian {
                Endian::Big => self.bytes.extend_from_slice(&value.to_be_bytes()),
                Endian::Little => self.bytes.extend_from_slice(&value.to_le_bytes()),
            }
        }
    )+};
}

impl<'a> WriteCursor<'a> {
    /// A cursor that appends to `bytes`.
    pub const fn new(bytes: &'a mut Vec<u8>, endian: Endian) -> Self {
        let origin = bytes.len();
        Self {
            bytes,
            origin,
            endian,
        }
    }

    /// The byte order in use.
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// Length of the whole buffer so far.
    pub const fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Makes the current end the one from which alignment counts.
    pub const fn set_origin(&mut self) {
        self.origin = self.bytes.len();
    }

    /// Buffer position from which alignment counts.
    pub const fn origin(&self) -> usize {
        self.origin
    }

    /// Counts alignment from buffer position `origin` again, after [`WriteCursor::set_origin`].
    pub const fn restore_origin(&mut self, origin: usize) {
        self.origin = origin;
    }

    /// Inserts `len` zero octets at buffer position `at`, moving what follows; does nothing past
    /// the end.
    pub fn insert_zeros(&mut self, at: usize, len: usize) {
        if at <= self.bytes.len() {
            self.bytes.splice(at..at, core::iter::repeat_n(0, len));
        }
    }

    /// Everything in the buffer, also what was there before.
    pub fn written(&self) -> &[u8] {
        self.bytes
    }

    /// Appends `bytes`.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        copying::append(self.bytes, bytes);
    }

    /// Appends `len` zero octets.
    #[inline(never)]
    pub fn zeros(&mut self, len: usize) {
        self.bytes.resize(self.bytes.len().saturating_add(len), 0);
    }

    /// Appends zero octets up to a multiple of `to` (a power of two) from the origin.
    #[inline]
    pub fn align(&mut self, to: usize) {
        let padding = padding(self.bytes.len().wrapping_sub(self.origin), to);
        if padding > 0 {
            self.zeros(padding);
        }
    }

    /// Overwrites the two octets at buffer position `at`; does nothing past the end.
    pub fn patch_u16(&mut self, at: usize, value: u16) {
        self.patch(at, &self.endian.u16_bytes(value));
    }

    /// Overwrites the four octets at buffer position `at`; does nothing past the end.
    pub fn patch_u32(&mut self, at: usize, value: u32) {
        self.patch(at, &self.endian.u32_bytes(value));
    }

    fn patch(&mut self, at: usize, raw: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at.saturating_add(raw.len())) {
            place.copy_from_slice(raw);
        }
    }

    /// Appends an octet.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    write_numbers! {
        u16 u16, "Appends two octets.";
        u32 u32, "Appends four octets.";
        u64 u64, "Appends eight octets.";
        i16 i16, "Appends two octets.";
        i32 i32, "Appends four octets.";
        i64 i64, "Appends eight octets.";
        f32 f32, "Appends four octets.";
        f64 f64, "Appends eight octets.";
    }
}

/// Octets from `position` up to the next multiple of `to`, a power of two.
#[inline]
pub const fn padding(position: usize, to: usize) -> usize {
    position.wrapping_neg() & to.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn numbers_round_trip_in_both_orders() {
        for endian in [Endian::Big, Endian::Little] {
            let mut bytes = vec![9];
            let mut out = WriteCursor::new(&mut bytes, endian);
            out.u8(1);
            out.align(4);
            out.u32(0x0102_0304);
            out.i64(-5);
            out.f64(1.5);
            let mut cursor = ReadCursor::new(&bytes[1..], endian);
            assert_eq!(cursor.u8(), Ok(1));
            cursor.align(4).unwrap();
            assert_eq!(cursor.u32(), Ok(0x0102_0304));
            assert_eq!(cursor.i64(), Ok(-5));
            assert_eq!(cursor.f64(), Ok(1.5));
            assert!(cursor.is_empty());
        }
    }

    #[test]
    fn reading_past_the_end_is_refused_with_the_offset() {
        let mut cursor = ReadCursor::new(&[1, 2, 3], Endian::Big);
        cursor.u16().unwrap();
        assert_eq!(cursor.u32(), Err(Reject::new(RejectKind::Truncated, 2)));
        assert_eq!(
            cursor.bytes(usize::MAX),
            Err(Reject::new(RejectKind::Truncated, 2))
        );
        assert_eq!(cursor.align(8), Err(Reject::new(RejectKind::Truncated, 2)));
        assert_eq!(cursor.u8(), Ok(3));
    }

    #[test]
    fn origins_come_back_and_room_is_made() {
        let mut bytes = vec![9];
        let mut out = WriteCursor::new(&mut bytes, Endian::Big);
        let origin = out.origin();
        out.u16(0x0102);
        out.set_origin();
        out.u8(3);
        out.restore_origin(origin);
        out.align(4);
        out.insert_zeros(2, 3);
        out.insert_zeros(99, 1);
        assert_eq!(out.written(), [9, 1, 0, 0, 0, 2, 3, 0]);
    }

    #[test]
    fn padding_reaches_the_next_multiple() {
        assert_eq!([0, 1, 3, 4, 5].map(|at| padding(at, 4)), [0, 3, 1, 0, 3]);
        assert_eq!(padding(9, 1), 0);
    }
}
