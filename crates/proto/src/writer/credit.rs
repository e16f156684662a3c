//! How much may be under way to readers that say what they have taken in.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use whimbrel_base::arrival::ArrivalRate;
use whimbrel_base::guid::Guid;
use whimbrel_base::sequence::Count;
use whimbrel_base::time::{Duration, Instant};

use super::window::DATAGRAM_CHARGE_BYTES;

/// So many octets are forgotten at a time.
pub(super) const FORGOTTEN_BYTES: u64 = 64 * 1024;

/// A reader that takes something in at least so often is waited for, where it is near. That it is
/// slow then is the want of a core, which who writes leaves to it while waiting, or a narrow link,
/// which would lose what it does not carry.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// Readers of which it is not known that they are near are asked so often before anything of a
/// burst leaves, behind which a question takes longer.
const WAY_PERIOD: Duration = Duration::from_millis(100);

/// Readers are asked so often while as much leaves as the smallest of their sockets holds.
const QUESTIONS_PER_WINDOW: u64 = 8;

/// So many questions are remembered at most.
const QUESTIONS_MAX: usize = 32;

/// Where there are more such readers than this nobody is asked, and nothing held back: it would
/// cost more than it is worth.
const READERS_MAX: usize = 8;

/// A reader that is asked.
#[derive(Debug)]
struct Listener {
    guid: Guid,
    /// What may be under way to it.
    window_bytes: u64,
    /// Of all that left, what has left its socket for certain, or is forgotten.
    taken_bytes: u64,
    arrival: ArrivalRate,
    /// When it answered last.
    heard_at: Instant,
    /// It has answered once before as much as may be under way to it would have been forgotten: who
    /// waits for its answers is not held up by a long way.
    is_near: bool,
    /// It was waited for in vain, and is not again before it answers often enough.
    is_slow: bool,
}

impl Listener {
    /// What may leave to it, of all that left.
    #[inline(always)]
    fn room(&self, sent_bytes: u64) -> u64 {
        let under_way = sent_bytes.saturating_sub(self.taken_bytes);
        self.window_bytes.saturating_sub(under_way)
    }

    /// True where an answer that took so long came sooner than a window is forgotten at `rate`
    /// octets a second.
    fn is_quicker(&self, took: Duration, rate: u64) -> bool {
        let forgotten = u128::from(took.as_nanos().unsigned_abs()).saturating_mul(rate.into());
        forgotten < u128::from(self.window_bytes).saturating_mul(1_000_000_000)
    }
}

/// Whether all have taken in what left before.
#[derive(Clone, Copy, Debug)]
struct Question {
    count: Count,
    at: Instant,
    /// What had left, of all that left.
    sent_bytes: u64,
}

/// What has left, and what readers have said of it.
#[derive(Debug)]
pub(super) struct Credit {
    /// Octets per second that are forgotten.
    bytes_per_second: u64,
    listeners: Vec<Listener>,
    /// Octets that have left, over all time, with what each datagram takes beside them.
    sent_bytes: u64,
    /// Of `sent_bytes`, what readers were asked about.
    asked_bytes: u64,
    /// Since when nothing was forgotten though nothing may leave.
    spent_at: Instant,
    count: Count,
    questions: VecDeque<Question>,
}

impl Credit {
    /// Nothing has left, and nobody is asked.
    pub(super) fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second: bytes_per_second.max(1),
            listeners: Vec::new(),
            sent_bytes: 0,
            asked_bytes: 0,
            spent_at: Instant::ZERO,
            count: Count::default(),
            questions: VecDeque::new(),
        }
    }

    /// `guid` is asked from now on, and takes in `window_bytes` at once; it `is_near` for certain,
    /// or its answers tell.
    pub(super) fn join(&mut self, guid: Guid, window_bytes: u64, is_near: bool) {
        let taken_bytes = self.sent_bytes;
        if self.listeners.is_empty() {
            // Of what left before there is nobody to be asked.
            self.asked_bytes = self.sent_bytes;
        }
        match self.listeners.iter_mut().find(|it| it.guid == guid) {
            Some(known) => (known.window_bytes, known.is_near) = (window_bytes, is_near),
            None => self.listeners.push(Listener {
                guid,
                window_bytes,
                taken_bytes,
                arrival: ArrivalRate::default(),
                heard_at: Instant::ZERO,
                is_near,
                is_slow: false,
            }),
        }
    }

    /// `guid` is not asked any more.
    pub(super) fn leave(&mut self, guid: Guid) {
        self.listeners.retain(|it| it.guid != guid);
    }

    /// True for one that is asked.
    pub(super) fn knows(&self, guid: Guid) -> bool {
        self.listeners.iter().any(|it| it.guid == guid)
    }

    /// True where there is somebody to be asked.
    pub(super) fn has_listeners(&self) -> bool {
        !self.listeners.is_empty()
    }

    fn asks(&self) -> bool {
        self.has_listeners() && self.listeners.len() <= READERS_MAX
    }

    /// `bytes` leave in a datagram.
    pub(super) fn note_sent(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes);
    }

    /// A datagram leaves, of which the octets are noted apart.
    pub(super) fn note_datagram(&mut self) {
        self.charge(1, 0);
    }

    /// Datagrams with `bytes` of fragments in all leave at `now`.
    pub(super) fn note_fragments(&mut self, now: Instant, count: u64, bytes: u64) {
        for listener in &mut self.listeners {
            let is_under_way = listener.taken_bytes < self.sent_bytes;
            listener.arrival.note_sent(now, is_under_way);
        }
        self.charge(count, bytes);
    }

    fn charge(&mut self, count: u64, bytes: u64) {
        let beside = count.saturating_mul(DATAGRAM_CHARGE_BYTES);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes).saturating_add(beside);
    }

    /// True where nothing may leave now.
    pub(super) fn is_spent(&mut self, now: Instant) -> bool {
        self.room(now) == Some(0)
    }

    /// Octets that may leave now; `None` where nobody is waited for. The last datagram may be
    /// larger than what is left.
    #[inline(always)]
    pub(super) fn room(&mut self, now: Instant) -> Option<u64> {
        self.asks().then(|| self.room_of_listeners(now))
    }

    #[inline(never)]
    fn room_of_listeners(&mut self, now: Instant) -> u64 {
        if self.least_room() > 0 {
            self.spent_at = now;
        } else if self.ends_at() <= now {
            self.forget(now);
            self.spent_at = now;
        }
        self.least_room()
    }

    fn least_room(&self) -> u64 {
        let rooms = self.listeners.iter().map(|it| it.room(self.sent_bytes));
        rooms.min().unwrap_or(u64::MAX)
    }

    /// Forgets what time allows; more than is under way does not count.
    fn forget(&mut self, now: Instant) {
        for listener in &mut self.listeners {
            listener.is_slow |= listener.room(self.sent_bytes) == 0;
        }
        let nanos = now.since(self.spent_at).as_nanos().unsigned_abs();
        let bytes = u128::from(nanos)
            .saturating_mul(u128::from(self.bytes_per_second))
            .wrapping_div(1_000_000_000);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        for listener in &mut self.listeners {
            let taken = listener.taken_bytes.saturating_add(bytes);
            listener.taken_bytes = taken.min(self.sent_bytes);
        }
    }

    /// When something is forgotten at the latest, while nothing may leave.
    pub(super) fn ends_at(&self) -> Instant {
        let full = |it: &&Listener| it.room(self.sent_bytes) == 0;
        let is_awaited = |it: &Listener| it.is_near && !it.is_slow;
        if self.listeners.iter().filter(full).any(is_awaited) {
            return self.spent_at.after(PATIENCE);
        }
        let nanos = FORGOTTEN_BYTES
            .saturating_mul(1_000_000_000)
            .div_ceil(self.bytes_per_second);
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        self.spent_at.after(Duration::from_nanos(nanos))
    }

    /// Octets that each of those that are asked takes in in `span`; `None` where nobody is.
    pub(super) fn arriving_in(&self, span: Duration) -> Option<u64> {
        let each = self.listeners.iter().map(|it| it.arrival.bytes_in(span));
        each.min().filter(|_| self.asks())
    }

    /// Who is asked.
    pub(super) fn guids(&self) -> impl Iterator<Item = Guid> {
        self.listeners.iter().map(|it| it.guid)
    }

    /// True when so much has left since the last question that it is time for another.
    #[inline(always)]
    pub(super) fn wants_question(&self) -> bool {
        self.asks() && self.is_time_for_question()
    }

    /// True where a question before anything else leaves at `now` may tell that a reader is near.
    #[inline(always)]
    pub(super) fn wants_to_know_way(&self, now: Instant) -> bool {
        self.asks() && self.may_know_way(now)
    }

    #[inline(never)]
    fn may_know_way(&self, now: Instant) -> bool {
        let last = self.questions.back();
        let is_time = last.is_none_or(|it| now.since(it.at) >= WAY_PERIOD);
        is_time && self.listeners.iter().any(|it| !it.is_near)
    }

    #[inline(never)]
    fn is_time_for_question(&self) -> bool {
        let window = self.listeners.iter().map(|it| it.window_bytes).min();
        let unasked = self.sent_bytes.saturating_sub(self.asked_bytes);
        let every = window
            .unwrap_or_default()
            .wrapping_div(QUESTIONS_PER_WINDOW);
        unasked > every
    }

    /// All are asked at `now`; the count of the question.
    pub(super) fn ask(&mut self, now: Instant) -> Count {
        self.count = self.count.next();
        self.asked_bytes = self.sent_bytes;
        if self.questions.len() >= QUESTIONS_MAX {
            self.questions.pop_front();
        }
        self.questions.push_back(Question {
            count: self.count,
            at: now,
            sent_bytes: self.sent_bytes,
        });
        self.count
    }

    /// The count of the last question.
    #[cfg(test)]
    pub(super) fn asked(&self) -> Count {
        self.count
    }

    /// `guid` has answered the question with this count; false where none has it.
    pub(super) fn answered(&mut self, now: Instant, guid: Guid, count: Count) -> bool {
        let question = self.questions.iter().find(|it| it.count == count);
        let Some(question) = question.copied() else {
            return false;
        };
        let rate = self.bytes_per_second;
        if let Some(listener) = self.listeners.iter_mut().find(|it| it.guid == guid) {
            let more = question.sent_bytes.saturating_sub(listener.taken_bytes);
            listener.arrival.note_arrived(now, more);
            listener.taken_bytes = listener.taken_bytes.saturating_add(more);
            listener.is_near |= listener.is_quicker(now.since(question.at), rate);
            listener.is_slow &= now.since(listener.heard_at) > PATIENCE;
            listener.heard_at = now;
        }
        true
    }
}
