//! Batches, for readers that understand them: `reader/batch.rs` says what they are.
//!
//! The machine knows of changes only. What it sends passes here last, where its messages are said
//! again in batches for those who take them ([`rewrite`]); what these answer is said in changes
//! before the machine hears it. A batch is what would have left in one message; it is kept as it
//! was sent, so that it is repaired whole, as long as history has any change of it.

mod records;
mod rewrite;

use alloc::boxed::Box;
use alloc::vec::Vec;

use whimbrel_base::budget::Account;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_wire::inline_qos::StatusInfo;
use whimbrel_wire::parameter::{ParameterId, ParameterListWriter};
use whimbrel_wire::submessage::Content;

pub use self::records::{BatchLimits, BlockPacker};
use self::records::{Item, Records};
pub(super) use self::rewrite::{Addresses, Rewriting};
use super::change::Change;
use super::history::HistoryCache;
use crate::change::ChangeKind;
use crate::message::ENDIAN;

/// What a writer of batches knows beside its changes.
#[derive(Debug)]
pub(super) struct Batches {
    pub(super) limits: BatchLimits,
    pub(super) records: Records,
    pub(super) addresses: Addresses,
    pub(super) packer: Option<Box<dyn BlockPacker>>,
    /// All who take batches take them compressed.
    pub(super) packs: bool,
    pub(super) account: Account,
    pub(super) sent: u64,
}

impl Batches {
    pub(super) fn new(limits: BatchLimits, account: Account) -> Self {
        Self {
            limits,
            records: Records::default(),
            addresses: Addresses::default(),
            packer: None,
            packs: false,
            account,
            sent: 0,
        }
    }

    /// How many were sent first.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// True when somebody takes batches, and all who do take them compressed.
    pub(super) fn are_taken_compressed(&self) -> bool {
        self.packs && !self.addresses.batched.is_empty()
    }

    /// True when what waits, so many changes and octets of data, is a whole batch.
    pub(super) fn is_full(&self, samples: u32, bytes: usize) -> bool {
        samples >= self.limits.samples_max || bytes >= self.limits.bytes_max
    }

    /// True when so many octets of data are too many for one batch.
    pub(super) fn is_too_much(&self, bytes: usize) -> bool {
        bytes > self.limits.bytes_max
    }

    /// A change with a payload of so many octets was written.
    pub(super) fn note_written(&mut self, bytes: usize) {
        self.records.note_written(bytes, self.limits.bytes_max);
    }

    /// Puts the batch of `change` together again, where it is not kept as it was sent.
    pub(super) fn restore(&mut self, change: SequenceNumber, history: &HistoryCache) {
        let Some(record) = self.records.at_change(change) else {
            return;
        };
        if record.block.is_some() {
            return;
        }
        let (number, last) = (record.number, record.last);
        let mut items = Vec::new();
        let mut from = record.first;
        while let Some(change) = history.next_from(from).filter(|it| it.sequence <= last) {
            items.push(item_of(change));
            from = change.sequence.next();
        }
        let packer = self.packer.as_mut().filter(|_| self.packs);
        self.records.compose(number, &items, packer);
    }
}

fn item_of(change: &Change) -> Item {
    let content = match change.kind {
        _ if change.payload.is_empty() => Content::None,
        ChangeKind::Alive => Content::Data,
        _ => Content::Key,
    };
    let mut inline_qos = Vec::new();
    if change.kind != ChangeKind::Alive {
        let mut list = ParameterListWriter::new(&mut inline_qos, ENDIAN);
        let hash = change.instance.key_hash();
        list.put(ParameterId::KEY_HASH, |out| out.bytes(&hash));
        let status = status_of(change.kind).to_bytes();
        list.put(ParameterId::STATUS_INFO, |out| out.bytes(&status));
        // Two short values always fit.
        let _ = list.finish();
    }
    Item {
        number: change.sequence,
        content,
        inline_qos: (!inline_qos.is_empty()).then_some(inline_qos),
        payload: change.payload.whole(),
        timestamp: change.timestamp,
    }
}

fn status_of(kind: ChangeKind) -> StatusInfo {
    match (kind.disposes(), kind.unregisters()) {
        (true, true) => StatusInfo::DISPOSED.with(StatusInfo::UNREGISTERED),
        (true, false) => StatusInfo::DISPOSED,
        (false, true) => StatusInfo::UNREGISTERED,
        (false, false) => StatusInfo::default(),
    }
}
