//! What a writer sends: new changes to all, repairs and gaps to one, heartbeats.

use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::Instant;

use super::acknowledge::{PIGGYBACK_CHANGES, PIGGYBACK_PERIOD, ask_every};
use super::gather::HEARTBEAT_BYTES;
use super::history::Change;
use super::reader_proxy::{ReaderProxy, Request, Wanted};
use super::window::charge;
use super::{MESSAGE_OVERHEAD_BYTES, Writer, bucket};
use crate::message::{HeartbeatFields, MessageBuilder};
use crate::outbox::Outbox;

/// How many readers get heartbeats of their own before one for all is cheaper.
const OWN_HEARTBEATS_MAX: usize = 8;

impl Writer {
    /// Sends whatever is due at `now`, said of changes.
    pub(super) fn transmit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        self.paced_until = None;
        self.held_until = None;
        self.set_bulk();
        self.leave_before_speaking(now);
        // What is older first: readers wait for it to go on.
        self.repair(now, outbox);
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
        let bytes = self.bulk_bytes();
        if let Some(message) = &mut self.message {
            message.set_bulk(bytes);
        } else if bytes.is_some() {
            let mut message = self.lend_message();
            message.set_bulk(bytes);
            self.message = Some(message);
        }
    }

    /// Octets of the largest change under way, while there are large ones: what belongs to them
    /// must not overtake them.
    #[inline(always)]
    fn bulk_bytes(&self) -> Option<usize> {
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
        let entity = self.config.guid.entity;
        let mut room = self
            .fragment_room(now)
            .min(bucket::room(&mut self.bucket, now));
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
            self.credit.note_fragments(count, sent_bytes);
            let spent = usize::try_from(sent_bytes).unwrap_or(usize::MAX);
            bucket::spend(&mut self.bucket, spent);
        }
        if complete {
            self.pushed = sequence;
            self.push_next = FragmentNumber::FIRST;
            self.count_divided();
        } else {
            if self.config.reliable && self.somebody_is_to_be_asked(now) {
                self.leave_room(2 * HEARTBEAT_BYTES, message, outbox);
                self.ask_within(now, message, (sequence, last));
            }
            self.held_until = bucket::held_until(&mut self.bucket, now);
            if self.held_until.is_none() && !self.credit.is_spent(now) {
                self.hold_up_push();
            }
        }
        complete
    }

    /// Asks readers, in the middle of a change, whether they have what has left of it.
    fn ask_within(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        (sequence, sent): (SequenceNumber, FragmentNumber),
    ) {
        let entity = self.config.guid.entity;
        if sent >= FragmentNumber::FIRST {
            self.heartbeat.count = self.heartbeat.count.next();
            let count = self.heartbeat.count;
            message.heartbeat_frag(EntityId::UNKNOWN, entity, sequence, sent, count);
        }
        let fields = self.heartbeat_fields(SequenceNumber::FIRST, false);
        message.heartbeat(EntityId::UNKNOWN, entity, fields);
        self.note_heartbeat(now, true);
        let order = self.pushes.sent();
        for reader in self.readers.values_mut() {
            reader.pace.ask(now, order);
        }
    }

    /// Sends what is in `message` first where `bytes` more would be too much for some path.
    fn leave_room(&self, bytes: usize, message: &mut MessageBuilder, outbox: &mut impl Outbox) {
        if message.len().saturating_add(bytes) > self.message_bytes_max() {
            message.flush(self.audience.destinations(), outbox);
        }
    }

    /// Adds a heartbeat to a message of new changes, asking for an answer where history fills up.
    pub(super) fn piggyback(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        outbox: &mut impl Outbox,
    ) {
        if !self.audience.holds_history() {
            return;
        }
        let timer = &self.heartbeat;
        let limited = self.config.depth.is_none();
        let bytes_max = self.config.unacknowledged_bytes_max;
        // Where the window is the only limit it says when.
        let counts = !limited || self.config.samples_max < usize::MAX;
        let every = ask_every(self.config.samples_max);
        // Where HISTORY keeps few, however many are written, nobody need say so often what he has.
        let kept = u32::try_from(self.history.len()).unwrap_or(u32::MAX);
        let ask = (limited && self.window.wants_question(bytes_max))
            || (counts && timer.pushed_since_asked.min(kept) >= every);
        let old = timer
            .sent_at
            .is_none_or(|at| now.since(at) >= PIGGYBACK_PERIOD);
        let is_due = old || timer.pushed_since_sent >= PIGGYBACK_CHANGES;
        let ask = ask || (self.pushes.last() == self.pushed && self.wants_room_soon());
        let along = self.may_ask_along(now);
        let ask = ask || along;
        if ask || is_due {
            self.leave_room(HEARTBEAT_BYTES, message, outbox);
            let fields = self.heartbeat_fields(SequenceNumber::FIRST, !ask);
            message.heartbeat(EntityId::UNKNOWN, self.config.guid.entity, fields);
            self.note_heartbeat(now, ask);
            if ask {
                self.note_question_to_all(now);
            }
            if along {
                self.note_asked_along(now);
            }
        }
    }

    fn note_heartbeat(&mut self, now: Instant, asked: bool) {
        self.statistics.heartbeats = self.statistics.heartbeats.saturating_add(1);
        self.heartbeat.sent_at = Some(now);
        self.heartbeat.pushed_since_sent = 0;
        if asked {
            // Of a change that is still leaving nobody has been asked.
            let next = self.history.next_from(self.pushed.next());
            let own = |it: &Change| it.charged_bytes.saturating_sub(charge(it.payload.len()));
            self.window.note_question(now, self.pushed, next.map(own));
            self.heartbeat.pushed_since_asked = 0;
        }
    }

    /// All readers are asked for an answer by the way.
    fn note_question_to_all(&mut self, now: Instant) {
        let order = self.pushes.sent();
        for reader in self.readers.values_mut() {
            reader.pace.note_question(now, order);
        }
    }

    /// Adds a heartbeat to `message` for `reader`, matched or not; unless it `is_final` it asks
    /// for an acknowledgement.
    pub fn put_heartbeat(
        &mut self,
        reader: EntityId,
        is_final: bool,
        message: &mut MessageBuilder,
    ) {
        let fields = self.heartbeat_fields(SequenceNumber::FIRST, is_final);
        message.heartbeat(reader, self.config.guid.entity, fields);
        self.statistics.heartbeats = self.statistics.heartbeats.saturating_add(1);
    }

    /// What there is, seen by a reader to which nothing before `relevant` matters.
    fn heartbeat_fields(&mut self, relevant: SequenceNumber, is_final: bool) -> HeartbeatFields {
        self.heartbeat.count = self.heartbeat.count.next();
        let last = self.pushed;
        HeartbeatFields {
            first: self.history.first().max(relevant).min(last.next()),
            last,
            count: self.heartbeat.count,
            is_final,
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

    /// True where some reader may be to hear what there is.
    #[inline(always)]
    fn somebody_is_to_hear(&self, now: Instant) -> bool {
        let periodic = self.heartbeat.next_at.is_some_and(|at| at <= now);
        periodic || self.ask_now || !self.heartbeats_due.is_empty()
    }

    /// The readers that are to hear what there is, in order.
    fn take_heartbeats_due(&mut self, now: Instant) -> Vec<Guid> {
        let mut due = core::mem::take(&mut self.heartbeats_due);
        due.retain(|guid| {
            let reader = self.readers.get(guid);
            reader.is_some_and(|reader| reader.info.reliable && reader.heartbeat_due)
        });
        let periodic = self.heartbeat.next_at.is_some_and(|at| at <= now);
        let at_once = !periodic && core::mem::take(&mut self.ask_now);
        if periodic || at_once {
            let pushed = self.pushed;
            let owing = self.readers.iter().filter(|(_, reader)| {
                self.owes(reader) && (at_once || reader.may_be_asked(now, pushed))
            });
            let asked_already = due.len();
            due.extend(owing.map(|(guid, _)| *guid));
            let periods = (self.heartbeat_period(), self.config.heartbeat_period_max);
            for guid in due.get(asked_already..).unwrap_or_default() {
                if let Some(reader) = self.readers.get_mut(guid) {
                    reader.note_asked(now, pushed, periods);
                    reader.expect_answer(now);
                }
            }
            self.lengthen_heartbeat_period(now);
        }
        due.sort_unstable();
        due.dedup();
        due
    }

    #[inline(always)]
    fn send_heartbeats(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if !self.config.reliable || !self.somebody_is_to_hear(now) {
            return;
        }
        let mut due = self.take_heartbeats_due(now);
        if due.is_empty() {
            self.heartbeats_due = due;
            return;
        }
        let mut message = self.lend_message();
        message.begin(self.message_bytes_max());
        // A reader that never answered must hear where its own data starts.
        // Who owes nothing would have to answer a shared one too.
        let shared = due.len() > OWN_HEARTBEATS_MAX
            && due.len() >= self.readers.len() / 2
            && self.aside == 0
            && due.iter().all(|guid| self.is_confirmed(*guid));
        if shared {
            let fields = self.heartbeat_fields(SequenceNumber::FIRST, false);
            message.heartbeat(EntityId::UNKNOWN, self.config.guid.entity, fields);
            message.flush(self.audience.destinations(), outbox);
            self.note_heartbeat(now, true);
            self.note_question_to_all(now);
        }
        let order = self.pushes.sent();
        for guid in due.drain(..) {
            let Some(reader) = self.readers.get_mut(&guid) else {
                continue;
            };
            reader.heartbeat_due = false;
            if shared {
                continue;
            }
            reader.pace.note_question(now, order);
            let relevant = reader.first_relevant;
            let fields = self.heartbeat_fields(relevant, false);
            message.destination(guid.prefix);
            message.heartbeat(guid.entity, self.config.guid.entity, fields);
            if let Some(reader) = self.readers.get(&guid) {
                message.flush(&reader.info.locators, outbox);
            }
            self.note_heartbeat(now, true);
        }
        // Its room is used again.
        self.heartbeats_due = due;
        self.message = Some(message);
    }
}
