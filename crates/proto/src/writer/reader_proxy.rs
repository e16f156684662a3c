//! What a writer knows about one matched reader. RTPS 2.5 §8.4.7.5.

use alloc::collections::BTreeMap;
use alloc::collections::BTreeSet;

use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Instant};

use crate::deadline::{Deadline, Reason};
use whimbrel_wire::number_set::SequenceNumberSet;

use super::change::Form;
use super::fates::{Fates, Pushes};
use super::pace::Pace;
use crate::peer::MatchedReader;

/// How many fragments of one change may be requested at a time.
const REQUESTED_FRAGMENTS_MAX: usize = 4096;

/// How many changes may be requested at a time.
const REQUESTED_CHANGES_MAX: usize = 1024;

/// A question is not answered any more after this long, or after longer than answers take.
const QUESTION_PATIENCE: Duration = Duration::from_millis(50);

/// What a reader asked for again of one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Request {
    /// The change from fragment `next` on.
    Whole { next: FragmentNumber },
    /// These fragments.
    Fragments(BTreeSet<FragmentNumber>),
}

impl Request {
    /// The whole change.
    pub(super) const WHOLE: Self = Self::Whole {
        next: FragmentNumber::FIRST,
    };
}

/// The fragments still to be sent of a request.
pub(super) struct Wanted {
    request: Request,
    fragments: u32,
}

impl Wanted {
    pub(super) fn new(request: Request, fragments: u32) -> Self {
        Self { request, fragments }
    }

    pub(super) fn next(&mut self) -> Option<FragmentNumber> {
        match &mut self.request {
            Request::Whole { next } => {
                let number = *next;
                *next = next.next();
                (number.0 <= self.fragments).then_some(number)
            }
            Request::Fragments(numbers) => {
                let number = numbers.pop_first()?;
                (number.0 <= self.fragments).then_some(number)
            }
        }
    }

    pub(super) fn rest(&self) -> Option<Request> {
        let more = match &self.request {
            Request::Whole { next } => next.0 <= self.fragments,
            Request::Fragments(numbers) => !numbers.is_empty(),
        };
        more.then(|| self.request.clone())
    }
}

/// State of one matched reader.
#[derive(Debug)]
pub(super) struct ReaderProxy {
    pub(super) info: MatchedReader,
    /// How it gets changes.
    pub(super) form: Form,
    /// It gets large compressed changes for itself, beside others that take plain ones only.
    pub(super) apart: bool,
    /// Changes before this one never concern the reader.
    pub(super) first_relevant: SequenceNumber,
    /// Nothing of this writer can have reached the reader before this was written.
    pub(super) new_since: SequenceNumber,
    /// Everything up to here is acknowledged or does not concern the reader.
    pub(super) acked: SequenceNumber,
    /// Its last answer was from before its match: it has still to hear where its data begins.
    pub(super) behind: bool,
    /// It is in this process.
    pub(super) in_process: bool,
    /// It is in this process and has taken everything so far: nothing is sent to it.
    pub(super) aside: bool,
    /// The reader has answered, so it knows this writer.
    pub(super) confirmed: bool,
    /// Requested changes, in order.
    pub(super) requests: BTreeMap<SequenceNumber, Request>,
    /// When the pending requests may be served.
    pub(super) repair_at: Option<Instant>,
    /// The reader asked for a heartbeat.
    pub(super) heartbeat_due: bool,
    /// When it was last asked for an answer because it owed one, and how long before it is again
    /// unless more was pushed than there was.
    asked: Option<(Instant, Duration, SequenceNumber)>,
    /// Since when it owes an answer, if it was asked for one.
    owes_since: Option<Instant>,
    /// It stopped progressing and no longer holds back history.
    pub(super) given_up: bool,
    pub(super) progressed_at: Instant,
    pub(super) heard_at: Instant,
    repaired: BTreeMap<SequenceNumber, Instant>,
    /// What became of the fragments sent to it.
    pub(super) fates: Fates,
    /// How fast they may leave.
    pub(super) pace: Pace,
    last_acknack: Option<Count>,
    last_nack_frag: Option<Count>,
}

impl ReaderProxy {
    pub(super) fn new(
        now: Instant,
        info: MatchedReader,
        first_relevant: SequenceNumber,
        pace: Pace,
    ) -> Self {
        let fates = Fates::new(info.is_prompt());
        Self {
            info,
            form: Form::Plain,
            apart: false,
            first_relevant,
            new_since: SequenceNumber::ZERO,
            acked: first_relevant.previous(),
            behind: false,
            in_process: false,
            aside: false,
            confirmed: false,
            requests: BTreeMap::new(),
            repair_at: None,
            heartbeat_due: true,
            asked: None,
            owes_since: None,
            given_up: false,
            progressed_at: now,
            heard_at: now,
            repaired: BTreeMap::new(),
            fates,
            pace,
            last_acknack: None,
            last_nack_frag: None,
        }
    }

    /// When its requests may be served.
    pub(super) fn due(&self) -> Option<Deadline> {
        self.repair_at.map(|at| (at, Reason::Repair))
    }

    /// Counts it again, where it had been given up and has what all others have: one that answers
    /// but takes nothing must not hold everybody back again. True where it does.
    pub(super) fn resume(&mut self, now: Instant, caught_up: SequenceNumber) -> bool {
        let resumes = self.given_up && self.acked >= caught_up;
        if resumes {
            self.given_up = false;
            self.progressed_at = now;
        }
        resumes
    }

    /// True when history must be kept for this reader.
    pub(super) fn holds_history(&self) -> bool {
        self.info.reliable && !self.given_up
    }

    /// True when the reader has not yet acknowledged everything up to `last`, has never answered
    /// at all or asks for what is none of its own.
    pub(super) fn wants_heartbeat(&self, last: SequenceNumber) -> bool {
        self.info.reliable && (self.acked < last || self.behind || !self.confirmed)
    }

    /// True when it was not asked for an answer about all that was `pushed` too lately to be
    /// asked again.
    pub(super) fn may_be_asked(&self, now: Instant, pushed: SequenceNumber) -> bool {
        self.asked
            .is_none_or(|(at, wait, last)| last < pushed || now.since(at) >= wait)
    }

    /// When it may be asked again for what it was asked for.
    pub(super) fn asked_again_at(&self) -> Option<Instant> {
        self.asked.map(|(at, wait, _)| at.after(wait))
    }

    /// Notes that it is asked for an answer about all that was `pushed`: the wait for that, at
    /// first twice the first of `periods`, doubles up to the second.
    pub(super) fn note_asked(
        &mut self,
        now: Instant,
        pushed: SequenceNumber,
        periods: (Duration, Duration),
    ) {
        let before = self.asked.filter(|(_, _, last)| *last >= pushed);
        let before = before.map_or(periods.0, |(_, wait, _)| wait.max(periods.0));
        self.asked = Some((now, before.times(2).min(periods.1), pushed));
    }

    /// Notes that an answer may come to what was sent to it alone at `now`.
    pub(super) fn expect_answer(&mut self, now: Instant) {
        self.owes_since.get_or_insert(now);
    }

    /// It has moved: the next answer is asked for as the first. Gives back how long this one took.
    pub(super) fn note_moved(&mut self, now: Instant) -> Option<Duration> {
        self.asked = None;
        self.owes_since.take().map(|since| now.since(since))
    }

    /// False when an acknowledgement with this count was seen before. RTPS 2.5 §8.3.8.1.
    pub(super) fn accept_acknack(&mut self, count: Count) -> bool {
        accept(&mut self.last_acknack, count)
    }

    /// False when a fragment request with this count was seen before. RTPS 2.5 §8.3.8.10.
    pub(super) fn accept_nack_frag(&mut self, count: Count) -> bool {
        accept(&mut self.last_nack_frag, count)
    }

    /// Notes that everything before `base` is acknowledged; true when that is news.
    ///
    /// A reader that goes back has begun anew, because it took this writer for lost while the
    /// writer heard it all the time: what it had is to be served again.
    pub(super) fn acknowledge(&mut self, now: Instant, base: SequenceNumber) -> bool {
        self.behind = base < self.first_relevant;
        let acked = base.max(self.first_relevant).previous();
        if acked <= self.acked {
            self.acked = acked;
            return false;
        }
        self.acked = acked;
        self.progressed_at = now;
        self.requests = self.requests.split_off(&base);
        self.repaired = self.repaired.split_off(&base);
        true
    }

    /// True when `sequence` was repaired for this reader less than `within` ago.
    fn just_repaired(&self, now: Instant, sequence: SequenceNumber, within: Duration) -> bool {
        self.repaired
            .get(&sequence)
            .is_some_and(|at| now.since(*at) < within)
    }

    /// It has answered and has everything in `first..base`, fragments of `fragment_bytes`: more may
    /// leave.
    pub(super) fn note_answer(
        &mut self,
        now: Instant,
        (first, base): (SequenceNumber, SequenceNumber),
        pushes: &Pushes,
        fragment_bytes: u64,
    ) {
        let settled = self.fates.acknowledged(now, (first, base), pushes);
        self.pace.settle(now, settled, fragment_bytes);
        if base > pushes.last() && self.requests.is_empty() {
            self.pace.hear_all(now);
        }
        let patience = self.fates.patience(QUESTION_PATIENCE);
        let heard = self.fates.heard_order();
        if self.pace.answered(now, heard, patience) && self.repair_at.is_some() {
            // Repairs that waited for the pace go on at once.
            self.repair_at = Some(now);
        }
    }

    /// Queues what an acknowledgement asks for of what was `pushed`, but nothing that was repaired
    /// less than `within` ago. Whether it asked for anything, and how much was left out for that.
    pub(super) fn request(
        &mut self,
        now: Instant,
        wanted: &SequenceNumberSet,
        pushed: SequenceNumber,
        within: Duration,
    ) -> (bool, u64) {
        let (mut asked, mut suppressed) = (false, 0u64);
        for sequence in wanted.iter() {
            // What has not left completely is on its way anyway.
            if !self.may_ask_for(sequence) || sequence > pushed {
                continue;
            }
            asked = true;
            if self.just_repaired(now, sequence, within) {
                suppressed = suppressed.saturating_add(1);
            } else {
                self.request_whole(sequence);
            }
        }
        (asked, suppressed)
    }

    /// True when a request for `sequence` needs an answer: it is not acknowledged, or the reader
    /// has met data from before its match by chance and must hear that the rest is not for it.
    pub(super) fn may_ask_for(&self, sequence: SequenceNumber) -> bool {
        sequence > self.acked || sequence < self.first_relevant
    }

    /// Notes that `sequence` was repaired.
    pub(super) fn note_repaired(&mut self, now: Instant, sequence: SequenceNumber) {
        while self.repaired.len() >= REQUESTED_CHANGES_MAX {
            self.repaired.pop_first();
        }
        self.repaired.insert(sequence, now);
    }

    /// Queues `sequence` whole.
    pub(super) fn request_whole(&mut self, sequence: SequenceNumber) {
        let known = self.requests.contains_key(&sequence);
        if !known && self.requests.len() < REQUESTED_CHANGES_MAX {
            self.requests.insert(sequence, Request::WHOLE);
        }
    }

    /// Serves what is requested from the start: it is divided differently now.
    pub(super) fn restart_requests(&mut self) {
        self.fates.clear();
        for request in self.requests.values_mut() {
            *request = Request::WHOLE;
        }
    }

    /// Queues one fragment of `sequence`; true when it was not queued before.
    pub(super) fn request_fragment(
        &mut self,
        sequence: SequenceNumber,
        number: FragmentNumber,
    ) -> bool {
        if self.requests.len() >= REQUESTED_CHANGES_MAX && !self.requests.contains_key(&sequence) {
            return false;
        }
        let request = self
            .requests
            .entry(sequence)
            .or_insert_with(|| Request::Fragments(BTreeSet::new()));
        match request {
            Request::Fragments(wanted) if wanted.len() < REQUESTED_FRAGMENTS_MAX => {
                wanted.insert(number)
            }
            _ => false,
        }
    }
}

fn accept(last: &mut Option<Count>, count: Count) -> bool {
    if last.is_some_and(|last| !count.is_news_after(last)) {
        return false;
    }
    *last = Some(count);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use whimbrel_base::guid::Guid;
    use whimbrel_base::vendor::VendorId;

    #[test]
    fn a_reader_that_begins_anew_is_served_again_but_not_from_before_its_match() {
        let info = MatchedReader {
            group: None,
            receive_buffer_bytes: 0,
            packed_messages: whimbrel_base::qos::CompressionIds::NONE,
            packed: false,
            batches: false,
            guid: Guid::UNKNOWN,
            reliable: true,
            durable: true,
            expects_inline_qos: false,
            locators: vec![],
            message_bytes_max: 1472,
            vendor: VendorId::WHIMBREL,
        };
        let mut reader =
            ReaderProxy::new(Instant(1), info, SequenceNumber(4), Pace::new(1, 1, true));
        assert!(reader.acknowledge(Instant(1), SequenceNumber(10)));
        reader.confirmed = true;
        assert!(!reader.wants_heartbeat(SequenceNumber(9)));
        assert!(!reader.may_ask_for(SequenceNumber(5)));
        assert!(!reader.acknowledge(Instant(2), SequenceNumber(1)));
        assert_eq!(reader.acked, SequenceNumber(3));
        assert!(reader.wants_heartbeat(SequenceNumber(9)));
        assert!(reader.may_ask_for(SequenceNumber(5)));
    }

    #[test]
    fn a_reader_from_before_its_match_hears_where_its_data_begins_until_it_knows() {
        let info = MatchedReader {
            group: None,
            receive_buffer_bytes: 0,
            packed_messages: whimbrel_base::qos::CompressionIds::NONE,
            packed: false,
            batches: false,
            guid: Guid::UNKNOWN,
            reliable: true,
            durable: false,
            expects_inline_qos: false,
            locators: vec![],
            message_bytes_max: 1472,
            vendor: VendorId::WHIMBREL,
        };
        let mut reader =
            ReaderProxy::new(Instant(1), info, SequenceNumber(4), Pace::new(1, 1, true));
        reader.confirmed = true;
        assert!(!reader.acknowledge(Instant(1), SequenceNumber(1)));
        assert!(reader.wants_heartbeat(SequenceNumber(3)));
        assert!(!reader.acknowledge(Instant(2), SequenceNumber(4)));
        assert!(!reader.wants_heartbeat(SequenceNumber(3)));
    }
}
