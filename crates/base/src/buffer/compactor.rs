//! Small slices of large slabs, copied into slabs of about their size.

use alloc::vec::Vec;

use super::{BufferMut, BufferPool, SharedBytes};

/// Copies small slices of large slabs into small slabs, which it uses again.
///
/// It remembers a bounded number of slabs of each size: at most 2,000,000 octets in all, and as
/// many as a burst took until [`Compactor::trim`].
#[derive(Debug, Default)]
pub struct Compactor {
    /// One for each of [`COMPACT_SLABS`], or none before the first is wanted.
    pools: Vec<BufferPool>,
    /// Since the last time one of them had something to give up after it was used. All are far
    /// apart in memory, and this is asked more often than any is used.
    wants_trim: bool,
}

/// Octets in a slab of a [`Compactor`], and how many it remembers: as many as may be under way of
/// samples of that size. None is so large for what it is given that the octets within it would be
/// copied once more; sizes that are a power of two have room for what belongs to such a member.
const COMPACT_SLABS: [(usize, usize); 6] = [
    (256, 1024),
    (1024 + MEMBER_HEAD, 1024),
    (2048 + MEMBER_HEAD, 128),
    (4096 + MEMBER_HEAD, 32),
    (8192 + MEMBER_HEAD, 12),
    (16_384 + MEMBER_HEAD, 6),
];

/// What stands beside the large member of a sample, in octets: a few numbers, as a rule.
const MEMBER_HEAD: usize = 64;

impl Compactor {
    /// That of the smallest slabs which take `bytes` octets, if any do.
    fn pool_for(&mut self, bytes: usize) -> Option<&mut BufferPool> {
        if self.pools.is_empty() {
            let pool = |(bytes, slabs)| BufferPool::new(bytes, slabs);
            self.pools = COMPACT_SLABS.map(pool).into();
        }
        self.pools.iter_mut().find(|pool| bytes <= pool.slab_len)
    }

    /// What comes of using the pool for `bytes` octets, if there is one.
    fn used<R>(
        &mut self,
        bytes: usize,
        using: impl FnOnce(&mut BufferPool) -> Option<R>,
    ) -> Option<R> {
        let pool = self.pool_for(bytes)?;
        let done = using(pool);
        let wants_trim = pool.wants_trim();
        self.wants_trim |= wants_trim;
        done
    }

    /// As [`SharedBytes::compacted`], but allocates nothing while slabs of earlier slices are free.
    #[inline(never)]
    pub fn compact(&mut self, bytes: &mut SharedBytes) {
        if bytes.wants_compaction() {
            *bytes = self.copy(bytes);
        }
    }

    /// A copy of `bytes` in a slab of about their size.
    pub fn copy(&mut self, bytes: &[u8]) -> SharedBytes {
        let copied = self.used(bytes.len(), |pool| {
            let mut buffer = pool.take_lasting()?;
            buffer.bytes().extend_from_slice(bytes);
            Some(pool.share(buffer))
        });
        copied.unwrap_or_else(|| SharedBytes::copy_from(bytes))
    }

    /// An empty buffer with room for about `bytes` octets, where its slab will be remembered.
    pub fn take(&mut self, bytes: usize) -> Option<BufferMut> {
        self.used(bytes, BufferPool::take_lasting)
    }

    /// Freezes `buffer` without copying it, where its slab is of about the size of its content and
    /// will be remembered.
    ///
    /// # Errors
    /// Gives back one that is not.
    pub fn share(&mut self, buffer: BufferMut) -> Result<SharedBytes, BufferMut> {
        let fits = |it: &&mut BufferPool| it.slab_len == buffer.capacity() && it.has_place();
        let Some(pool) = self.pool_for(buffer.filled().len()).filter(fits) else {
            return Err(buffer);
        };
        let shared = pool.share(buffer);
        let wants_trim = pool.wants_trim();
        self.wants_trim |= wants_trim;
        Ok(shared)
    }

    /// As [`BufferPool::wants_trim`].
    pub fn wants_trim(&self) -> bool {
        self.wants_trim
    }

    /// As [`BufferPool::trim`].
    pub fn trim(&mut self) {
        self.pools.iter_mut().for_each(BufferPool::trim);
        self.wants_trim = self.pools.iter().any(BufferPool::wants_trim);
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::FREE_KEPT;
    use super::*;

    fn compacted(compactor: &mut Compactor, mut bytes: SharedBytes) -> SharedBytes {
        compactor.compact(&mut bytes);
        bytes
    }

    #[test]
    fn a_compactor_uses_its_slabs_again_and_wastes_none_on_what_stays() {
        let mut bytes = Vec::with_capacity(65_536);
        bytes.resize(20_000, 7);
        let datagram = SharedBytes::from_vec(bytes);
        let all: usize = COMPACT_SLABS
            .iter()
            .map(|(bytes, slabs)| bytes * slabs)
            .sum();
        assert!(all <= 2_000_000, "{all}");
        let mut compactor = Compactor::default();
        for len in [1, 256, 257, 1060, 2048, 2072, 4120, 8216, 16_000] {
            let part = datagram.slice(0..len).unwrap();
            let first = compacted(&mut compactor, part.clone());
            assert_eq!(first, part);
            assert!(
                first.slab_len() >= len && !first.wants_compaction(),
                "{len}"
            );
            let address = first.as_ptr();
            drop(first);
            assert_eq!(compacted(&mut compactor, part).as_ptr(), address, "{len}");
        }
        let large = datagram.slice(0..17_000).unwrap();
        assert_eq!(
            compacted(&mut compactor, large.clone()).as_ptr(),
            large.as_ptr()
        );
        let part = datagram.slice(0..10).unwrap();
        let held: Vec<SharedBytes> = (0..2000)
            .map(|_| compacted(&mut compactor, part.clone()))
            .collect();
        let all: usize = held.iter().map(SharedBytes::slab_len).sum();
        assert!(all < 1024 * 256 + 976 * 64, "{all}");
        assert!(compactor.take(10).is_none(), "it would not come back");
        drop(held);
        assert!(compactor.wants_trim());
        compactor.trim();
        compactor.trim();
        assert!(!compactor.wants_trim(), "nothing was taken since");
        let lent: usize = compactor.pools.iter().map(|pool| pool.lent.len()).sum();
        assert!(lent <= 2 * FREE_KEPT + 8, "{lent}");
    }

    #[test]
    fn a_compactor_copies_nothing_that_came_in_a_slab_of_its_size() {
        let mut compactor = Compactor::default();
        let mut buffer = compactor.take(300).unwrap();
        assert!(buffer.filled().is_empty() && buffer.capacity() == 1024 + MEMBER_HEAD);
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
        let grown = BufferMut::from(alloc::vec![1; 1025 + MEMBER_HEAD]);
        assert!(compactor.share(grown).is_err());
    }
}
