//! The usual way of a new change: it leaves whole, alone and at once to all readers, and nothing
//! else is due.

use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;

use super::Writer;
use super::change::{Change, NewChange, slab_bytes};
use super::gather::HEARTBEAT_BYTES;
use super::push::keep;
use crate::change::ChangeKind;
use crate::message::MessageBuilder;
use crate::outbox::Outbox;

impl Writer {
    /// True where HISTORY keeps one change and has one, whose place `new` takes as it is.
    #[inline(always)]
    pub(super) fn takes_over(&self, new: &NewChange) -> bool {
        self.config.depth == Some(1)
            && new.kind == ChangeKind::Alive
            && new.payload.len() <= self.config.sample_bytes_max
            && self
                .history
                .has_only(new.instance, slab_bytes(&new.payload, &new.packed))
            && self.history.last() == self.pushed
            && self.blocked_since.is_none()
            && self.batches.is_none()
    }

    /// Writes `new` where it [takes over](Writer::takes_over).
    #[inline(always)]
    pub(super) fn write_over(&mut self, now: Instant, new: &mut NewChange) -> SequenceNumber {
        let charged_bytes = self.count_written(new.payload.len());
        let fragment_bytes = self.fragment_bytes(ChangeKind::Alive);
        let sequence = self.history.renew_only(|change| {
            change.timestamp = new.timestamp;
            change.payload = core::mem::take(&mut new.payload);
            change.packed = core::mem::take(&mut new.packed);
            change.fragment_bytes = fragment_bytes;
            change.charged_bytes = charged_bytes;
        });
        self.gather(now, false);
        sequence
    }

    /// Does what [`Writer::poll_transmit`] would where that is to send the newest change and
    /// nothing else; false where there may be more to do, and then nothing was done.
    ///
    /// Where it is true there is no event to be polled, and [`Writer::poll_timeout`] is as before.
    #[inline(always)]
    pub fn transmit_alone(&mut self, now: Instant, outbox: &mut impl Outbox) -> bool {
        if !self.has_usual_readers() || !self.has_nothing_else_to_do(now) {
            return false;
        }
        let Some(change) = self.history.newest_of_all() else {
            return false;
        };
        if !self.is_usual(change) {
            return false;
        }
        self.pushed = change.sequence;
        self.count_pushed(1);
        self.departed = true;
        let told = self.tells_along(now);
        self.send_newest(now, told, outbox);
        true
    }

    /// Sends the newest change with a heartbeat, as [`Writer::put_on_top`] is `told`, or without.
    #[inline(always)]
    fn send_newest(&mut self, now: Instant, told: Option<(bool, bool)>, outbox: &mut impl Outbox) {
        let Some(change) = self.history.newest_of_all() else {
            return;
        };
        let (guid, to) = (self.config.guid, self.audience.destinations());
        let mut message = MessageBuilder::lent_by(&mut self.message, guid.prefix);
        message.set_bulk(None);
        message.begin(usize::MAX);
        match told {
            None if MessageBuilder::is_large(&change.payload) => {
                message.send_large(guid.entity, change, to, outbox);
            }
            None => {
                message.first_data(guid.entity, change);
                message.flush_here(to, outbox);
            }
            Some(how) => {
                message.first_data(guid.entity, change);
                self.leave_room(HEARTBEAT_BYTES, &mut message, outbox);
                self.put_on_top(now, &mut message, how);
                message.flush_here(self.audience.destinations(), outbox);
            }
        }
        keep(&mut self.message, message);
    }

    /// True where all readers get changes in one form and at once, by messages that nobody
    /// compresses, and some keep history from being given up.
    #[inline(always)]
    fn has_usual_readers(&self) -> bool {
        let audience = &self.audience;
        audience.holds_history()
            && !audience.destinations().is_empty()
            && !audience.wants_inline_qos()
            && !audience.packing().is_somewhere()
            && !self.forms.packed
            && !self.credit.has_listeners()
            && self.aside == 0
            && self.batches.is_none()
            && self.bucket.is_none()
            && self.config.push_period.is_zero()
    }

    /// True where nothing but a new change is due at `now`, nor becomes due by sending it.
    #[inline(always)]
    fn has_nothing_else_to_do(&self, now: Instant) -> bool {
        let is_quiet = self.repairs.is_empty()
            && self.heartbeats_due.is_empty()
            && self.reported.is_empty()
            && self.blocked_since.is_none()
            && self.paced_until.is_none()
            && self.held_until.is_none()
            && self.bundle.is_empty()
            && !self.ask_now
            && !self.progress;
        is_quiet && self.pushes.last() <= self.acked && self.is_asked_later(now)
    }

    /// True where readers are to be asked by the timer, after the period that is usual.
    #[inline(always)]
    fn is_asked_later(&self, now: Instant) -> bool {
        let timer = &self.heartbeat;
        let period = self.config.heartbeat_period;
        let is_usual = self.config.heartbeat_period_per_reader.is_zero()
            && timer.period == period
            && !timer.reconsider;
        let soonest = self.asks_along_until(now);
        is_usual
            && timer
                .next_at
                .is_some_and(|at| at > soonest && at <= now.after(period))
    }

    /// True for data that leaves whole and is the next to leave.
    #[inline(always)]
    fn is_usual(&self, change: &Change) -> bool {
        let len = change.payload.len();
        change.sequence == self.pushed.next()
            && change.kind == ChangeKind::Alive
            && len > 0
            && len <= usize::from(change.fragment_bytes)
            && !change.timestamp.is_invalid()
    }
}
