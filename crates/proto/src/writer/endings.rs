//! Instances that a writer has ended, until it may forget them.

use alloc::collections::BTreeMap;

use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;

/// Ended instances by the changes that ended them; each is here at most once.
#[derive(Debug, Default)]
pub(super) struct Endings {
    /// Given up: nothing of them is needed once every reader knows.
    released: BTreeMap<SequenceNumber, InstanceHandle>,
    /// Disposed but still registered, or given up before a reader was lost that did not know: it
    /// may come back.
    disposed: BTreeMap<SequenceNumber, InstanceHandle>,
    of: BTreeMap<InstanceHandle, SequenceNumber>,
}

impl Endings {
    /// `sequence` gave up `instance`.
    pub(super) fn release(&mut self, instance: InstanceHandle, sequence: SequenceNumber) {
        self.replace(instance, sequence);
        self.released.insert(sequence, instance);
    }

    /// `sequence` disposed `instance`, which stays registered.
    pub(super) fn dispose(&mut self, instance: InstanceHandle, sequence: SequenceNumber) {
        self.replace(instance, sequence);
        self.disposed.insert(sequence, instance);
    }

    /// A reader is lost that needs to hear of none of them up to `known`.
    pub(super) fn remember_after(&mut self, known: SequenceNumber) {
        self.disposed.extend(self.released.split_off(&known.next()));
    }

    fn replace(&mut self, instance: InstanceHandle, sequence: SequenceNumber) {
        if let Some(old) = self.of.insert(instance, sequence) {
            self.released.remove(&old);
            self.disposed.remove(&old);
        }
    }

    /// `instance` is written or registered again: a disposal of it is forgotten.
    #[inline(always)]
    pub(super) fn revive(&mut self, instance: InstanceHandle) {
        if !self.of.is_empty() {
            self.forget_disposal(instance);
        }
    }

    #[inline(never)]
    fn forget_disposal(&mut self, instance: InstanceHandle) {
        let Some(sequence) = self.of.get(&instance).copied() else {
            return;
        };
        if self.disposed.remove(&sequence).is_some() {
            self.of.remove(&instance);
        }
    }

    /// The first change by which an instance ended that may be forgotten once every reader knows,
    /// where `kept_max` of those that were disposed are remembered.
    pub(super) fn first_due(&self, kept_max: usize) -> Option<SequenceNumber> {
        let released = self.released.first_key_value();
        let over = self.disposed.len() > kept_max;
        let disposed = over.then(|| self.disposed.first_key_value()).flatten();
        let due = released.into_iter().chain(disposed);
        due.map(|(sequence, _)| *sequence).min()
    }

    /// The next instance that was given up by a change up to `known`.
    pub(super) fn next_released(
        &mut self,
        known: SequenceNumber,
    ) -> Option<(SequenceNumber, InstanceHandle)> {
        let first = self.released.first_entry()?;
        if *first.key() > known {
            return None;
        }
        let (sequence, instance) = first.remove_entry();
        self.of.remove(&instance);
        Some((sequence, instance))
    }

    /// The next instance that was disposed, or given up unknown to a reader that was lost, by a
    /// change up to `known`, longest ago, where more than `kept_max` are remembered.
    pub(super) fn next_disposed(
        &mut self,
        known: SequenceNumber,
        kept_max: usize,
    ) -> Option<(SequenceNumber, InstanceHandle)> {
        if self.disposed.len() <= kept_max {
            return None;
        }
        let first = self.disposed.first_entry()?;
        if *first.key() > known {
            return None;
        }
        let (sequence, instance) = first.remove_entry();
        self.of.remove(&instance);
        Some((sequence, instance))
    }

    /// True when no instance is in here.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Number of instances in here.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn instance(byte: u8) -> InstanceHandle {
        InstanceHandle([byte; 16])
    }

    #[test]
    fn an_instance_that_ends_again_and_again_is_here_once() {
        let mut endings = Endings::default();
        for number in 1..=100 {
            endings.dispose(instance(1), SequenceNumber(2 * number));
            endings.release(instance(1), SequenceNumber(2 * number + 1));
        }
        assert_eq!(endings.len(), 1);
        let found = endings.next_released(SequenceNumber(300));
        assert_eq!(found, Some((SequenceNumber(201), instance(1))));
        assert_eq!(endings.len(), 0);
    }

    #[test]
    fn only_the_oldest_disposals_that_everybody_knows_are_forgotten() {
        let mut endings = Endings::default();
        for byte in 1..=4 {
            endings.dispose(instance(byte), SequenceNumber(i64::from(byte)));
        }
        endings.revive(instance(1));
        assert_eq!(endings.next_disposed(SequenceNumber(9), 3), None);
        assert_eq!(endings.next_disposed(SequenceNumber(1), 2), None);
        let found = endings.next_disposed(SequenceNumber(9), 2);
        assert_eq!(found, Some((SequenceNumber(2), instance(2))));
        assert_eq!(endings.next_disposed(SequenceNumber(9), 2), None);
    }

    #[test]
    fn what_was_given_up_is_not_revived() {
        let mut endings = Endings::default();
        endings.release(instance(1), SequenceNumber(1));
        endings.revive(instance(1));
        assert_eq!(endings.next_released(SequenceNumber(0)), None);
        let found = endings.next_released(SequenceNumber(1));
        assert_eq!(found, Some((SequenceNumber(1), instance(1))));
    }
}
