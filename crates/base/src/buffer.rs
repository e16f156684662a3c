//! Shared and pooled byte buffers.
//!
//! A [`SharedBytes`] is a slice of a reference-counted slab: a received datagram, or an encoded
//! sample. Cloning or slicing it copies nothing. A [`BufferPool`] hands out [`BufferMut`]s and
//! takes a slab back as soon as nobody refers to it any more, so that a steady stream allocates
//! nothing.

mod compactor;
mod gathered;
mod large;
mod pool;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, Range};

pub use self::compactor::Compactor;
pub use self::gathered::GatheredBytes;
pub use self::large::LargeSlabs;
pub use self::pool::BufferPool;
use crate::copying;

/// A read-only slice of a shared slab.
#[derive(Clone, Default)]
pub struct SharedBytes {
    /// None where there never were any octets: that costs no allocation.
    slab: Option<Arc<Vec<u8>>>,
    start: usize,
    end: usize,
}

impl SharedBytes {
    /// Slabs up to this size, in octets, may be kept alive by however small a part of them.
    pub const SMALL_SLAB_BYTES: usize = 4096;

    /// Takes over `bytes` without copying them.
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        let end = bytes.len();
        Self {
            slab: Some(Arc::new(bytes)),
            start: 0,
            end,
        }
    }

    /// Copies `bytes`.
    pub fn copy_from(bytes: &[u8]) -> Self {
        Self::from_vec(copying::to_vec(bytes))
    }

    /// How many octets there are, without a look at them.
    #[inline]
    pub const fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// True when there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies `bytes` over what is here, without allocating where nobody else refers to it and
    /// there is room.
    pub fn overwrite(&mut self, bytes: &[u8]) {
        let own = self.slab.as_mut().and_then(Arc::get_mut);
        // One that is much too large is better given up.
        match own.filter(|own| own.capacity() <= Self::SMALL_SLAB_BYTES.saturating_mul(2)) {
            Some(own) => {
                if !copying::overwrite_few(own, bytes) {
                    own.clear();
                    copying::append(own, bytes);
                }
                (self.start, self.end) = (0, bytes.len());
            }
            None => *self = Self::copy_from(bytes),
        }
    }

    /// The part `range` of this slice, sharing the slab; `None` when it does not lie inside.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let start = self.start.checked_add(range.start)?;
        let end = self.start.checked_add(range.end)?;
        (start <= end && end <= self.end).then(|| Self {
            slab: self.slab.clone(),
            start,
            end,
        })
    }

    /// This slice without its first `len` octets.
    #[must_use]
    pub fn into_rest(self, len: usize) -> Self {
        let start = self.start.saturating_add(len).min(self.end);
        Self { start, ..self }
    }

    /// The part of this slice that `part`, borrowed from it, covers; `None` when `part` lies
    /// elsewhere in memory.
    pub fn slice_of(&self, part: &[u8]) -> Option<Self> {
        let offset = (part.as_ptr() as usize).checked_sub(self.as_ptr() as usize)?;
        self.slice(offset..offset.checked_add(part.len())?)
    }

    /// Octets that the slab keeps alive, at least the length of this slice.
    pub fn slab_len(&self) -> usize {
        self.slab.as_ref().map_or(0, |slab| slab.capacity())
    }

    /// The same octets, in a slab of their own where this slice uses less than a quarter of a
    /// large slab: long-lived small samples must not keep large receive buffers alive.
    #[must_use]
    pub fn compacted(self) -> Self {
        if self.wants_compaction() {
            Self::copy_from(&self)
        } else {
            self
        }
    }

    fn wants_compaction(&self) -> bool {
        self.slab_len() > Self::SMALL_SLAB_BYTES && self.len() < self.slab_len() / 4
    }
}

/// No range lies outside its slab.
#[cold]
const fn nothing<'a>() -> &'a [u8] {
    &[]
}

impl Deref for SharedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.slab {
            Some(slab) => slab.get(self.start..self.end).unwrap_or_else(nothing),
            None => &[],
        }
    }
}

impl From<Vec<u8>> for SharedBytes {
    /// Copies nothing.
    fn from(bytes: Vec<u8>) -> Self {
        Self::from_vec(bytes)
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedBytes {}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} octets", self.len())
    }
}

/// A slab that only its holder sees, to be filled and then shared with [`BufferPool::share`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BufferMut {
    slab: Arc<Vec<u8>>,
    /// The slab still holds what it was used for before.
    stale: bool,
}

impl BufferMut {
    /// The bytes, to be filled.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        // The slab is unshared by construction, so `make_mut` never clones.
        let bytes = Arc::make_mut(&mut self.slab);
        if core::mem::take(&mut self.stale) {
            bytes.clear();
        }
        bytes
    }

    /// What was filled in so far.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        if self.stale {
            return &[];
        }
        &self.slab
    }

    /// Octets for which there is room without allocating.
    pub fn capacity(&self) -> usize {
        self.slab.capacity()
    }
}

impl From<Vec<u8>> for BufferMut {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            slab: Arc::new(bytes),
            stale: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_and_stay_inside() {
        let whole = SharedBytes::copy_from(b"0123456789");
        let part = whole.slice(2..5).unwrap();
        assert_eq!(&*part, b"234");
        assert_eq!(&*part.slice(1..3).unwrap(), b"34");
        assert!(part.slice(0..4).is_none());
        assert!(whole.slice(usize::MAX..usize::MAX).is_none());
        assert_eq!(whole.slice_of(&whole[4..6]).as_deref(), Some(&b"45"[..]));
        assert!(whole.slice_of(b"elsewhere").is_none());
        assert_eq!(&*part.into_rest(2), b"4");
        assert!(whole.into_rest(11).is_empty());
    }

    #[test]
    fn what_is_overwritten_keeps_its_slab_unless_somebody_else_has_it_or_it_is_large() {
        let mut bytes = SharedBytes::copy_from(b"0123456789");
        let place = bytes.as_ptr();
        bytes.overwrite(b"abc");
        assert_eq!((&*bytes, bytes.as_ptr()), (&b"abc"[..], place));
        bytes = bytes.slice(1..2).unwrap();
        bytes.overwrite(b"0123456789");
        assert_eq!((&*bytes, bytes.as_ptr()), (&b"0123456789"[..], place));
        // As many, of a part of the slab and of all of it.
        bytes = bytes.slice(1..2).unwrap();
        bytes.overwrite(b"abcdefghij");
        assert_eq!((&*bytes, bytes.as_ptr()), (&b"abcdefghij"[..], place));
        let other = bytes.clone();
        bytes.overwrite(b"9876543210");
        assert_eq!((&*bytes, &*other), (&b"9876543210"[..], &b"abcdefghij"[..]));
        bytes.overwrite(b"0123456789");
        let other = bytes.clone();
        bytes.overwrite(b"xy");
        assert_eq!((&*bytes, &*other), (&b"xy"[..], &b"0123456789"[..]));
        let mut large = SharedBytes::from_vec(Vec::with_capacity(65_536));
        large.overwrite(b"tiny");
        assert_eq!((&*large, large.slab_len() < 100), (&b"tiny"[..], true));
        let mut none = SharedBytes::default();
        none.overwrite(b"");
        assert!(none.is_empty());
    }

    #[test]
    fn compaction_frees_large_slabs() {
        let mut bytes = Vec::with_capacity(65_536);
        bytes.extend_from_slice(b"tiny");
        let small = SharedBytes::from_vec(bytes).compacted();
        assert!(small.slab_len() < 100);
        assert_eq!(&*small, b"tiny");
    }
}
