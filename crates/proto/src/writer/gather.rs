//! Which new changes wait for others, and when they leave: see `bundle.rs`.

use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};

use super::Writer;
use super::bundle::{AUTOMATIC_SAMPLES, Bundling, Cause};
use super::change::Change;
use super::history::INLINE_QOS_BYTES;
use super::reader_proxy::ReaderProxy;
use crate::change::ChangeKind;
use crate::message::MessageBuilder;
use crate::outbox::Outbox;

/// INFO_TS and the head of DATA, in octets. RTPS 2.5 §9.4.5.3, §9.4.5.12.
const DATA_HEAD_BYTES: usize = 36;

/// A HEARTBEAT, in octets. RTPS 2.5 §9.4.5.7.
pub(super) const HEARTBEAT_BYTES: usize = 32;

/// A message's header and one HEARTBEAT, in octets.
const FRAME_BYTES: usize = 20 + HEARTBEAT_BYTES;

impl Writer {
    /// How new changes leave from now on; what waits leaves at the next transmission.
    pub fn set_bundling(&mut self, bundling: Bundling) {
        if self.bundle.bundling != bundling {
            self.flush();
            self.bundle.bundling = bundling;
        }
    }

    /// Lets what waits leave at the next transmission.
    pub fn flush(&mut self) {
        self.bundle.leave(Cause::Flush);
    }

    /// Has new changes wait until [`Writer::resume`], as long as they fit a message together.
    pub fn suspend(&mut self) {
        self.bundle.holds = self.bundle.holds.saturating_add(1);
        self.bundle.leaves_at = None;
    }

    /// Ends one [`Writer::suspend`]; with the last, what waits leaves at the next transmission.
    pub fn resume(&mut self) {
        self.bundle.holds = self.bundle.holds.saturating_sub(1);
        if self.bundle.holds == 0 {
            self.flush();
        }
    }

    /// Lets what waits leave at the next transmission where as many changes have come, of this and
    /// other writers, as usually do before a pause; true where it did.
    pub fn leave_after_burst(&mut self) -> bool {
        let is_over = self.bundle.is_burst_over();
        if is_over {
            self.bundle.leave(Cause::Idle);
        }
        is_over
    }

    /// Lets what waits leave at the next transmission because that of another writer does, unless
    /// it is to wait for [`Writer::resume`].
    pub fn leave_along(&mut self) {
        if self.bundle.holds == 0 {
            self.bundle.leave(Cause::Shared);
        }
    }

    /// Octets of message that wait for others, not for [`Writer::resume`].
    pub fn waiting_bytes(&self) -> usize {
        if self.bundle.holds > 0 {
            return 0;
        }
        self.bundle.bytes
    }

    /// True where `bytes` octets of this and other writers are as many as would leave by one call
    /// if all were of this one: a message, or the messages that leave joined.
    pub fn is_filled_by(&self, bytes: usize) -> bool {
        bytes >= self.waiting_bytes_max(self.message_room_bytes())
    }

    /// True while the newest change waits and everything before it has left, so that there is
    /// nothing to transmit.
    pub fn is_waiting(&self) -> bool {
        let waits = |from: SequenceNumber| self.pushed >= from.previous();
        self.bundle.from.is_some_and(waits) && !self.has_sealed_bundle_left()
    }

    /// When what waits leaves at the latest, where only one change does: nobody knows of it yet.
    pub fn began_to_wait(&self) -> Option<Instant> {
        self.bundle.leaves_at.filter(|_| self.bundle.samples == 1)
    }

    /// True where changes wait for others only while they come faster than they can be sent.
    pub fn bundles_by_itself(&self) -> bool {
        self.bundle.bundling == Bundling::Automatic
    }

    /// The largest payload that would now leave with others in one compressed message, so that
    /// nothing is gained by compressing it alone; zero where changes leave alone, no reader takes
    /// such messages, or some reader takes compressed changes only.
    pub fn packed_together_bytes_max(&self) -> usize {
        let gains = self.audience.packing().is_somewhere() && !self.audience.takes_changes_only();
        if !gains || !self.bundle.is_gathering() {
            return 0;
        }
        let room = self.message_room_bytes();
        (room / 2).saturating_sub(DATA_HEAD_BYTES.saturating_add(INLINE_QOS_BYTES))
    }

    /// True where a change with a payload of so many octets leaves whole, in a message that is
    /// compressed where that is worth it, so that only then it is known whether it leaves plain.
    pub fn leaves_in_packed_message(&self, bytes: usize) -> bool {
        let whole = bytes <= usize::from(self.fragment_bytes(ChangeKind::Alive));
        whole && self.audience.packing().is_somewhere()
    }

    /// The socket was busy: what left last had to wait for room there, as would what is written
    /// next.
    pub fn note_full(&mut self) {
        self.bundle.note_full();
    }

    /// To compress what is written next took so long: that is part of sending it, and no pause.
    pub fn note_packing(&mut self, took: Duration) {
        self.bundle.note_packing(took);
    }

    /// True where it matters how long a transmission of new changes took.
    pub fn measures_departures(&self) -> bool {
        self.departed && self.bundle.measures && self.bundle.bundling == Bundling::Automatic
    }

    /// New changes were sent from `began` to `ended`.
    pub fn note_departure(&mut self, began: Instant, ended: Instant) {
        self.bundle.note_departure(began, ended);
        self.departed = false;
    }

    /// Notes what has arrived where a change is written next: where that is more than before, the
    /// change may be an answer, and that it comes fast says little. See [`Streak::with_heard`].
    ///
    /// [`Streak::with_heard`]: whimbrel_base::streak::Streak::with_heard
    pub fn note_heard(&mut self, heard: u32) {
        self.bundle.heard = heard;
    }

    /// Decides whether the newest change waits; `pressed` where it had to wait for room before.
    pub(super) fn gather(&mut self, now: Instant, pressed: bool) {
        self.departed = false;
        let nobody = self.audience.destinations().is_empty();
        let packs = self.audience.packing().is_somewhere();
        // Only what is compressed alike leaves together.
        let way = if packs {
            self.config.packed_messages.0
        } else {
            0
        };
        let destination = (!nobody).then(|| self.audience.mark() ^ u64::from(way));
        if !self.bundle.holds(now, pressed, destination) || nobody {
            // What waits leaves with this one.
            self.bundle.leave(Cause::Slow);
            return;
        }
        let sequence = self.history.last();
        let Some(change) = self.history.get(sequence) else {
            return;
        };
        let bytes = self.message_bytes_of(change);
        let one = self.message_room_bytes();
        let room = self.waiting_bytes_max(one);
        if bytes > one || bytes > room / 2 {
            // Nothing is gained by waiting.
            self.bundle.leave(Cause::Full);
            return;
        }
        let after = self.bundle.bytes.saturating_add(bytes);
        let count = self.bundle.samples.saturating_add(1);
        if after > room || self.is_too_much_for_a_batch(count, after) {
            self.bundle.leave(Cause::Full);
        }
        self.bundle.add(now, sequence, bytes);
        self.bundle.is_joined |= self.bundle.bytes > one;
        if self.bundle.bytes.saturating_add(bytes) > room || self.is_a_batch() {
            self.bundle.leave(Cause::Full);
        } else if self.bundle.is_enough(now) {
            let time = self.bundle.leaves_at.is_some_and(|at| at <= now);
            self.bundle
                .leave(if time { Cause::Time } else { Cause::Full });
        }
    }

    /// Octets that may wait, where a message takes `one`: as many whole messages as leave by one
    /// call.
    fn waiting_bytes_max(&self, one: usize) -> usize {
        match self.joined_bytes_max().checked_div(one) {
            Some(messages @ 2..) => messages.saturating_mul(one),
            _ => one,
        }
    }

    /// Octets that may wait to leave as several messages by one call: where all of them are in
    /// history until then, and each message leaves as it is.
    fn joined_bytes_max(&self) -> usize {
        let most = self.config.joined_bytes_max.min(self.bundle.bytes_max());
        let samples = match self.bundle.bundling {
            Bundling::Automatic => AUTOMATIC_SAMPLES as usize,
            Bundling::Off | Bundling::UpTo { .. } => most / DATA_HEAD_BYTES,
        };
        let kept = self.config.depth;
        let keeps_all = kept.is_none_or(|depth| depth >= samples);
        let is_plain = !self.audience.packing().is_somewhere() && !self.forms.is_divided();
        if keeps_all && is_plain && self.bundle.holds == 0 && self.batches.is_none() {
            most
        } else {
            0
        }
    }

    /// Octets of data among `bytes` of message that `samples` make.
    fn data_bytes(samples: u32, bytes: usize) -> usize {
        let heads = usize::try_from(samples).unwrap_or(usize::MAX);
        bytes.saturating_sub(heads.saturating_mul(DATA_HEAD_BYTES))
    }

    fn is_too_much_for_a_batch(&self, samples: u32, bytes: usize) -> bool {
        let data = Self::data_bytes(samples, bytes);
        let batches = self.batches.as_ref();
        batches.is_some_and(|it| it.is_too_much(data))
    }

    fn is_a_batch(&self) -> bool {
        let (samples, bytes) = (self.bundle.samples, self.bundle.bytes);
        let data = Self::data_bytes(samples, bytes);
        let batches = self.batches.as_ref();
        batches.is_some_and(|it| it.is_full(samples, data))
    }

    /// What changes that leave together may take of one message, in octets.
    fn message_room_bytes(&self) -> usize {
        self.bundle_bytes_max().saturating_sub(FRAME_BYTES)
    }

    /// Largest message in which changes leave together, in octets.
    pub(super) fn bundle_bytes_max(&self) -> usize {
        if self.batches.is_some() {
            return self.bundle.bytes_max();
        }
        self.message_bytes_max().min(self.bundle.bytes_max())
    }

    /// What a change takes of a message at most, in octets.
    pub(super) fn message_bytes_of(&self, change: &Change) -> usize {
        let plain = change.kind == ChangeKind::Alive && !self.audience.wants_inline_qos();
        let inline_qos = if plain { 0 } else { INLINE_QOS_BYTES };
        let payload = change.payload_in(self.forms.shared()).len();
        let padded = payload.saturating_add(3) & !3;
        padded
            .saturating_add(DATA_HEAD_BYTES)
            .saturating_add(inline_qos)
    }

    /// Puts what waits into its message, so that HISTORY may give it up; false where that cannot
    /// be, so that it has to leave.
    pub(super) fn seal(&mut self) -> bool {
        let Some(from) = self.bundle.from else {
            return false;
        };
        if self.forms.is_divided() || self.pushed < from.previous() {
            return false;
        }
        let prefix = self.config.guid.prefix;
        let mut message = MessageBuilder::lent_by(&mut self.bundle.message, prefix);
        if !core::mem::replace(&mut self.bundle.is_sealed, true) {
            message.begin(self.bundle_bytes_max());
        }
        let mut fits = true;
        while let Some(change) = self.history.next_from(self.pushed.next()) {
            let sequence = change.sequence;
            fits = message.has_room(self.message_bytes_of(change));
            if !fits {
                break;
            }
            self.put_change(&mut message, change);
            self.pushed = sequence;
            self.count_pushed(1);
        }
        self.bundle.message = Some(message);
        fits
    }

    /// Lets what waits leave at the next transmission where history may not have it any more; true
    /// where that transmission is to come before readers come or go, as only those that are here
    /// are meant.
    pub fn leaves_before_readers_change(&mut self) -> bool {
        if self.bundle.is_sealed {
            self.bundle.leave(Cause::Room);
            self.bundle.is_urgent = true;
        }
        self.bundle.is_sealed
    }

    /// Takes back what was sealed, as far as history still has it: others are to get it now.
    pub(super) fn unseal(&mut self) {
        self.bundle.is_urgent = false;
        if core::mem::take(&mut self.bundle.is_sealed)
            && let Some(from) = self.bundle.from
        {
            self.pushed = from.previous();
        }
    }

    /// Has what was sealed leave before anybody is told of it, or that history has it no more.
    #[inline(always)]
    pub(super) fn leave_before_speaking(&mut self, now: Instant, outbox: &mut impl Outbox) {
        if self.bundle.is_sealed {
            self.unbundle_before_speaking(now);
            self.push(now, outbox);
        }
    }

    #[inline(never)]
    fn unbundle_before_speaking(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let repair = self.repairs.next(&self.readers, ReaderProxy::due);
        if self.ask_now
            || !self.heartbeats_due.is_empty()
            || due(self.heartbeat.next_at)
            || due(repair.map(|(at, _)| at))
        {
            self.bundle.leave(Cause::Room);
        }
    }

    /// What waited long enough leaves at the next transmission.
    pub(super) fn end_waiting(&mut self, now: Instant) {
        if self.bundle.leaves_at.is_some_and(|at| at <= now) {
            let automatic = self.bundle.bundling == Bundling::Automatic;
            let cause = if automatic { Cause::Idle } else { Cause::Time };
            self.bundle.leave(cause);
        }
    }
}
