//! Whether whoever leaves a seat is back before others would have been served without him, and how
//! long to wait for that.

use whimbrel_base::time::Duration;

/// How long a seat may be kept by a thread that does not wait.
pub(super) const AWAY_MAX: Duration = Duration::from_millis(2);

/// As [`AWAY_MAX`] for one whose absences have been short for so long that one which is not may
/// cost others more, and whose waits are: the thread that looks whether he is still away comes in
/// between, where longer waits leave it the time.
const AWAY_MAX_OF_REGULARS: Duration = Duration::from_millis(10);

/// No longer wait is short: to wake up on another core takes about as long.
const WAIT_SHORT: Duration = Duration::from_micros(25);

/// So many short waits in a row make the next one expected to be.
const WAITS_WANTED: u32 = 32;

/// Nobody else is served sooner: two threads are woken one after the other for that.
const SHORT: Duration = Duration::from_micros(100);

/// So many more short absences than others before the next is expected to be short.
const WANTED_MIN: u32 = 16;

/// As many at most are wanted after expectations that were wrong.
const WANTED_MAX: u32 = 4096;

/// An expectation that was right for so many times what was wanted was worth it.
const WORTH: u32 = 4;

/// What is known of how long a seat is empty between two waits, and of those.
#[derive(Debug)]
pub(super) struct Habit {
    short: u32,
    wanted: u32,
    waits_short: u32,
}

impl Habit {
    pub(super) const fn new() -> Self {
        Self {
            short: 0,
            wanted: WANTED_MIN,
            waits_short: 0,
        }
    }

    /// True where the next absence is expected to be short.
    pub(super) const fn is_short(&self) -> bool {
        self.short >= self.wanted
    }

    /// How long the next absence may last before the seat is taken away.
    pub(super) const fn patience(&self) -> Duration {
        let is_regular = self.short >= self.wanted.saturating_mul(WORTH);
        if is_regular && self.waits_short >= WAITS_WANTED {
            AWAY_MAX_OF_REGULARS
        } else {
            AWAY_MAX
        }
    }

    /// A wait for datagrams took so long.
    #[inline(always)]
    pub(super) fn note_wait(&mut self, took: Duration) {
        // One long wait among many is forgiven.
        self.waits_short = if took <= WAIT_SHORT {
            self.waits_short.saturating_add(1).min(2 * WAITS_WANTED)
        } else {
            self.waits_short / 2
        };
    }

    /// Somebody sits again, after so long.
    #[inline(always)]
    pub(super) fn note(&mut self, absence: Duration) {
        if absence <= SHORT {
            let worth = self.wanted.saturating_mul(WORTH);
            self.short = self.short.saturating_add(1).min(worth);
        } else {
            self.note_long(absence);
        }
    }

    #[inline(never)]
    fn note_long(&mut self, absence: Duration) {
        let worth = self.wanted.saturating_mul(WORTH);
        if absence <= AWAY_MAX {
            // As happens to threads of a busy machine too.
            let less = (self.short / 4).saturating_add(WANTED_MIN);
            self.short = self.short.saturating_sub(less);
        } else {
            // Others had to wait for that long.
            if self.is_short() && self.short < worth {
                self.wanted = self.wanted.saturating_mul(2).min(WANTED_MAX);
            } else if self.is_short() {
                self.wanted = (self.wanted / 2).max(WANTED_MIN);
            }
            self.short = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regulars_may_stay_away_for_longer_where_waits_are_short_until_they_do() {
        let mut habit = Habit::new();
        let is_patient = |habit: &Habit| habit.patience() > AWAY_MAX;
        for _ in 0..WANTED_MIN * WORTH {
            assert!(!is_patient(&habit));
            habit.note(SHORT);
        }
        for _ in 0..WAITS_WANTED {
            assert!(!is_patient(&habit));
            habit.note_wait(WAIT_SHORT);
        }
        assert!(is_patient(&habit));
        habit.note_wait(MIDDLE);
        assert!(!is_patient(&habit));
        (0..100).for_each(|_| habit.note_wait(WAIT_SHORT));
        habit.note_wait(MIDDLE);
        assert!(is_patient(&habit), "one long wait among many");
        habit.note(LONG);
        assert!(!is_patient(&habit));
    }

    const MIDDLE: Duration = Duration::from_micros(101);
    const LONG: Duration = Duration::from_micros(2001);

    /// How many short absences it takes until the next is expected to be short.
    fn wanted(habit: &mut Habit) -> u32 {
        let mut count = 0;
        while !habit.is_short() {
            habit.note(SHORT);
            count += 1;
        }
        count
    }

    #[test]
    fn an_absence_is_expected_to_be_short_after_many_that_were() {
        let mut habit = Habit::new();
        assert_eq!(wanted(&mut habit), WANTED_MIN);
        let mut irregular = Habit::new();
        for at in 0..10_000 {
            let is_middle = at % WANTED_MIN == 0;
            irregular.note(if is_middle { MIDDLE } else { SHORT });
            assert!(!irregular.is_short(), "{at}");
        }
    }

    #[test]
    fn one_of_fifty_that_is_longer_changes_little_and_several_in_a_row_much() {
        let mut habit = Habit::new();
        wanted(&mut habit);
        let mut expected = 0;
        for at in 1..=1000 {
            habit.note(if at % 50 == 0 { MIDDLE } else { SHORT });
            expected += u32::from(habit.is_short());
        }
        assert!(expected > 900, "{expected}");
        (0..100).for_each(|_| habit.note(SHORT));
        (0..3).for_each(|_| habit.note(MIDDLE));
        assert!(!habit.is_short());
    }

    #[test]
    fn wrong_expectations_make_others_rare_until_one_was_worth_it() {
        let mut habit = Habit::new();
        let mut before = wanted(&mut habit);
        for _ in 0..20 {
            habit.note(LONG);
            assert!(!habit.is_short());
            let now = wanted(&mut habit);
            assert_eq!(now, (before * 2).min(WANTED_MAX));
            before = now;
        }
        for _ in 0..20 {
            (0..before * WORTH).for_each(|_| habit.note(SHORT));
            habit.note(LONG);
            let now = wanted(&mut habit);
            assert_eq!(now, (before / 2).max(WANTED_MIN));
            before = now;
        }
        assert_eq!(before, WANTED_MIN);
    }
}
