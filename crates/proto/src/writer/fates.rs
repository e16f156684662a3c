//! What became of the fragments that were sent to one reader.
//!
//! A reader that asks for a fragment may not know that it is on its way. It is lost when something
//! that left later has arrived, or when an answer takes much longer than answers do.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::hint::cold_path;

use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Instant};
use whimbrel_wire::number_set::FragmentNumberSet;

use super::pace::Settled;

/// How many changes may have noted which of their fragments were sent again.
const CHANGES_MAX: usize = 16;

/// How many fragments of a change may be noted as sent again.
const FRAGMENTS_MAX: usize = 4096;

/// How many bursts of fragments are remembered.
const BURSTS_MAX: usize = 256;

/// However long answers took, what was sent this long ago and is asked for is lost.
const PATIENCE_MAX: Duration = Duration::from_millis(500);

/// How many fragments a writer had sent before one, and when that left. What left at one time
/// arrives one after the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Departure {
    order: u64,
    at: Instant,
}

/// Fragments of one change that first left together.
#[derive(Clone, Copy, Debug)]
struct Burst {
    sequence: SequenceNumber,
    first: FragmentNumber,
    last: FragmentNumber,
    departure: Departure,
}

impl Burst {
    fn departure_of(&self, number: FragmentNumber) -> Departure {
        let later = u64::from(number.0.saturating_sub(self.first.0));
        Departure {
            order: self.departure.order.saturating_add(later),
            ..self.departure
        }
    }
}

/// When the fragments of large changes first left, to all readers.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    bursts: VecDeque<Burst>,
    /// Fragments sent by the writer, to whomever.
    sent: u64,
}

impl Pushes {
    /// The fragments `first..=last` of `sequence` have left.
    pub(super) fn note(
        &mut self,
        at: Instant,
        sequence: SequenceNumber,
        (first, last): (FragmentNumber, FragmentNumber),
    ) {
        let starts_again = |it: &Burst| (it.sequence, it.last) >= (sequence, first);
        while self.bursts.back().is_some_and(starts_again) {
            self.bursts.pop_back();
        }
        if self.bursts.len() >= BURSTS_MAX {
            self.bursts.pop_front();
        }
        let count = last.0.saturating_sub(first.0).saturating_add(1);
        let departure = self.depart(at, u64::from(count));
        self.bursts.push_back(Burst {
            sequence,
            first,
            last,
            departure,
        });
    }

    /// So many fragments leave; the departure of the first of them.
    fn depart(&mut self, at: Instant, count: u64) -> Departure {
        let order = self.sent;
        self.sent = self.sent.saturating_add(count);
        Departure { order, at }
    }

    /// Fragments that have left, to whomever.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// The newest change that left in fragments.
    pub(super) fn last(&self) -> SequenceNumber {
        if self.bursts.is_empty() {
            return SequenceNumber::ZERO;
        }
        cold_path();
        let newest = self.bursts.back();
        newest.map_or(SequenceNumber::ZERO, |it| it.sequence)
    }

    /// When a fragment left; before all others where that is not remembered.
    fn departure_of(&self, sequence: SequenceNumber, number: FragmentNumber) -> Departure {
        let after = |it: &&Burst| (it.sequence, it.first) > (sequence, number);
        let burst = self.bursts.iter().rev().find(|it| !after(it));
        let known = burst.filter(|it| it.sequence == sequence && it.last >= number);
        known.map_or(Departure::default(), |it| it.departure_of(number))
    }

    /// What left of the changes from `first` on, before `end`.
    fn of(&self, first: SequenceNumber, end: SequenceNumber) -> impl Iterator<Item = &Burst> {
        let newest_first = self.bursts.iter().rev();
        let within = newest_first.skip_while(move |it| it.sequence >= end);
        within.take_while(move |it| it.sequence >= first)
    }
}

/// One large change on its way to the reader.
#[derive(Debug, Default)]
struct OnTheWay {
    /// It is known what became of the first sending of the fragments up to here.
    settled: u32,
    /// Fragments sent again of which nothing is known yet.
    again: BTreeMap<FragmentNumber, Departure>,
    /// When the reader asked last, and the last fragment that request spoke of.
    asked: (Instant, FragmentNumber),
}

impl OnTheWay {
    /// Up to which fragment a request from `base` on says nothing that the one before has not
    /// said: an answer has one for each span.
    fn spoken_of(&self, now: Instant, base: FragmentNumber) -> u32 {
        let (at, last) = self.asked;
        if at == now && last < base { last.0 } else { 0 }
    }
}

/// A request of the reader for fragments, and what is known of the change.
pub(super) struct FragmentRequest<'a> {
    pub(super) sequence: SequenceNumber,
    pub(super) wanted: &'a FragmentNumberSet,
    /// The last fragment that has left.
    pub(super) sent_through: u32,
    /// Nothing that was sent less than this ago is sent again.
    pub(super) patience_min: Duration,
}

/// What a request for fragments comes to.
#[derive(Default, Debug)]
pub(super) struct Outcome {
    pub(super) settled: Settled,
    /// These are to be sent again.
    pub(super) lost: Vec<FragmentNumber>,
    /// So many are on their way.
    pub(super) suppressed: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Fates {
    changes: BTreeMap<SequenceNumber, OnTheWay>,
    /// When the last of all fragments left of which it is known that they arrived.
    newest: Departure,
    /// How long it takes until the arrival of something is heard of; not known of readers that
    /// wait before they answer, whose answers tell of the moment all the same.
    way: Duration,
    prompt: bool,
}

impl Fates {
    /// Of fragments sent to a reader that is `prompt` to answer or not.
    pub(super) fn new(prompt: bool) -> Self {
        Self {
            prompt,
            ..Self::default()
        }
    }

    /// Fragments of `sequence` were sent to this reader alone.
    pub(super) fn sent_again(
        &mut self,
        now: Instant,
        sequence: SequenceNumber,
        numbers: &[FragmentNumber],
        pushes: &mut Pushes,
    ) {
        let change = self.changes.entry(sequence).or_default();
        let room = FRAGMENTS_MAX.saturating_sub(change.again.len());
        let noted = numbers.iter().take(room);
        for number in noted {
            change.again.insert(*number, pushes.depart(now, 1));
        }
        self.forget_last();
    }

    /// What comes last is served last, and may be noted again then.
    fn forget_last(&mut self) {
        while self.changes.len() > CHANGES_MAX {
            self.changes.pop_last();
        }
    }

    /// All of `sequence` is to be sent to this reader alone.
    pub(super) fn starts_over(&mut self, sequence: SequenceNumber) {
        self.changes.entry(sequence).or_default().settled = u32::MAX;
        self.forget_last();
    }

    /// Numbers of fragments mean something else from now on.
    pub(super) fn clear(&mut self) {
        self.changes.clear();
    }

    /// What became of the fragments that the writer sent before the one of this order is known, as
    /// they arrive in the order in which they leave.
    pub(super) fn heard_order(&self) -> u64 {
        let known = self.newest.at > Instant::ZERO;
        self.newest.order.saturating_add(u64::from(known))
    }

    /// How long nothing is sent again of which nothing has been heard.
    pub(super) fn patience(&self, patience_min: Duration) -> Duration {
        let patience = self.way.times(7).divided_by(4);
        patience.min(PATIENCE_MAX).max(patience_min)
    }

    fn arrived(&mut self, now: Instant, sent: Departure) {
        if sent.at > Instant::ZERO && sent > self.newest {
            self.newest = sent;
            let way = now.since(sent.at).min(PATIENCE_MAX);
            self.approach(way);
        }
    }

    /// As [`Fates::arrived`] for what was sent again. If that is heard sooner than usual, the
    /// fragment was perhaps only late the first time, and says nothing of what left meanwhile.
    fn arrived_again(&mut self, now: Instant, sent: Departure) {
        let way = now.since(sent.at);
        if way >= self.usual() {
            self.arrived(now, sent);
        } else if sent > self.newest {
            self.approach(way);
        }
    }

    fn approach(&mut self, way: Duration) {
        let known = self.way.as_nanos();
        let step = way.as_nanos().saturating_sub(known) / 4;
        self.way = if !self.prompt {
            Duration::ZERO
        } else if self.way.is_zero() {
            way
        } else {
            Duration::from_nanos(known.saturating_add(step))
        };
    }

    /// Whoever asks for something sooner after it left has not seen it.
    fn usual(&self) -> Duration {
        self.way.times(3).divided_by(4)
    }

    /// The reader, which had acknowledged everything before `from`, has now everything before
    /// `end`.
    pub(super) fn acknowledged(
        &mut self,
        now: Instant,
        (from, end): (SequenceNumber, SequenceNumber),
        pushes: &Pushes,
    ) -> Settled {
        let mut settled = Settled::default();
        let mut newest = Departure::default();
        for burst in pushes.of(from, end) {
            let known = self.changes.get(&burst.sequence).map_or(0, |it| it.settled);
            let first = burst.first.0.max(known.saturating_add(1));
            let news = burst.last.0.saturating_add(1).saturating_sub(first);
            settled.arrived = settled.arrived.saturating_add(u64::from(news));
            if news > 0 {
                newest = newest.max(burst.departure_of(burst.last));
            }
        }
        let usual = self.usual();
        let later = self.changes.split_off(&end);
        for change in core::mem::replace(&mut self.changes, later).into_values() {
            for departure in change.again.into_values() {
                settled.arrived = settled.arrived.saturating_add(1);
                // Sooner it was perhaps only late the first time, and is still on its way.
                if now.since(departure.at) >= usual {
                    newest = newest.max(departure);
                }
            }
        }
        // They may have arrived long ago, so this says nothing of the way.
        self.newest = self.newest.max(newest);
        settled
    }

    /// The reader asks for fragments.
    pub(super) fn requested(
        &mut self,
        now: Instant,
        request: &FragmentRequest<'_>,
        pushes: &Pushes,
    ) -> Outcome {
        let sequence = request.sequence;
        let Some(last) = request.wanted.iter().last() else {
            return Outcome::default();
        };
        let mut change = self.changes.remove(&sequence).unwrap_or_default();
        let mut outcome = Outcome::default();
        self.note_arrived_again(now, &mut change, (request, last), &mut outcome.settled);
        self.note_arrived(
            now,
            &mut change,
            (request, last),
            pushes,
            &mut outcome.settled,
        );
        let patience = self.patience(request.patience_min);
        let usual = self.usual();
        for number in request.wanted_now() {
            let again = change.again.get(&number).copied();
            let settled = number.0 <= change.settled && again.is_none();
            let sent = again.unwrap_or_else(|| pushes.departure_of(sequence, number));
            let overtaken = sent < self.newest;
            let patience = if again.is_some() { patience } else { usual };
            if !settled && !overtaken && now.since(sent.at) < patience {
                outcome.suppressed = outcome.suppressed.saturating_add(1);
                continue;
            }
            if !settled {
                outcome.settled.lost = outcome.settled.lost.saturating_add(1);
            }
            if change.again.remove(&number).is_none() {
                change.settled = change.settled.max(number.0);
            }
            outcome.lost.push(number);
        }
        change.asked = (now, last);
        self.changes.insert(sequence, change);
        self.forget_last();
        if !self.changes.contains_key(&sequence) {
            // It would be counted again with the next request.
            outcome.settled = Settled::default();
        }
        outcome
    }

    /// What was sent again and is not asked for any more has arrived.
    fn note_arrived_again(
        &mut self,
        now: Instant,
        change: &mut OnTheWay,
        (request, last): (&FragmentRequest<'_>, FragmentNumber),
        settled: &mut Settled,
    ) {
        let mut newest = Departure::default();
        let base = request.wanted.base();
        let spoken_of = change.spoken_of(now, base);
        change.again.retain(|number, sent| {
            let beside = *number > last || number.0 <= spoken_of;
            let missing = beside || (*number >= base && request.wanted.contains(*number));
            if !missing {
                settled.arrived = settled.arrived.saturating_add(1);
                newest = newest.max(*sent);
            }
            missing
        });
        self.arrived_again(now, newest);
    }

    /// What has left once, before the last that is known to have arrived, has arrived or is lost.
    fn note_arrived(
        &mut self,
        now: Instant,
        change: &mut OnTheWay,
        (request, last): (&FragmentRequest<'_>, FragmentNumber),
        pushes: &Pushes,
        settled: &mut Settled,
    ) {
        let base = request.wanted.base().0;
        let end = last.0.min(request.sent_through.saturating_add(1));
        let there = |number: &u32| {
            let number = FragmentNumber(*number);
            !request.wanted.contains(number) && !change.again.contains_key(&number)
        };
        let lowest = base.max(change.settled.saturating_add(1));
        let within = (lowest..end).rev().find(there);
        let Some(arrived) = within.or_else(|| base.checked_sub(1)) else {
            return;
        };
        let arrived = arrived.min(request.sent_through);
        let spoken_of = change.spoken_of(now, request.wanted.base());
        if arrived <= change.settled.max(spoken_of) {
            return;
        }
        let first = change.settled.saturating_add(1);
        let lost = request
            .wanted_now()
            .filter(|it| it.0 >= first && it.0 <= arrived && !change.again.contains_key(it))
            .count();
        let lost = u64::try_from(lost).unwrap_or(u64::MAX);
        let all = u64::from(arrived.saturating_sub(change.settled));
        settled.lost = settled.lost.saturating_add(lost);
        settled.arrived = settled.arrived.saturating_add(all.saturating_sub(lost));
        change.settled = arrived;
        let number = FragmentNumber(arrived);
        self.arrived(now, pushes.departure_of(request.sequence, number));
    }
}

impl FragmentRequest<'_> {
    /// The fragments asked for that have left.
    fn wanted_now(&self) -> impl Iterator<Item = FragmentNumber> + '_ {
        let through = self.sent_through;
        self.wanted.iter().take_while(move |it| it.0 <= through)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const CHANGE: SequenceNumber = SequenceNumber(7);
    const MIN: Duration = Duration::from_millis(3);

    fn at(ms: u64) -> Instant {
        Instant(1_000_000_000 + ms * 1_000_000)
    }

    fn set(base: u32, numbers: &[u32]) -> FragmentNumberSet {
        let mut set = FragmentNumberSet::new(FragmentNumber(base));
        for number in numbers {
            assert!(set.insert(FragmentNumber(*number)));
        }
        set
    }

    fn pushed(ms: u64, first: u32, last: u32) -> Pushes {
        let mut pushes = Pushes::default();
        pushes.note(
            at(ms),
            CHANGE,
            (FragmentNumber(first), FragmentNumber(last)),
        );
        pushes
    }

    /// What a request for `numbers` leads to: sent again, suppressed, arrived, lost.
    fn ask(
        fates: &mut Fates,
        pushes: &Pushes,
        ms: u64,
        (base, numbers): (u32, &[u32]),
    ) -> (Vec<u32>, u64, u64, u64) {
        let request = FragmentRequest {
            sequence: CHANGE,
            wanted: &set(base, numbers),
            sent_through: 100,
            patience_min: MIN,
        };
        let outcome = fates.requested(at(ms), &request, pushes);
        let lost = outcome.lost.iter().map(|it| it.0).collect();
        let Settled {
            arrived,
            lost: gone,
        } = outcome.settled;
        (lost, outcome.suppressed, arrived, gone)
    }

    #[test]
    fn each_fragment_is_lost_or_arrives_once() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 10);
        let asked = ask(&mut fates, &pushes, 10, (3, &[3, 5]));
        assert_eq!(asked, (vec![3, 5], 0, 3, 2));
        // Asked again before it has left again.
        let asked = ask(&mut fates, &pushes, 11, (3, &[3, 5]));
        assert_eq!(asked, (vec![3, 5], 0, 0, 0));
        fates.sent_again(
            at(12),
            CHANGE,
            &[FragmentNumber(3), FragmentNumber(5)],
            &mut pushes,
        );
        let asked = ask(&mut fates, &pushes, 22, (5, &[5, 8]));
        assert_eq!(asked, (vec![8], 1, 3, 1));
        fates.sent_again(at(23), CHANGE, &[FragmentNumber(8)], &mut pushes);
        // 5, 8, 9 and 10.
        let all = fates.acknowledged(at(30), (CHANGE, CHANGE.next()), &pushes);
        assert_eq!(
            all,
            Settled {
                arrived: 4,
                lost: 0
            }
        );
        assert_eq!(fates.patience(MIN), Duration::from_micros(17_500));
    }

    #[test]
    fn what_is_on_its_way_is_not_sent_again() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 10);
        // A way of 100 ms.
        ask(&mut fates, &pushes, 100, (2, &[2]));
        fates.sent_again(at(100), CHANGE, &[FragmentNumber(2)], &mut pushes);
        let burst = (FragmentNumber(11), FragmentNumber(20));
        pushes.note(at(110), CHANGE, burst);
        let asked = ask(&mut fates, &pushes, 150, (2, &[2, 11, 12]));
        assert_eq!((asked.0, asked.1), (vec![], 3));
        // 15 left later than the others and has arrived.
        let asked = ask(&mut fates, &pushes, 170, (2, &[2, 11, 12, 16]));
        assert_eq!((asked.0, asked.1), (vec![2, 11, 12], 1));
        // Nothing that left later than 16 has arrived, but it is too long ago.
        let asked = ask(&mut fates, &pushes, 320, (16, &[16]));
        assert_eq!((asked.0, asked.1), (vec![16], 0));
    }

    #[test]
    fn what_was_only_late_says_nothing_of_what_was_sent_again_meanwhile() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 10);
        // A way of 40 ms.
        ask(&mut fates, &pushes, 40, (2, &[2, 3, 4]));
        let sent = [2, 3, 4].map(FragmentNumber);
        fates.sent_again(at(41), CHANGE, &sent, &mut pushes);
        // 4 cannot have come so soon.
        let asked = ask(&mut fates, &pushes, 50, (2, &[2, 3, 5]));
        assert_eq!((asked.0, asked.1), (vec![5], 2));
        // 3 can, and left later than 2.
        let asked = ask(&mut fates, &pushes, 80, (2, &[2, 5]));
        assert_eq!((asked.0, asked.1), (vec![2, 5], 0));
    }

    #[test]
    fn what_completes_a_change_may_have_been_late_and_says_nothing_of_the_next() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 10);
        // A way of 40 ms.
        ask(&mut fates, &pushes, 40, (2, &[2]));
        let next = CHANGE.next();
        let burst = (FragmentNumber(1), FragmentNumber(10));
        pushes.note(at(41), next, burst);
        fates.sent_again(at(42), CHANGE, &[FragmentNumber(2)], &mut pushes);
        fates.acknowledged(at(50), (CHANGE, next), &pushes);
        let request = FragmentRequest {
            sequence: next,
            wanted: &set(1, &[1]),
            sent_through: 10,
            patience_min: MIN,
        };
        let outcome = fates.requested(at(51), &request, &pushes);
        assert_eq!((outcome.lost.len(), outcome.suppressed), (0, 1));
    }

    #[test]
    fn who_waits_before_it_answers_is_believed() {
        let mut fates = Fates::new(false);
        let mut pushes = pushed(0, 1, 10);
        // It took 100 ms to say so, which is no news of the way.
        ask(&mut fates, &pushes, 100, (2, &[2, 10]));
        let sent = [2, 10].map(FragmentNumber);
        fates.sent_again(at(100), CHANGE, &sent, &mut pushes);
        let asked = ask(&mut fates, &pushes, 102, (2, &[2, 10]));
        assert_eq!((asked.0, asked.1), (vec![], 2));
        let asked = ask(&mut fates, &pushes, 110, (2, &[2, 10]));
        assert_eq!((asked.0, asked.1), (vec![2, 10], 0));
    }

    #[test]
    fn an_answer_in_several_spans_speaks_once_of_each_fragment() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 100);
        let asked = ask(&mut fates, &pushes, 10, (3, &[3, 5]));
        assert_eq!(asked, (vec![3, 5], 0, 3, 2));
        let asked = ask(&mut fates, &pushes, 10, (40, &[40, 42]));
        assert_eq!(asked, (vec![40, 42], 0, 35, 2));
        let sent = [3, 5, 40, 42].map(FragmentNumber);
        fates.sent_again(at(11), CHANGE, &sent, &mut pushes);
        // 3 is still on its way when the next answer says so in its first span.
        let asked = ask(&mut fates, &pushes, 21, (3, &[3]));
        assert_eq!(asked, (vec![], 1, 0, 0));
        let asked = ask(&mut fates, &pushes, 21, (40, &[40, 50]));
        // 42 left after 40 and has arrived.
        assert_eq!(asked, (vec![40, 50], 0, 9, 2));
        assert!(
            fates.changes[&CHANGE]
                .again
                .contains_key(&FragmentNumber(3))
        );
    }

    #[test]
    fn who_asks_for_what_has_not_left_has_what_it_does_not_ask_for() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 10);
        let mut ask = |ms, pushes: &Pushes, sent_through, wanted: (u32, &[u32])| {
            let request = FragmentRequest {
                sequence: CHANGE,
                wanted: &set(wanted.0, wanted.1),
                sent_through,
                patience_min: MIN,
            };
            let outcome = fates.requested(at(ms), &request, pushes);
            assert_eq!((outcome.lost.len(), outcome.suppressed), (0, 0));
            (outcome.settled, fates.heard_order())
        };
        let arrived = |arrived| Settled { arrived, lost: 0 };
        let asked = ask(20, &pushes, 10, (11, &[11, 12, 13]));
        assert_eq!(asked, (arrived(10), 10));
        let burst = (FragmentNumber(11), FragmentNumber(14));
        pushes.note(at(20), CHANGE, burst);
        let asked = ask(30, &pushes, 14, (12, &[15, 16]));
        assert_eq!(asked, (arrived(4), 14));
        // Further spans of one answer, and the same once more.
        for ms in [30, 40] {
            let asked = ask(ms, &pushes, 14, (60, &[60, 70]));
            assert_eq!(asked, (arrived(0), 14));
        }
        assert_eq!(fates.way, Duration::from_micros(17_500));
    }

    #[test]
    fn whoever_is_served_from_the_start_is_told_nothing_twice() {
        let mut fates = Fates::new(true);
        let mut pushes = pushed(0, 1, 4);
        fates.starts_over(CHANGE);
        let numbers: Vec<_> = (1..=4).map(FragmentNumber).collect();
        fates.sent_again(at(5), CHANGE, &numbers, &mut pushes);
        let asked = ask(&mut fates, &pushes, 6, (1, &[1, 2, 3, 4]));
        assert_eq!(asked, (vec![], 4, 0, 0));
        let asked = ask(&mut fates, &pushes, 9, (2, &[2]));
        assert_eq!(asked, (vec![], 1, 1, 0));
        let asked = ask(&mut fates, &pushes, 13, (2, &[2]));
        assert_eq!(asked, (vec![2], 0, 0, 1));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut fates = Fates::new(true);
        let mut pushes = Pushes::default();
        for number in 1..2000 {
            let all: Vec<_> = (1..=5000).map(FragmentNumber).collect();
            let sequence = SequenceNumber(number);
            pushes.note(at(1), sequence, (FragmentNumber(1), FragmentNumber(9)));
            if number < 50 {
                fates.sent_again(at(1), sequence, &all, &mut pushes);
            }
        }
        assert_eq!(pushes.bursts.len(), BURSTS_MAX);
        assert_eq!(fates.changes.len(), CHANGES_MAX);
        let noted = fates.changes.values().map(|it| it.again.len()).max();
        assert_eq!(noted, Some(FRAGMENTS_MAX));
    }
}
