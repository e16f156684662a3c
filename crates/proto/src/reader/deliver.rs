//! What arrives from writers: data, fragments, heartbeats and gaps.

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::submessage::{Gap, Heartbeat};

use super::line::{Arrived, Line, Waiting};
use super::reassembly::FragmentRun;
use super::writer_proxy::WriterProxy;
use super::{Reader, ReaderEvent};
use crate::cache::CacheChange;
use crate::change::ChangeKind;

/// A DATA submessage as a reader sees it.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Who wrote it.
    pub writer: Guid,
    /// Its number.
    pub sequence: SequenceNumber,
    /// What happened.
    pub kind: ChangeKind,
    /// The key hash that travelled with it.
    pub key_hash: Option<InstanceHandle>,
    /// The payload is only the key.
    pub is_key: bool,
    /// Payload, encapsulation included; may be empty for changes without data.
    pub payload: SharedBytes,
    /// When it was written, as far as known.
    pub source_timestamp: Timestamp,
    /// When it arrived, by the wall clock.
    pub reception_timestamp: Timestamp,
}

impl Incoming {
    /// True for changes of which the payload is more than a key.
    pub(super) fn may_be_compressed(&self) -> bool {
        !self.is_key && self.kind == ChangeKind::Alive
    }
}

/// A DATA_FRAG submessage as a reader sees it.
#[derive(Clone, Debug)]
pub struct IncomingFragments<'a> {
    /// The change, with an empty payload.
    pub change: Incoming,
    /// The fragments.
    pub run: FragmentRun<'a>,
}

impl Reader {
    /// Data of a matched writer. RTPS 2.5 §8.3.8.2.
    ///
    /// # Errors
    /// Refuses strangers, numbers seen before, the last number there is and payloads from which no
    /// key can be had.
    pub fn handle_data(&mut self, _now: Instant, data: Incoming) -> Result<(), Reject> {
        match self.deliver_at_once(data) {
            Ok(()) => Ok(()),
            Err(data) => self.deliver_otherwise(data),
        }
    }

    /// As [`Reader::handle_data`], of what cannot be delivered at once.
    #[inline(never)]
    fn deliver_otherwise(&mut self, data: Incoming) -> Result<(), Reject> {
        let reliable = self.is_reliable_with(data.writer)?;
        self.check_number(data.writer, data.sequence, Line::Changes)?;
        if data.payload.len() > self.config.sample_bytes_max {
            return Err(Reject::new(RejectKind::Limit, 0));
        }
        let writer = data.writer;
        let sequence = data.sequence;
        if data.may_be_compressed() {
            self.check_inflated_room(writer, sequence, &data.payload)?;
        }
        let data = match self.inflated(data) {
            Ok(data) => data,
            Err(reject) => return Err(self.give_up(writer, sequence, reject)),
        };
        let key_fault = Reject::new(RejectKind::Key, 0);
        let bytes = data.payload.slab_len();
        let arrived = self.arrived(data);
        if let Some(arrived) = &arrived {
            let instance = arrived.instance;
            self.check_memory((writer, sequence), instance, bytes)?;
        }
        let Some(arrived) = arrived else {
            return Err(self.give_up(writer, sequence, key_fault));
        };
        self.proxy(writer)?.assemblies.remove(&sequence);
        if !reliable {
            self.deliver_best_effort(writer, sequence, arrived);
            return Ok(());
        }
        let has_place = |proxy: &WriterProxy| proxy.has_place(sequence, bytes, &self.config);
        if !self.writers.get(&writer).is_some_and(has_place) {
            return Err(Reject::new(RejectKind::Limit, 0));
        }
        let proxy = self.proxy(writer)?;
        proxy.last = proxy.last.max(sequence);
        let is_next = proxy.is_next(sequence);
        if is_next && self.deliver_next(writer, sequence, arrived.clone()) {
            return Ok(());
        }
        let proxy = self.proxy(writer)?;
        proxy.waiting_bytes = proxy.waiting_bytes.saturating_add(bytes);
        proxy.waiting.insert(sequence, Waiting::Change(arrived));
        self.deliver_in_order(writer);
        Ok(())
    }

    /// A change that nobody can read must not hold up those behind it.
    pub(super) fn give_up(
        &mut self,
        writer: Guid,
        sequence: SequenceNumber,
        reject: Reject,
    ) -> Reject {
        if let Ok(proxy) = self.proxy(writer) {
            proxy.assemblies.remove(&sequence);
            proxy.leave_out(sequence, sequence.next());
            self.deliver_in_order(writer);
        }
        reject
    }

    pub(super) fn proxy(&mut self, writer: Guid) -> Result<&mut WriterProxy, Reject> {
        let proxy = self.writers.get_mut(&writer);
        let proxy = proxy.ok_or(Reject::new(RejectKind::Stranger, 0))?;
        // What is borrowed so may get another deadline.
        self.agenda.touch(writer);
        Ok(proxy)
    }

    /// Refuses what was seen before, and the last number there is, which nothing could follow.
    pub(super) fn check_number(
        &mut self,
        writer: Guid,
        sequence: SequenceNumber,
        line: Line,
    ) -> Result<(), Reject> {
        if sequence == SequenceNumber::MAX {
            return Err(Reject::new(RejectKind::SequenceNumber, 0));
        }
        let proxy = self.proxy(writer)?;
        if !proxy.numbers(line) {
            return Err(Reject::new(RejectKind::Unexpected, 0));
        }
        if proxy.has(sequence) {
            self.statistics.duplicates = self.statistics.duplicates.saturating_add(1);
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        Ok(())
    }

    pub(super) fn is_reliable_with(&self, writer: Guid) -> Result<bool, Reject> {
        let proxy = self
            .writers
            .get(&writer)
            .ok_or(Reject::new(RejectKind::Stranger, 0))?;
        Ok(self.config.reliable && proxy.info.reliable)
    }

    /// Finds the instance; `None` where that is impossible.
    pub(super) fn arrived(&self, data: Incoming) -> Option<Arrived> {
        let instance = data.instance(self.config.keys.as_deref())?;
        Some(data.arrived(instance))
    }

    fn deliver_best_effort(&mut self, writer: Guid, sequence: SequenceNumber, arrived: Arrived) {
        let Some(proxy) = self.writers.get_mut(&writer) else {
            return;
        };
        let expected = proxy.expected.unwrap_or(SequenceNumber::FIRST);
        // Before the first change there is nothing that could have been lost.
        let first_contact = !core::mem::replace(&mut proxy.contacted, true);
        proxy.last = proxy.last.max(sequence);
        let lost = if first_contact {
            0
        } else {
            sequence.since(expected)
        };
        proxy.expected = Some(sequence.next());
        proxy.gone.forget_below(sequence.0);
        proxy.forget_parts_before(sequence.next());
        proxy.settle();
        self.lose(lost);
        self.offer(writer, sequence, arrived);
    }

    /// Puts a change into the cache, or tells that it found no room there.
    pub(super) fn offer(&mut self, writer: Guid, sequence: SequenceNumber, arrived: Arrived) {
        let instance = arrived.instance;
        let bytes = arrived.payload.len();
        match self.cache.add(cache_change(writer, sequence, arrived)) {
            Ok(added) => {
                self.news |= added.is_visible();
                self.statistics.count_delivered(bytes);
            }
            Err(reason) => {
                self.statistics.rejected = self.statistics.rejected.saturating_add(1);
                self.report(ReaderEvent::SampleRejected { reason, instance });
            }
        }
    }

    pub(super) fn lose(&mut self, count: u64) {
        if count > 0 {
            self.statistics.lost = self.statistics.lost.saturating_add(count);
            self.report(ReaderEvent::SampleLost { count });
        }
    }

    /// Moves arrived changes into the cache as far as order and room allow.
    pub(super) fn deliver_in_order(&mut self, writer: Guid) {
        let Some(proxy) = self.writers.get_mut(&writer) else {
            return;
        };
        let had_history = proxy.has_history();
        let mut lost = 0u64;
        while let Some(number) = proxy.next_in_order() {
            if proxy.line == Line::Batches {
                let (missing, known) = proxy.begin_batch(number);
                lost = lost.saturating_add(missing);
                self.statistics.duplicates = self.statistics.duplicates.saturating_add(known);
            }
            let Some((sequence, arrived)) = proxy.next_change(number) else {
                proxy.delivered(number);
                continue;
            };
            let instance = arrived.instance;
            let bytes = arrived.payload.len();
            match self.cache.add(cache_change(writer, sequence, arrived)) {
                Ok(added) => {
                    proxy.change_delivered(number, sequence);
                    self.news |= added.is_visible();
                    self.statistics.count_delivered(bytes);
                }
                Err(reason) => {
                    if !core::mem::replace(&mut self.full, true) {
                        self.statistics.rejected = self.statistics.rejected.saturating_add(1);
                        self.reported
                            .push_back(ReaderEvent::SampleRejected { reason, instance });
                    }
                    break;
                }
            }
        }
        proxy.settle();
        if !had_history && proxy.has_history() {
            self.report(ReaderEvent::HistoryComplete(writer));
        }
        self.lose(lost);
    }

    /// True when something that arrived found no room: tell [`Reader::handle_room`] of any.
    pub fn waits_for_room(&self) -> bool {
        self.full || self.starved
    }

    /// Samples were taken from the cache: goes on with what had found no room.
    pub fn handle_room(&mut self, now: Instant) {
        let full = core::mem::take(&mut self.full);
        if !core::mem::take(&mut self.starved) && !full {
            return;
        }
        let writers: alloc::vec::Vec<Guid> = self
            .writers
            .iter()
            .filter(|(_, proxy)| !proxy.waiting.is_empty() || proxy.refused)
            .map(|(guid, _)| *guid)
            .collect();
        for writer in writers {
            self.deliver_in_order(writer);
            if let Some(proxy) = self.writers.get_mut(&writer) {
                proxy.refused = false;
                // The writer may be blocked: tell it at once how far we are.
                proxy.must_answer = true;
                proxy.answer_at = Some(now);
                self.agenda.touch(writer);
            }
        }
    }

    /// A heartbeat of a matched writer. RTPS 2.5 §8.4.12.1, §8.3.8.6.
    ///
    /// # Errors
    /// Refuses strangers and repeated counts.
    pub fn handle_heartbeat(
        &mut self,
        now: Instant,
        from: Guid,
        heartbeat: &Heartbeat,
    ) -> Result<(), Reject> {
        if self.knows_already(now, from, heartbeat) {
            return Ok(());
        }
        let Some(lost) = self.heard(now, from, heartbeat, Line::Changes)? else {
            return self.note_question(now, from, heartbeat);
        };
        self.lose(lost);
        self.deliver_in_order(from);
        Ok(())
    }

    /// Takes in what a heartbeat says, and tells how many numbers are lost by it; `None` where it
    /// does not matter.
    pub(super) fn heard(
        &mut self,
        now: Instant,
        from: Guid,
        heartbeat: &Heartbeat,
        line: Line,
    ) -> Result<Option<u64>, Reject> {
        if !self.is_reliable_with(from)? {
            return Ok(None);
        }
        let durable = self.config.durable;
        let delay = self.config.heartbeat_response_delay;
        let proxy = self.proxy(from)?;
        if !proxy.numbers(line) {
            return Err(Reject::new(RejectKind::Unexpected, 0));
        }
        if !proxy.accept_heartbeat(now, heartbeat.count) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        proxy.ask_at = None;
        let took = proxy.matched_at.take().map(|at| now.since(at));
        proxy.last = proxy.last.max(heartbeat.last);
        let first_contact = proxy.expected.is_none();
        if first_contact {
            proxy.history_ends = Some(heartbeat.last);
            proxy.start_at(start_of(durable, proxy, heartbeat));
        }
        let lost = proxy.advance_to(heartbeat.first);
        // What was given up before the first contact was never promised to this reader.
        let lost = if first_contact { 0 } else { lost };
        proxy.must_answer |= !heartbeat.is_final;
        if proxy.must_answer || !proxy.is_complete() {
            let due = now.after(delay);
            proxy.answer_at = Some(proxy.answer_at.map_or(due, |at| at.min(due)));
        }
        if first_contact && proxy.has_history() {
            self.reported.push_back(ReaderEvent::HistoryComplete(from));
        }
        took.into_iter().for_each(|span| self.patience.note(span));
        self.statistics.heartbeats = self.statistics.heartbeats.saturating_add(1);
        Ok(Some(lost))
    }

    /// A fragment heartbeat of a matched writer. RTPS 2.5 §8.3.8.7.
    ///
    /// # Errors
    /// Refuses strangers and repeated counts.
    pub fn handle_heartbeat_frag(
        &mut self,
        now: Instant,
        from: Guid,
        sequence: SequenceNumber,
        last: FragmentNumber,
        count: Count,
    ) -> Result<(), Reject> {
        if !self.is_reliable_with(from)? {
            return Ok(());
        }
        let proxy = self.proxy(from)?;
        if !proxy.accept_heartbeat_frag(count) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        if let Some(assembly) = proxy.assemblies.get_mut(&sequence) {
            assembly.announced = assembly.announced.max(last.0);
            if assembly.missing(true).next().is_some() {
                proxy.answer_at = Some(proxy.answer_at.map_or(now, |at| at.min(now)));
            }
        }
        Ok(())
    }

    /// A gap of a matched writer. RTPS 2.5 §8.3.8.4, §8.4.12.1.
    ///
    /// # Errors
    /// Refuses strangers and gaps that leave too many ranges behind.
    pub fn handle_gap(&mut self, _now: Instant, from: Guid, gap: &Gap) -> Result<(), Reject> {
        if !self.is_reliable_with(from)? {
            return Ok(());
        }
        let proxy = self.proxy(from)?;
        let mut fits = proxy.leave_out(gap.start, gap.list.base());
        for sequence in gap.list.iter() {
            fits &= proxy.leave_out(sequence, sequence.next());
        }
        self.deliver_in_order(from);
        if fits {
            Ok(())
        } else {
            Err(Reject::new(RejectKind::Limit, 0))
        }
    }
}

/// Where the data that concerns this reader starts, by the first heartbeat.
fn start_of(durable: bool, proxy: &WriterProxy, heartbeat: &Heartbeat) -> SequenceNumber {
    // Cyclone DDS repairs whatever is asked for, also history that a volatile reader must not
    // see; its volatile readers start after the first heartbeat, and so do ours.
    let whole_history =
        !durable && proxy.info.durable && proxy.info.vendor == VendorId::CYCLONE_DDS;
    let start = if whole_history {
        heartbeat.last.next()
    } else {
        heartbeat.first
    };
    let arrived = proxy.waiting.keys().next().copied();
    arrived.map_or(start, |arrived| arrived.min(start))
}

pub(super) fn cache_change(
    writer: Guid,
    sequence: SequenceNumber,
    arrived: Arrived,
) -> CacheChange {
    CacheChange {
        writer,
        instance: arrived.instance,
        kind: arrived.kind,
        payload: arrived.payload,
        value: None,
        source_timestamp: arrived.source_timestamp,
        reception_timestamp: arrived.reception_timestamp,
        sequence,
    }
}
