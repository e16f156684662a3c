//! Slabs of one size that are used again.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{BufferMut, SharedBytes};

/// How many of the slabs lent last are looked at when one is wanted: one that was used a moment ago
/// is still in the processor's cache.
const RECENT_SCAN: usize = 3;

/// So many of them in use are a sign that those who get slabs keep them.
const HELD_MANY: usize = 2;

/// How many of the slabs lent longest ago are looked at after them.
const LENT_SCAN: usize = 8;

/// Free slabs that are never given up.
pub(super) const FREE_KEPT: usize = 16;

/// Slabs that had to grow are remembered up to this size, and so many of them.
const GROWN_BYTES_MAX: usize = 256 * 1024;
const GROWN_KEPT: usize = 4;

/// Slabs that are used again once nobody refers to them.
#[derive(Debug)]
pub struct BufferPool {
    pub(super) lent: VecDeque<Arc<Vec<u8>>>,
    pub(super) slab_len: usize,
    slabs_max: usize,
    /// Buffers taken since slabs were last given up.
    taken: usize,
    /// More were free then than were given up.
    has_more: bool,
    /// So many are wanted without a look at those lent, after one that found none free.
    blind: usize,
    /// Slabs that had to grow far beyond the usual size; a few, as long as they are in use.
    grown: Vec<Arc<Vec<u8>>>,
    /// The last one had.
    grows: bool,
    /// Several of the slabs lent last were in use when one was wanted last.
    is_held_up: bool,
}

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
            grown: Vec::new(),
            grows: false,
            is_held_up: false,
        }
    }

    /// True where those who got slabs lately keep several of them: what is small had better not
    /// keep one more.
    pub const fn is_held_up(&self) -> bool {
        self.is_held_up
    }

    /// An empty buffer with room for a slab; allocates only when every known slab is in use.
    pub fn take(&mut self) -> BufferMut {
        self.take_known().unwrap_or_else(|| self.new_buffer())
    }

    /// As [`BufferPool::take`], but only where the slab will be remembered.
    pub(super) fn take_lasting(&mut self) -> Option<BufferMut> {
        let known = self.take_known();
        known.or_else(|| self.has_place().then(|| self.new_buffer()))
    }

    /// True where one more slab would be remembered.
    pub(super) fn has_place(&self) -> bool {
        self.lent.len() < self.slabs_max
    }

    /// A known slab that is not in use.
    fn take_known(&mut self) -> Option<BufferMut> {
        self.taken = self.taken.saturating_add(1);
        let is_free = |slab: &Arc<Vec<u8>>| Arc::strong_count(slab) == 1;
        if self.grows
            && let Some(at) = self.grown.iter().rposition(is_free)
        {
            let slab = self.grown.swap_remove(at);
            return Some(BufferMut { slab, stale: true });
        }
        let (mut recent, mut held) = (None, 0usize);
        for (back, slab) in self.lent.iter().rev().take(RECENT_SCAN).enumerate() {
            if is_free(slab) {
                recent = recent.or(Some(back));
            } else {
                held = held.saturating_add(1);
            }
        }
        self.is_held_up = held >= HELD_MANY;
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
        let usual_bytes = self.slab_len.saturating_mul(2);
        let usual = buffer.slab.capacity() <= usual_bytes;
        self.grows = end > usual_bytes;
        if self.grows && end <= GROWN_BYTES_MAX {
            if self.grown.len() < GROWN_KEPT {
                self.grown.push(Arc::clone(&buffer.slab));
            }
        } else if usual && self.has_place() {
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
        let small = (self.taken > 0 || self.has_more) && self.lent.len() > FREE_KEPT;
        small || !self.grown.is_empty()
    }

    /// Gives up slabs that a burst left behind: those that nobody can have used since the last
    /// time, and half of the others that are free. A few are kept. To be called now and then; as
    /// often as that a steady stream may have to allocate half of its slabs anew.
    pub fn trim(&mut self) {
        let unused = self.lent.len().saturating_sub(self.taken);
        self.taken = 0;
        let is_free = |slab: &Arc<Vec<u8>>| Arc::strong_count(slab) == 1;
        self.grown.clear();
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
    fn a_pool_tells_when_several_of_the_slabs_lent_last_are_kept() {
        let mut pool = BufferPool::new(64, 16);
        let mut lend = || {
            let buffer = pool.take();
            (pool.is_held_up(), pool.share(buffer))
        };
        let one = lend();
        let two = lend();
        assert!(!one.0 && !two.0, "one may well be under way");
        // Those that come back at once change nothing of that.
        let told: Vec<bool> = (0..10).map(|_| lend().0).collect();
        assert_eq!(told, [true; 10]);
        drop(one);
        drop(two);
        let three = lend();
        assert!(!three.0 && !lend().0);
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
    fn a_few_slabs_that_had_to_grow_are_used_again_until_a_quiet_time() {
        let lend = |pool: &mut BufferPool, len: usize| {
            let mut buffer = pool.take();
            let had = buffer.capacity();
            buffer.bytes().resize(len, 7);
            (had, pool.share(buffer))
        };
        let mut pool = BufferPool::new(64, 4);
        assert_eq!(lend(&mut pool, 20_000).0, 64);
        assert!(lend(&mut pool, 20_000).0 >= 20_000);
        // Small ones do not take them.
        assert!(lend(&mut pool, 20).0 >= 20_000, "it was large so far");
        let held: Vec<_> = (0..3).map(|_| lend(&mut pool, 20)).collect();
        assert!(held.iter().all(|(had, _)| *had == 64));
        let held: Vec<_> = (0..9).map(|_| lend(&mut pool, 20_000)).collect();
        assert_eq!(pool.grown.len(), GROWN_KEPT);
        drop(held);
        assert!(pool.wants_trim());
        pool.trim();
        assert!(pool.grown.is_empty() && !pool.wants_trim());
        drop(lend(&mut pool, GROWN_BYTES_MAX + 1));
        assert!(pool.grown.is_empty());
    }
}
