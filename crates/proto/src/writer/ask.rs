//! How much may be under way to readers that acknowledge nothing.
//!
//! A socket drops what finds no room in it, and a writer is quickly quicker than a reader, or than
//! what lies between them. A best-effort reader of this implementation answers a HEARTBEAT that
//! names it by an empty ACKNACK with the same count (in RTPS 2.5 §8.4.9 best-effort endpoints
//! exchange neither, so others are never asked). What left before that HEARTBEAT has left the
//! reader's socket then. So the writer holds back what the socket would not hold, as long as the
//! reader goes on taking something in. Best effort must not be slowed down by one that does not,
//! so what it has not taken in is forgotten at the rate at which fragments leave to those that say
//! nothing at all. Nor by a long way: a reader on another host counts once an answer has come more
//! quickly than that, and as long as it slows down nobody on this host or that acknowledges. Until
//! then it is tried now and then: asked before anything more leaves, and sent little until it has
//! answered or would have.

use core::hint::cold_path;

use whimbrel_base::guid::Guid;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::time::Instant;
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::submessage::AckNack;

use super::Writer;
use super::matches::LOCAL_MESSAGE_BYTES_MIN;
use super::reader_proxy::ReaderProxy;
use crate::message::HeartbeatFields;
use crate::outbox::Outbox;
use crate::peer::MatchedReader;

impl Writer {
    /// `reader` was matched, or is another now.
    pub(super) fn give_credit(&mut self, reader: &MatchedReader) {
        let acknowledges = self.config.reliable && reader.reliable;
        // That it answers at its own address says nothing of the socket of a group.
        let is_alone = reader.group.is_none();
        let holds = reader.receive_buffer_bytes > 0;
        let answers = reader.vendor == VendorId::WHIMBREL && holds && is_alone;
        if answers && !acknowledges {
            let is_here = reader.message_bytes_max >= LOCAL_MESSAGE_BYTES_MIN;
            let held = u64::from(reader.receive_buffer_bytes / 2);
            let held = if is_here {
                held
            } else {
                held.min(self.config.burst_bytes)
            };
            self.credit.join(reader.guid, held, is_here);
        } else {
            self.credit.leave(reader.guid);
        }
    }

    /// Octets of fragments of new changes that may leave now. Where readers say what they have
    /// taken, that of those that acknowledge nothing is no matter of time.
    pub(super) fn fragment_room(&mut self, now: Instant) -> u64 {
        match self.credit.room(now) {
            None => self.push_room(now),
            Some(room) if self.audience.holds_history() => room.min(self.push_room(now)),
            Some(room) if !self.somebody_is_here() && self.somebody_is_silent() => {
                room.min(self.push_room(now))
            }
            Some(room) => room,
        }
    }

    /// Has readers on other hosts waited for where nobody else is to be slowed down by that: no
    /// reader on this host or that acknowledges, and no write that waits for room in a history
    /// whose depth is limited.
    #[inline(always)]
    pub(super) fn choose_whom_to_wait_for(&mut self, now: Instant) {
        if self.credit.has_listeners() {
            let is_waited_for = self.config.depth.is_some() && self.blocked_since.is_some();
            let others = self.audience.holds_history() || self.somebody_is_here();
            self.credit.wait_for_far(now, !is_waited_for && !others);
        }
    }

    /// True where there is a reader on this host that is sent to.
    fn somebody_is_here(&self) -> bool {
        let is_here = |it: &ReaderProxy| {
            let is_sent_to = !it.in_process && !it.aside;
            is_sent_to && it.info.message_bytes_max >= LOCAL_MESSAGE_BYTES_MIN
        };
        self.readers.values().any(is_here)
    }

    /// True where some reader neither acknowledges nor is waited for otherwise.
    pub(super) fn somebody_is_silent(&self) -> bool {
        let says = |guid, reader: &ReaderProxy| {
            let acknowledges = self.config.reliable && reader.info.reliable;
            acknowledges || reader.in_process || self.credit.waits_for(guid)
        };
        self.readers.iter().any(|(guid, it)| !says(*guid, it))
    }

    #[inline(always)]
    fn has_more_to_leave(&self) -> bool {
        self.pushed < self.history.last() || self.has_sealed_bundle_left()
    }

    /// Asks readers, before what is new leaves, where the way to some is not known to be short.
    #[inline(always)]
    pub(super) fn ask_for_way(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.has_more_to_leave() && self.credit.wants_to_know_way(now) {
            self.ask_listeners(now, true, outbox);
        }
    }

    /// Asks readers whether they have taken what has left, where it is time to.
    pub(super) fn ask_for_credit(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.credit.wants_question() {
            self.ask_listeners(now, false, outbox);
        }
        if self.has_more_to_leave() && self.credit.is_spent(now) {
            cold_path();
            let until = self.credit.ends_at();
            self.paced_until = Some(self.paced_until.map_or(until, |at| at.min(until)));
        }
    }

    #[inline(never)]
    fn ask_listeners(&mut self, now: Instant, of_way: bool, outbox: &mut impl Outbox) {
        let count = self.credit.ask(now, of_way);
        let fields = HeartbeatFields {
            first: self.history.first().min(self.pushed.next()),
            last: self.pushed,
            count,
            is_final: false,
        };
        let mut message = self.lend_message();
        message.begin(self.message_bytes_max());
        for guid in self.credit.guids(of_way) {
            let Some(reader) = self.readers.get(&guid) else {
                continue;
            };
            message.destination(guid.prefix);
            message.heartbeat(guid.entity, self.config.guid.entity, fields);
            message.flush(&reader.info.locators, outbox);
            self.statistics.heartbeats = self.statistics.heartbeats.saturating_add(1);
        }
        self.message = Some(message);
    }

    /// What `from` answers, where it is one of those that are asked here.
    pub(super) fn handle_credit(
        &mut self,
        now: Instant,
        from: Guid,
        acknack: &AckNack,
    ) -> Option<Result<(), Reject>> {
        if !self.credit.knows(from) {
            return None;
        }
        if !self.credit.answered(now, from, acknack.count) {
            return Some(Err(Reject::new(RejectKind::Duplicate, 0)));
        }
        self.statistics.acknacks = self.statistics.acknacks.saturating_add(1);
        Some(Ok(()))
    }
}
