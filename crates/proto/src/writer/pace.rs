//! How fast fragments may leave.
//!
//! A window: so many octets may be on their way before readers have answered. Now and then readers
//! are asked, and the answer both frees what it covers and tells how long the way takes. A question
//! bears a stamp that readers of our kind send back, so that several may be under way; with others
//! there is one at a time, because nothing tells which one is answered. A way that takes longer
//! than it did at its best has a queue, which everybody else on the link waits in, too: then the
//! window shrinks. While there is none it grows. Losses alone do not slow anything down, a link
//! that loses a little is not full. Who does not answer is sent half a window now and then.

use alloc::collections::VecDeque;

use whimbrel_base::time::{Duration, Instant, Timestamp};

/// The window is never smaller, in octets, nor smaller than this many messages.
const WINDOW_MIN: u64 = 64 * 1024;
const MESSAGES_MIN: u64 = 2;

/// The window is never larger, in octets.
const WINDOW_MAX: u64 = 2 << 20;

/// A way may take longer than at its best by as much again as that, within these bounds.
const QUEUE_MIN: Duration = Duration::from_micros(200);
const QUEUE_MAX: Duration = Duration::from_millis(5);

/// How long the best time of a way counts: it may have become longer.
const BEST_PERIOD: Duration = Duration::from_secs(10);

/// Bounds of the wait for an answer.
const PATIENCE_MIN: Duration = Duration::from_millis(1);
const PATIENCE_MAX: Duration = Duration::from_millis(200);

/// Questions under way.
const ASKS_MAX: usize = 16;

/// Answers in a row that may come too soon to be meant: then the way has become shorter.
const CROSSED_MAX: u32 = 3;

/// Stamps begin anew after so many.
const STAMPS: i64 = 1 << 15;

/// Answers of which the quickest counts, so that a busy moment of a host is no queue.
const RECENT: usize = 3;

/// One part in so many may be lost without being taken for a full queue.
const LOSS_TOLERATED: u64 = 8;

/// A question to readers.
#[derive(Clone, Copy, Debug)]
struct Ask {
    stamp: Timestamp,
    at: Instant,
    /// Octets that had left by then.
    mark: u64,
}

/// The window of a writer.
#[derive(Debug)]
pub(super) struct Pace {
    /// Octets per second towards readers that never answered.
    bytes_per_second: u64,
    window: u64,
    /// Octets that have left, and how many of them are no longer on their way.
    sent: u64,
    taken: u64,
    sent_at: Instant,
    /// The largest message lately.
    message_bytes: u64,
    asks: VecDeque<Ask>,
    asked: i64,
    recent: [Duration; RECENT],
    /// The best time of the way, lately and before.
    best: Duration,
    best_before: Duration,
    best_since: Instant,
    /// How often in a row nobody answered.
    silences: u32,
    /// Answers in a row that came too soon.
    crossed: u32,
    /// Octets reported as missing, and what had left when they were last looked at.
    lost: u64,
    judged: u64,
}

impl Pace {
    /// A window of `window` octets, with `bytes_per_second` towards readers that never answered.
    pub(super) fn new(bytes_per_second: u64, window: u64) -> Self {
        Self {
            bytes_per_second: bytes_per_second.max(1),
            window: window.clamp(WINDOW_MIN, WINDOW_MAX),
            sent: 0,
            taken: 0,
            sent_at: Instant::ZERO,
            message_bytes: 0,
            asks: VecDeque::new(),
            asked: 0,
            recent: [Duration::INFINITE; RECENT],
            best: Duration::INFINITE,
            best_before: Duration::INFINITE,
            best_since: Instant::ZERO,
            silences: 0,
            crossed: 0,
            lost: 0,
            judged: 0,
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.taken)
    }

    /// True when readers may not have everything yet.
    pub(super) fn is_under_way(&self) -> bool {
        self.in_flight() > 0
    }

    /// True when something may leave now.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        if self.in_flight() >= self.window && now >= self.next_at() {
            // Whatever became of it, it is on its way no longer.
            self.taken = self.sent.saturating_sub(self.window / 2);
            self.asks.clear();
            self.sent_at = now;
            self.silences = self.silences.saturating_add(1);
        }
        self.in_flight() < self.window
    }

    /// A message of `bytes` leaves.
    pub(super) fn spend(&mut self, now: Instant, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.sent = self.sent.saturating_add(bytes);
        self.sent_at = now;
        self.message_bytes = self.message_bytes.max(bytes);
    }

    /// True when readers are to be asked with what leaves now; `all_echo` says that every one of
    /// them sends stamps back.
    pub(super) fn wants_answer(&self, all_echo: bool) -> bool {
        match self.asks.back() {
            None => self.in_flight() >= self.window / 4,
            Some(last) => all_echo && self.sent.saturating_sub(last.mark) >= self.window / 4,
        }
    }

    /// Readers are asked, by a heartbeat that leaves now with the stamp given back.
    pub(super) fn ask(&mut self, now: Instant) -> Timestamp {
        self.asked = self.asked.saturating_add(1) % STAMPS;
        // Whole seconds travel exactly.
        let stamp = Timestamp(self.asked.saturating_mul(1_000_000_000));
        while self.asks.len() >= ASKS_MAX {
            self.asks.pop_front();
        }
        let mark = self.sent;
        self.asks.push_back(Ask {
            stamp,
            at: now,
            mark,
        });
        stamp
    }

    /// What had left when readers were asked with this stamp.
    pub(super) fn mark_of(&self, stamp: Timestamp) -> Option<u64> {
        let ask = self.asks.iter().find(|ask| ask.stamp == stamp);
        ask.map(|ask| ask.mark)
    }

    /// When readers were last asked, and what had left by then, while they owe an answer.
    pub(super) fn last_ask(&self) -> Option<(Instant, u64)> {
        self.asks.back().map(|ask| (ask.at, ask.mark))
    }

    /// Everybody has what left up to `mark`, a question's. Where no stamp shows that it was this
    /// question, false when the answer comes too soon to be meant.
    pub(super) fn taken(&mut self, now: Instant, mark: u64, stamped: bool) -> bool {
        let Some(ask) = self.asks.iter().rev().find(|ask| ask.mark <= mark).copied() else {
            return false;
        };
        let took = now.since(ask.at).max(Duration::from_nanos(1));
        let best = self.best.min(self.best_before);
        let soon = !stamped && !best.is_infinite() && took < best.divided_by(2);
        if soon && self.crossed < CROSSED_MAX {
            // An answer to an earlier heartbeat crossed the question.
            self.crossed = self.crossed.saturating_add(1);
            return false;
        }
        self.crossed = 0;
        self.asks.retain(|it| it.mark > ask.mark);
        self.silences = 0;
        let freed = ask.mark.saturating_sub(self.taken);
        self.taken = self.taken.max(ask.mark);
        self.note_way(now, took);
        self.adapt(freed);
        if self.asks.is_empty() {
            // Nobody owes an answer: room for the next question, also when the window has shrunk.
            let most = self.window.saturating_sub(self.window / 4);
            self.taken = self.taken.max(self.sent.saturating_sub(most));
        }
        true
    }

    /// How long an answer takes at present; zero where that is not known.
    pub(super) fn way(&self) -> Duration {
        let longest = self.recent.iter().max().copied();
        longest
            .filter(|it| !it.is_infinite())
            .unwrap_or(Duration::ZERO)
    }

    fn note_way(&mut self, now: Instant, took: Duration) {
        self.recent.rotate_left(1);
        if let Some(last) = self.recent.last_mut() {
            *last = took;
        }
        if now.since(self.best_since) >= BEST_PERIOD {
            self.best_since = now;
            self.best_before = self.best;
            self.best = took;
        }
        self.best = self.best.min(took);
    }

    fn adapt(&mut self, freed: u64) {
        let best = self.best.min(self.best_before);
        let quickest = self.recent.iter().min().copied().unwrap_or(best);
        let queue = Duration::from_nanos(quickest.as_nanos().saturating_sub(best.as_nanos()));
        let allowed = best.max(QUEUE_MIN).min(QUEUE_MAX);
        let sent = self.sent.saturating_sub(self.judged);
        let lossy = self.lost.saturating_mul(LOSS_TOLERATED) > sent;
        if queue > allowed {
            self.window = self.window.saturating_sub(self.window / 4);
        } else if lossy && queue > allowed.divided_by(2) {
            self.window /= 2;
        } else if freed >= self.window / 8 {
            self.window = self.window.saturating_add(freed / 2);
        }
        if sent >= self.window {
            self.lost = 0;
            self.judged = self.sent;
        }
        let least = WINDOW_MIN.max(self.message_bytes.saturating_mul(MESSAGES_MIN));
        self.window = self.window.clamp(least, WINDOW_MAX.max(least));
    }

    /// A reader reports `bytes` as missing.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_add(bytes);
    }

    /// Octets reported as missing since that was last looked at.
    #[cfg(test)]
    pub(super) fn lost_bytes(&self) -> u64 {
        self.lost
    }

    /// When more may leave though nobody answers.
    pub(super) fn next_at(&self) -> Instant {
        let best = self.best.min(self.best_before);
        let patience = if best.is_infinite() {
            let nanos = u128::from(self.window / 2)
                .saturating_mul(1_000_000_000)
                .checked_div(u128::from(self.bytes_per_second))
                .unwrap_or(0);
            Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
        } else {
            let doublings = self.silences.min(8);
            let usual = self.way().max(best).times(2).max(PATIENCE_MIN);
            usual.times(1 << doublings).min(PATIENCE_MAX)
        };
        self.sent_at.after(patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const WINDOW: u64 = 64 * 1024;

    fn at(micros: u64) -> Instant {
        Instant(1_000_000_000 + micros * 1000)
    }

    /// Sends as much as is allowed at `now`, asking when that is due.
    fn fill(pace: &mut Pace, now: Instant) -> u64 {
        let before = pace.sent;
        while pace.allows(now) {
            pace.spend(now, 1400);
            if pace.wants_answer(false) {
                pace.ask(now);
            }
        }
        pace.sent - before
    }

    #[test]
    fn a_window_then_half_of_it_now_and_then() {
        let mut pace = Pace::new(100_000_000, WINDOW);
        let first = fill(&mut pace, at(0));
        assert!((WINDOW..WINDOW + 1400).contains(&first));
        let next = pace.next_at();
        assert_eq!(next.since(at(0)), Duration::from_nanos(327_680));
        assert_eq!(fill(&mut pace, at(300)), 0);
        let half = fill(&mut pace, next);
        assert!((WINDOW / 2..WINDOW / 2 + 2800).contains(&half), "{half}");
    }

    fn answered(pace: &mut Pace, now: Instant) -> bool {
        let (_, mark) = pace.last_ask().unwrap();
        pace.taken(now, mark, false)
    }

    /// Answers after `way` for `rounds`; gives the window at the end.
    fn run(pace: &mut Pace, from: u64, rounds: u64, way: u64, lost_one_in: u64) -> u64 {
        for round in 0..rounds {
            let now = at(from + round * way);
            let sent = fill(pace, now);
            pace.lose(sent / lost_one_in);
            assert!(answered(pace, at(from + (round + 1) * way)));
        }
        pace.window
    }

    #[test]
    fn the_window_grows_without_a_queue_also_over_loss_and_shrinks_with_one() {
        let mut pace = Pace::new(100_000_000, WINDOW);
        assert_eq!(run(&mut pace, 0, 40, 500, 5), WINDOW_MAX);
        let queued = run(&mut pace, 100_000, 40, 2000, 1000);
        assert_eq!(queued, WINDOW_MIN);
        assert!(run(&mut pace, 200_000, 40, 600, 1000) > 10 * WINDOW_MIN);
    }

    #[test]
    fn an_answer_that_crossed_the_question_frees_nothing() {
        let mut pace = Pace::new(100_000_000, WINDOW);
        run(&mut pace, 0, 1, 1000, 1000);
        fill(&mut pace, at(1000));
        let in_flight = pace.in_flight();
        assert!(!answered(&mut pace, at(1400)));
        assert_eq!(pace.in_flight(), in_flight);
        assert!(answered(&mut pace, at(1600)));
        assert!(pace.in_flight() < in_flight);
    }

    #[test]
    fn a_way_that_has_become_shorter_is_believed() {
        let mut pace = Pace::new(100_000_000, WINDOW);
        run(&mut pace, 0, 1, 20_000, 1000);
        let mut now = 20_000;
        let answers = [0; 4].map(|_| {
            fill(&mut pace, at(now));
            now += 500;
            answered(&mut pace, at(now))
        });
        assert_eq!(answers, [false, false, false, true]);
        // A stamp shows at once which question is answered.
        let mut pace = Pace::new(100_000_000, WINDOW);
        run(&mut pace, 0, 1, 20_000, 1000);
        fill(&mut pace, at(20_000));
        let (_, mark) = pace.last_ask().unwrap();
        assert!(pace.taken(at(20_500), mark, true));
    }

    #[test]
    fn whoever_falls_silent_is_sent_less_and_less_often() {
        let mut pace = Pace::new(100_000_000, WINDOW);
        run(&mut pace, 0, 1, 1000, 1000);
        let mut now = at(1000);
        let mut waits = [0; 8];
        for wait in &mut waits {
            fill(&mut pace, now);
            let next = pace.next_at();
            *wait = next.since(now).as_nanos() / 1_000_000;
            now = next;
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 200]);
    }

    #[test]
    fn a_lost_question_holds_nothing_up_where_stamps_come_back() {
        let mut pace = Pace::new(100_000_000, WINDOW);
        let mut stamps = vec![];
        while pace.allows(at(0)) {
            pace.spend(at(0), 1400);
            if pace.wants_answer(true) {
                stamps.push(pace.ask(at(0)));
            }
        }
        assert!((3..=4).contains(&stamps.len()));
        // The first answer is lost, the second covers the same.
        let mark = pace.mark_of(stamps[1]).unwrap();
        assert!(pace.taken(at(500), mark, true));
        assert_eq!(pace.taken, mark);
        assert_eq!(pace.mark_of(stamps[0]), None);
        assert!(pace.mark_of(stamps[2]).is_some());
    }
}
