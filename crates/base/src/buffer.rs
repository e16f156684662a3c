//! Shared and pooled byte buffers.
//!
//! A [`SharedBytes`] is a slice of a reference-counted slab: a received datagram, or an encoded
//! sample. Cloning or slicing it copies nothing. A [`BufferPool`] hands out [`BufferMut`]s and
//! takes a slab back as soon as nobody refers to it any more, so that a steady stream allocates
//! nothing.

mod gathered;
mod large;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, Range};

pub use self::gathered::GatheredBytes;
pub use self::large::LargeSlabs;

/// A read-only slice of a shared slab.
#[derive(Clone, Default)]
pub struct SharedBytes {
    /// None where there never were any octets: that costs no allocation.
    slab: Option<Arc<Vec<u8>>>,
    start: usize,
    end: usize,
}

impl SharedBytes {
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
        Self::from_vec(bytes.to_vec())
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
        self.slab_len() > 4096 && self.len() < self.slab_len() / 4
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let slab = self.slab.as_ref();
        slab.and_then(|slab| slab.get(self.start..self.end))
            .unwrap_or_default()
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

/// Slabs that are used again once nobody refers to them.
#[derive(Debug)]
pub struct BufferPool {
    lent: VecDeque<Arc<Vec<u8>>>,
    slab_len: usize,
    slabs_max: usize,
    /// Buffers taken since slabs were last given up.
    taken: usize,
    /// More were free then than were given up.
    has_more: bool,
    /// So many are wanted without a look at those lent, after one that found none free.
    blind: usize,
}

/// Copies small slices of large slabs into small slabs, which it uses again.
///
/// It remembers a bounded number of slabs of each size: at most 2,000,000 octets in all, and as
/// many as a burst took until [`Compactor::trim`].
#[derive(Debug)]
pub struct Compactor {
    pools: [BufferPool; 4],
}

/// Octets in a slab of a [`Compactor`], and how many it remembers: as many as may be under way of
/// samples of that size.
const COMPACT_SLABS: [(usize, usize); 4] = [(256, 1024), (1024, 1024), (2048, 256), (16_384, 8)];

impl Default for Compactor {
    fn default() -> Self {
        let pools = COMPACT_SLABS.map(|(bytes, slabs)| BufferPool::new(bytes, slabs));
        Self { pools }
    }
}

impl Compactor {
    /// As [`SharedBytes::compacted`], but allocates nothing while slabs of earlier slices are free.
    pub fn compact(&mut self, bytes: SharedBytes) -> SharedBytes {
        if bytes.wants_compaction() {
            self.copy(&bytes)
        } else {
            bytes
        }
    }

    /// A copy of `bytes` in a slab of about their size.
    pub fn copy(&mut self, bytes: &[u8]) -> SharedBytes {
        let fits = |pool: &&mut BufferPool| bytes.len() <= pool.slab_len;
        let found = self.pools.iter_mut().find(fits);
        let Some((pool, mut buffer)) = found.and_then(|pool| {
            let buffer = pool.take_lasting()?;
            Some((pool, buffer))
        }) else {
            return SharedBytes::copy_from(bytes);
        };
        buffer.bytes().extend_from_slice(bytes);
        pool.share(buffer)
    }

    /// An empty buffer with room for about `bytes` octets, where its slab will be remembered.
    pub fn take(&mut self, bytes: usize) -> Option<BufferMut> {
        let fits = |pool: &&mut BufferPool| bytes <= pool.slab_len;
        self.pools.iter_mut().find(fits)?.take_lasting()
    }

    /// Freezes `buffer` without copying it, where its slab is of about the size of its content and
    /// will be remembered.
    ///
    /// # Errors
    /// Gives back one that is not.
    pub fn share(&mut self, buffer: BufferMut) -> Result<SharedBytes, BufferMut> {
        let len = buffer.filled().len();
        let found = self.pools.iter_mut().find(|pool| len <= pool.slab_len);
        let found = found.filter(|pool| pool.slab_len == buffer.capacity() && pool.has_place());
        match found {
            Some(pool) => Ok(pool.share(buffer)),
            None => Err(buffer),
        }
    }

    /// As [`BufferPool::wants_trim`].
    pub fn wants_trim(&self) -> bool {
        self.pools.iter().any(BufferPool::wants_trim)
    }

    /// As [`BufferPool::trim`].
    pub fn trim(&mut self) {
        self.pools.iter_mut().for_each(BufferPool::trim);
    }
}

/// How many of the slabs lent last are looked at when one is wanted: one that was used a moment ago
/// is still in the processor's cache.
const RECENT_SCAN: usize = 3;

/// How many of the slabs lent longest ago are looked at after them.
const LENT_SCAN: usize = 8;

/// Free slabs that are never given up.
const FREE_KEPT: usize = 16;

impl BufferPool {
    /// A pool of slabs with room for `slab_len` octets that remembers at most `slabs_max` of them.
    pub fn new(slab_len: usize, slabs_max: usize) -> Self {
        Self {
            lent: VecDeque::new(),
            slab_len,
            slabs_max,
            taken: 0,
            has_more: false,
            blind: 0,
        }
    }

    /// An empty buffer with room for a slab; allocates only when every known slab is in use.
    pub fn take(&mut self) -> BufferMut {
        self.take_known().unwrap_or_else(|| self.new_buffer())
    }

    /// As [`BufferPool::take`], but only where the slab will be remembered.
    fn take_lasting(&mut self) -> Option<BufferMut> {
        let known = self.take_known();
        known.or_else(|| self.has_place().then(|| self.new_buffer()))
    }

    /// True where one more slab would be remembered.
    fn has_place(&self) -> bool {
        self.lent.len() < self.slabs_max
    }

    /// A known slab that is not in use.
    fn take_known(&mut self) -> Option<BufferMut> {
        self.taken = self.taken.saturating_add(1);
        let is_free = |slab: &Arc<Vec<u8>>| Arc::strong_count(slab) == 1;
        let recent = self.lent.iter().rev().take(RECENT_SCAN).position(is_free);
        if let Some(back) = recent {
            let at = self.lent.len().checked_sub(back.saturating_add(1))?;
            let slab = self.lent.remove(at)?;
            return Some(BufferMut { slab, stale: true });
        }
        if self.blind > 0 {
            self.blind = self.blind.saturating_sub(1);
            return None;
        }
        for _ in 0..self.lent.len().min(LENT_SCAN) {
            let slab = self.lent.pop_front()?;
            // Nobody else can come by it any more; it is cleared where that is looked at anyway.
            if is_free(&slab) {
                return Some(BufferMut { slab, stale: true });
            }
            self.lent.push_back(slab);
        }
        // Where no more are remembered all may stay in use for long, and a look at one is often one
        // into memory that nothing else has near.
        self.blind = if self.has_place() { 0 } else { LENT_SCAN };
        None
    }

    fn new_buffer(&self) -> BufferMut {
        BufferMut::from(Vec::with_capacity(self.slab_len))
    }

    /// Freezes `buffer`; its slab comes back when the last slice of it is dropped.
    pub fn share(&mut self, mut buffer: BufferMut) -> SharedBytes {
        if buffer.stale {
            buffer.bytes();
        }
        let end = buffer.slab.len();
        // A slab that had to grow far beyond the usual size is not worth keeping.
        let usual = buffer.slab.capacity() <= self.slab_len.saturating_mul(2);
        if usual && self.has_place() {
            self.lent.push_back(Arc::clone(&buffer.slab));
        } else if usual {
            // It will not come back, so it has no use for more room than its content needs.
            buffer.bytes().shrink_to_fit();
        }
        SharedBytes {
            slab: Some(buffer.slab),
            start: 0,
            end,
        }
    }

    /// True when [`BufferPool::trim`] may find something to give up that it did not find before.
    pub fn wants_trim(&self) -> bool {
        (self.taken > 0 || self.has_more) && self.lent.len() > FREE_KEPT
    }

    /// Gives up slabs that a burst left behind: those that nobody can have used since the last
    /// time, and half of the others that are free. A few are kept. To be called now and then; as
    /// often as that a steady stream may have to allocate half of its slabs anew.
    pub fn trim(&mut self) {
        let unused = self.lent.len().saturating_sub(self.taken);
        self.taken = 0;
        let is_free = |slab: &Arc<Vec<u8>>| Arc::strong_count(slab) == 1;
        let free = self.lent.iter().filter(|slab| is_free(slab)).count();
        let spare = free.saturating_sub(FREE_KEPT);
        let mut surplus = unused.max(free / 2).min(spare);
        self.has_more = surplus < spare;
        self.lent.retain(|slab| {
            let stays = surplus == 0 || !is_free(slab);
            surplus = surplus.saturating_sub(usize::from(!stays));
            stays
        });
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
    }

    #[test]
    fn a_pool_uses_a_slab_again_once_it_is_free() {
        let mut pool = BufferPool::new(64, 4);
        let mut buffer = pool.take();
        buffer.bytes().extend_from_slice(b"one");
        let first = pool.share(buffer);
        let address = first.as_ptr();
        let mut busy = pool.take();
        busy.bytes().push(0);
        assert_ne!(busy.bytes().as_ptr(), address);
        drop(first);
        let mut again = pool.take();
        again.bytes().push(1);
        assert_eq!(again.bytes().as_ptr(), address);
        assert_eq!(again.bytes().len(), 1);
    }

    #[test]
    fn slabs_of_a_burst_are_given_up_and_those_in_use_are_not() {
        let mut pool = BufferPool::new(64, 256);
        let lend = |pool: &mut BufferPool| {
            let buffer = pool.take();
            pool.share(buffer)
        };
        let burst: Vec<SharedBytes> = (0..200).map(|_| lend(&mut pool)).collect();
        pool.trim();
        assert_eq!(pool.lent.len(), 200, "all are in use");
        let kept: Vec<SharedBytes> = burst.into_iter().skip(190).collect();
        // A busy stream: what goes round may all be needed again.
        (0..1000).for_each(|_| drop(lend(&mut pool)));
        assert!(pool.wants_trim());
        pool.trim();
        assert_eq!(pool.lent.len(), 105);
        // A quiet time.
        assert!(pool.wants_trim());
        pool.trim();
        assert_eq!(pool.lent.len(), FREE_KEPT + kept.len());
        assert!(!pool.wants_trim(), "nothing was taken since");
        let first = lend(&mut pool);
        assert!(first.slab_len() >= 64 && pool.wants_trim());
        drop((first, kept));
        pool.trim();
        assert_eq!(pool.lent.len(), FREE_KEPT);
        drop(lend(&mut pool));
        assert!(!pool.wants_trim(), "the few that are kept");
    }

    #[test]
    fn what_the_pool_will_not_see_again_is_no_larger_than_it_must_be() {
        let mut pool = BufferPool::new(4096, 2);
        let mut held: Vec<SharedBytes> = Vec::new();
        for _ in 0..5 {
            let mut buffer = pool.take();
            buffer.bytes().extend_from_slice(b"tiny");
            held.push(pool.share(buffer));
        }
        assert!(held[4].slab_len() < 64, "{}", held[4].slab_len());
        drop(held);
        assert_eq!(pool.take().bytes().capacity(), 4096);
    }

    #[test]
    fn compaction_frees_large_slabs() {
        let mut bytes = Vec::with_capacity(65_536);
        bytes.extend_from_slice(b"tiny");
        let small = SharedBytes::from_vec(bytes).compacted();
        assert!(small.slab_len() < 100);
        assert_eq!(&*small, b"tiny");
    }

    #[test]
    fn a_compactor_uses_its_slabs_again_and_wastes_none_on_what_stays() {
        let mut bytes = Vec::with_capacity(65_536);
        bytes.resize(20_000, 7);
        let datagram = SharedBytes::from_vec(bytes);
        let mut compactor = Compactor::default();
        for len in [1, 256, 257, 2048, 16_000] {
            let part = datagram.slice(0..len).unwrap();
            let first = compactor.compact(part.clone());
            assert_eq!(first, part);
            assert!(first.slab_len() < 16_385 && first.slab_len() >= len);
            let address = first.as_ptr();
            drop(first);
            assert_eq!(compactor.compact(part).as_ptr(), address, "{len}");
        }
        let large = datagram.slice(0..17_000).unwrap();
        assert_eq!(compactor.compact(large.clone()).as_ptr(), large.as_ptr());
        let part = datagram.slice(0..10).unwrap();
        let held: Vec<SharedBytes> = (0..2000).map(|_| compactor.compact(part.clone())).collect();
        let all: usize = held.iter().map(SharedBytes::slab_len).sum();
        assert!(all < 1024 * 256 + 976 * 64, "{all}");
        assert!(compactor.take(10).is_none(), "it would not come back");
        drop(held);
        assert!(compactor.wants_trim());
        compactor.trim();
        compactor.trim();
        let lent: usize = compactor.pools.iter().map(|pool| pool.lent.len()).sum();
        assert!(lent <= 2 * FREE_KEPT + 8, "{lent}");
    }

    #[test]
    fn a_compactor_copies_nothing_that_came_in_a_slab_of_its_size() {
        let mut compactor = Compactor::default();
        let mut buffer = compactor.take(300).unwrap();
        assert!(buffer.filled().is_empty() && buffer.capacity() == 1024);
        buffer.bytes().extend_from_slice(&[5; 300]);
        let address = buffer.filled().as_ptr();
        let shared = compactor.share(buffer).unwrap();
        assert_eq!((shared.as_ptr(), shared.len()), (address, 300));
        drop(shared);
        let mut again = compactor.take(1000).unwrap();
        assert!(again.filled().is_empty(), "it is used again");
        again.bytes().extend_from_slice(&[6; 20]);
        assert_eq!(again.filled().as_ptr(), address);
        let small = compactor.share(again).unwrap_err();
        assert_eq!(small.filled(), [6; 20], "so few have a smaller slab");
        let grown = BufferMut::from(alloc::vec![1; 1025]);
        assert!(compactor.share(grown).is_err());
    }
}
