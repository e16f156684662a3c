//! What a writer counts.

use super::bundle::BundlingStatistics;

/// Counters of a writer.
#[derive(Clone, Copy, Default, Debug)]
pub struct WriterStatistics {
    /// Changes written.
    pub written: u64,
    /// Octets of payload written.
    pub written_bytes: u64,
    /// Changes or fragments sent again on request.
    pub repairs: u64,
    /// Octets of the messages with them.
    pub repaired_bytes: u64,
    /// Requests ignored because the repair had just left.
    pub suppressed_repairs: u64,
    /// Heartbeats sent.
    pub heartbeats: u64,
    /// Gaps sent.
    pub gaps: u64,
    /// Acknowledgements received.
    pub acknacks: u64,
    /// Requests for fragments received.
    pub nack_frags: u64,
    /// Times that a write found no room.
    pub blocked: u64,
    /// Times that a reader was given up because it did not progress.
    pub given_up: u64,
    /// Changes handed to readers of this process, past the network; once for each reader.
    pub in_process: u64,
    /// Batches sent, not counting those sent again.
    pub batches: u64,
    /// Of changes that waited for others.
    pub bundling: BundlingStatistics,
}

impl WriterStatistics {
    pub(super) fn count_written(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.written = self.written.saturating_add(1);
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }

    pub(super) fn count_repair(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.repairs = self.repairs.saturating_add(1);
        self.repaired_bytes = self.repaired_bytes.saturating_add(bytes);
    }

    pub(super) fn count_suppressed(&mut self, count: u64) {
        self.suppressed_repairs = self.suppressed_repairs.saturating_add(count);
    }
}
