//! What a reader knows about one matched writer. RTPS 2.5 §8.4.10.4.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use whimbrel_base::budget::Account;
use whimbrel_base::ranges::RangeSet;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::number_set::{FragmentNumberSet, SequenceNumberSet};
use whimbrel_wire::submessage::Heartbeat;

use super::assembly::Assembly;
use super::config::ReaderConfig;
use super::line::{BatchLine, Line, Waiting};
use crate::deadline::{Deadline, Reason, earlier};
use crate::peer::MatchedWriter;

/// How many separate ranges of numbers a gap may leave behind before further ones are refused.
const GONE_RANGES_MAX: usize = 1024;

/// What a change takes that waits for an earlier one, beside its payload, in octets.
pub(super) const WAITING_BYTES: usize = 192;

/// What a change takes at most beside its payload, wherever it goes, in octets.
pub(super) const ARRIVAL_BYTES: usize = 512;

/// Numbers looked at for one acknowledgement.
const REQUEST_SPAN: u64 = 256;

/// By what a request is known again: the first change missing and the first fragment missing of
/// those that have arrived in part.
pub(super) type Request = (SequenceNumber, Option<(SequenceNumber, FragmentNumber)>);

/// State of one matched writer.
#[derive(Debug)]
pub(super) struct WriterProxy {
    pub(super) info: MatchedWriter,
    /// What `waiting` and `assemblies` hold.
    pub(super) account: Account,
    /// Some of its data found no room in the budget.
    pub(super) refused: bool,
    /// Everything before this is delivered, lost or does not concern this reader. `None` until
    /// the writer has said where its data starts.
    pub(super) expected: Option<SequenceNumber>,
    /// Arrived, but something before them has not.
    pub(super) waiting: BTreeMap<SequenceNumber, Waiting>,
    /// Octets in `waiting` beside the places.
    pub(super) waiting_bytes: usize,
    /// Numbers that do not concern this reader.
    pub(super) gone: RangeSet,
    pub(super) assemblies: BTreeMap<SequenceNumber, Assembly>,
    pub(super) line: Line,
    pub(super) batch_line: BatchLine,
    /// A best-effort writer was heard before.
    pub(super) contacted: bool,
    /// The greatest number the writer has announced.
    pub(super) last: SequenceNumber,
    /// The greatest number announced when the writer was first heard: history ends here.
    pub(super) history_ends: Option<SequenceNumber>,
    last_heartbeat: Option<Count>,
    /// When that heartbeat arrived.
    heartbeat_at: Instant,
    last_heartbeat_frag: Option<Count>,
    /// When the next answer is due.
    pub(super) answer_at: Option<Instant>,
    /// Nothing was heard yet: when to ask (again) for a heartbeat.
    pub(super) ask_at: Option<Instant>,
    /// A question of a writer that nothing is acknowledged to: when it came, one past what it has
    /// sent, its count.
    pub(super) echo: Option<(Instant, SequenceNumber, Count)>,
    /// When it was matched, until it is heard.
    pub(super) matched_at: Option<Instant>,
    pub(super) asked: u32,
    /// The request last sent, not to be repeated too soon.
    pub(super) requested: Option<(Instant, Request)>,
    /// How often that request has been repeated.
    pub(super) repeated: u32,
    /// The writer waits for an answer whatever is missing.
    pub(super) must_answer: bool,
}

impl WriterProxy {
    pub(super) fn new(info: MatchedWriter, account: Account) -> Self {
        Self {
            info,
            account,
            refused: false,
            expected: None,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            gone: RangeSet::default(),
            assemblies: BTreeMap::new(),
            line: Line::Unknown,
            batch_line: BatchLine::default(),
            contacted: false,
            last: SequenceNumber::ZERO,
            history_ends: None,
            last_heartbeat: None,
            heartbeat_at: Instant::ZERO,
            last_heartbeat_frag: None,
            answer_at: None,
            ask_at: None,
            echo: None,
            matched_at: None,
            asked: 0,
            requested: None,
            repeated: 0,
            must_answer: false,
        }
    }

    /// False where the writer has numbered the other by now.
    pub(super) fn numbers(&mut self, line: Line) -> bool {
        if self.line == Line::Unknown {
            self.line = line;
        }
        self.line == line
    }

    /// The number for which everything waits.
    pub(super) fn awaited(&self) -> Option<SequenceNumber> {
        let expected = self.expected?;
        if self.gone.is_empty() {
            return Some(expected);
        }
        Some(SequenceNumber(self.gone.first_missing(expected.0)))
    }

    /// True when `sequence`, of so many octets, could be kept until it is its turn.
    pub(super) fn has_place(
        &self,
        sequence: SequenceNumber,
        bytes: usize,
        config: &ReaderConfig,
    ) -> bool {
        let bytes = self.waiting_bytes.saturating_add(bytes);
        let room = self.waiting.len() < config.reorder_samples_max
            && (bytes <= config.reorder_bytes_max || self.waiting.is_empty());
        room || self.awaited() == Some(sequence)
    }

    /// Gives up what came before its turn, the latest first, until `bytes` octets of `sequence`
    /// fit the budget.
    pub(super) fn give_way(&mut self, sequence: SequenceNumber, bytes: usize) {
        while !self.account.has_room(bytes) {
            if let Some(last) = self.waiting.last_entry() {
                let payload = last.remove().bytes();
                self.waiting_bytes = self.waiting_bytes.saturating_sub(payload);
            } else if let Some(last) = self.assemblies.last_entry()
                && *last.key() != sequence
            {
                last.remove();
            } else {
                return;
            }
            self.settle();
        }
    }

    /// Counts what is held now.
    pub(super) fn settle(&mut self) {
        let waiting = self.waiting.len().saturating_mul(WAITING_BYTES);
        let assemblies = self.assemblies.values().map(Assembly::memory_bytes);
        let start = self.waiting_bytes.saturating_add(waiting);
        self.account
            .set(assemblies.fold(start, usize::saturating_add));
    }

    /// When the reader has next something to do for this writer, and what.
    pub(super) fn due(&self, config: &ReaderConfig) -> Option<Deadline> {
        let echo = self.echo.map(|(at, ..)| at);
        let answer = [self.answer_at, self.ask_at, echo]
            .into_iter()
            .flatten()
            .min();
        let next = answer.map(|at| (at, Reason::Acknowledge));
        if self.info.reliable && config.reliable {
            return next;
        }
        let assemblies = self.assemblies.values();
        let stale = assemblies
            .map(|assembly| assembly.arrived_at.after(config.reassembly_patience))
            .min();
        earlier(next, stale.map(|at| (at, Reason::Reassembly)))
    }

    /// False when a heartbeat with this count was seen before. RTPS 2.5 §8.3.8.6.
    pub(super) fn accept_heartbeat(&mut self, now: Instant, count: Count) -> bool {
        let news = self
            .last_heartbeat
            .is_none_or(|last| count.is_news_after(last));
        if news {
            self.last_heartbeat = Some(count);
            self.heartbeat_at = now;
        }
        news
    }

    /// True when the writer says less than it has said, `quiet` or longer after it was heard last.
    pub(super) fn runs_back(&self, now: Instant, heartbeat: &Heartbeat, quiet: Duration) -> bool {
        let Some(last) = self.last_heartbeat else {
            return false;
        };
        let less = !heartbeat.count.is_news_after(last) || heartbeat.last < self.last;
        less && now.since(self.heartbeat_at) >= quiet
    }

    /// False when a fragment heartbeat with this count was seen before. RTPS 2.5 §8.3.8.7.
    pub(super) fn accept_heartbeat_frag(&mut self, count: Count) -> bool {
        let news = self
            .last_heartbeat_frag
            .is_none_or(|last| count.is_news_after(last));
        if news {
            self.last_heartbeat_frag = Some(count);
        }
        news
    }

    /// True when `sequence` has arrived or does not matter any more.
    pub(super) fn has(&self, sequence: SequenceNumber) -> bool {
        self.expected.is_some_and(|expected| sequence < expected)
            || self.waiting.contains_key(&sequence)
            || self.gone.contains(sequence.0)
    }

    /// Lets go of half-received samples until there is room for `sequence` among `samples_max`.
    pub(super) fn make_assembly_room(
        &mut self,
        sequence: SequenceNumber,
        reliable: bool,
        samples_max: usize,
    ) -> Result<(), Reject> {
        while self.assemblies.len() >= samples_max {
            // Reliable samples are needed in order, best-effort ones only while fresh.
            let first = self.assemblies.keys().next().copied();
            let last = self.assemblies.keys().next_back().copied();
            let victim = if reliable {
                last.filter(|last| *last > sequence)
            } else {
                first
            };
            let victim = victim.ok_or(Reject::new(RejectKind::Limit, 0))?;
            self.assemblies.remove(&victim);
        }
        Ok(())
    }

    /// Notes that these fragments were asked for.
    pub(super) fn asked_for(&mut self, fragments: &[(SequenceNumber, FragmentNumberSet)]) {
        let mut sequences: Vec<_> = fragments.iter().map(|(sequence, _)| sequence).collect();
        sequences.dedup();
        for sequence in sequences {
            if let Some(assembly) = self.assemblies.get_mut(sequence) {
                assembly.asked();
            }
        }
    }

    /// Notes that `start..end` does not concern this reader; false when too many separate ranges
    /// are remembered already.
    pub(super) fn leave_out(&mut self, start: SequenceNumber, end: SequenceNumber) -> bool {
        let start = self.expected.map_or(start, |expected| start.max(expected));
        if start >= end {
            return true;
        }
        if self.gone.range_count() >= GONE_RANGES_MAX {
            return false;
        }
        self.gone.insert(start.0, end.0);
        while let Some(sequence) = self
            .assemblies
            .range(start..end)
            .next()
            .map(|(sequence, _)| *sequence)
        {
            self.assemblies.remove(&sequence);
        }
        true
    }

    /// Moves the start up to `first`, because the writer no longer has anything earlier. Returns
    /// how many changes are lost by that.
    pub(super) fn advance_to(&mut self, first: SequenceNumber) -> u64 {
        let Some(expected) = self.expected else {
            return 0;
        };
        let mut lost = 0u64;
        let mut at = expected;
        // Each step passes a whole range or one arrived change, so this ends soon.
        while at < first {
            if let Some(end) = self.gone.end_of(at.0) {
                at = SequenceNumber(end);
            } else if self.waiting.contains_key(&at) {
                at = at.next();
            } else {
                let next_waiting = self
                    .waiting
                    .range(at..)
                    .next()
                    .map(|(sequence, _)| *sequence);
                let next_gone = SequenceNumber(self.next_gone(at, first));
                let stop = next_waiting.unwrap_or(first).min(next_gone).min(first);
                lost = lost.saturating_add(stop.since(at));
                self.gone.insert(at.0, stop.0);
                at = stop;
            }
        }
        self.forget_parts_before(first);
        lost
    }

    /// Drops half-received samples before `first`; their room is used again.
    pub(super) fn forget_parts_before(&mut self, first: SequenceNumber) {
        while let Some(earliest) = self.assemblies.first_entry()
            && *earliest.key() < first
        {
            earliest.remove();
        }
    }

    /// Notes where this reader's data starts and drops fragments from before.
    pub(super) fn start_at(&mut self, start: SequenceNumber) {
        self.expected = Some(start);
        self.forget_parts_before(start);
        self.gone.forget_below(start.0);
    }

    fn next_gone(&self, at: SequenceNumber, first: SequenceNumber) -> i64 {
        self.gone.next_start(at.0).unwrap_or(first.0)
    }

    /// True when `sequence` is the next in order, nothing else waits for its turn, and its history
    /// has arrived.
    pub(super) fn is_next(&self, sequence: SequenceNumber) -> bool {
        self.expected == Some(sequence) && self.waiting.is_empty() && self.has_history()
    }

    /// The next change in order, if it has arrived; passes over numbers that do not matter.
    pub(super) fn next_in_order(&mut self) -> Option<SequenceNumber> {
        let expected = self.expected?;
        let at = SequenceNumber(self.gone.first_missing(expected.0));
        if at != expected {
            self.expected = Some(at);
            self.gone.forget_below(at.0);
        }
        self.waiting.contains_key(&at).then_some(at)
    }

    /// Notes that `sequence`, the next in order, was delivered.
    pub(super) fn delivered(&mut self, sequence: SequenceNumber) {
        if let Some(arrived) = self.waiting.remove(&sequence) {
            self.waiting_bytes = self.waiting_bytes.saturating_sub(arrived.bytes());
        }
        let next = sequence.next();
        self.expected = Some(next);
        self.gone.forget_below(next.0);
    }

    /// Which changes to ask for: those announced that have not arrived, even in part.
    pub(super) fn missing(&self) -> SequenceNumberSet {
        let base = self.expected.unwrap_or(SequenceNumber::FIRST);
        let mut set = SequenceNumberSet::new(base);
        let end = self.last.next().min(base.plus(REQUEST_SPAN));
        let mut at = base;
        while at < end {
            if let Some(gone_end) = self.gone.end_of(at.0) {
                at = SequenceNumber(gone_end);
                continue;
            }
            if !self.waiting.contains_key(&at) && !self.assemblies.contains_key(&at) {
                set.insert(at);
            }
            at = at.next();
        }
        set
    }

    /// True when everything announced so far has arrived or does not matter.
    pub(super) fn is_complete(&self) -> bool {
        self.expected.is_some_and(|expected| expected > self.last)
    }

    /// True when all history announced at first contact has been delivered.
    pub(super) fn has_history(&self) -> bool {
        match (self.expected, self.history_ends) {
            (Some(expected), Some(ends)) => expected > ends,
            _ => !self.info.reliable,
        }
    }
}
