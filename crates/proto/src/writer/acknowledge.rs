//! What readers answer: acknowledgements, requests, and silence.

use alloc::vec::Vec;

use whimbrel_base::guid::Guid;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::submessage::{AckNack, NackFrag};

use super::change::Form;
use super::fates::FragmentRequest;
use super::reader_proxy::ReaderProxy;
use super::{Writer, WriterEvent};
use crate::change::ChangeKind;
use crate::deadline::{Deadline, Reason, earlier};

impl Writer {
    /// An ACKNACK of the reader `from`, said of changes. RTPS 2.5 §8.4.9.2, §8.3.8.1.
    ///
    /// # Errors
    /// Refuses strangers, repeated counts and numbers never written.
    pub(super) fn handle_changes_acknack(
        &mut self,
        now: Instant,
        from: Guid,
        acknack: &AckNack,
    ) -> Result<(), Reject> {
        let last = self.history.last();
        let base = acknack.state.base();
        let fragment_bytes = u64::from(self.fragment_bytes(ChangeKind::Alive));
        let delay = self.config.nack_response_delay;
        let pushed = self.pushed;
        let caught_up = self.acked;
        let reader = self
            .readers
            .get_mut(&from)
            .ok_or(Reject::new(RejectKind::Stranger, 0))?;
        if base > last.next() {
            return Err(Reject::new(RejectKind::SequenceNumber, 0));
        }
        if !reader.info.reliable || !reader.accept_acknack(acknack.count) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        self.statistics.acknacks = self.statistics.acknacks.saturating_add(1);
        reader.heard_at = now;
        let is_first = !core::mem::replace(&mut reader.confirmed, true);
        if is_first {
            self.reported.push_back(WriterEvent::ReaderConfirmed(from));
        }
        let had = reader.acked.next();
        let base = reader.base_of(base, self.config.durable);
        let news = reader.acknowledge(now, base);
        reader.note_answer(now, (had, base), &self.pushes, fragment_bytes);
        let suppression = reader.fates.patience(self.config.nack_suppression);
        let resumed = reader.resume(now, caught_up);
        if resumed {
            self.reported.push_back(WriterEvent::ReaderResumed(from));
        }
        let (asked, suppressed) = reader.request(now, &acknack.state, pushed, suppression);
        self.statistics.count_suppressed(suppressed);
        if news || asked {
            let waited = reader.note_moved(now);
            waited.into_iter().for_each(|span| self.patience.note(span));
        }
        if !reader.requests.is_empty() && reader.repair_at.is_none() {
            reader.repair_at = Some(now.after(delay));
        }
        // What left before that could not ask along, and no repair is to follow.
        let is_to_be_asked = is_first && self.config.asks_along && reader.acked < pushed;
        let is_to_be_asked = is_to_be_asked && reader.requests.is_empty();
        // A reader that leaves the final flag clear wants to hear of this writer's state.
        let is_to_hear = is_to_be_asked || (!acknack.is_final && !asked);
        if is_to_hear && !core::mem::replace(&mut reader.heartbeat_due, true) {
            self.heartbeats_due.push(from);
        }
        self.repairs.touch(from);
        self.heartbeat.reconsider = true;
        self.call_in(from);
        if resumed {
            self.survey();
        }
        if news {
            // Also a late joiner's progress is somebody's news, though history moves on for all.
            self.progress = true;
            self.update_acknowledged();
        }
        if news || asked {
            self.hurry_heartbeat(now);
        }
        Ok(())
    }

    /// A NACK_FRAG of the reader `from`. RTPS 2.5 §8.3.8.10.
    ///
    /// # Errors
    /// Refuses strangers, repeated counts and changes never written.
    pub fn handle_nack_frag(
        &mut self,
        now: Instant,
        from: Guid,
        nack: &NackFrag,
    ) -> Result<(), Reject> {
        let last = self.history.last();
        let sequence = nack.number;
        let change = self.history.get(sequence);
        let reader = self.readers.get(&from);
        let (form, apart) = reader.map_or((Form::Plain, false), |it| (it.form, it.apart));
        let fragments = change.map(|it| it.fragments(form));
        let fragment_bytes = change.map_or(0, |change| u64::from(change.fragment_bytes));
        let next = self.push_next.0;
        let in_transit = (sequence > self.pushed && !apart).then_some(next.saturating_sub(1));
        let delay = self.config.nack_response_delay;
        let reader = self
            .readers
            .get_mut(&from)
            .ok_or(Reject::new(RejectKind::Stranger, 0))?;
        if sequence > last {
            return Err(Reject::new(RejectKind::SequenceNumber, 0));
        }
        if !reader.info.reliable || !reader.accept_nack_frag(nack.count) {
            return Err(Reject::new(RejectKind::Duplicate, 0));
        }
        self.statistics.nack_frags = self.statistics.nack_frags.saturating_add(1);
        reader.heard_at = now;
        if !reader.may_ask_for(sequence) {
            return Ok(());
        }
        match fragments {
            // It has fragments of the change in a form in which it is not served any more.
            Some(fragments) if nack.state.base().0 > fragments => reader.request_whole(sequence),
            Some(fragments) if sequence >= reader.first_relevant => {
                let request = FragmentRequest {
                    sequence,
                    wanted: &nack.state,
                    sent_through: in_transit.unwrap_or(fragments),
                    patience_min: self.config.nack_suppression,
                };
                let outcome = reader.fates.requested(now, &request, &self.pushes);
                for number in outcome.lost {
                    reader.request_fragment(sequence, number);
                }
                self.statistics.count_suppressed(outcome.suppressed);
                reader.pace.settle(now, outcome.settled, fragment_bytes);
                // What it asks for is an answer, though its acknowledgement says nothing new.
                let waited = reader.note_moved(now);
                waited.into_iter().for_each(|span| self.patience.note(span));
            }
            // The change is gone or none of the reader's: the repair will say so with a GAP.
            _ => reader.request_whole(sequence),
        }
        if !reader.requests.is_empty() && reader.repair_at.is_none() {
            reader.repair_at = Some(now.after(delay));
        }
        self.repairs.touch(from);
        self.hurry_heartbeat(now);
        Ok(())
    }

    /// What every reader that holds back history has acknowledged, or what it was known to be
    /// where it is no more than that.
    fn everyone_acked(&mut self) -> SequenceNumber {
        let known = self.acked;
        if known >= self.history.last() {
            return known;
        }
        self.laggard = self.somebody(self.laggard, |reader| reader.acked <= known);
        if self.laggard.is_some() {
            return known;
        }
        let acked = self.holding_readers().map(|reader| reader.acked);
        acked.min().unwrap_or(self.pushed)
    }

    /// A reader that holds back history and is `behind`. Of many one is enough, and it mostly
    /// stays the same `witness`.
    fn somebody(
        &self,
        witness: Option<Guid>,
        behind: impl Fn(&ReaderProxy) -> bool,
    ) -> Option<Guid> {
        let holds = |it: &&ReaderProxy| self.config.reliable && it.holds_history() && behind(it);
        let witness = witness.and_then(|guid| self.readers.get(&guid));
        let found = witness.filter(holds);
        let found = found.or_else(|| self.holding_readers().find(|reader| behind(reader)));
        found.map(|reader| reader.info.guid)
    }

    /// Up to here `reader` needs to hear of no instance that ended.
    ///
    /// Where one change of an instance is kept, the one that ends it is in the place of all that
    /// was written of it before: who came later never knew it.
    pub(super) fn ends_known_by(&self, reader: &ReaderProxy) -> SequenceNumber {
        if self.config.depth == Some(1) {
            reader.acked.max(reader.new_since)
        } else {
            reader.acked
        }
    }

    /// Up to here no reader that holds back history needs to hear of instances that ended; what
    /// was known before where that says nothing of the end that comes `first`.
    fn ends_known_through(&mut self, first: SequenceNumber) -> SequenceNumber {
        // Readers of the process may have acknowledged what has not left to others.
        let acked = self.acked.min(self.pushed);
        if first <= acked || !self.audience.holds_history() {
            return acked;
        }
        let unaware = |reader: &ReaderProxy| self.ends_known_by(reader) < first;
        self.unaware = self.somebody(self.unaware, unaware);
        if self.unaware.is_some() {
            return acked;
        }
        let known = self.holding_readers().map(|it| self.ends_known_by(it));
        known.min().unwrap_or(acked).min(self.pushed)
    }

    /// True when some reader owes an answer.
    #[inline(always)]
    fn is_owed(&mut self) -> bool {
        if !self.config.reliable {
            return false;
        }
        let witness = self.debtor.and_then(|guid| self.readers.get(&guid));
        if witness.is_some_and(|reader| self.owes(reader)) {
            return true;
        }
        let debtor = self.readers.values().find(|reader| self.owes(reader));
        self.debtor = debtor.map(|reader| reader.info.guid);
        self.debtor.is_some()
    }

    /// Recomputes what every reader has and lets go of what nobody needs any more.
    pub(super) fn update_acknowledged(&mut self) {
        let last = self.history.last();
        let acked = if self.audience.holds_history() {
            self.everyone_acked()
        } else {
            self.pushed
        };
        let acked = acked.min(last);
        if acked == last {
            self.window.note_all_acknowledged();
        } else if acked > self.acked
            && let Some(change) = self.history.get(acked)
        {
            self.window.note_acknowledged(change.charged_bytes);
        }
        if acked > self.acked {
            self.acked = acked;
            self.progress = true;
        }
        if !self.config.durable {
            self.history.remove_through(self.acked.min(self.pushed));
        }
        self.forget_ended_instances();
    }

    /// Forgets instances that were given up once every reader knows, and of those that were
    /// disposed all but the newest.
    fn forget_ended_instances(&mut self) {
        let kept_max = self.config.disposed_instances_max;
        let Some(first) = self.endings.first_due(kept_max) else {
            return;
        };
        let known = self.ends_known_through(first);
        while let Some((sequence, instance)) = self.endings.next_released(known) {
            if !self.history.is_registered(instance) {
                self.history.remove_instance_through(instance, sequence);
            }
        }
        while let Some((sequence, instance)) = self.endings.next_disposed(known, kept_max) {
            self.history.remove_instance_through(instance, sequence);
            if self.history.is_registered(instance) {
                self.history.unregister(instance);
                self.reported
                    .push_back(WriterEvent::InstanceForgotten(instance));
            }
        }
    }

    /// The first wait for an answer before a heartbeat asks for it.
    pub(super) fn heartbeat_period(&self) -> Duration {
        let each = self.config.heartbeat_period_per_reader;
        if each.is_zero() {
            return self.config.heartbeat_period;
        }
        let crowd = self.config.heartbeat_period.plus(each.times(self.crowd()));
        self.patience.wait(crowd, self.config.heartbeat_period_max)
    }

    /// Number of matched readers.
    pub(super) fn crowd(&self) -> u32 {
        u32::try_from(self.readers.len()).unwrap_or(u32::MAX)
    }

    /// False while nothing was written and nobody is to be told so.
    pub(super) fn has_news(&self) -> bool {
        !self.config.quiet_until_written || self.pushed > SequenceNumber::ZERO
    }

    /// True when `reader` owes an answer.
    pub(super) fn owes(&self, reader: &ReaderProxy) -> bool {
        self.has_news() && reader.wants_heartbeat(self.pushed)
    }

    /// True when readers may as well be asked along with what leaves just now: they are to be
    /// soon, or at once. Who never answered must hear where its own data starts, which only a
    /// question of its own says.
    #[inline(always)]
    pub(super) fn may_ask_along(&self, now: Instant) -> bool {
        let soon = self.asks_along_until(now);
        let is_due = self.heartbeat.next_at.is_some_and(|at| at <= soon);
        (is_due || self.config.asks_along) && self.aside == 0 && self.all_may_be_asked()
    }

    /// Questions that are due by then may as well leave along with what does at `now`.
    #[inline(always)]
    pub(super) fn asks_along_until(&self, now: Instant) -> Instant {
        now.after(self.heartbeat.period.divided_by(ALONG_SHARE))
    }

    #[cold]
    fn all_may_be_asked(&self) -> bool {
        let all_know = |it: &ReaderProxy| it.confirmed && !it.behind;
        self.readers.values().all(all_know) && self.readers.values().any(|it| self.owes(it))
    }

    /// All readers were asked along with new changes, in place of the periodic heartbeat. Where
    /// that is lost they are asked after a period as if for the first time.
    pub(super) fn note_asked_along(&mut self, now: Instant) {
        let (pushed, has_news) = (self.pushed, self.has_news());
        for reader in self.readers.values_mut() {
            if has_news && reader.wants_heartbeat(pushed) {
                reader.expect_answer(now);
            }
        }
        self.lengthen_heartbeat_period(now);
    }

    /// Readers were asked; they get more time to answer before they are asked again.
    pub(super) fn lengthen_heartbeat_period(&mut self, now: Instant) {
        self.heartbeat.reconsider = true;
        let doubled = self.heartbeat.period.times(2);
        self.heartbeat.period = doubled.min(self.config.heartbeat_period_max);
        self.heartbeat.next_at = self.next_question_at(now);
    }

    /// Plans the next periodic heartbeat where somebody owes an answer.
    #[inline(always)]
    pub(super) fn arm_heartbeat(&mut self, now: Instant) {
        if !core::mem::take(&mut self.heartbeat.reconsider) {
            return;
        }
        if !self.is_owed() {
            self.heartbeat.next_at = None;
            self.heartbeat.period = self.heartbeat_period();
        } else if self.heartbeat.next_at.is_none() {
            self.heartbeat.next_at = Some(now.after(self.heartbeat.period));
        }
    }

    /// When to ask next after readers were asked at `now`. The period and the waits of the readers
    /// began at different times: once the period is long, it would much lengthen a wait that is
    /// over soon after `now`, and the first such wait counts.
    pub(super) fn next_question_at(&self, now: Instant) -> Option<Instant> {
        if self.heartbeat.period < self.config.heartbeat_period_max.divided_by(2) {
            return None;
        }
        let owing = self.readers.values().filter(|reader| self.owes(reader));
        let first = owing.filter_map(ReaderProxy::asked_again_at).min()?;
        let soonest = now.after(self.heartbeat_period());
        Some(first.max(soonest).min(now.after(self.heartbeat.period)))
    }

    /// Somebody is listening: starts the heartbeat period over.
    pub(super) fn hurry_heartbeat(&mut self, now: Instant) {
        self.heartbeat.period = self.heartbeat_period();
        let soon = now.after(self.heartbeat.period);
        self.heartbeat.next_at = self.heartbeat.next_at.map(|at| at.min(soon));
        self.arm_heartbeat(now);
    }

    /// When this writer wants to be called again, and why.
    #[inline(always)]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let mut next = self.heartbeat.next_at.map(|at| (at, Reason::Heartbeat));
        next = earlier(next, self.repairs.next(&self.readers, ReaderProxy::due));
        next = earlier(next, self.paced_until.map(|at| (at, Reason::Pace)));
        next = earlier(next, self.held_until.map(|at| (at, Reason::Pace)));
        let bundle = self.bundle.leaves_at;
        next = earlier(next, bundle.map(|at| (at, Reason::Bundle)));
        earlier(next, self.stuck_at())
    }

    /// Acts on deadlines that have passed; [`Writer::poll_transmit`] then sends what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.end_waiting(now);
        if self.stuck_at().is_some_and(|(at, _)| at <= now) {
            self.give_up_stuck_readers(now);
        }
    }

    fn patience_ends(&self, reader: &ReaderProxy, blocked_since: Instant) -> Instant {
        let silent = reader
            .heard_at
            .max(blocked_since)
            .after(self.config.silent_reader_patience);
        let stuck = reader
            .progressed_at
            .max(blocked_since)
            .after(self.config.stuck_reader_patience);
        silent.min(stuck)
    }

    #[inline(always)]
    fn stuck_at(&self) -> Option<Deadline> {
        let since = self.blocked_since?;
        self.holding_readers()
            .filter(|reader| reader.acked < self.pushed)
            .map(|reader| (self.patience_ends(reader, since), Reason::StuckReader))
            .min()
    }

    fn give_up_stuck_readers(&mut self, now: Instant) {
        let Some(since) = self.blocked_since else {
            return;
        };
        let stuck: Vec<Guid> = self
            .holding_readers()
            .filter(|reader| reader.acked < self.pushed)
            .filter(|reader| self.patience_ends(reader, since) <= now)
            .map(|reader| reader.info.guid)
            .collect();
        for guid in stuck {
            if let Some(reader) = self.readers.get_mut(&guid) {
                reader.given_up = true;
                reader.requests.clear();
                reader.repair_at = None;
                self.repairs.touch(guid);
                self.statistics.given_up = self.statistics.given_up.saturating_add(1);
                self.reported.push_back(WriterEvent::ReaderGivenUp(guid));
            }
        }
        self.survey();
        self.update_acknowledged();
        self.progress = true;
    }
}

/// After how many changes readers are asked to acknowledge by a writer with room for `samples_max`,
/// so that it does not run into its limit: bundles are not to be answered one by one.
pub(super) fn ask_every(samples_max: usize) -> u32 {
    let half = samples_max.wrapping_div(2).clamp(1, 32);
    let share = samples_max.wrapping_div(8).min(256);
    u32::try_from(half.max(share)).unwrap_or(u32::MAX)
}

/// Readers are asked along with new changes where so small a share of the period is left.
const ALONG_SHARE: u32 = 16;

/// Shortest time between two piggybacked heartbeats on a busy writer.
pub(super) const PIGGYBACK_PERIOD: Duration = Duration::from_millis(1);

/// Most changes pushed between two piggybacked heartbeats.
pub(super) const PIGGYBACK_CHANGES: u32 = 16;
