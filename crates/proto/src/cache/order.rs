//! The order in which a cache visits the instances that have samples.
//!
//! Two chains through one table: *seen*, instances all of whose samples were read, and *fresh*,
//! instances with a sample that was not. A reader that wants only what is new never walks over
//! what it has seen.

use alloc::vec::Vec;

pub(super) use whimbrel_base::table::Slot;

const NONE: Slot = Slot::MAX;

/// Which chain an instance is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chain {
    /// None: it has no samples.
    Out,
    /// All of its samples were read.
    Seen,
    /// Some sample was not read.
    Fresh,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: Slot,
    after: Slot,
    chain: Chain,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Slot,
    last: Slot,
}

/// The chains.
#[derive(Debug)]
pub(super) struct Order {
    links: Vec<Link>,
    seen: Ends,
    fresh: Ends,
}

impl Order {
    pub(super) const fn new() -> Self {
        let empty = Ends {
            first: NONE,
            last: NONE,
        };
        Self {
            links: Vec::new(),
            seen: empty,
            fresh: empty,
        }
    }

    /// Makes room for `slot`, the next one at most.
    pub(super) fn grow_to(&mut self, slot: Slot) {
        if slot as usize >= self.links.len() {
            self.links.push(Link {
                before: NONE,
                after: NONE,
                chain: Chain::Out,
            });
        }
    }

    /// Keeps only the slots `old`, which are ascending, and numbers them from zero on. All others
    /// are in no chain.
    pub(super) fn renumber(&mut self, old: &[Slot]) {
        let renumbered = |slot: Slot| match old.binary_search(&slot) {
            Ok(new) => Slot::try_from(new).unwrap_or(NONE),
            Err(_) => NONE,
        };
        let kept = old.iter().filter_map(|slot| self.links.get(*slot as usize));
        self.links = kept
            .map(|link| Link {
                before: renumbered(link.before),
                after: renumbered(link.after),
                chain: link.chain,
            })
            .collect();
        for ends in [&mut self.seen, &mut self.fresh] {
            ends.first = renumbered(ends.first);
            ends.last = renumbered(ends.last);
        }
    }

    /// Slots for which there is room without allocating.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.links.capacity()
    }

    /// True when no instance has samples.
    pub(super) const fn is_empty(&self) -> bool {
        self.seen.first == NONE && self.fresh.first == NONE
    }

    /// The first slot of a chain.
    pub(super) fn first(&self, chain: Chain) -> Option<Slot> {
        let first = match chain {
            Chain::Out => NONE,
            Chain::Seen => self.seen.first,
            Chain::Fresh => self.fresh.first,
        };
        (first != NONE).then_some(first)
    }

    /// The slot after `slot` in its chain.
    pub(super) fn after(&self, slot: Slot) -> Option<Slot> {
        let after = self.links.get(slot as usize)?.after;
        (after != NONE).then_some(after)
    }

    /// Puts `slot` at the end of `chain`, unless it is in that chain already.
    /// Returns whether it moved.
    pub(super) fn place(&mut self, slot: Slot, chain: Chain) -> bool {
        let Some(link) = self.links.get(slot as usize).copied() else {
            return false;
        };
        if link.chain == chain {
            return false;
        }
        self.unlink(link);
        let before = match self.ends(chain) {
            Some(ends) => {
                let before = ends.last;
                ends.last = slot;
                if before == NONE {
                    ends.first = slot;
                }
                before
            }
            None => NONE,
        };
        if let Some(previous) = self.links.get_mut(before as usize) {
            previous.after = slot;
        }
        if let Some(link) = self.links.get_mut(slot as usize) {
            *link = Link {
                before,
                after: NONE,
                chain,
            };
        }
        true
    }

    fn unlink(&mut self, link: Link) {
        if let Some(before) = self.links.get_mut(link.before as usize) {
            before.after = link.after;
        }
        if let Some(after) = self.links.get_mut(link.after as usize) {
            after.before = link.before;
        }
        if let Some(ends) = self.ends(link.chain) {
            if link.before == NONE {
                ends.first = link.after;
            }
            if link.after == NONE {
                ends.last = link.before;
            }
        }
    }

    fn ends(&mut self, chain: Chain) -> Option<&mut Ends> {
        match chain {
            Chain::Out => None,
            Chain::Seen => Some(&mut self.seen),
            Chain::Fresh => Some(&mut self.fresh),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(order: &Order, chain: Chain, expected: &[Slot]) {
        let walk = core::iter::successors(order.first(chain), |slot| order.after(*slot));
        assert_eq!(walk.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn slots_move_between_chains() {
        let mut order = Order::new();
        for slot in 0..4 {
            order.grow_to(slot);
            order.place(slot, Chain::Fresh);
        }
        check(&order, Chain::Fresh, &[0, 1, 2, 3]);
        order.place(1, Chain::Seen);
        order.place(3, Chain::Seen);
        order.place(3, Chain::Seen);
        check(&order, Chain::Fresh, &[0, 2]);
        check(&order, Chain::Seen, &[1, 3]);
        order.place(0, Chain::Out);
        order.place(1, Chain::Fresh);
        check(&order, Chain::Fresh, &[2, 1]);
        check(&order, Chain::Seen, &[3]);
        order.place(3, Chain::Out);
        order.place(0, Chain::Seen);
        check(&order, Chain::Seen, &[0]);
    }

    #[test]
    fn slots_numbered_anew_stay_in_their_chains() {
        let mut order = Order::new();
        for slot in 0..8 {
            order.grow_to(slot);
            order.grow_to(slot);
        }
        for (slot, chain) in [(7, Chain::Seen), (5, Chain::Fresh), (2, Chain::Fresh)] {
            order.place(slot, chain);
        }
        order.renumber(&[2, 5, 6, 7]);
        check(&order, Chain::Fresh, &[1, 0]);
        check(&order, Chain::Seen, &[3]);
        assert!(order.room() < 8);
        order.place(2, Chain::Fresh);
        check(&order, Chain::Fresh, &[1, 0, 2]);
        order.renumber(&[]);
        check(&order, Chain::Fresh, &[]);
        check(&order, Chain::Seen, &[]);
        order.grow_to(0);
        order.place(0, Chain::Seen);
        check(&order, Chain::Seen, &[0]);
    }
}
