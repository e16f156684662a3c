//! Counts of what writers hand to readers of their own node.

/// What was handed over.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Handed {
    /// Changes, once for each reader that took one.
    pub(super) taken: u64,
    /// Of these, those that no history has held.
    pub(super) passed: u64,
    /// Of these, those that were not encoded.
    pub(super) unencoded: u64,
}
