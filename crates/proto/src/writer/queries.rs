//! What may be asked of a writer's history.

use whimbrel_base::instance::InstanceHandle;

use super::batch::Batches;
use super::{Change, Writer};

impl Writer {
    /// True when `instance` was registered or written and not unregistered since.
    pub fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.history.is_registered(instance)
    }

    /// The registered instances.
    pub fn registered_instances(&self) -> impl Iterator<Item = InstanceHandle> + '_ {
        self.history.registered()
    }

    /// Some change of `instance` still kept, from which its key can be had.
    pub fn sample_of(&self, instance: InstanceHandle) -> Option<&Change> {
        self.history
            .oldest(instance)
            .and_then(|sequence| self.history.get(sequence))
    }

    /// True when changes are sent, and no reader that they are sent to takes compressed ones.
    pub fn is_taken_plain(&self) -> bool {
        let batches = self.batches.as_ref();
        let taken = batches.map_or(self.forms.wanted, Batches::are_taken_compressed);
        !self.audience.destinations().is_empty() && !taken
    }

    /// Octets that its history holds.
    pub fn held_bytes(&self) -> usize {
        self.history.held_bytes()
    }

    /// Number of instances that are registered or have changes kept.
    pub fn instance_count(&self) -> usize {
        self.history.instance_count()
    }

    /// Number of changes kept.
    pub fn history_len(&self) -> usize {
        self.history.len()
    }
}
