//! How much may be under way to readers that say what they have taken in.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::arrival::ArrivalRate;
use crate::guid::Guid;
use crate::sequence::Count;
use crate::share::share;
use crate::time::{Duration, Instant};

/// What a datagram takes of a receiver's buffer beside its payload, in octets: systems count the
/// memory that holds it.
pub const DATAGRAM_CHARGE_BYTES: u64 = 768;

/// So many octets are forgotten at a time.
pub const FORGOTTEN_BYTES: u64 = 64 * 1024;

/// A reader that takes something in at least so often is waited for, where it is near. That it is
/// slow then is the want of a core, which who writes leaves to it while waiting, or a narrow link,
/// which would lose what it does not carry.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Readers of which it is not known that they are near are asked so long after the first time
/// before anything more leaves, then after twice as long, and so on.
const WAY_PERIOD: Duration = Duration::from_millis(100);

/// So often that doubles.
const WAY_PERIOD_DOUBLES_MAX: u32 = 4;

/// While such a reader is asked, one part in so many of what may be under way to it is: behind all
/// that a burst sends its answer would come late wherever it is, and a writer that waits leaves
/// its core to who receives the answer.
const TRIAL_PARTS: u64 = 4;

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
    /// Of all fragments that left.
    arrived_bytes: u64,
    arrival: ArrivalRate,
    /// When it answered last.
    heard_at: Instant,
    /// It is on this host.
    is_here: bool,
    /// It is, or has answered once before as much as may be under way to it would have been
    /// forgotten: who waits for its answers is not held up by a long way.
    is_near: bool,
    /// Until then its answer would tell that it is near.
    tried_until: Option<Instant>,
    /// It was waited for in vain, and is not again before it answers often enough.
    is_slow: bool,
}

impl Listener {
    /// What may leave to it, of all that left.
    #[inline(always)]
    fn room(&self, sent_bytes: u64) -> u64 {
        let under_way = sent_bytes.saturating_sub(self.taken_bytes);
        let window = match self.tried_until {
            None => self.window_bytes,
            Some(_) => self.window_bytes.wrapping_div(TRIAL_PARTS),
        };
        window.saturating_sub(under_way)
    }

    /// How soon a window is forgotten at `rate` octets a second: who answers later is not near.
    fn near_within(&self, rate: u64) -> Duration {
        let nanos = share(self.window_bytes, 1_000_000_000, rate);
        Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// It is asked at `now`, when so much has left, whether it is near.
    fn try_at(&mut self, now: Instant, sent_bytes: u64, rate: u64) {
        self.tried_until = Some(now.after(self.near_within(rate)));
        // It is not waited for what left before.
        self.taken_bytes = sent_bytes;
    }
}

/// Whether all have taken in what left before.
#[derive(Clone, Copy, Debug)]
struct Question {
    count: Count,
    at: Instant,
    /// What had left, of all that left, and of all fragments.
    sent_bytes: u64,
    fragment_bytes: u64,
}

/// What has left, and what readers have said of it.
#[derive(Debug)]
pub struct Credit {
    /// Octets per second that are forgotten.
    bytes_per_second: u64,
    listeners: Vec<Listener>,
    /// Octets that have left, over all time, with what each datagram takes beside them.
    sent_bytes: u64,
    /// Octets of fragments that have left, over all time.
    fragment_bytes: u64,
    /// Of `sent_bytes`, what readers were asked about.
    asked_bytes: u64,
    /// Since when nothing was forgotten though nothing may leave.
    spent_at: Instant,
    count: Count,
    questions: VecDeque<Question>,
    /// When readers were asked last how long the way to them is, and how often since one came.
    way_asked_at: Option<Instant>,
    way_asked: u32,
    /// Readers on other hosts are waited for as well.
    waits_for_far: bool,
}

impl Credit {
    /// Nothing has left, and nobody is asked.
    pub fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second: bytes_per_second.max(1),
            listeners: Vec::new(),
            sent_bytes: 0,
            fragment_bytes: 0,
            asked_bytes: 0,
            spent_at: Instant::ZERO,
            count: Count::default(),
            questions: VecDeque::new(),
            way_asked_at: None,
            way_asked: 0,
            waits_for_far: false,
        }
    }

    /// `guid` is asked from now on, and takes in `window_bytes` at once; it `is_here`, on this
    /// host, or its answers tell whether it is near.
    pub fn join(&mut self, guid: Guid, window_bytes: u64, is_here: bool) {
        (self.way_asked_at, self.way_asked) = (None, 0);
        if self.listeners.is_empty() {
            // Of what left before there is nobody to be asked.
            self.asked_bytes = self.sent_bytes;
        }
        let known = self.listeners.iter_mut().find(|it| it.guid == guid);
        if let Some(known) = known
            && known.is_here
            && is_here
        {
            known.window_bytes = window_bytes;
            return;
        }
        // Another way may lead to it now.
        self.leave(guid);
        self.listeners.push(Listener {
            guid,
            window_bytes,
            taken_bytes: self.sent_bytes,
            arrived_bytes: self.fragment_bytes,
            arrival: ArrivalRate::default(),
            heard_at: Instant::ZERO,
            is_here,
            is_near: is_here,
            tried_until: None,
            is_slow: false,
        });
    }

    /// Whether readers on other hosts are waited for as well from `now` on.
    #[inline(always)]
    pub fn wait_for_far(&mut self, now: Instant, waits: bool) {
        if waits && !self.waits_for_far {
            self.spent_at = now;
        }
        self.waits_for_far = waits;
    }

    /// True where what `listener` has not taken in is waited for.
    fn counts(&self, listener: &Listener) -> bool {
        let is_near = listener.is_near || listener.tried_until.is_some();
        listener.is_here || (is_near && self.waits_for_far)
    }

    fn counted(&self) -> impl Iterator<Item = &Listener> {
        self.listeners.iter().filter(|it| self.counts(it))
    }

    /// `guid` is not asked any more.
    pub fn leave(&mut self, guid: Guid) {
        self.listeners.retain(|it| it.guid != guid);
    }

    /// True for one that is asked.
    pub fn knows(&self, guid: Guid) -> bool {
        self.listeners.iter().any(|it| it.guid == guid)
    }

    /// True where there is somebody to be asked.
    pub fn has_listeners(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// True where what `guid` has not taken in is waited for.
    pub fn waits_for(&self, guid: Guid) -> bool {
        self.asks() && self.counted().any(|it| it.guid == guid)
    }

    fn asks(&self) -> bool {
        self.listeners.len() <= READERS_MAX && self.counted().next().is_some()
    }

    /// `bytes` leave in a datagram.
    pub fn note_sent(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes);
    }

    /// A datagram leaves, of which the octets are noted apart.
    pub fn note_datagram(&mut self) {
        self.charge(1, 0);
    }

    /// Datagrams with `bytes` of fragments in all leave at `now`.
    pub fn note_fragments(&mut self, now: Instant, count: u64, bytes: u64) {
        for listener in &mut self.listeners {
            let is_under_way = listener.arrived_bytes < self.fragment_bytes;
            listener.arrival.note_sent(now, is_under_way);
        }
        self.fragment_bytes = self.fragment_bytes.saturating_add(bytes);
        self.charge(count, bytes);
    }

    fn charge(&mut self, count: u64, bytes: u64) {
        let beside = count.saturating_mul(DATAGRAM_CHARGE_BYTES);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes).saturating_add(beside);
    }

    /// True where nothing may leave now.
    pub fn is_spent(&mut self, now: Instant) -> bool {
        self.room(now) == Some(0)
    }

    /// Octets that may leave now; `None` where nobody is waited for. The last datagram may be
    /// larger than what is left.
    #[inline(always)]
    pub fn room(&mut self, now: Instant) -> Option<u64> {
        if self.asks() {
            self.room_of_listeners(now)
        } else {
            None
        }
    }

    #[inline(never)]
    fn room_of_listeners(&mut self, now: Instant) -> Option<u64> {
        self.end_trials(now);
        if !self.asks() {
            return None;
        }
        if self.least_room() > 0 {
            self.spent_at = now;
        } else if self.forgets_at() <= now {
            self.forget(now);
            self.spent_at = now;
        }
        Some(self.least_room())
    }

    /// Who has not answered by `now` is not near.
    fn end_trials(&mut self, now: Instant) {
        for listener in &mut self.listeners {
            listener.tried_until = listener.tried_until.filter(|at| now < *at);
        }
    }

    fn least_room(&self) -> u64 {
        let rooms = self.counted().map(|it| it.room(self.sent_bytes));
        rooms.min().unwrap_or(u64::MAX)
    }

    /// Forgets what time allows; more than is under way does not count.
    fn forget(&mut self, now: Instant) {
        let nanos = now.since(self.spent_at).as_nanos().unsigned_abs();
        let bytes = share(self.bytes_per_second, nanos, 1_000_000_000);
        for listener in &mut self.listeners {
            // Who has room left is waited for by nobody, who is tried not for longer than that.
            if listener.tried_until.is_none() && listener.room(self.sent_bytes) == 0 {
                listener.is_slow = true;
                let taken = listener.taken_bytes.saturating_add(bytes);
                listener.taken_bytes = taken.min(self.sent_bytes);
            }
        }
    }

    /// When something may leave at the latest, while nothing may.
    pub fn ends_at(&self) -> Instant {
        let tried = self.full().filter_map(|it| it.tried_until);
        tried.fold(self.forgets_at(), Instant::min)
    }

    /// Those to which nothing more may leave.
    fn full(&self) -> impl Iterator<Item = &Listener> {
        self.counted().filter(|it| it.room(self.sent_bytes) == 0)
    }

    /// When something is forgotten.
    fn forgets_at(&self) -> Instant {
        let mut full = self.full().filter(|it| it.tried_until.is_none()).peekable();
        if full.peek().is_none() {
            return Instant::FAR_FUTURE;
        }
        if full.any(|it| !it.is_slow) {
            return self.spent_at.after(PATIENCE);
        }
        let nanos = FORGOTTEN_BYTES
            .saturating_mul(1_000_000_000)
            .div_ceil(self.bytes_per_second);
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        self.spent_at.after(Duration::from_nanos(nanos))
    }

    /// Octets that each of those that are asked takes in in `span`; `None` where nobody is.
    pub fn arriving_in(&self, span: Duration) -> Option<u64> {
        let each = self.counted().map(|it| it.arrival.bytes_in(span));
        each.min().filter(|_| self.asks())
    }

    /// Whom a question is for: those that are waited for, or those of which it is to tell whether
    /// the way to them is short.
    pub fn guids(&self, of_way: bool) -> impl Iterator<Item = Guid> {
        let is_meant = move |it: &&Listener| {
            if of_way { !it.is_near } else { self.counts(it) }
        };
        self.listeners.iter().filter(is_meant).map(|it| it.guid)
    }

    /// True when so much has left since the last question that it is time for another.
    #[inline(always)]
    pub fn wants_question(&self) -> bool {
        self.asks() && self.is_time_for_question()
    }

    /// True where a question before anything else leaves at `now` may tell that a reader is near.
    #[inline(always)]
    pub fn wants_to_know_way(&self, now: Instant) -> bool {
        self.waits_for_far && self.may_know_way(now)
    }

    #[inline(never)]
    fn may_know_way(&self, now: Instant) -> bool {
        let doubles = self.way_asked.saturating_sub(1).min(WAY_PERIOD_DOUBLES_MAX);
        let period = WAY_PERIOD.times(1 << doubles);
        let is_time = self.way_asked_at.is_none_or(|at| now.since(at) >= period);
        let is_far = self.listeners.iter().any(|it| !it.is_near);
        is_time && is_far && self.listeners.len() <= READERS_MAX
    }

    #[inline(never)]
    fn is_time_for_question(&self) -> bool {
        let window = self.counted().map(|it| it.window_bytes).min();
        let unasked = self.sent_bytes.saturating_sub(self.asked_bytes);
        let every = window
            .unwrap_or_default()
            .wrapping_div(QUESTIONS_PER_WINDOW);
        unasked > every
    }

    /// They are asked at `now`, how long the way is or what they have taken in; the count of the
    /// question.
    pub fn ask(&mut self, now: Instant, of_way: bool) -> Count {
        self.count = self.count.next();
        if of_way {
            self.way_asked_at = Some(now);
            self.way_asked = self.way_asked.saturating_add(1);
            for far in self.listeners.iter_mut().filter(|it| !it.is_near) {
                far.try_at(now, self.sent_bytes, self.bytes_per_second);
            }
        } else {
            self.asked_bytes = self.sent_bytes;
        }
        if self.questions.len() >= QUESTIONS_MAX {
            self.questions.pop_front();
        }
        self.questions.push_back(Question {
            count: self.count,
            at: now,
            sent_bytes: self.sent_bytes,
            fragment_bytes: self.fragment_bytes,
        });
        self.count
    }

    /// The count of the last question.
    pub fn asked(&self) -> Count {
        self.count
    }

    /// `guid` has answered the question with this count; false where none has it.
    pub fn answered(&mut self, now: Instant, guid: Guid, count: Count) -> bool {
        let question = self.questions.iter().find(|it| it.count == count);
        let Some(question) = question.copied() else {
            return self.has_asked(count);
        };
        let rate = self.bytes_per_second;
        if let Some(listener) = self.listeners.iter_mut().find(|it| it.guid == guid) {
            listener.taken_bytes = listener.taken_bytes.max(question.sent_bytes);
            let more = question
                .fragment_bytes
                .saturating_sub(listener.arrived_bytes);
            listener.arrival.note_arrived(now, more);
            listener.arrived_bytes = listener.arrived_bytes.saturating_add(more);
            if !listener.is_near && now.since(question.at) < listener.near_within(rate) {
                (listener.is_near, listener.tried_until) = (true, None);
            }
            listener.is_slow &= now.since(listener.heard_at) > PATIENCE;
            listener.heard_at = now;
        }
        true
    }

    /// True where a question had `count`, which may be forgotten by now.
    fn has_asked(&self, count: Count) -> bool {
        count.0 > 0 && count.0 <= self.count.0
    }
}
