//! How fast fragments may leave to one reader.
//!
//! A token bucket with two taps. One is the reader: when it has answered, what was sent before it
//! was asked has left its socket, and so much may leave that a whole window is on its way. The
//! other is time, which does not run while an
//! answer may be on its way: it is for readers that answer late or never. Both follow what became
//! of the fragments: where more than one in three was lost, the window falls to the share that got
//! through and the rate to that at which it got through; otherwise they rise again. So neither a
//! default socket buffer nor a narrow link is overrun for long, and a link that merely loses is not
//! slowed down.

use alloc::collections::VecDeque;

use whimbrel_base::arrival::ArrivalRate;
use whimbrel_base::share::share;
use whimbrel_base::time::{Duration, Instant};

/// However little gets through, so many windows may leave in a second: what asks a reader for an
/// answer may be lost too.
const WINDOWS_PER_SECOND_MIN: u64 = 10;

/// What readers that wait before they answer report as lost may be on its way, so time gives them
/// so many octets per second at least.
const BYTES_PER_SECOND_MIN: u64 = 4_000_000;

/// So many fragments, and a window full, are looked at together at least.
const JUDGED_FRAGMENTS_MIN: u64 = 16;

/// One part in so many may be lost without slowing down.
const LOSS_TOLERATED: u64 = 3;

/// Datagrams that the window holds at least.
const WINDOW_DATAGRAMS_MIN: u64 = 2;

/// An answer is waited for this long before time counts, and before the reader is asked again.
const ANSWER_PATIENCE: Duration = Duration::from_millis(5);

/// As [`ANSWER_PATIENCE`], before time counts for readers that answer every question at once: only
/// a question or an answer that is lost makes them silent.
const PROMPT_PATIENCE: Duration = Duration::from_millis(50);

/// The wait before a silent reader is asked again doubles so many times.
const ASK_DOUBLINGS_MAX: u32 = 4;

/// Who gets fragments faster than time allows them is asked so often in a window, so that there is
/// room again before it is full.
const QUESTIONS_PER_WINDOW: u64 = 4;

/// So many questions are remembered at most; the smallest window says how often all are asked.
const QUESTIONS_MAX: usize = 128;

/// After nothing was sent for so long, what arrives is counted anew.
const PAUSE: Duration = Duration::from_millis(50);

/// What became of fragments.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Settled {
    pub(super) arrived: u64,
    pub(super) lost: u64,
}

impl Settled {
    pub(super) fn add(&mut self, other: Self) {
        self.arrived = self.arrived.saturating_add(other.arrived);
        self.lost = self.lost.saturating_add(other.lost);
    }

    fn all(self) -> u64 {
        self.arrived.saturating_add(self.lost)
    }
}

/// What had been sent when a reader was asked for an answer.
#[derive(Clone, Copy, Debug)]
struct Question {
    at: Instant,
    /// Octets sent to it, over all time.
    spent: u64,
    /// Fragments that the writer had sent, over all time.
    order: u64,
}

/// Token bucket in octets.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    bytes_per_second: u64,
    bytes_per_second_max: u64,
    window_bytes: u64,
    window_bytes_max: u64,
    /// The window began smaller than it may be, and nothing to speak of was lost since.
    is_starting: bool,
    /// Below zero after the last datagram was larger than what was left.
    tokens: i64,
    filled_at: Instant,
    /// Since when what became of fragments is looked at.
    since: Instant,
    spent_at: Instant,
    datagram_bytes: u64,
    settled: Settled,
    arrived_bytes: u64,
    lost_bytes: u64,
    /// When the reader was last asked and has not answered.
    asked_at: Option<Instant>,
    /// When it was first asked since it answered last.
    silent_since: Option<Instant>,
    /// How often it was asked since.
    asked: u32,
    /// It answers every question at once.
    prompt: bool,
    /// Octets sent to it, over all time.
    spent: u64,
    /// Of `spent`, what it was asked about.
    questioned: u64,
    /// How many of `spent` have left its socket, or the network, for certain.
    heard: u64,
    arrival: ArrivalRate,
    /// What it was asked and has not answered, the oldest first; only of one that is prompt.
    questions: VecDeque<Question>,
}

impl Pace {
    /// A full bucket of `window_bytes_max` that refills with at most `bytes_per_second_max`, for a
    /// reader that is `prompt` to answer or not.
    pub(super) fn new(bytes_per_second_max: u64, window_bytes_max: u64, prompt: bool) -> Self {
        let rate = bytes_per_second_max.max(1);
        let window = window_bytes_max.clamp(1, 1 << 40);
        Self {
            bytes_per_second: rate,
            bytes_per_second_max: rate,
            window_bytes: window,
            window_bytes_max: window,
            is_starting: false,
            tokens: signed(window),
            filled_at: Instant::ZERO,
            since: Instant::ZERO,
            spent_at: Instant::ZERO,
            datagram_bytes: 0,
            settled: Settled::default(),
            arrived_bytes: 0,
            lost_bytes: 0,
            asked_at: None,
            silent_since: None,
            asked: 0,
            prompt,
            spent: 0,
            questioned: 0,
            heard: 0,
            arrival: ArrivalRate::default(),
            questions: VecDeque::new(),
        }
    }

    /// Begins with a window of no more than `bytes`, which doubles as long as what leaves arrives.
    pub(super) fn beginning_with(mut self, bytes: u64) -> Self {
        self.window_bytes = self.window_bytes.min(bytes.max(1));
        self.is_starting = self.window_bytes < self.window_bytes_max;
        self.tokens = signed(self.window_bytes);
        self
    }

    /// Octets that may leave whenever the reader has answered.
    pub(super) fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Octets that arrive in `span`, as was heard lately; none before anything was.
    pub(super) fn arriving_in(&self, span: Duration) -> u64 {
        self.arrival.bytes_in(span)
    }

    /// What time gives, in octets per second; never none.
    fn rate(&self) -> u64 {
        let least = if self.prompt {
            self.window_bytes.saturating_mul(WINDOWS_PER_SECOND_MIN)
        } else {
            BYTES_PER_SECOND_MIN.min(self.bytes_per_second_max)
        };
        self.bytes_per_second.max(least).max(1)
    }

    /// Since when time counts.
    fn fills_from(&self) -> Instant {
        let patience = if self.prompt {
            PROMPT_PATIENCE
        } else {
            ANSWER_PATIENCE
        };
        let waited = self.silent_since.map(|at| at.after(patience));
        waited.map_or(self.filled_at, |at| at.max(self.filled_at))
    }

    fn refill(&mut self, now: Instant) {
        let nanos = now.since(self.fills_from()).as_nanos().unsigned_abs();
        let gained = share(self.rate(), nanos, 1_000_000_000);
        if gained > 0 {
            let gained = signed(gained);
            let full = signed(self.window_bytes);
            self.tokens = self.tokens.saturating_add(gained).min(full);
            self.filled_at = now;
        }
    }

    /// Octets that may leave now; the last datagram may be larger than what is left.
    pub(super) fn room(&mut self, now: Instant) -> u64 {
        self.refill(now);
        u64::try_from(self.tokens).unwrap_or(0)
    }

    /// Takes a datagram of `bytes` from the bucket.
    pub(super) fn spend(&mut self, now: Instant, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.datagram_bytes = self.datagram_bytes.max(bytes);
        self.spend_many(now, bytes);
    }

    /// Takes `bytes` of several datagrams from the bucket.
    pub(super) fn spend_many(&mut self, now: Instant, bytes: u64) {
        let least = signed(self.window_bytes).saturating_neg();
        self.tokens = self.tokens.saturating_sub(signed(bytes)).max(least);
        self.arrival.note_sent(now, self.heard < self.spent);
        self.spent = self.spent.saturating_add(bytes);
        if now.since(self.spent_at) > PAUSE {
            self.since = now;
        }
        self.spent_at = now;
    }

    /// True when it is time to ask the reader for an answer.
    pub(super) fn should_ask(&self, now: Instant) -> bool {
        self.ask_again_at().is_none_or(|at| at <= now)
    }

    fn ask_again_at(&self) -> Option<Instant> {
        let doublings = self.asked.saturating_sub(1).min(ASK_DOUBLINGS_MAX);
        let at = self.asked_at?;
        Some(at.after(ANSWER_PATIENCE.times(1 << doublings)))
    }

    /// The reader is asked for an answer, after the writer has sent `order` fragments.
    pub(super) fn ask(&mut self, now: Instant, order: u64) {
        self.asked_at = Some(now);
        self.asked = self.asked.saturating_add(1);
        if self.silent_since.is_none() {
            self.refill(now);
            self.silent_since = Some(now);
        }
        self.note_question(now, order);
    }

    /// Octets that may leave until the reader is to be asked for an answer by the way.
    pub(super) fn until_question(&self) -> u64 {
        let part = self.window_bytes.wrapping_div(QUESTIONS_PER_WINDOW);
        let rest = signed(self.window_bytes.saturating_sub(part));
        let until_short = self.tokens.saturating_sub(rest).saturating_add(1);
        let until_short = u64::try_from(until_short).unwrap_or(0);
        let unasked = self.spent.saturating_sub(self.questioned);
        until_short.max(part.saturating_sub(unasked))
    }

    /// It answers every question at once.
    pub(super) fn is_prompt(&self) -> bool {
        self.prompt
    }

    /// The reader is asked for an answer by the way.
    pub(super) fn note_question(&mut self, now: Instant, order: u64) {
        self.questioned = self.spent;
        if !self.prompt {
            return;
        }
        if self.questions.len() >= QUESTIONS_MAX {
            self.questions.pop_front();
        }
        self.questions.push_back(Question {
            at: now,
            spent: self.spent,
            order,
        });
    }

    /// The reader has answered, and of the fragments that the writer has sent over all time those
    /// before `order` have arrived or are lost; what it was asked longer than `patience` ago it
    /// has answered too, or will not. True when that opens the window.
    pub(super) fn answered(&mut self, now: Instant, order: u64, patience: Duration) -> bool {
        let asked = self.asked_at.is_some_and(|at| at <= now);
        if self.silent_since.is_some() {
            self.refill(now);
            self.silent_since = None;
            self.asked = 0;
            self.filled_at = now;
        }
        let before = self.heard;
        self.hear(now, order, patience);
        if self.prompt {
            // Others may answer what was asked long before.
            self.note_arrived(now, before);
        }
        if asked {
            self.asked_at = None;
            let under_way = self.spent.saturating_sub(self.heard);
            let room = signed(self.window_bytes).saturating_sub(signed(under_way));
            self.tokens = room.max(signed(self.window_bytes).saturating_neg());
            self.filled_at = now;
        }
        asked
    }

    /// Learns from an answer what is no longer under way. It comes from one that answers every
    /// question, so it is that to the oldest: had it been to a later one, two windows would be on
    /// their way.
    fn hear(&mut self, now: Instant, order: u64, patience: Duration) {
        if !self.prompt {
            self.heard = self.spent;
            return;
        }
        let mut oldest = true;
        while let Some(question) = self.questions.front() {
            let stale = now.since(question.at) > patience;
            if question.at > now || !(oldest || question.order <= order || stale) {
                break;
            }
            oldest = stale && oldest;
            self.heard = self.heard.max(question.spent);
            self.questions.pop_front();
        }
    }

    /// More than `before` is heard of now.
    fn note_arrived(&mut self, now: Instant, before: u64) {
        let more = self.heard.saturating_sub(before);
        self.arrival.note_arrived(now, more);
    }

    /// The reader has said at `now` that it has everything that was sent to it.
    pub(super) fn hear_all(&mut self, now: Instant) {
        let before = core::mem::replace(&mut self.heard, self.spent);
        self.note_arrived(now, before);
        self.tokens = signed(self.window_bytes);
        self.questions.clear();
    }

    /// Learns what became of fragments of `fragment_bytes` each.
    pub(super) fn settle(&mut self, now: Instant, settled: Settled, fragment_bytes: u64) {
        self.settled.add(settled);
        let arrived = settled.arrived.saturating_mul(fragment_bytes);
        let lost = settled.lost.saturating_mul(fragment_bytes);
        self.arrived_bytes = self.arrived_bytes.saturating_add(arrived);
        self.lost_bytes = self.lost_bytes.saturating_add(lost);
        self.datagram_bytes = self.datagram_bytes.max(fragment_bytes);
        let all_bytes = self.arrived_bytes.saturating_add(self.lost_bytes);
        let enough = self.settled.all() >= JUDGED_FRAGMENTS_MIN && all_bytes >= self.window_bytes;
        // One answer may come in several parts.
        if enough && now > self.since {
            self.judge(now);
        }
    }

    fn judge(&mut self, now: Instant) {
        let Settled { arrived, lost } = self.settled;
        let all = self.settled.all();
        if lost.saturating_mul(LOSS_TOLERATED) > all {
            let least = if self.prompt {
                self.datagram_bytes.saturating_mul(WINDOW_DATAGRAMS_MIN)
            } else {
                self.window_bytes
            };
            self.is_starting = false;
            let window = share(self.window_bytes, arrived, all);
            self.window_bytes = window.max(least).min(self.window_bytes_max);
            self.tokens = self.tokens.min(signed(self.window_bytes));
            let nanos = now.since(self.since).as_nanos().unsigned_abs();
            let rate = share(self.arrived_bytes, 1_000_000_000, nanos);
            self.bytes_per_second = self.bytes_per_second.min(rate).max(1);
        } else {
            let wider = if self.is_starting {
                self.window_bytes.saturating_mul(2)
            } else {
                quarter_more(self.window_bytes)
            };
            self.window_bytes = wider.min(self.window_bytes_max);
            self.bytes_per_second =
                quarter_more(self.bytes_per_second).min(self.bytes_per_second_max);
        }
        self.settled = Settled::default();
        self.arrived_bytes = 0;
        self.lost_bytes = 0;
        self.since = now;
    }

    /// What became of fragments since the last judgement.
    #[cfg(test)]
    pub(super) fn settled(&self) -> Settled {
        self.settled
    }

    /// When half a window will be there again though nobody answers, or the reader is to be asked
    /// again.
    pub(super) fn next_at(&self) -> Instant {
        let wanted = signed((self.window_bytes / 2).max(1)).saturating_sub(self.tokens);
        let nanos = u128::from(u64::try_from(wanted).unwrap_or(0))
            .saturating_mul(1_000_000_000)
            .div_ceil(u128::from(self.rate()));
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX).max(1);
        let filled_at = self.fills_from().after(Duration::from_nanos(nanos));
        let ask_again_at = self.ask_again_at().filter(|_| self.prompt);
        ask_again_at.map_or(filled_at, |at| at.min(filled_at))
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn quarter_more(number: u64) -> u64 {
    number.saturating_add((number / 4).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAGMENT: u64 = 1000;
    const PATIENCE: Duration = Duration::from_millis(50);

    fn at_ms(ms: u64) -> Instant {
        Instant(1_000_000_000 + ms * 1_000_000)
    }

    #[test]
    fn a_window_then_the_rate() {
        let mut pace = Pace::new(1_000_000_000, 100_000, false);
        assert_eq!(pace.room(Instant(0)), 100_000);
        pace.spend(Instant(0), 100_000);
        assert_eq!(pace.room(Instant(0)), 0);
        let next = pace.next_at();
        assert_eq!(next, Instant(50_000));
        assert_eq!(pace.room(next), 50_000);
    }

    #[test]
    fn what_was_overdrawn_is_paid_back() {
        let mut pace = Pace::new(1_000_000, 1000, false);
        assert_eq!(pace.room(at_ms(0)), 1000);
        pace.spend(at_ms(0), 900);
        pace.spend(at_ms(0), 900);
        assert_eq!(pace.room(at_ms(0)), 0);
        assert_eq!(pace.next_at().since(at_ms(0)), Duration::from_micros(1300));
        // A debt does not grow for ever.
        pace.spend(at_ms(0), 90_000);
        assert_eq!(pace.next_at().since(at_ms(0)), Duration::from_micros(1500));
    }

    #[test]
    fn only_an_answer_to_what_was_asked_before_opens_the_window() {
        let mut pace = Pace::new(1, 100_000, false);
        pace.room(at_ms(0));
        pace.spend(at_ms(0), 100_000);
        assert!(!pace.answered(at_ms(1), 0, PATIENCE));
        pace.ask(at_ms(2), 0);
        assert!(pace.answered(at_ms(3), 0, PATIENCE));
        assert_eq!(pace.room(at_ms(3)), 100_000);
        assert!(!pace.answered(at_ms(4), 0, PATIENCE));
    }

    #[test]
    fn time_counts_again_when_no_answer_comes() {
        let mut pace = Pace::new(1_000_000, 10_000, false);
        pace.room(at_ms(0));
        pace.spend(at_ms(0), 10_000);
        pace.ask(at_ms(0), 0);
        assert_eq!(pace.room(at_ms(5)), 0);
        assert_eq!(pace.next_at(), at_ms(10));
        assert_eq!(pace.room(at_ms(7)), 2000);
        pace.ask(at_ms(7), 0);
        assert_eq!(pace.room(at_ms(10)), 5000);
        pace.answered(at_ms(10), 0, PATIENCE);
        pace.spend(at_ms(10), 10_000);
        assert_eq!(pace.room(at_ms(11)), 1000);
    }

    #[test]
    fn who_is_prompt_is_asked_again_ever_later_before_time_counts() {
        let mut pace = Pace::new(1_000_000, 10_000, true);
        pace.room(at_ms(0));
        pace.spend(at_ms(0), 10_000);
        let mut asked = [0; 4];
        let mut now = at_ms(0);
        for at in &mut asked {
            assert!(pace.should_ask(now) && pace.room(now) == 0);
            *at = now.since(at_ms(0)).as_nanos() / 1_000_000;
            pace.ask(now, 0);
            assert!(!pace.should_ask(now));
            now = pace.next_at();
        }
        assert_eq!(asked, [0, 5, 15, 35]);
        assert_eq!(pace.room(at_ms(51)), 1000);
        assert!(pace.answered(at_ms(51), 0, PATIENCE));
        assert_eq!(pace.room(at_ms(51)), 10_000);
    }

    /// After `steps` of 10 ms in each of which 100 fragments leave and `lost` of them are lost.
    fn run(pace: &mut Pace, from_ms: u64, steps: u64, lost: u64) -> (u64, u64) {
        for step in 0..steps {
            let now = at_ms(from_ms + step * 10);
            pace.spend_many(now, 100 * FRAGMENT);
            let arrived = 100 - lost;
            let then = now.after(Duration::from_millis(9));
            pace.settle(then, Settled { arrived, lost }, FRAGMENT);
        }
        (pace.window_bytes, pace.rate())
    }

    #[test]
    fn heavy_loss_slows_down_and_light_loss_does_not() {
        let mut pace = Pace::new(1 << 27, 100_000, true);
        assert_eq!(run(&mut pace, 0, 100, 20), (100_000, 1 << 27));
        // One step is enough to know what gets through.
        assert_eq!(run(&mut pace, 2000, 1, 90), (10_000, 1_111_111));
        let (window, rate) = run(&mut pace, 3000, 100, 99);
        assert_eq!((window, rate), (2 * FRAGMENT, 100_000));
        // Without loss it is back within a second.
        assert_eq!(run(&mut pace, 5000, 100, 0), (100_000, 1 << 27));
    }

    #[test]
    fn a_window_that_begins_small_doubles_until_something_is_lost() {
        let begin = |prompt| Pace::new(1 << 27, 100_000, prompt).beginning_with(20_000);
        for prompt in [true, false] {
            let mut pace = begin(prompt);
            assert_eq!(pace.room(at_ms(0)), 20_000);
            let windows = [1, 2, 3, 4].map(|step| run(&mut pace, step * 100, 1, 10).0);
            assert_eq!(windows, [40_000, 80_000, 100_000, 100_000]);
        }
        let windows = |prompt| {
            let mut pace = begin(prompt);
            [(1, 0), (2, 50), (3, 0), (4, 0)].map(|(at, lost)| run(&mut pace, at * 100, 1, lost).0)
        };
        assert_eq!(windows(true), [40_000, 20_000, 25_000, 31_250]);
        assert_eq!(windows(false), [40_000, 40_000, 50_000, 62_500]);
        let mut whole = Pace::new(1, 100_000, true).beginning_with(1 << 20);
        assert_eq!(whole.room(at_ms(0)), 100_000);
    }

    #[test]
    fn who_waits_before_it_answers_is_sent_a_window_and_some_megabytes_a_second() {
        let mut pace = Pace::new(1 << 27, 100_000, false);
        assert_eq!(run(&mut pace, 0, 50, 99), (100_000, BYTES_PER_SECOND_MIN));
    }

    #[test]
    fn a_window_full_is_judged_together() {
        let mut pace = Pace::new(1 << 27, 100_000, true);
        let mut now = at_ms(1);
        let mut settle = |arrived, lost| {
            now = now.after(Duration::from_millis(1));
            pace.settle(now, Settled { arrived, lost }, FRAGMENT);
            pace.window_bytes
        };
        // Losses come in bursts.
        assert_eq!(settle(0, 20), 100_000);
        assert_eq!(settle(80, 0), 100_000);
        assert_eq!(settle(50, 50), 50_000);
        // What is said in one answer is taken together.
        let mut pace = Pace::new(1 << 27, 100_000, true);
        for (arrived, lost) in [(50, 50), (50, 0), (80, 0)] {
            pace.settle(Instant::ZERO, Settled { arrived, lost }, FRAGMENT);
        }
        assert_eq!(pace.window_bytes, 100_000);
    }

    #[test]
    fn a_link_that_carries_nothing_keeps_a_last_drop() {
        let mut pace = Pace::new(1 << 27, 1 << 18, true);
        let least = 2 * FRAGMENT;
        let rate = least * WINDOWS_PER_SECOND_MIN;
        assert_eq!(run(&mut pace, 0, 30, 100), (least, rate));
    }

    /// A reader that is prompt, has been sent a window and was asked at 0 ms, 5 ms and 15 ms.
    fn asked_thrice() -> Pace {
        let mut pace = Pace::new(1_000_000, 10_000, true);
        pace.room(at_ms(0));
        pace.spend(at_ms(0), 10_000);
        for ms in [0, 5, 15] {
            pace.ask(at_ms(ms), 10);
        }
        pace
    }

    #[test]
    fn an_answer_to_an_older_question_opens_no_second_window() {
        let mut pace = asked_thrice();
        assert!(pace.answered(at_ms(20), 0, PATIENCE));
        assert_eq!(pace.room(at_ms(20)), 10_000);
        pace.spend(at_ms(20), 10_000);
        pace.ask(at_ms(20), 20);
        for ms in [21, 22] {
            pace.answered(at_ms(ms), 0, PATIENCE);
            assert_eq!(pace.room(at_ms(ms)), 0, "the second window is under way");
            pace.ask(at_ms(ms), 20);
        }
        pace.answered(at_ms(23), 0, PATIENCE);
        assert_eq!(pace.room(at_ms(23)), 10_000);
    }

    #[test]
    fn answers_that_were_lost_are_made_up_for_by_what_has_arrived_and_by_time() {
        let second = |pace: &mut Pace| {
            pace.answered(at_ms(20), 0, PATIENCE);
            pace.spend(at_ms(20), 10_000);
            pace.ask(at_ms(20), 20);
        };
        let mut pace = asked_thrice();
        second(&mut pace);
        pace.answered(at_ms(21), 20, PATIENCE);
        assert_eq!(pace.room(at_ms(21)), 10_000);
        let mut pace = asked_thrice();
        second(&mut pace);
        pace.answered(at_ms(66), 0, PATIENCE);
        assert_eq!(pace.room(at_ms(66)), 10_000);
        let mut pace = asked_thrice();
        second(&mut pace);
        pace.hear_all(at_ms(20));
        pace.answered(at_ms(21), 0, PATIENCE);
        assert_eq!(pace.room(at_ms(21)), 10_000);
    }
}
