//! Instances by numbers.
//!
//! Every number is used again. The table only numbers them, each instance is an allocation of its
//! own, and when most numbers are free the instances are numbered anew: what many instances at
//! once have taken is given back once they are over.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Number of an instance in a table.
pub type Slot = u32;

/// Numbers for which there may always be room.
const ROOM_MIN: usize = 256;

/// The table.
#[derive(Debug)]
pub struct Table<T> {
    slots: Vec<Option<Box<T>>>,
    free: Vec<Slot>,
}

impl<T> Table<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    /// The instance numbered `slot`.
    #[inline]
    pub fn get(&self, slot: Slot) -> Option<&T> {
        self.slots.get(slot as usize)?.as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        self.slots.get_mut(slot as usize)?.as_deref_mut()
    }

    /// Takes in `instance` under a number of its own. The caller keeps the count below what a slot
    /// can number.
    pub fn insert(&mut self, instance: T) -> Slot {
        let instance = Some(Box::new(instance));
        if let Some(slot) = self.free.pop()
            && let Some(place) = self.slots.get_mut(slot as usize)
        {
            *place = instance;
            return slot;
        }
        let slot = Slot::try_from(self.slots.len()).unwrap_or(Slot::MAX);
        self.slots.push(instance);
        slot
    }

    /// Takes out the instance numbered `slot`, whose number is free then.
    pub fn remove(&mut self, slot: Slot) -> Option<Box<T>> {
        let gone = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(gone)
    }

    /// True when most numbers are free and there are enough to be worth the work.
    pub fn is_sparse(&self) -> bool {
        self.slots.len() > ROOM_MIN && self.free.len() > self.slots.len() / 2
    }

    /// Numbers the instances anew without holes, in the same order. Returns the old numbers in the
    /// order of the new ones.
    pub fn compact(&mut self) -> Vec<Slot> {
        let count = self.slots.len().saturating_sub(self.free.len());
        let mut slots = Vec::with_capacity(count);
        let mut old = Vec::with_capacity(count);
        for (slot, place) in (0..).zip(core::mem::take(&mut self.slots)) {
            if place.is_some() {
                slots.push(place);
                old.push(slot);
            }
        }
        self.slots = slots;
        self.free = Vec::new();
        old
    }

    /// Numbers for which there is room without allocating.
    pub fn room(&self) -> usize {
        self.slots.capacity().max(self.free.capacity())
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self::new()
    }
}
