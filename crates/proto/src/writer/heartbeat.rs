//! What a writer tells of what it has: heartbeats with new changes, and on their own.
//! RTPS 2.5 §8.3.8.6, §8.4.7.

use alloc::vec::Vec;

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;

use super::Writer;
use super::acknowledge::{PIGGYBACK_CHANGES, PIGGYBACK_PERIOD, ask_every};
use super::change::Change;
use super::gather::HEARTBEAT_BYTES;
use super::window::charge;
use crate::message::{HeartbeatFields, MessageBuilder};
use crate::outbox::Outbox;

/// How many readers get heartbeats of their own before one for all is cheaper.
const OWN_HEARTBEATS_MAX: usize = 8;

impl Writer {
    /// Adds a heartbeat to a message of new changes, asking for an answer where history fills up.
    pub(super) fn piggyback(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        outbox: &mut impl Outbox,
    ) {
        if let Some(how) = self.tells_along(now) {
            self.leave_room(HEARTBEAT_BYTES, message, outbox);
            self.put_on_top(now, message, how);
        }
    }

    /// Whether a heartbeat is to leave with new changes, as [`Writer::put_on_top`] adds it.
    #[inline(always)]
    pub(super) fn tells_along(&mut self, now: Instant) -> Option<(bool, bool)> {
        if !self.audience.holds_history() {
            return None;
        }
        let timer = &self.heartbeat;
        let limited = self.config.depth.is_none();
        let bytes_max = self.config.unacknowledged_bytes_max;
        // Where the window is the only limit it says when.
        let counts = !limited || self.config.samples_max < usize::MAX;
        let every = ask_every(self.config.samples_max);
        // Where HISTORY keeps few, however many are written, nobody need say so often what he has.
        let kept = u32::try_from(self.history.len()).unwrap_or(u32::MAX);
        let ask = (limited && self.window.wants_question(bytes_max) && !self.puts_off_question())
            || (counts && timer.pushed_since_asked.min(kept) >= every);
        let old = timer
            .sent_at
            .is_none_or(|at| now.since(at) >= PIGGYBACK_PERIOD);
        let is_due = old || timer.pushed_since_sent >= PIGGYBACK_CHANGES;
        let ask = ask || (self.pushes.last() == self.pushed && self.wants_room_soon());
        let along = self.may_ask_along(now);
        let ask = ask || along;
        (ask || is_due).then_some((ask, along))
    }

    /// True where a question for the sake of room may wait for more changes. Who takes his time to
    /// answer is asked as soon as that may be.
    #[inline(never)]
    fn puts_off_question(&self) -> bool {
        let (bytes_max, changes) = (
            self.config.unacknowledged_bytes_max,
            self.heartbeat.pushed_since_asked,
        );
        let mut holding = self.holding_readers();
        self.window.may_put_off(bytes_max, changes, self.acked)
            && holding.all(|it| it.pace.is_prompt())
    }

    /// Adds a heartbeat to a message of new changes, which may `ask`, and so `along` with them in
    /// place of the periodic one.
    #[inline(never)]
    pub(super) fn put_on_top(
        &mut self,
        now: Instant,
        message: &mut MessageBuilder,
        (ask, along): (bool, bool),
    ) {
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

    pub(super) fn note_heartbeat(&mut self, now: Instant, asked: bool) {
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
    pub(super) fn note_question_to_all(&mut self, now: Instant) {
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
    pub(super) fn heartbeat_fields(
        &mut self,
        relevant: SequenceNumber,
        is_final: bool,
    ) -> HeartbeatFields {
        self.heartbeat.count = self.heartbeat.count.next();
        let last = self.pushed;
        HeartbeatFields {
            first: self.history.first().max(relevant).min(last.next()),
            last,
            count: self.heartbeat.count,
            is_final,
        }
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
    pub(super) fn send_heartbeats(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.config.reliable && self.somebody_is_to_hear(now) {
            self.send_heartbeats_due(now, outbox);
        }
    }

    #[inline(never)]
    fn send_heartbeats_due(&mut self, now: Instant, outbox: &mut impl Outbox) {
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
