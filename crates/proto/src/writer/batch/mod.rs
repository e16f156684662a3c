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
use whimbrel_base::guid::Guid;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;
use whimbrel_wire::inline_qos::StatusInfo;
use whimbrel_wire::number_set::SequenceNumberSet;
use whimbrel_wire::parameter::{ParameterId, ParameterListWriter};
use whimbrel_wire::submessage::{AckNack, Content};

pub use self::records::{BatchLimits, BlockPacker};
use self::records::{Item, Records};
use self::rewrite::{Addresses, Rewriting};
use super::Writer;
use super::history::{Change, HistoryCache};
use crate::change::ChangeKind;
use crate::message::ENDIAN;
use crate::outbox::Outbox;

/// What a writer of batches knows beside its changes.
#[derive(Debug)]
pub(super) struct Batches {
    limits: BatchLimits,
    records: Records,
    addresses: Addresses,
    packer: Option<Box<dyn BlockPacker>>,
    /// All who take batches take them compressed.
    packs: bool,
    account: Account,
    sent: u64,
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

    /// True when what waits, so many changes and octets of data, is a whole batch.
    pub(super) fn is_full(&self, samples: u32, bytes: usize) -> bool {
        samples >= self.limits.samples_max || bytes >= self.limits.bytes_max
    }

    /// True when so many octets of data are too many for one batch.
    pub(super) fn is_too_much(&self, bytes: usize) -> bool {
        bytes > self.limits.bytes_max
    }

    /// Puts the batch of `change` together again, where it is not kept as it was sent.
    fn restore(&mut self, change: SequenceNumber, history: &HistoryCache) {
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

impl Writer {
    /// How batches are compressed; not at all by default.
    pub fn set_block_packer(&mut self, packer: Option<Box<dyn BlockPacker>>) {
        if let Some(batches) = &mut self.batches {
            batches.packer = packer;
            self.note_batch_readers();
        }
    }

    /// Sends whatever is due at `now`.
    pub fn poll_transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let Some(mut batches) = self.batches.take() else {
            self.transmit(now, outbox);
            return;
        };
        let mut rewriting = Rewriting {
            outbox,
            addresses: &batches.addresses,
            records: &mut batches.records,
            limits: batches.limits,
            packer: batches.packer.as_mut().filter(|_| batches.packs),
            sent: Vec::new(),
            batches: &mut batches.sent,
        };
        self.transmit(now, &mut rewriting);
        let history = &self.history;
        batches.records.sweep(|record| {
            let kept = history.next_from(record.first);
            kept.is_some_and(|it| it.sequence <= record.last)
        });
        batches.account.set(batches.records.held_bytes());
        self.batches = Some(batches);
    }

    /// Notes who takes batches, after a reader came, moved or went.
    pub(super) fn note_batch_readers(&mut self) {
        let Some(batches) = &mut self.batches else {
            return;
        };
        let mut addresses = Addresses::default();
        let mut packs = batches.packer.is_some();
        for reader in self.readers.values() {
            let to = if reader.info.batches {
                packs &= reader.info.packed;
                &mut addresses.batched
            } else {
                &mut addresses.plain
            };
            to.extend_from_slice(&reader.info.locators);
        }
        batches.addresses = addresses;
        if core::mem::replace(&mut batches.packs, packs) && !packs {
            // Who came does not take what is compressed.
            batches.records.drop_blocks();
        }
    }

    /// An ACKNACK of the reader `from`. RTPS 2.5 §8.4.9.2, §8.3.8.1.
    ///
    /// # Errors
    /// Refuses strangers, repeated counts and numbers never written.
    pub fn handle_acknack(
        &mut self,
        now: Instant,
        from: Guid,
        acknack: &AckNack,
    ) -> Result<(), Reject> {
        let reader = self.readers.get(&from);
        let Some(relevant) = reader
            .filter(|it| it.info.batches)
            .map(|it| it.first_relevant)
        else {
            return self.handle_changes_acknack(now, from, acknack);
        };
        let Some(mut batches) = self.batches.take() else {
            return self.handle_changes_acknack(now, from, acknack);
        };
        let said = self.in_changes(&mut batches, relevant, acknack);
        self.batches = Some(batches);
        let (said, beyond) = said?;
        self.handle_changes_acknack(now, from, &said)?;
        if let Some(reader) = self.readers.get_mut(&from) {
            for change in beyond {
                if reader.may_ask_for(change) {
                    reader.request_whole(change);
                    reader.repair_at.get_or_insert(now);
                }
            }
            self.repairs.touch(from);
        }
        Ok(())
    }

    /// What is said of batches, said of changes: each batch that is asked for by one change of it
    /// that is still there. Those too far behind the first to be said so come by themselves.
    fn in_changes(
        &self,
        batches: &mut Batches,
        relevant: SequenceNumber,
        acknack: &AckNack,
    ) -> Result<(AckNack, Vec<SequenceNumber>), Reject> {
        let base = acknack.state.base();
        if base > batches.records.next_number() {
            return Err(Reject::new(RejectKind::SequenceNumber, 0));
        }
        let mut state = SequenceNumberSet::new(batches.records.first_of(base));
        let mut beyond = Vec::new();
        for number in acknack.state.iter() {
            let Some(record) = batches.records.at_number(number) else {
                break;
            };
            let first = batches.records.first_of(number);
            let first = if relevant <= record.last {
                first.max(relevant)
            } else {
                first
            };
            let kept = self.history.next_from(first).map(|it| it.sequence);
            let change = kept.filter(|it| *it <= record.last).unwrap_or(first);
            batches.restore(change, &self.history);
            if !state.insert(change) {
                beyond.push(change);
            }
        }
        Ok((AckNack { state, ..*acknack }, beyond))
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
        payload: change.payload.clone(),
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
