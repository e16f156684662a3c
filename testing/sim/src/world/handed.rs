//! Counts of what writers hand to readers of their own process.

/// What was handed over.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Handed {
    /// Changes, once for each reader that took one.
    pub(super) taken: u64,
    /// Of these, those of readers of another participant than the writer's.
    pub(super) across: u64,
    /// Of these, those that no history has held.
    pub(super) passed: u64,
    /// Of these, those that were not encoded.
    pub(super) unencoded: u64,
}

impl Handed {
    /// Counts `more` too.
    pub(super) fn add(&mut self, more: Self) {
        self.taken += more.taken;
        self.across += more.across;
        self.passed += more.passed;
        self.unencoded += more.unencoded;
    }
}
