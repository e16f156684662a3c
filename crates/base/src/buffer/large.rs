//! Slabs of large samples, used again for the next ones.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{BufferMut, SharedBytes};
use crate::budget::Account;

/// Slabs remembered: one is filled while another is read.
const SLABS_MAX: usize = 2;

/// A slab is not taken for content that uses less than one part in so many of it.
const SPARE_SHARE: usize = 4;

/// The last few slabs that large samples were put together in.
///
/// Systems map and clear fresh memory at every use of it, which costs as much as a copy. What is
/// remembered is charged to an account, and not remembered where that has no room.
#[derive(Debug)]
pub struct LargeSlabs {
    kept: VecDeque<Arc<Vec<u8>>>,
    account: Account,
}

impl LargeSlabs {
    /// Remembers nothing yet, and charges `account` with what it will.
    pub const fn new(account: Account) -> Self {
        Self {
            kept: VecDeque::new(),
            account,
        }
    }

    /// An empty buffer; with room for `bytes` where a slab of about that size is free.
    pub fn take(&mut self, bytes: usize) -> BufferMut {
        let fits = |slab: &Arc<Vec<u8>>| {
            let room = slab.capacity();
            room >= bytes && room / SPARE_SHARE <= bytes && Arc::strong_count(slab) == 1
        };
        let found = self.kept.iter().position(fits);
        let Some(mut slab) = found.and_then(|index| self.kept.remove(index)) else {
            return BufferMut::default();
        };
        self.charge();
        if let Some(bytes) = Arc::get_mut(&mut slab) {
            bytes.clear();
        }
        BufferMut { slab, stale: false }
    }

    /// Freezes `buffer` and remembers its slab.
    pub fn share(&mut self, buffer: BufferMut) -> SharedBytes {
        let slab = buffer.slab;
        while self.kept.len() >= SLABS_MAX {
            self.kept.pop_front();
        }
        self.charge();
        if self.account.has_room(slab.capacity()) {
            self.kept.push_back(Arc::clone(&slab));
            self.charge();
        }
        SharedBytes {
            start: 0,
            end: slab.len(),
            slab: Some(slab),
        }
    }

    /// True while nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Forgets all slabs.
    pub fn give_up(&mut self) {
        self.kept.clear();
        self.charge();
    }

    /// Octets charged.
    pub fn held_bytes(&self) -> usize {
        self.account.held()
    }

    fn charge(&mut self) {
        let kept = self.kept.iter().map(|slab| slab.capacity());
        self.account.set(kept.fold(0, usize::saturating_add));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    fn filled(slabs: &mut LargeSlabs, bytes: usize) -> (*const u8, SharedBytes) {
        let mut buffer = slabs.take(bytes);
        buffer.bytes().resize(bytes, 7);
        let shared = slabs.share(buffer);
        (shared.as_ptr(), shared)
    }

    #[test]
    fn a_slab_is_used_again_once_nobody_reads_it() {
        let mut slabs = LargeSlabs::new(Account::new(None));
        let (first, held) = filled(&mut slabs, 1000);
        let (second, _) = filled(&mut slabs, 1000);
        assert_ne!(first, second);
        drop(held);
        assert_eq!(filled(&mut slabs, 900).0, first);
        assert_eq!(filled(&mut slabs, 1000).0, second);
        assert_eq!(slabs.held_bytes(), 2000);
        // Neither for what does not fit nor for what would waste it.
        for other in [2000, 100] {
            assert!(slabs.take(other).bytes().capacity() == 0);
        }
        slabs.give_up();
        assert!(slabs.is_empty() && slabs.held_bytes() == 0);
    }

    #[test]
    fn no_more_is_remembered_than_the_budget_allows() {
        let budget = Budget::new(1500);
        let mut slabs = LargeSlabs::new(Account::new(Some(budget.into())));
        for _ in 0..3 {
            filled(&mut slabs, 1000);
            assert_eq!(slabs.held_bytes(), 1000);
        }
        filled(&mut slabs, 2000);
        assert!(slabs.held_bytes() <= 1000);
    }
}
