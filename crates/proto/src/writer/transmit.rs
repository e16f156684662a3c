//! What a writer sends: new changes to all, repairs and gaps to one.

use alloc::vec::Vec;
use core::hint::cold_path;

use whimbrel_base::bucket;
use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::Instant;

use super::change::Change;
use super::gather::HEARTBEAT_BYTES;
use super::reader_proxy::{ReaderProxy, Request, Wanted};
use super::{MESSAGE_OVERHEAD_BYTES, Writer};
use crate::message::MessageBuilder;
use crate::outbox::{Outbox, PartOf};

impl Writer {
    /// Sends whatever is due at `now`, said of changes.
    pub(super) fn transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        self.paced_until = None;
        self.held_until = None;
        self.choose_whom_to_wait_for(now);
        self.set_bulk();
        self.leave_before_speaking(now, outbox);
        // What is older first: readers wait for it to go on.
        self.repair(now, outbox);
        self.ask_for_way(now, outbox);
        self.push(now, outbox);
        self.ask_for_credit(now, outbox);
        if self.forms.packed {
            // Large changes that just left to some are for the others as well.
            self.repair(now, outbox);
        }
        self.send_heartbeats(now, outbox);
        // Who was handed everything need not say that it has it.
        if !self.audience.holds_history() || self.aside > 0 {
            self.update_acknowledged();
        }
        self.arm_heartbeat(now);
    }

    /// Has messages leave as what they belong to.
    #[inline(always)]
    fn set_bulk(&mut self) {
        let bulk = self.bulk_bytes().map(|bytes| self.part_of(bytes));
        if let Some(message) = &mut self.message {
            message.set_bulk(bulk);
        } else if bulk.is_some() {
            let mut message = self.lend_message();
            message.set_bulk(bulk);
            self.message = Some(message);
        }
    }

    #[inline(never)]
    fn part_of(&mut self, sample_bytes: usize) -> PartOf {
        let is_bundle = sample_bytes == 0;
        PartOf {
            sample_bytes,
            together_bytes: if is_bundle { 0 } else { self.together_bytes() },
        }
    }

    /// Octets of the largest change under way, while there are large ones: what belongs to them
    /// must not overtake them. None of a bundle, where it leaves as several messages.
    #[inline(always)]
    fn bulk_bytes(&self) -> Option<usize> {
        if self.bundle.leaves_joined() {
            cold_path();
            return Some(0);
        }
        let form = self.forms.shared();
        let next = self.history.next_from(self.pushed.next());
        let next = next.filter(|it| !it.is_whole(form));
        let last = self.pushes.last();
        let under_way = (last > self.acked).then(|| self.history.get(last));
        let bytes = |it: &Change| it.payload_in(form).len();
        match (under_way, next) {
            (None, next) => next.map(bytes),
            (Some(before), next) => Some(before.map_or(0, bytes).max(next.map_or(0, bytes))),
        }
    }

    /// Sends fragments of the change after `pushed` while the pace allows; true when all left.
    pub(super) fn push_fragments(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        outbox: &mut impl Outbox,
    ) -> bool {
        loop {
            let before = self.push_next;
            if self.push_until_question(now, message, outbox) {
                return true;
            }
            let goes_on = self.push_next > before && self.push_room(now) > 0;
            if !goes_on || self.until_question() > 0 {
                break;
            }
            self.ask_within(now, message, outbox);
            self.note_question_to_all(now);
        }
        if self.config.reliable && self.somebody_is_to_be_asked(now) {
            self.ask_within(now, message, outbox);
            let order = self.pushes.sent();
            for reader in self.readers.values_mut() {
                reader.pace.ask(now, order);
            }
        }
        self.held_until = bucket::held_until(&mut self.bucket, now);
        if self.held_until.is_none() && !self.credit.is_spent(now) {
            self.hold_up_push();
        }
        false
    }

    /// As [`Writer::push_fragments`], no more than until a reader is to be asked for an answer by
    /// the way.
    fn push_until_question(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        outbox: &mut impl Outbox,
    ) -> bool {
        let entity = self.config.guid.entity;
        let mut room = self
            .fragment_room(now)
            .min(bucket::room(&mut self.bucket, now))
            .min(self.until_question().max(1));
        let Some(change) = self.history.next_from(self.pushed.next()) else {
            return true;
        };
        let form = self.forms.shared();
        let (fragments, sequence) = (change.fragments(form), change.sequence);
        let first = self.push_next;
        let divided = self.forms.divided(change);
        let to = divided.map_or(self.audience.destinations(), |(plain, _)| plain);
        let serves_apart = divided.is_some() && first == FragmentNumber::FIRST;
        let mut sent_bytes = 0u64;
        if divided.is_some() {
            // What is there already is for everybody.
            message.flush(self.audience.destinations(), outbox);
        }
        while self.push_next.0 <= fragments && room > 0 {
            message.flush(to, outbox);
            message.timestamp(change.timestamp);
            let ids = (EntityId::UNKNOWN, entity);
            message.data_frag(ids, change, form, self.push_next);
            let bytes = u64::try_from(message.len()).unwrap_or(u64::MAX);
            room = room.saturating_sub(bytes);
            sent_bytes = sent_bytes.saturating_add(bytes);
            self.push_next = self.push_next.next();
        }
        if divided.is_some() {
            message.flush(to, outbox);
        }
        if serves_apart {
            self.serve_apart(now, sequence);
        }
        let complete = self.push_next.0 > fragments;
        let last = FragmentNumber(self.push_next.0.saturating_sub(1));
        if last >= first {
            self.pushes.note(now, sequence, (first, last));
            self.note_pushed(now, sent_bytes);
            let count = u64::from(last.0.saturating_sub(first.0)).saturating_add(1);
            self.credit.note_fragments(now, count, sent_bytes);
            let spent = usize::try_from(sent_bytes).unwrap_or(usize::MAX);
            bucket::spend(&mut self.bucket, spent);
        }
        if complete {
            self.pushed = sequence;
            self.push_next = FragmentNumber::FIRST;
            self.count_divided();
        }
        complete
    }

    /// Asks readers, in the middle of a change, whether they have what has left of it.
    fn ask_within(&mut self, now: Instant, message: &mut MessageBuilder, outbox: &mut impl Outbox) {
        self.leave_room(2 * HEARTBEAT_BYTES, message, outbox);
        let entity = self.config.guid.entity;
        let is_begun = self.push_next > FragmentNumber::FIRST;
        let change = self.history.next_from(self.pushed.next());
        if let Some(sequence) = change.filter(|_| is_begun).map(|it| it.sequence) {
            let sent = FragmentNumber(self.push_next.0.saturating_sub(1));
            self.heartbeat.count = self.heartbeat.count.next();
            let count = self.heartbeat.count;
            message.heartbeat_frag(EntityId::UNKNOWN, entity, sequence, sent, count);
        }
        let fields = self.heartbeat_fields(SequenceNumber::FIRST, false);
        message.heartbeat(EntityId::UNKNOWN, entity, fields);
        self.note_heartbeat(now, true);
    }

    /// Sends what is in `message` first where `bytes` more would be too much for some path.
    pub(super) fn leave_room(
        &self,
        bytes: usize,
        message: &mut MessageBuilder,
        outbox: &mut impl Outbox,
    ) {
        if message.len().saturating_add(bytes) > self.message_bytes_max() {
            message.flush(self.audience.destinations(), outbox);
        }
    }

    fn repair(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let due = self.repairs.due(now, &self.readers, ReaderProxy::due);
        for guid in &due {
            self.repair_reader(now, *guid, outbox);
        }
        self.repairs.reuse(due);
    }

    /// Sends `guid` what it asked for, as far as the pace allows.
    fn repair_reader(&mut self, now: Instant, guid: Guid, outbox: &mut impl Outbox) {
        let Some(mut reader) = self.readers.remove(&guid) else {
            return;
        };
        let mut message = self.lend_message();
        message.begin(
            reader
                .info
                .message_bytes_max
                .min(self.config.message_bytes_max),
        );
        reader.repair_at = None;
        while let Some((sequence, request)) = reader.requests.pop_first() {
            if reader.pace.room(now) == 0 || bucket::room(&mut self.bucket, now) == 0 {
                reader.requests.insert(sequence, request);
                break;
            }
            if !reader.may_ask_for(sequence) {
                continue;
            }
            let gap_end = self.gap_from(&reader, sequence);
            if gap_end > sequence {
                self.send_gap(&mut message, &mut reader, sequence, gap_end, outbox);
                continue;
            }
            if let Some(rest) =
                self.repair_change(now, &mut message, &mut reader, sequence, request, outbox)
            {
                reader.requests.insert(sequence, rest);
            }
        }
        if reader.requests.is_empty() || reader.pace.should_ask(now) {
            message.make_room(MESSAGE_OVERHEAD_BYTES, &reader.info.locators, outbox);
            message.destination(guid.prefix);
            let fields = self.heartbeat_fields(reader.first_relevant, false);
            message.heartbeat(guid.entity, self.config.guid.entity, fields);
            self.note_heartbeat(now, false);
            reader.pace.ask(now, self.pushes.sent());
            reader.expect_answer(now);
            reader.heartbeat_due = false;
        }
        if !reader.requests.is_empty() {
            let held_until = bucket::held_until(&mut self.bucket, now);
            reader.repair_at = Some(held_until.unwrap_or_else(|| reader.pace.next_at()));
        }
        message.flush(&reader.info.locators, outbox);
        self.message = Some(message);
        self.readers.insert(guid, reader);
        self.repairs.touch(guid);
    }

    /// The first number from `sequence` on that `reader` can get; `sequence` itself where it is
    /// kept.
    fn gap_from(&self, reader: &ReaderProxy, sequence: SequenceNumber) -> SequenceNumber {
        let from = sequence.max(reader.first_relevant);
        let kept = self
            .history
            .next_from(from)
            .map_or(self.history.last().next(), |c| c.sequence);
        kept.min(self.pushed.next())
    }

    fn send_gap(
        &mut self,
        message: &mut MessageBuilder,
        reader: &mut ReaderProxy,
        start: SequenceNumber,
        end: SequenceNumber,
        outbox: &mut impl Outbox,
    ) {
        message.make_room(MESSAGE_OVERHEAD_BYTES, &reader.info.locators, outbox);
        message.destination(reader.info.guid.prefix);
        message.gap(reader.info.guid.entity, self.config.guid.entity, start, end);
        reader.requests = reader.requests.split_off(&end);
        self.statistics.gaps = self.statistics.gaps.saturating_add(1);
    }

    /// Sends one requested change or some of its fragments; gives back what the pace held up.
    fn repair_change(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        reader: &mut ReaderProxy,
        sequence: SequenceNumber,
        request: Request,
        outbox: &mut impl Outbox,
    ) -> Option<Request> {
        let change = self.history.get(sequence)?;
        let form = reader.form;
        let bytes = change.payload_in(form).len();
        let fragments = change.fragments(form);
        let to = &reader.info.locators;
        let (peer, entity) = (reader.info.guid, self.config.guid.entity);
        if fragments == 1 {
            message.make_room(bytes.saturating_add(MESSAGE_OVERHEAD_BYTES), to, outbox);
            message.destination(peer.prefix);
            message.timestamp(change.timestamp);
            let inline_qos = reader.info.expects_inline_qos;
            message.data((peer.entity, entity), change, form, inline_qos);
            reader.pace.spend(now, bytes);
            bucket::spend(&mut self.bucket, bytes);
            self.statistics.count_repair(bytes);
            reader.note_repaired(now, sequence);
            return None;
        }
        if request == Request::WHOLE {
            reader.fates.starts_over(sequence);
        }
        let mut wanted = Wanted::new(request, fragments);
        let mut again = Vec::new();
        while let Some(number) = wanted.next() {
            message.flush(to, outbox);
            message.destination(peer.prefix);
            message.timestamp(change.timestamp);
            message.data_frag((peer.entity, entity), change, form, number);
            again.push(number);
            reader.pace.spend(now, message.len());
            bucket::spend(&mut self.bucket, message.len());
            self.statistics.count_repair(message.len());
            if (reader.pace.room(now) == 0 || bucket::room(&mut self.bucket, now) == 0)
                && let Some(rest) = wanted.rest()
            {
                reader
                    .fates
                    .sent_again(now, sequence, &again, &mut self.pushes);
                return Some(rest);
            }
        }
        message.flush(to, outbox);
        reader
            .fates
            .sent_again(now, sequence, &again, &mut self.pushes);
        reader.note_repaired(now, sequence);
        None
    }
}
