//! Batches: many changes that arrive, are acknowledged and are repaired as one.
//!
//! A writer of batches has two rows of numbers. By those of its batches it and its readers agree
//! on what has arrived: in heartbeats, acknowledgements and gaps they stand where others have the
//! numbers of changes, and so they do in a [`WriterProxy`]. Those of the changes are for who reads.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_wire::compressed::ENCAPSULATION_BYTES;
use whimbrel_wire::inline_qos::{InlineQos, StatusInfo};
use whimbrel_wire::submessage::{BatchedSample, Content, DataBatch, HeartbeatBatch};

use super::Reader;
use super::deliver::Incoming;
use super::line::{Arrived, ArrivedBatch, Line, Waiting};
use super::writer_proxy::{WAITING_BYTES, WriterProxy};
use crate::change::ChangeKind;

/// A DATA_BATCH submessage as a reader sees it.
#[derive(Clone, Copy, Debug)]
pub struct IncomingBatch<'a> {
    /// Who wrote it.
    pub writer: Guid,
    /// What it wrote.
    pub batch: DataBatch<'a>,
    /// When it was written, as far as known.
    pub source_timestamp: Timestamp,
    /// When it arrived, by the wall clock.
    pub reception_timestamp: Timestamp,
}

impl Reader {
    /// A batch of a matched writer.
    ///
    /// # Errors
    /// Refuses strangers, batches seen before, writers that do not speak of batches otherwise,
    /// what goes over the limits and what does not inflate. Of a change from which no key can be
    /// had it tells too, and takes the others.
    pub fn handle_data_batch(
        &mut self,
        _now: Instant,
        incoming: &IncomingBatch<'_>,
    ) -> Result<(), Reject> {
        let (writer, number) = (incoming.writer, incoming.batch.batch);
        let reliable = self.is_reliable_with(writer)?;
        self.check_number(writer, number, Line::Batches)?;
        let payload = incoming.batch.payload;
        let data = incoming.batch.samples.data_len();
        if data > self.plain_len(writer, payload) {
            let lies = Reject::new(RejectKind::Integrity, 0);
            return Err(self.give_up(writer, number, lies));
        }
        // Each change gets octets of its own.
        let changes = usize::try_from(incoming.batch.samples.len()).unwrap_or(usize::MAX);
        let heads = changes.saturating_mul(WAITING_BYTES.saturating_add(ENCAPSULATION_BYTES));
        let bytes = data.saturating_add(heads);
        self.check_inflated_room(writer, number, payload)?;
        self.check_memory((writer, number), InstanceHandle::NIL, bytes)?;
        if reliable {
            let has_place = |proxy: &WriterProxy| proxy.has_place(number, bytes, &self.config);
            if !self.writers.get(&writer).is_some_and(has_place) {
                return Err(Reject::new(RejectKind::Limit, 0));
            }
        }
        let opened = self.opened(incoming);
        let (changes, fault) = match opened {
            Ok(opened) => opened,
            Err(reject) => return Err(self.give_up(writer, number, reject)),
        };
        self.statistics.batches = self.statistics.batches.saturating_add(1);
        let arrived = ArrivedBatch {
            first: incoming.batch.samples.first(),
            changes,
            bytes,
        };
        if reliable {
            let proxy = self.proxy(writer)?;
            proxy.waiting_bytes = proxy.waiting_bytes.saturating_add(bytes);
            proxy.last = proxy.last.max(number);
            proxy.waiting.insert(number, Waiting::Batch(arrived));
            self.deliver_in_order(writer);
        } else {
            self.deliver_batch_best_effort(writer, number, incoming.batch.last, arrived);
        }
        fault.map_or(Ok(()), Err)
    }

    /// The changes of a batch, and why one of them is left out, if any is.
    #[allow(clippy::type_complexity)]
    fn opened(
        &mut self,
        incoming: &IncomingBatch<'_>,
    ) -> Result<(VecDeque<(SequenceNumber, Arrived)>, Option<Reject>), Reject> {
        let batch = &incoming.batch;
        batch.inline_qos.map(InlineQos::parse).transpose()?;
        let inflated = self.plain_of(incoming.writer, batch.payload)?;
        let plain = inflated.as_deref().unwrap_or(batch.payload);
        let (head, data) = match plain.split_first_chunk::<ENCAPSULATION_BYTES>() {
            Some(([first, second, ..], data)) => ([*first, *second, 0, 0], data),
            None => ([0; ENCAPSULATION_BYTES], plain),
        };
        let (mut changes, mut fault) = (VecDeque::new(), None);
        for (sample, data) in batch.samples.with_data(data)? {
            if sample.is_invalid {
                continue;
            }
            let change = change_of(incoming, &sample, head, data)?;
            match self.arrived(change) {
                Some(arrived) => changes.push_back((sample.number, arrived)),
                None => fault = Some(Reject::new(RejectKind::Key, 0)),
            }
        }
        if let Some(inflated) = &inflated {
            let count = u64::try_from(changes.len()).unwrap_or(u64::MAX);
            let statistics = &mut self.statistics;
            statistics.count_inflated(batch.payload.len(), inflated.len(), count);
        }
        Ok((changes, fault))
    }

    fn deliver_batch_best_effort(
        &mut self,
        writer: Guid,
        number: SequenceNumber,
        last: SequenceNumber,
        arrived: ArrivedBatch,
    ) {
        let Some(proxy) = self.writers.get_mut(&writer) else {
            return;
        };
        proxy.last = proxy.last.max(number);
        proxy.expected = Some(number.next());
        proxy.gone.forget_below(number.0);
        let line = &mut proxy.batch_line;
        let fresh = core::mem::replace(&mut line.delivered, last.next());
        line.delivered = line.delivered.max(fresh);
        // Before the first batch there is nothing that could have been lost.
        let heard_before = fresh != SequenceNumber::ZERO;
        let lost = if heard_before {
            arrived.first.since(fresh)
        } else {
            0
        };
        self.lose(lost);
        for (sequence, change) in arrived.changes {
            if sequence < fresh {
                self.statistics.duplicates = self.statistics.duplicates.saturating_add(1);
                continue;
            }
            self.offer(writer, sequence, change);
        }
    }

    /// A heartbeat of a matched writer of batches.
    ///
    /// # Errors
    /// Those of [`Reader::handle_heartbeat`].
    pub fn handle_heartbeat_batch(
        &mut self,
        now: Instant,
        from: Guid,
        heartbeat: &HeartbeatBatch,
    ) -> Result<(), Reject> {
        let batches = &heartbeat.batches;
        let Some(lost_batches) = self.heard(now, from, batches, Line::Batches)? else {
            return self.note_question(now, from, batches);
        };
        let proxy = self.proxy(from)?;
        let line = &mut proxy.batch_line;
        if line.start == SequenceNumber::ZERO {
            line.start = heartbeat.first;
        }
        line.owes_loss |= lost_batches > 0;
        self.deliver_in_order(from);
        let proxy = self.proxy(from)?;
        let passed = proxy.expected >= Some(batches.first);
        let lost = match passed {
            true => proxy.batch_line.loss_before(heartbeat.first),
            false => 0,
        };
        self.lose(lost);
        Ok(())
    }
}

impl WriterProxy {
    /// Before the batch `number`, the next in order, is delivered: drops what was delivered
    /// before, and says how many changes are lost and how many had come already.
    pub(super) fn begin_batch(&mut self, number: SequenceNumber) -> (u64, u64) {
        let Some(Waiting::Batch(batch)) = self.waiting.get_mut(&number) else {
            return (0, 0);
        };
        let lost = self.batch_line.loss_before(batch.first);
        let delivered = self.batch_line.delivered;
        let before = batch.changes.len();
        batch.changes.retain(|(number, _)| *number >= delivered);
        let known = before.saturating_sub(batch.changes.len());
        (lost, u64::try_from(known).unwrap_or(u64::MAX))
    }

    /// The next change of what is next in order, with its number.
    pub(super) fn next_change(&self, number: SequenceNumber) -> Option<(SequenceNumber, Arrived)> {
        match self.waiting.get(&number)? {
            Waiting::Change(change) => Some((number, change.clone())),
            Waiting::Batch(batch) => batch.changes.front().cloned(),
        }
    }

    /// Notes that the change `sequence` of what stands at `number`, the next in order, was
    /// delivered.
    pub(super) fn change_delivered(&mut self, number: SequenceNumber, sequence: SequenceNumber) {
        let Some(Waiting::Batch(batch)) = self.waiting.get_mut(&number) else {
            return self.delivered(number);
        };
        batch.changes.pop_front();
        let next = sequence.next();
        self.batch_line.delivered = self.batch_line.delivered.max(next);
    }
}

fn change_of(
    incoming: &IncomingBatch<'_>,
    sample: &BatchedSample<'_>,
    head: [u8; ENCAPSULATION_BYTES],
    data: &[u8],
) -> Result<Incoming, Reject> {
    let qos = sample.inline_qos.map(InlineQos::parse).transpose()?;
    let qos = qos.unwrap_or_default();
    let payload = match sample.content {
        Content::None => SharedBytes::default(),
        Content::Data | Content::Key => {
            let mut payload = Vec::with_capacity(data.len().saturating_add(head.len()));
            payload.extend_from_slice(&head);
            payload.extend_from_slice(data);
            SharedBytes::from_vec(payload)
        }
    };
    Ok(Incoming {
        writer: incoming.writer,
        sequence: sample.number,
        kind: ChangeKind::from_bits(
            qos.status.contains(StatusInfo::DISPOSED),
            qos.status.contains(StatusInfo::UNREGISTERED),
        ),
        key_hash: qos.key_hash.map(InstanceHandle::from_key_hash),
        is_key: sample.content == Content::Key,
        payload,
        source_timestamp: sample.timestamp.unwrap_or(incoming.source_timestamp),
        reception_timestamp: incoming.reception_timestamp,
    })
}
