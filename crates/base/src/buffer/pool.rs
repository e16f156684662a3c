//! Slabs of one size that are used again.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{BufferMut, SharedBytes};

/// So many slabs are used before all others: one that was used a moment ago is still in the
/// processor's cache.
const NEAR: usize = 3;

/// How many of the slabs lent last are looked at after them.
const RECENT_SCAN: usize = 3;

/// How many of the slabs lent longest ago are looked at then, and how many of the others where none
/// of those is free.
const LENT_SCAN: usize = 8;

/// After so many were wanted in a row while all near were kept, one of those gives its place up.
const PATIENCE: usize = 4096;

/// So many at most that are still kept have done that.
const LONG_HELD_MAX: usize = 13;

/// Free slabs that are never given up.
pub(super) const FREE_KEPT: usize = 16;

/// Slabs that had to grow are remembered up to this size, and so many of them.
const GROWN_BYTES_MAX: usize = 256 * 1024;
const GROWN_KEPT: usize = 4;

/// Slabs that are used again once nobody refers to them.
#[derive(Debug)]
pub struct BufferPool {
    /// The one that was lent longest ago first.
    pub(super) lent: VecDeque<Arc<Vec<u8>>>,
    /// The place of those that are looked at where the oldest are in use.
    next_look: usize,
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
    /// Those that are used first. One that is kept keeps its place.
    near: Vec<Arc<Vec<u8>>>,
    /// Those that are kept for so long that they gave their place up.
    long_held: Vec<Arc<Vec<u8>>>,
    /// So many were wanted in a row while all near were in use.
    waited: usize,
    /// The slab lent last is not near.
    is_held_up: bool,
}

impl BufferPool {
    /// A pool of slabs with room for `slab_len` octets that remembers at most `slabs_max` of them.
    pub fn new(slab_len: usize, slabs_max: usize) -> Self {
        Self {
            lent: VecDeque::new(),
            next_look: LENT_SCAN,
            slab_len,
            slabs_max,
            taken: 0,
            has_more: false,
            blind: 0,
            grown: Vec::new(),
            grows: false,
            near: Vec::new(),
            long_held: Vec::new(),
            waited: 0,
            is_held_up: false,
        }
    }

    /// True where whoever has what was shared last had better not keep it, where it is small, as
    /// others keep slabs already. What is shared where it is false may stay: at most 16 slabs of a
    /// pool do at a time, and more than three only where those have stayed for long.
    pub const fn is_held_up(&self) -> bool {
        self.is_held_up
    }

    /// An empty buffer with room for a slab; allocates only where none is found free.
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
        let near = self.near.len().saturating_add(self.long_held.len());
        self.lent.len().saturating_add(near) < self.slabs_max
    }

    /// A known slab that is not in use.
    #[inline(always)]
    fn take_known(&mut self) -> Option<BufferMut> {
        self.taken = self.taken.saturating_add(1);
        if self.grows
            && let Some(slab) = self.take_grown()
        {
            return Some(slab);
        }
        if let Some(at) = self.near.iter().rposition(is_free) {
            self.waited = 0;
            let slab = self.near.remove(at);
            return Some(BufferMut { slab, stale: true });
        }
        self.take_lent()
    }

    #[inline(never)]
    fn take_grown(&mut self) -> Option<BufferMut> {
        let at = self.grown.iter().rposition(is_free)?;
        let slab = self.grown.swap_remove(at);
        Some(BufferMut { slab, stale: true })
    }

    #[cold]
    fn take_lent(&mut self) -> Option<BufferMut> {
        self.wait_for_near();
        let mut recent = self.lent.iter().rev().take(RECENT_SCAN);
        if let Some(back) = recent.position(is_free) {
            let at = self.lent.len().checked_sub(back.saturating_add(1))?;
            return self.take_at(at);
        }
        if self.blind > 0 {
            self.blind = self.blind.saturating_sub(1);
            return None;
        }
        if let Some(at) = self.free_from(0) {
            return self.take_at(at);
        }
        if let Some(at) = self.free_from(self.next_look) {
            // The next to become free is the one behind it, as a rule.
            self.next_look = at;
            return self.take_at(at);
        }
        let next = self.next_look.saturating_add(LENT_SCAN);
        let is_there = next < self.lent.len();
        self.next_look = if is_there { next } else { LENT_SCAN };
        // Where no more are remembered all may stay in use for long, and a look at one is often one
        // into memory that nothing else has near.
        self.blind = if self.has_place() { 0 } else { LENT_SCAN };
        None
    }

    /// The place of the first that is free of a few lent slabs, of those from the place `from` on.
    fn free_from(&self, from: usize) -> Option<usize> {
        let mut few = self.lent.iter().skip(from).take(LENT_SCAN);
        Some(from.saturating_add(few.position(is_free)?))
    }

    /// Takes the free slab at a place; those before it keep theirs.
    fn take_at(&mut self, at: usize) -> Option<BufferMut> {
        let slab = self.lent.remove(at)?;
        // Nobody else can come by it any more; it is cleared where that is looked at anyway.
        Some(BufferMut { slab, stale: true })
    }

    /// None near is free: has one of them give its place up now and then.
    fn wait_for_near(&mut self) {
        self.waited = self.waited.saturating_add(1);
        if self.waited < PATIENCE {
            return;
        }
        self.waited = 0;
        self.take_back();
        if self.near.len() == NEAR && self.long_held.len() < LONG_HELD_MAX {
            let oldest = self.near.remove(0);
            self.long_held.push(oldest);
        }
    }

    /// Those that were kept for long and are free again are like all others.
    fn take_back(&mut self) {
        let free = self.long_held.extract_if(.., |it| is_free(it));
        self.lent.extend(free);
    }

    #[cold]
    fn new_buffer(&self) -> BufferMut {
        BufferMut::from(Vec::with_capacity(self.slab_len))
    }

    /// Freezes `buffer`; its slab comes back when the last slice of it is dropped.
    #[inline(always)]
    pub fn share(&mut self, mut buffer: BufferMut) -> SharedBytes {
        if buffer.stale {
            buffer.bytes();
        }
        let end = buffer.slab.len();
        let usual_bytes = self.slab_len.saturating_mul(2);
        let usual = buffer.slab.capacity() <= usual_bytes;
        self.grows = end > usual_bytes;
        self.is_held_up = true;
        if usual && self.near.len() < NEAR && self.has_place() {
            self.near.push(Arc::clone(&buffer.slab));
            self.is_held_up = false;
        } else {
            self.lend(&mut buffer, usual);
        }
        SharedBytes {
            slab: Some(buffer.slab),
            start: 0,
            end,
        }
    }

    /// Remembers the slab of `buffer`, of the usual size or not, where it is not near.
    #[inline(never)]
    fn lend(&mut self, buffer: &mut BufferMut, usual: bool) {
        if self.grows && buffer.slab.len() <= GROWN_BYTES_MAX {
            if self.grown.len() < GROWN_KEPT {
                self.grown.push(Arc::clone(&buffer.slab));
            }
        } else if usual && self.has_place() {
            self.lent.push_back(Arc::clone(&buffer.slab));
        } else if usual {
            // It will not come back, so it has no use for more room than its content needs.
            buffer.bytes().shrink_to_fit();
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
        self.grown.clear();
        self.take_back();
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

fn is_free(slab: &Arc<Vec<u8>>) -> bool {
    Arc::strong_count(slab) == 1
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

    /// Numbers that look random, below `end`.
    fn random(state: &mut u64, end: u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005);
        *state = state.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((*state >> 33) % end).unwrap()
    }

    /// How many slabs a pool knows when up to `most` are in use at a time for a long while, those
    /// that were lent first given back first; `kept` of them never.
    fn known_of_a_queue(most: u64, kept: usize) -> usize {
        let mut pool = BufferPool::new(64, 1024);
        let lend = |pool: &mut BufferPool| {
            let buffer = pool.take();
            pool.share(buffer)
        };
        let _kept: Vec<_> = (0..kept).map(|_| lend(&mut pool)).collect();
        let mut queue = VecDeque::new();
        let mut state = 7;
        for _ in 0..2000 {
            // All of them once in a while, a part most often.
            let wanted = random(&mut state, most).max(random(&mut state, most)) + 1;
            while queue.len() < wanted {
                queue.push_back(lend(&mut pool));
            }
            let given_back = random(&mut state, most);
            queue.drain(..given_back.min(queue.len()));
        }
        pool.lent.len() + pool.near.len() + pool.long_held.len()
    }

    #[test]
    fn a_queue_of_slabs_takes_no_more_than_are_in_use_at_a_time() {
        for most in [4, 20, 100, 400] {
            assert_eq!(known_of_a_queue(most, 0), usize::try_from(most).unwrap());
        }
    }

    #[test]
    fn slabs_that_are_kept_hardly_hide_those_that_are_free() {
        for kept in [5, 20, 100] {
            let known = known_of_a_queue(100, kept);
            assert!(known <= kept + 100 + 3 * LENT_SCAN, "{kept}: {known}");
        }
    }

    #[test]
    fn a_pool_tells_of_those_that_are_not_to_be_kept() {
        let mut pool = BufferPool::new(64, 16);
        let mut lend = || {
            let buffer = pool.take();
            (pool.share(buffer), pool.is_held_up())
        };
        (0..10).for_each(|_| assert!(!lend().1, "it comes back at once"));
        let first: Vec<_> = (0..NEAR).map(|_| lend()).collect();
        assert!(first.iter().all(|(_, held_up)| !held_up));
        (0..10).for_each(|_| assert!(lend().1, "others keep theirs"));
        drop(first);
        (0..10).for_each(|_| assert!(!lend().1));
    }

    #[test]
    fn few_are_kept_of_a_pool_though_bursts_come_between_them() {
        let mut pool = BufferPool::new(64, 256);
        let mut kept = Vec::new();
        for round in 0..50_000 {
            let buffer = pool.take();
            let shared = pool.share(buffer);
            if !pool.is_held_up() {
                kept.push(shared);
            }
            let burst: [BufferMut; 8] = core::array::from_fn(|_| pool.take());
            drop(burst.map(|it| pool.share(it)));
            if round == 100 {
                assert_eq!(kept.len(), NEAR);
            }
        }
        assert_eq!(kept.len(), NEAR + LONG_HELD_MAX);
        kept.drain(..4);
        let kept_again = (0..100).map(|_| {
            let buffer = pool.take();
            (pool.share(buffer), pool.is_held_up())
        });
        let again: Vec<_> = kept_again.filter(|(_, held_up)| !held_up).collect();
        assert!(again.len() <= 4, "{}", again.len());
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
        assert_eq!(pool.lent.len() + NEAR, 200, "all are in use");
        let kept: Vec<SharedBytes> = burst.into_iter().skip(190).collect();
        // A busy stream: what goes round may all be needed again.
        (0..1000).for_each(|_| drop(lend(&mut pool)));
        assert!(pool.wants_trim());
        pool.trim();
        assert_eq!(pool.lent.len(), 104);
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
