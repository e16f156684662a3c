//! What has arrived of a writer and waits for its turn, and by which numbers.

use alloc::collections::VecDeque;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;

use crate::change::ChangeKind;

/// A change that has arrived whole.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) kind: ChangeKind,
    pub(super) instance: InstanceHandle,
    pub(super) payload: SharedBytes,
    pub(super) source_timestamp: Timestamp,
    pub(super) reception_timestamp: Timestamp,
}

/// What waits for something before it.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    Change(Arrived),
    Batch(ArrivedBatch),
}

impl Waiting {
    /// Octets that it holds beside its place.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Change(change) => change.payload.slab_len(),
            Self::Batch(batch) => batch.bytes,
        }
    }
}

/// What a writer numbers in heartbeats, acknowledgements and gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// It has not said yet.
    Unknown,
    Changes,
    Batches,
}

/// A batch that has arrived whole.
#[derive(Clone, Debug)]
pub(super) struct ArrivedBatch {
    /// The first number that a change in it may have had.
    pub(super) first: SequenceNumber,
    /// What was not delivered yet.
    pub(super) changes: VecDeque<(SequenceNumber, Arrived)>,
    /// Octets that it held when it arrived.
    pub(super) bytes: usize,
}

/// How far the changes of a writer of batches are.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct BatchLine {
    /// The first number that was promised; nothing before the first heartbeat.
    pub(super) start: SequenceNumber,
    /// What follows the last number delivered; nothing before there is one.
    pub(super) delivered: SequenceNumber,
    /// Batches are lost, and it is not known yet how many changes were in them.
    pub(super) owes_loss: bool,
}

impl BatchLine {
    /// How many changes are lost, where batches are, now that `first` comes next.
    pub(super) fn loss_before(&mut self, first: SequenceNumber) -> u64 {
        if !core::mem::take(&mut self.owes_loss) {
            return 0;
        }
        let next = self.delivered.max(self.start);
        self.start = next.max(first);
        first.since(next)
    }
}
