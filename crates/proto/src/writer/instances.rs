//! The instances of which a writer keeps changes, or which it has registered.

use alloc::collections::{BTreeMap, VecDeque};

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::table::{Slot, Table};

/// What a writer knows of an instance.
#[derive(Debug, Default)]
pub(super) struct Instance {
    /// The changes kept of it, oldest first.
    pub(super) sequences: VecDeque<SequenceNumber>,
    /// It was not given up.
    pub(super) registered: bool,
}

/// Instances by their handles.
#[derive(Debug, Default)]
pub(super) struct Instances {
    index: BTreeMap<InstanceHandle, Slot>,
    table: Table<Instance>,
    /// The one that was changed last: streams mostly stay with one.
    recent: Option<(InstanceHandle, Slot)>,
}

impl Instances {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    fn find(&self, handle: InstanceHandle) -> Option<Slot> {
        match self.recent {
            Some((recent, slot)) if recent == handle => Some(slot),
            _ => self.look_up(handle),
        }
    }

    #[cold]
    fn look_up(&self, handle: InstanceHandle) -> Option<Slot> {
        self.index.get(&handle).copied()
    }

    /// The one with this handle.
    pub(super) fn get(&self, handle: InstanceHandle) -> Option<&Instance> {
        self.table.get(self.find(handle)?)
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, handle: InstanceHandle) -> Option<&mut Instance> {
        let slot = self.find(handle)?;
        self.table.get_mut(slot)
    }

    #[cold]
    fn insert(&mut self, handle: InstanceHandle) -> Slot {
        let slot = self.table.insert(Instance::default());
        self.index.insert(handle, slot);
        slot
    }

    /// Has `change` made to the one with this handle, which is new where it was not known.
    pub(super) fn change(&mut self, handle: InstanceHandle, change: impl FnOnce(&mut Instance)) {
        let slot = self.find(handle).unwrap_or_else(|| self.insert(handle));
        self.recent = Some((handle, slot));
        if let Some(instance) = self.table.get_mut(slot) {
            change(instance);
        }
    }

    /// Forgets the one with this handle.
    pub(super) fn remove(&mut self, handle: InstanceHandle) {
        let Some(slot) = self.index.remove(&handle) else {
            return;
        };
        self.recent = None;
        self.table.remove(slot);
        if self.table.is_sparse() {
            let old = self.table.compact();
            for slot in self.index.values_mut() {
                let new = old.binary_search(slot).unwrap_or_default();
                *slot = Slot::try_from(new).unwrap_or(Slot::MAX);
            }
        }
    }

    /// All of them, in the order of their handles.
    pub(super) fn iter(&self) -> impl Iterator<Item = (InstanceHandle, &Instance)> {
        let found =
            |(handle, slot): (&InstanceHandle, &Slot)| Some((*handle, self.table.get(*slot)?));
        self.index.iter().filter_map(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(number: u16) -> InstanceHandle {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        InstanceHandle(bytes)
    }

    fn first(instances: &Instances, number: u16) -> Option<SequenceNumber> {
        instances.get(handle(number))?.sequences.front().copied()
    }

    #[test]
    fn those_that_stay_are_found_when_most_are_gone() {
        let mut instances = Instances::default();
        for number in 0..1000u16 {
            let sequence = SequenceNumber(i64::from(number));
            instances.change(handle(number), |it| it.sequences.push_back(sequence));
        }
        for number in (0..1000).filter(|it| it % 100 != 7) {
            instances.remove(handle(number));
            assert_eq!(first(&instances, number), None);
        }
        assert_eq!(instances.len(), 10);
        for number in (7..1000).step_by(100) {
            assert_eq!(
                first(&instances, number),
                Some(SequenceNumber(i64::from(number)))
            );
        }
        assert!(
            instances
                .iter()
                .map(|(it, _)| it)
                .eq((7..1000).step_by(100).map(handle))
        );
        assert!(instances.table.room() < 600);
        instances.change(handle(7), |it| it.registered = true);
        assert!(instances.get(handle(7)).unwrap().registered);
        assert_eq!(instances.len(), 10);
    }
}
