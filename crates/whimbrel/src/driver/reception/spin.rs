//! Whether it pays to poll a socket before blocking.

mod usual;

use whimbrel_base::time::{Duration, Instant};

use self::usual::Usual;
use crate::domain::Waiting;

/// A wait that took up to so many budgets while blocked might be short enough when polled: waking
/// a thread takes most of that time, here and where what is waited for comes from. In a machine
/// that shares its cores with others a core that has nothing to do is long in coming back.
const SOON_BUDGETS: i64 = 8;

/// It is polled for so many times as long as the wait before took while blocked: who answers is no
/// slower when this thread polls, unless he can only run while it does not.
const REACH_WAITS: u32 = 2;

/// But for that share of a budget at least.
const REACH_SHARE_MIN: u32 = 4;

/// So many polls in a row may take more than a budget, or be in vain though a moment later
/// something comes: who answers may have been blocked, and is not once he is answered at once.
/// After a pause the first that is in vain is one too many.
const LATE_MAX: u32 = 3;

/// For so many times as long as it was polled to no use polling stops then, for that many budgets
/// at least; twice as long after each more.
const PAUSE_SHARE: i64 = 50;

/// After so many polls that were of use, one that was in vain makes for no pause: what they saved
/// is more than what it cost. In a machine that shares its cores with others, who answers may be
/// held up for a moment at any time.
const USEFUL_MIN: u32 = 50;

/// How often the pause doubles at most.
const DOUBLINGS_MAX: u32 = 7;

/// Decides before each wait at a socket how long it is polled.
#[derive(Debug)]
pub(super) struct Spin {
    waiting: Waiting,
    /// How long to poll next: the last wait ended about as soon as polling would go on.
    reach: Option<Duration>,
    /// Where polling was in vain and the wait goes on: when it began, and when polling ended.
    missed: Option<(Instant, Instant)>,
    /// Polls in a row that took more than a budget or were in vain, and how long they took.
    late: (u32, Duration),
    /// Polls that were of use since one was not.
    useful: u32,
    /// Pauses since the last poll that was of use.
    pauses: u32,
    paused_until: Instant,
    usual: Usual,
    hint: Hint,
}

/// Whether it shows during a pause that polling might be of use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hint {
    /// It did not.
    None,
    /// So it is polled in spite of the pause.
    Followed,
    /// That was of no use: no more of it before the pause ends.
    Wrong,
}

impl Spin {
    pub(super) const fn new(waiting: Waiting) -> Self {
        Self {
            waiting,
            reach: None,
            missed: None,
            late: (0, Duration::ZERO),
            useful: 0,
            pauses: 0,
            paused_until: Instant::ZERO,
            usual: Usual::new(),
            hint: Hint::None,
        }
    }

    /// Until when to poll from `now` on; `None` for not at all.
    pub(super) fn until(&self, now: Instant) -> Option<Instant> {
        match self.waiting {
            Waiting::Sleep | Waiting::Receive => None,
            Waiting::Spin => Some(Instant::FAR_FUTURE),
            Waiting::Automatic { .. } => {
                let may = now >= self.paused_until || self.hint == Hint::Followed;
                let tries = self.missed.is_none() && may;
                let reach = self.reach.filter(|_| tries)?;
                Some(now.after(reach))
            }
        }
    }

    /// Polling from `started` on found something at `now`.
    pub(super) fn note_found(&mut self, started: Instant, now: Instant) {
        let took = now.since(started);
        if took <= self.budget() {
            self.pauses = 0;
            self.paused_until = Instant::ZERO;
            self.hint = Hint::None;
            self.late = (0, Duration::ZERO);
            self.useful = self.useful.saturating_add(1);
            self.reach = Some(self.budget());
        } else if self.is_too_late(took) {
            self.give_up(now);
        }
    }

    /// Polling from `started` until `now` found nothing; the wait goes on, blocked.
    pub(super) fn note_missed(&mut self, started: Instant, now: Instant) {
        self.missed = Some((started, now));
    }

    /// A wait from `started` to `now` was blocked.
    #[inline(always)]
    pub(super) fn note_blocked(&mut self, started: Instant, now: Instant) {
        if matches!(self.waiting, Waiting::Automatic { .. }) {
            self.learn_of_blocked(started, now);
        }
    }

    /// As [`Spin::note_blocked`], where polling is automatic.
    fn learn_of_blocked(&mut self, started: Instant, now: Instant) {
        let missed = self.missed.take();
        let took = now.since(missed.map_or(started, |(began, _)| began));
        let budget = self.budget();
        let soon = took.as_nanos() <= budget.as_nanos().saturating_mul(SOON_BUDGETS);
        self.reach = soon.then(|| {
            let (least, wanted) = (budget.divided_by(REACH_SHARE_MIN), took.times(REACH_WAITS));
            wanted.clamp(least, budget).max(took)
        });
        if let Some((began, ended)) = missed {
            let useful = std::mem::take(&mut self.useful);
            let is_too_late = self.is_too_late(ended.since(began));
            if is_too_late || self.pauses > 0 || (!soon && useful < USEFUL_MIN) {
                self.give_up(ended);
            }
        } else if soon {
            self.note_usual(now, took);
        }
    }

    /// A wait that was blocked all the time took so long. During a pause a quick one makes for one
    /// poll: that is how it shows that who answers has begun to poll, so that only one is woken.
    fn note_usual(&mut self, now: Instant, took: Duration) {
        let least = self.budget().divided_by(REACH_SHARE_MIN);
        let is_quick = self.usual.note(took);
        // What was there already says nothing of who answers.
        if is_quick && took >= least && now < self.paused_until && self.hint == Hint::None {
            self.hint = Hint::Followed;
        }
    }

    /// Counts a poll that took so long; true where there were too many such.
    fn is_too_late(&mut self, took: Duration) -> bool {
        let (count, before) = self.late;
        self.late = (count.saturating_add(1), before.plus(took));
        self.late.0 >= LATE_MAX
    }

    /// Polling was of no use until `now`.
    fn give_up(&mut self, now: Instant) {
        if self.hint == Hint::Followed {
            self.hint = Hint::Wrong;
            let (_, spent) = std::mem::take(&mut self.late);
            self.paused_until = self.paused_until.max(now).after(pause_for(spent));
        } else {
            self.pause(now);
        }
    }

    /// Stops for a while from `now` on.
    fn pause(&mut self, now: Instant) {
        let (_, spent) = std::mem::take(&mut self.late);
        let budget = self.budget();
        let most = budget.times(1 << DOUBLINGS_MAX);
        let doubled = 1 << self.pauses.min(DOUBLINGS_MAX);
        let spent = spent.max(budget).times(doubled).min(most);
        self.paused_until = now.after(pause_for(spent));
        self.pauses = self.pauses.saturating_add(1);
        self.hint = Hint::None;
    }

    fn budget(&self) -> Duration {
        match self.waiting {
            Waiting::Automatic { budget } => budget.into(),
            _ => Duration::ZERO,
        }
    }
}

/// How long nothing may be polled after so long was spent to no use.
fn pause_for(spent: Duration) -> Duration {
    Duration::from_nanos(spent.as_nanos().saturating_mul(PAUSE_SHARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_micros(50);
    const START: Instant = Instant(1_000_000);

    const fn micros(micros: i64) -> Duration {
        Duration::from_micros(micros)
    }

    fn automatic() -> Spin {
        Spin::new(Waiting::default())
    }

    #[test]
    fn it_is_polled_only_where_the_last_wait_was_short() {
        let mut spin = automatic();
        assert_eq!(spin.until(START), None);
        let reach = |spin: &mut Spin, took| {
            spin.note_blocked(START, START.after(micros(took)));
            spin.until(START).map(|it| it.since(START))
        };
        assert_eq!(reach(&mut spin, 401), None);
        for (took, until) in [(1, 12), (10, 20), (24, 48), (26, 50), (50, 50), (400, 400)] {
            let reached = reach(&mut spin, took).map(|it| it.as_nanos() / 1000);
            assert_eq!(reached, Some(until), "{took}");
        }
        spin.note_found(START, START.after(BUDGET));
        assert_eq!(spin.until(START), Some(START.after(BUDGET)));
        assert_eq!(reach(&mut spin, 1000), None, "a stream of 1 kHz");
    }

    /// Of a thousand, the time that is polled while something comes each `period` in `run`; it
    /// comes while a thread that polls `can` be answered.
    fn polled_share(period: Duration, run: Duration, can: bool) -> i64 {
        let mut spin = automatic();
        let (mut now, mut polled) = (START, Duration::ZERO);
        while now.since(START) < run {
            let began = now;
            let next = now.after(period);
            now = match spin.until(now) {
                Some(until) if can && next <= until => {
                    spin.note_found(began, next);
                    polled = polled.plus(period);
                    next
                }
                Some(until) => {
                    spin.note_missed(began, until);
                    polled = polled.plus(until.since(began));
                    let end = until.after(period);
                    assert_eq!(spin.until(until), None, "the same wait");
                    spin.note_blocked(until, end);
                    end
                }
                None => {
                    spin.note_blocked(began, next);
                    next
                }
            };
        }
        assert!(polled > Duration::ZERO);
        polled.as_nanos() * 1000 / now.since(START).as_nanos()
    }

    #[test]
    fn polls_in_vain_take_a_fiftieth_of_the_time_and_ever_less() {
        // Whoever answers can only run while this thread is blocked.
        let short = polled_share(micros(20), Duration::from_millis(20), false);
        assert!(short <= 22, "{short} of a thousand");
        let long = polled_share(micros(20), Duration::from_secs(2), false);
        assert!(long < 5, "{long} of a thousand");
        // What comes each time after more than a budget.
        for period in [60, 120, 399] {
            let late = polled_share(micros(period), Duration::from_secs(10), true);
            assert!(late < 8, "{late} of a thousand at {period} us");
        }
        assert_eq!(polled_share(micros(40), Duration::from_secs(1), true), 999);
    }

    /// Of `trips` there and back that take `trip`, how many take longer for polls in vain: whoever
    /// answers can only run while this thread is blocked.
    fn delayed(spin: &mut Spin, start: Instant, trip: Duration, trips: usize) -> usize {
        let mut now = start;
        let mut delayed = 0;
        for _ in 0..trips {
            let began = spin
                .until(now)
                .inspect(|until| spin.note_missed(now, *until));
            delayed += usize::from(began.is_some());
            let from = began.unwrap_or(now);
            now = from.after(trip);
            spin.note_blocked(from, now);
        }
        delayed
    }

    #[test]
    fn after_a_pause_a_single_poll_in_vain_leads_to_the_next() {
        let mut spin = automatic();
        assert_eq!(
            delayed(&mut spin, START, micros(10), 200),
            LATE_MAX as usize
        );
        for round in 1..10 {
            let start = START.after(Duration::from_secs(round));
            assert_eq!(delayed(&mut spin, start, micros(10), 200), 1);
        }
    }

    #[test]
    fn a_wait_that_is_shorter_by_chance_makes_the_pause_longer() {
        let mut spin = automatic();
        spin.pause(START);
        let mut now = START;
        let wait = |spin: &mut Spin, now: Instant, took| {
            spin.note_blocked(now, now.after(micros(took)));
            now.after(micros(took))
        };
        for took in [390, 390, 250] {
            assert_eq!(spin.until(now), None);
            now = wait(&mut spin, now, took);
        }
        let until = spin.until(now).unwrap();
        assert_eq!(until.since(now), micros(250));
        spin.note_missed(now, until);
        wait(&mut spin, until, 100);
        // Both are paid for: what was polled before, and this.
        let paused_until = START.after(BUDGET.plus(micros(250)).times(50));
        assert_eq!(spin.until(Instant(paused_until.0 - 1)), None);
        assert!(spin.until(paused_until).is_some());
    }

    #[test]
    fn a_poll_that_was_of_use_makes_the_next_pause_short_again() {
        let mut spin = automatic();
        let miss = |spin: &mut Spin, now: Instant| {
            let ended = now.after(BUDGET);
            spin.note_missed(now, ended);
            spin.note_blocked(ended, ended.after(Duration::from_secs(1)));
            spin.note_blocked(now, now);
            (0..200).find(|ms| {
                let at = ended.after(Duration::from_millis(*ms));
                spin.until(at).is_some()
            })
        };
        let now = START;
        assert_eq!([3, 5, 10], [(); 3].map(|()| miss(&mut spin, now).unwrap()));
        spin.note_found(now, now);
        assert_eq!(miss(&mut spin, now), Some(3));
    }

    /// One of two threads that answer each other, on cores of their own.
    struct Player {
        spin: Spin,
        /// When its wait began.
        waits_from: Instant,
    }

    impl Player {
        /// What was sent to it arrives at `at`; when it has it, where waking it takes `wake`.
        fn receive(&mut self, at: Instant, wake: Duration) -> Instant {
            let mut from = self.waits_from;
            if let Some(until) = self.spin.until(from) {
                if at <= until {
                    let found = at.max(from);
                    self.spin.note_found(from, found);
                    return found;
                }
                self.spin.note_missed(from, until);
                from = until;
            }
            let received = if at <= from { from } else { at.after(wake) };
            self.spin.note_blocked(from, received);
            received
        }
    }

    /// How long each of `trips` there and back takes, between two that pause `paused` times as long
    /// as the shortest pause before they begin; how long each message is on its `way`.
    fn round_trips(
        paused: [u32; 2],
        way: impl Fn(usize) -> Duration,
        wake: Duration,
        trips: usize,
    ) -> Vec<Duration> {
        let mut now = START;
        let mut players = paused.map(|paused| {
            let mut spin = automatic();
            spin.paused_until = now.after(BUDGET.times(50 * paused));
            Player {
                spin,
                waits_from: now,
            }
        });
        let trip = |trip| {
            let begun = now;
            for player in [1, 0] {
                let arrives = now.after(way(2 * trip + player));
                players[1 - player].waits_from = now;
                now = players[player].receive(arrives, wake);
            }
            now.since(begun)
        };
        (0..trips).map(trip).collect()
    }

    /// The last of them, where each message takes as long.
    fn round_trip(paused: [u32; 2], way: Duration, wake: Duration, trips: usize) -> Duration {
        let all = round_trips(paused, |_| way, wake, trips);
        *all.last().unwrap()
    }

    #[test]
    fn who_pauses_sees_that_the_other_one_polls() {
        for wake in [35, 50, 80, 150] {
            let last = round_trip([1, 128], micros(11), micros(wake), 200);
            assert_eq!(last, micros(22), "{wake} us");
        }
    }

    #[test]
    fn two_that_answer_each_other_come_to_poll_though_waking_takes_longer_than_the_budget() {
        let way = micros(5);
        for wake in 0..=190 {
            assert_eq!(
                round_trip([0, 0], way, micros(wake), 1000),
                micros(10),
                "{wake} us"
            );
        }
        // What comes no sooner than that is waited for blocked.
        assert_eq!(round_trip([0, 0], way, micros(210), 1000), micros(430));
    }

    #[test]
    fn two_whose_cores_are_taken_from_them_now_and_then_poll_all_the_same() {
        // For 20 to 100 us, at one in ten messages.
        let way = |message: usize| {
            let taken = message.is_multiple_of(10);
            let held_up = if taken {
                20 + message as i64 * 7 % 81
            } else {
                0
            };
            micros(4 + held_up)
        };
        let trips = round_trips([0, 0], way, micros(32), 10_000);
        let quick = trips.iter().filter(|it| **it <= micros(10)).count();
        assert!(quick > 6000, "{quick}");
    }

    #[test]
    fn who_is_held_up_now_and_then_goes_on_polling() {
        let mut spin = automatic();
        let mut now = START;
        let mut blocked = 0;
        for message in 1..=10_000 {
            let comes = now.after(micros(if message % 100 == 0 { 1000 } else { 5 }));
            match spin.until(now) {
                Some(until) if comes <= until => spin.note_found(now, comes),
                until => {
                    let from = until.unwrap_or(now);
                    if until.is_some() {
                        spin.note_missed(now, from);
                    }
                    spin.note_blocked(from, comes);
                    blocked += 1;
                }
            }
            now = comes;
        }
        // What was held up itself, and the next.
        assert_eq!(blocked, 2 * 100);
    }

    #[test]
    fn the_other_ways_are_kept_to() {
        for (waiting, until) in [
            (Waiting::Sleep, None),
            (Waiting::Receive, None),
            (Waiting::Spin, Some(Instant::FAR_FUTURE)),
        ] {
            let mut spin = Spin::new(waiting);
            spin.note_blocked(START, START);
            assert_eq!(spin.until(START), until, "{waiting}");
        }
    }
}
