//! How new changes leave: whole ones here, large ones in `transmit.rs`.

use alloc::boxed::Box;
use core::hint::cold_path;

use whimbrel_base::bucket;
use whimbrel_base::guid::EntityId;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Instant;

use super::Writer;
use super::acknowledge::PIGGYBACK_CHANGES;
use super::change::Change;
use super::gather::HEARTBEAT_BYTES;
use crate::message::MessageBuilder;
use crate::outbox::Outbox;
use crate::packing::Packing;

impl Writer {
    /// Sends changes that have not left yet to every reader's address.
    pub(super) fn push(&mut self, now: Instant, outbox: &mut impl Outbox) {
        let last = self.history.last();
        let from = self.bundle.from;
        let through = from.map_or(last, |from| from.previous().min(last));
        let sealed = self.has_sealed_bundle_left();
        if self.pushed >= through && !sealed {
            return;
        }
        if self.audience.destinations().is_empty() {
            return self.push_to_nobody();
        }
        if self.holds_back(now) || (sealed && self.holds_sealed(now)) {
            return;
        }
        let pushed_before = self.pushed;
        let before = (self.pushed, self.push_next);
        let mut message = self.begin_push(sealed);
        let held_up = !self.push_changes(now, through, &mut message, outbox);
        if !held_up {
            self.pushed = self.pushed.max(through);
            self.bundle.is_joined &= self.bundle.from.is_some();
        }
        let moved = sealed || before != (self.pushed, self.push_next);
        if moved {
            // Who owes an answer owes it still; who is aside may have given it.
            let is_owed = self.heartbeat.next_at.is_some() && self.aside == 0;
            self.heartbeat.reconsider |= !is_owed;
            self.departed = true;
            self.credit.note_datagram();
            self.piggyback(now, &mut message, outbox);
            self.hurry_heartbeat(now);
        }
        message.flush_here(self.audience.destinations(), outbox);
        if self.audience.packing().is_somewhere() {
            message.set_packing(Packing::Nowhere);
        }
        message.set_shares(false);
        keep(
            if sealed {
                &mut self.bundle.message
            } else {
                &mut self.message
            },
            message,
        );
        if self.blocked_since.is_some() && self.pushed > pushed_before {
            self.progress = true;
        }
    }

    #[inline(never)]
    fn push_to_nobody(&mut self) {
        self.skip_unsent();
        self.unseal();
        self.update_acknowledged();
        self.progress = true;
    }

    /// Puts what has not left, through `through`, into messages; true when all of it was.
    fn push_changes(
        &mut self,
        now: Instant,
        through: SequenceNumber,
        message: &mut MessageBuilder,
        outbox: &mut impl Outbox,
    ) -> bool {
        let form = self.forms.shared();
        while self.pushed < through
            && let Some(change) = self.history.next_from(self.pushed.next())
        {
            let sequence = change.sequence;
            if sequence > through {
                break;
            }
            if let Some(until) = bucket::held_until(&mut self.bucket, now) {
                self.held_until = Some(until);
                return false;
            }
            if self.credit.is_spent(now) {
                return false;
            }
            if !change.is_whole(form) {
                if !self.push_fragments(now, message, outbox) {
                    return false;
                }
                continue;
            }
            let bytes = self.message_bytes_of(change);
            if self.forms.divided(change).is_some() {
                self.push_both(message, sequence, outbox);
            } else {
                if !message.has_room(bytes.saturating_add(HEARTBEAT_BYTES)) {
                    message.flush(self.audience.destinations(), outbox);
                    self.credit.note_datagram();
                }
                self.put_change(message, change);
            }
            self.pushed = sequence;
            bucket::spend(&mut self.bucket, bytes);
            self.credit.note_sent(bytes);
            self.count_pushed(1);
        }
        true
    }

    /// True where the bundle that was sealed waits no more; others may have begun to since.
    pub(super) fn has_sealed_bundle_left(&self) -> bool {
        let waits = self.bundle.from.is_some_and(|from| from <= self.pushed);
        self.bundle.is_sealed && !waits
    }

    /// Whether what was sealed waits as what history still has would. Those who acknowledge were
    /// told of it.
    #[inline(never)]
    fn holds_sealed(&mut self, now: Instant) -> bool {
        if self.bundle.is_urgent || self.audience.holds_history() {
            return false;
        }
        self.held_until = bucket::held_until(&mut self.bucket, now);
        self.held_until.is_some() || self.credit.is_spent(now)
    }

    /// The message with which new changes begin to leave: that of a `sealed` bundle, or a new one.
    #[inline(always)]
    fn begin_push(&mut self, sealed: bool) -> Box<MessageBuilder> {
        let mut message = if sealed {
            self.bundle.is_sealed = false;
            self.bundle.is_urgent = false;
            let prefix = self.config.guid.prefix;
            let message = MessageBuilder::lent_by(&mut self.bundle.message, prefix);
            bucket::spend(&mut self.bucket, message.len());
            self.credit.note_sent(message.len());
            message
        } else {
            let mut message = self.lend_message();
            message.begin(self.bundle_bytes_max());
            message
        };
        if self.audience.packing().is_somewhere() {
            message.set_packing(self.audience.packing().clone());
        }
        message.set_shares(true);
        message
    }

    /// What puts messages together, to be put back.
    pub(super) fn lend_message(&mut self) -> Box<MessageBuilder> {
        MessageBuilder::lent_by(&mut self.message, self.config.guid.prefix)
    }

    /// Adds a whole change to `message`.
    #[inline(always)]
    pub(super) fn put_change(&self, message: &mut MessageBuilder, change: &Change) {
        let ids = (EntityId::UNKNOWN, self.config.guid.entity);
        let inline_qos = self.audience.wants_inline_qos();
        message.timed_data(ids, change, self.forms.shared(), inline_qos);
    }

    /// True when new changes wait for others to leave with; else notes that they leave.
    #[inline(always)]
    fn holds_back(&mut self, now: Instant) -> bool {
        !self.config.push_period.is_zero() && self.holds_back_until(now)
    }

    #[inline(never)]
    fn holds_back_until(&mut self, now: Instant) -> bool {
        let crowd = self.config.push_period_per_reader.times(self.crowd());
        let next = self.departed_at;
        let next = next.map(|at| at.after(self.config.push_period.plus(crowd)));
        self.held_until = next.filter(|at| *at > now);
        if self.held_until.is_none() {
            self.departed_at = Some(now);
        }
        self.held_until.is_some()
    }

    /// When what was just written leaves, where another thread is to send it.
    pub fn leaves_at(&self, now: Instant) -> Option<Instant> {
        let held = self.held_until.unwrap_or(now);
        self.config.asynchronous.then_some(held.max(now))
    }

    /// Lets new changes leave at the next transmission, whatever left lately.
    pub fn hurry(&mut self) {
        self.departed_at = None;
    }

    /// A change has left in fragments: a heartbeat goes with the last of them, so that readers ask
    /// at once for those that are lost.
    pub(super) fn count_divided(&mut self) {
        self.count_pushed(1);
        self.heartbeat.pushed_since_sent = PIGGYBACK_CHANGES;
    }

    pub(super) fn count_pushed(&mut self, changes: u32) {
        let timer = &mut self.heartbeat;
        timer.pushed_since_asked = timer.pushed_since_asked.saturating_add(changes);
        timer.pushed_since_sent = timer.pushed_since_sent.saturating_add(changes);
    }
}

/// Puts `message` back where it was lent from, which is empty.
#[inline(always)]
pub(super) fn keep(place: &mut Option<Box<MessageBuilder>>, message: Box<MessageBuilder>) {
    if let Some(other) = place.replace(message) {
        cold_path();
        drop(other);
    }
}
