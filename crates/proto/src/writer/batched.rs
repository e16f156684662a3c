//! How a writer speaks of batches: see `batch/`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use whimbrel_base::guid::Guid;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;
use whimbrel_wire::number_set::SequenceNumberSet;
use whimbrel_wire::submessage::AckNack;

use super::Writer;
use super::batch::{Addresses, Batches, BlockPacker, Rewriting};
use crate::outbox::Outbox;

impl Writer {
    /// How batches are compressed; not at all by default.
    pub fn set_block_packer(&mut self, packer: Option<Box<dyn BlockPacker>>) {
        if let Some(batches) = &mut self.batches {
            batches.packer = packer;
            self.note_batch_readers();
        }
    }

    /// True where changes leave in batches, to readers that take them.
    pub fn sends_batches(&self) -> bool {
        self.batches.is_some()
    }

    /// Sends whatever is due at `now`.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.batches.is_none() {
            return self.transmit(now, outbox);
        }
        self.transmit_batches(now, outbox);
    }

    #[inline(never)]
    fn transmit_batches(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let Some(mut batches) = self.batches.take() else {
            return;
        };
        let mut rewriting = Rewriting {
            message_bytes_max: self.message_bytes_max(),
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
            to.extend_from_slice(reader.info.push_to());
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
        if let Some(said) = self.handle_credit(now, from, acknack) {
            return said;
        }
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
