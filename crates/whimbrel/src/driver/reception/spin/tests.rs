//! What is polled, in virtual time.

use super::*;

const BUDGET: Duration = Duration::from_micros(50);
const START: Instant = Instant(100_000_000);

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
        spin.note_blocked(ended, ended.after(micros(500)));
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

/// Of a thousand waits for an answer, one each `period`, how many are polled, and of a thousand
/// parts of the time how many; who answers sleeps in between, and is woken in `wake`.
fn polled_where_one_asks(period: Duration, wake: Duration) -> (usize, i64) {
    let mut spin = automatic();
    let (mut count, mut polled, mut now) = (0, Duration::ZERO, START);
    for at in 0..1000 {
        let asked = START.after(period.times(at));
        now = asked.after(wake);
        match spin.until(asked) {
            Some(until) => {
                assert!(now <= until);
                spin.note_found(asked, now);
                count += 1;
                polled = polled.plus(wake);
            }
            None => {
                // The thread that asks must be woken too.
                now = now.after(micros(25));
                spin.note_blocked(asked, now);
            }
        }
    }
    let share = polled.as_nanos() * 1000 / now.since(START).as_nanos();
    (count, share)
}

#[test]
fn who_asks_now_and_then_polls_for_a_fiftieth_of_the_time() {
    let (count, share) = polled_where_one_asks(micros(1000), micros(36));
    assert!(count > 500 && share <= 20, "{count}, {share}");
    let (_, share) = polled_where_one_asks(micros(500), micros(36));
    assert!(share <= 20, "{share}");
    // What there is time for, and waits that are not far apart.
    for (period, wake) in [(2000, 36), (1000, 20), (400, 36), (60, 12)] {
        let (count, _) = polled_where_one_asks(micros(period), micros(wake));
        assert!(count >= 998, "{count} at {period} us");
    }
}

#[test]
fn polls_in_vain_of_waits_far_apart_are_paid_for_too() {
    let mut spin = automatic();
    let mut polled = 0;
    spin.note_blocked(START, START.after(micros(30)));
    for at in 1..=1000 {
        let began = START.after(Duration::from_millis(at));
        let until = spin.until(began);
        if let Some(until) = until {
            spin.note_missed(began, until);
            polled += until.since(began).as_nanos() / 1000;
        }
        let from = until.unwrap_or(began);
        spin.note_blocked(from, from.after(micros(10)));
        // What makes for pauses is not in question here.
        spin.paused_until = Instant::ZERO;
    }
    // What was saved up before the first one counts too.
    assert!(
        (18_000..=20_300).contains(&polled),
        "{polled} us of a second"
    );
}

#[test]
fn one_of_a_stream_that_was_there_already_makes_the_next_wait_a_near_one() {
    let mut spin = automatic();
    spin.note_blocked(START, START.after(micros(30)));
    let far = START.after(Duration::from_millis(5));
    spin.rare.spend(Duration::from_secs(50), far);
    assert_eq!(spin.until(far), None);
    spin.note_there(far);
    assert!(spin.until(far).is_some());
}

#[test]
fn a_poll_that_the_deadline_ends_is_one_in_vain_and_the_next_wait_its_own() {
    let mut spin = automatic();
    spin.note_blocked(START, START.after(micros(30)));
    let (mut now, mut polled) = (START.after(micros(30)), 0);
    // Nothing comes, and each wait may last 20 us.
    for _ in 0..10_000 {
        let deadline = now.after(micros(20));
        match spin.until(now) {
            Some(until) => {
                assert!(until > deadline);
                spin.note_missed(now, deadline);
                spin.note_timed_out(deadline);
                polled += 1;
            }
            None => spin.note_blocked(now, deadline),
        }
        now = deadline;
    }
    assert!((3..200).contains(&polled), "{polled}");
    spin.note_missed(now, now.after(BUDGET));
    spin.note_timed_out(now.after(BUDGET));
    assert!(spin.missed.is_none());
}
