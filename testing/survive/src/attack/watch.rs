//! What one step may cost, and what it did cost.

use std::time::Duration;

/// Processor time of one step at most. It is the time of the thread alone, so that other work on
/// the machine does not count.
pub(super) const STEP_MAX: Duration = Duration::from_millis(50);

/// The costs of the steps of one case, or of many.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Costs {
    pub(super) steps: u64,
    pub(super) slowest: Duration,
    /// Octets held more than before the attack, at most.
    pub(super) held_bytes_max: usize,
}

impl Costs {
    /// Adds a step.
    pub(super) fn add(&mut self, took: Duration) {
        self.steps += 1;
        self.slowest = self.slowest.max(took);
    }

    /// Adds what another case has cost.
    pub(super) fn join(&mut self, other: &Self) {
        self.steps += other.steps;
        self.slowest = self.slowest.max(other.slowest);
        self.held_bytes_max = self.held_bytes_max.max(other.held_bytes_max);
    }
}
