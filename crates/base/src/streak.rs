//! Whether events come faster than they can be handled, one after the other.

use crate::time::Duration;

/// So many events in a row come fast before a streak is high: a few at once are none, as of several
/// joints of a robot.
pub const STREAK_MIN: u32 = 8;

/// More of them count no more.
const STREAK_MAX: u32 = 64;

/// After a streak that was high in vain so many fast ones have to come before it is again, twice as
/// many each time, at most [`PATIENCE_MAX`]. As many as that have to where one of the last
/// [`STREAK_MIN`] may have been an answer: whoever answers what came in the middle of its send
/// call, on a processor that both share, only looks fast. They need not come in a row, as those of
/// a stream never do that is interrupted now and then.
pub const PATIENCE_MIN: u32 = STREAK_MIN;

/// See [`PATIENCE_MIN`].
pub const PATIENCE_MAX: u32 = 4096;

/// Of the word that tells what has been heard: how much of it is the count.
pub const COUNT_BITS: u32 = 24;

/// A pause of so many times what handling takes ends a streak; a shorter one halves it, such as
/// while an acknowledgement was handled.
const PAUSE_COSTS: u32 = 16;

/// Events that came faster than they can be handled, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streak {
    len: u32,
    /// Fast ones since it was high in vain.
    since_vain: u32,
    /// Those before that, until something comes.
    before_vain: u32,
    /// How many of these it takes.
    patience: u32,
    /// Since one that may have been an answer; more than [`STREAK_MIN`] count no more.
    unprompted: u32,
    /// What had arrived by the last one, see [`Streak::with_heard`].
    heard: u32,
    burst: Burst,
}

/// Events between two pauses. Programs that do the same again and again cause as many each time, so
/// nothing need wait for more once that many are there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Burst {
    len: u32,
    /// That of the one before.
    last: u32,
    /// That of two in a row; 0 while there were none.
    usual: u32,
}

impl Burst {
    /// With one more event, after a pause that `ends` the burst, or not.
    fn after(self, ends: bool) -> Self {
        if !ends {
            let len = self.len.saturating_add(1);
            return Self { len, ..self };
        }
        let again = self.len == self.last;
        Self {
            len: 1,
            last: self.len,
            usual: if again { self.len } else { self.usual },
        }
    }
}

impl Streak {
    /// Before the first event.
    pub const NONE: Self = Self {
        len: 0,
        since_vain: 0,
        before_vain: 0,
        patience: PATIENCE_MIN,
        unprompted: STREAK_MIN,
        heard: 0,
        burst: Burst {
            len: 0,
            last: 0,
            usual: 0,
        },
    };

    /// After an event that came `pause` after the one before was handled, which took `cost`; a
    /// `pressed` one would have come sooner but for what it had to wait for.
    #[inline]
    #[must_use]
    pub fn after(self, pause: Duration, cost: Duration, pressed: bool) -> Self {
        // Whoever waits for an answer before it goes on takes longer.
        let is_fast = pause < cost.divided_by(2);
        let len = if is_fast {
            self.len.saturating_add(1).min(STREAK_MAX)
        } else if pressed {
            self.len
        } else if pause < cost.times(PAUSE_COSTS) {
            self.len / 2
        } else {
            0
        };
        let since_vain = self.since_vain.saturating_add(u32::from(is_fast));
        let ends = !pressed && pause >= cost.times(PAUSE_COSTS);
        Self {
            len,
            since_vain: since_vain.min(PATIENCE_MAX),
            before_vain: 0,
            burst: self.burst.after(ends),
            ..self
        }
    }

    /// After an event that has nothing to do with those before.
    #[must_use]
    pub fn anew(self) -> Self {
        Self {
            len: 0,
            burst: Burst {
                len: 0,
                ..self.burst
            },
            ..self
        }
    }

    /// With the last event where, by then, `heard` had arrived: [`COUNT_BITS`] of a count, above
    /// them who counts. Where the same has counted on since the one before, the event may be an
    /// answer; where another counts, nothing is known of that.
    #[inline]
    #[must_use]
    pub fn with_heard(self, heard: u32) -> Self {
        let unprompted = if heard == self.heard {
            self.unprompted.saturating_add(1).min(STREAK_MIN)
        } else if heard >> COUNT_BITS == self.heard >> COUNT_BITS {
            0
        } else {
            self.unprompted
        };
        Self {
            unprompted,
            heard,
            ..self
        }
    }

    /// After it was high in vain: what was put off for others was alone. Of an answer that says
    /// nothing of the others.
    #[must_use]
    pub fn alone(self) -> Self {
        let doubled = self.patience.saturating_mul(2).min(PATIENCE_MAX);
        Self {
            len: 0,
            since_vain: 0,
            before_vain: self.since_vain,
            patience: if self.is_prompted() {
                self.patience
            } else {
                doubled
            },
            ..self
        }
    }

    /// After it was right that it was high, also where the first of those that leave together was
    /// taken for [alone](Streak::alone).
    #[must_use]
    pub fn company(self) -> Self {
        Self {
            since_vain: self.since_vain.max(self.before_vain),
            patience: PATIENCE_MIN.max(self.patience / 2),
            ..self
        }
    }

    /// True where one of the last [`STREAK_MIN`] may have been an answer.
    fn is_prompted(self) -> bool {
        self.unprompted < STREAK_MIN
    }

    /// True where events come faster than they can be handled.
    #[inline]
    pub fn is_high(self) -> bool {
        self.is_high_after(0)
    }

    /// True after so many more that come fast and are no answers.
    #[inline]
    pub fn is_high_after(self, more: u32) -> bool {
        let patience = if self.unprompted.saturating_add(more) < STREAK_MIN {
            PATIENCE_MAX
        } else {
            self.patience
        };
        self.len.saturating_add(more) >= STREAK_MIN
            && self.since_vain.saturating_add(more) >= patience
    }

    /// True where the last event came fast.
    #[inline]
    pub fn has_begun(self) -> bool {
        self.len > 0
    }

    /// True where the last event was the last of as many as usual.
    pub fn is_burst_over(self) -> bool {
        self.burst.len == self.burst.usual
    }

    /// All that it is, for whoever keeps it in pieces.
    #[inline]
    pub fn to_words(self) -> [u32; 9] {
        let Burst { len, last, usual } = self.burst;
        [
            self.len,
            self.since_vain,
            self.before_vain,
            self.patience,
            self.unprompted,
            self.heard,
            len,
            last,
            usual,
        ]
    }

    /// As it was when it gave `words`.
    #[inline]
    pub fn of_words(words: [u32; 9]) -> Self {
        let [len, since_vain, before_vain, patience, rest @ ..] = words;
        let [unprompted, heard, burst_len, last, usual] = rest;
        Self {
            len,
            since_vain,
            before_vain,
            patience,
            unprompted,
            heard,
            burst: Burst {
                len: burst_len,
                last,
                usual,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Duration = Duration::from_micros(4);
    const FAST: Duration = Duration::from_micros(1);

    /// The event, from 0, at which `streak` is high where `heard` has arrived at each.
    fn high_at(mut streak: Streak, heard: impl Fn(u32) -> u32) -> Option<u32> {
        (0..2 * PATIENCE_MAX).find(|at| {
            streak = streak.after(FAST, COST, false).with_heard(heard(*at));
            streak.is_high()
        })
    }

    #[test]
    fn answers_that_come_fast_count_late_and_what_follows_them_soon() {
        assert_eq!(high_at(Streak::NONE, |_| 0), Some(STREAK_MIN - 1));
        assert_eq!(high_at(Streak::NONE, |at| at + 1), Some(PATIENCE_MAX - 1));
        assert_eq!(high_at(Streak::NONE, |_| 1), Some(STREAK_MIN));
        let every_other = high_at(Streak::NONE, |at| at / 2 + 1);
        assert_eq!(every_other, Some(PATIENCE_MAX - 1), "two at a time");
        let vain = Streak::NONE.alone();
        assert_eq!(high_at(vain, |_| 0), Some(2 * PATIENCE_MIN - 1));
        assert_eq!(high_at(vain.company(), |_| 0), Some(PATIENCE_MIN - 1));
    }

    #[test]
    fn another_who_counts_is_no_answer_and_hides_none() {
        let one = |at: u32| 1 << COUNT_BITS | at;
        let two = |at: u32| 2 << COUNT_BITS | at;
        let turns = |at: u32| if at.is_multiple_of(2) { one(7) } else { two(9) };
        assert_eq!(high_at(Streak::NONE, turns), Some(STREAK_MIN - 1));
        let turns = |at: u32| {
            if at.is_multiple_of(3) {
                two(9)
            } else {
                one(at)
            }
        };
        assert_eq!(high_at(Streak::NONE, turns), Some(PATIENCE_MAX - 1));
    }

    #[test]
    fn one_more_that_comes_fast_and_is_no_answer_is_what_was_foretold() {
        let prompts = [3, 11, 12, 40];
        let mut streak = Streak::NONE;
        for at in 0..60 {
            let heard = prompts.iter().filter(|it| **it <= at).count();
            let next = streak.after(FAST, COST, false);
            let unprompted = next.with_heard(streak.to_words()[5]);
            assert_eq!(streak.is_high_after(1), unprompted.is_high(), "{at}");
            streak = next.with_heard(heard as u32);
        }
        assert!(streak.is_high());
    }

    #[test]
    fn the_first_of_those_that_leave_together_was_not_alone() {
        let mut streak = Streak::NONE;
        for at in 0..PATIENCE_MAX {
            streak = streak.after(FAST, COST, false).with_heard(at);
        }
        assert!(streak.is_high());
        let (alone, company) = (streak.alone(), streak.alone().company());
        assert_eq!(high_at(company, |at| at), Some(STREAK_MIN - 1));
        assert_eq!(high_at(alone, |at| at), Some(PATIENCE_MAX - 1));
        // What is no answer does not pay for it.
        assert_eq!(high_at(alone, |_| 0), Some(STREAK_MIN));
        let later = streak.alone().after(FAST, COST, false).company();
        assert_eq!(high_at(later, |at| at), Some(PATIENCE_MAX - 2), "too late");
    }

    #[test]
    fn it_comes_back_from_its_words() {
        let words = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(Streak::of_words(words).to_words(), words);
        assert_eq!(Streak::of_words(Streak::NONE.to_words()), Streak::NONE);
    }
}
