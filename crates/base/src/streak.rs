//! Whether events come faster than they can be handled, one after the other.

use crate::time::Duration;

/// So many events in a row come fast before a streak is high: a few at once are none, as of several
/// joints of a robot.
pub const STREAK_MIN: u32 = 8;

/// More of them count no more.
const STREAK_MAX: u32 = 64;

/// After a streak that was high in vain so many fast ones have to come before it is again, twice as
/// many each time, at most [`PATIENCE_MAX`]. As many as that have to where the last one, or one of
/// the [`STREAK_MIN`] before, may have been an answer: whoever answers what came in the middle of
/// its send call, on a processor that both share, only looks fast. They need not come in a row, as
/// those of a stream never do that is interrupted now and then.
pub const PATIENCE_MIN: u32 = STREAK_MIN;

/// See [`PATIENCE_MIN`].
pub const PATIENCE_MAX: u32 = 4096;

/// A pause of so many times what handling takes ends a streak; a shorter one halves it, such as
/// while an acknowledgement was handled.
const PAUSE_COSTS: u32 = 16;

/// Events that came faster than they can be handled, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streak {
    len: u32,
    /// Fast ones since it was high in vain.
    since_vain: u32,
    /// How many of these it takes.
    patience: u32,
    /// Since one that may have been an answer; more than [`STREAK_MIN`] count no more.
    unprompted: u32,
    /// What had arrived by the last one, as a count.
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

    /// With the last event where, by then, `heard` had arrived, as a count: where that is another
    /// than at the one before, the event may be an answer.
    #[inline]
    #[must_use]
    pub fn with_heard(self, heard: u32) -> Self {
        let unprompted = if heard == self.heard {
            self.unprompted.saturating_add(1).min(STREAK_MIN)
        } else {
            0
        };
        Self {
            unprompted,
            heard,
            ..self
        }
    }

    /// After it was high in vain: what was put off for others was alone.
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            len: 0,
            since_vain: 0,
            patience: self.patience.saturating_mul(2).min(PATIENCE_MAX),
            ..self
        }
    }

    /// After it was right that it was high.
    #[must_use]
    pub fn company(self) -> Self {
        Self {
            patience: PATIENCE_MIN.max(self.patience / 2),
            ..self
        }
    }

    /// True where events come faster than they can be handled.
    #[inline]
    pub fn is_high(self) -> bool {
        self.is_high_after(0)
    }

    /// True after so many more that come fast.
    #[inline]
    pub fn is_high_after(self, more: u32) -> bool {
        let patience = if self.unprompted < STREAK_MIN {
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
    pub fn to_words(self) -> [u32; 8] {
        let Burst { len, last, usual } = self.burst;
        [
            self.len,
            self.since_vain,
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
    pub fn of_words(words: [u32; 8]) -> Self {
        let [len, since_vain, patience, unprompted, heard, burst @ ..] = words;
        let [burst_len, last, usual] = burst;
        Self {
            len,
            since_vain,
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
    fn it_comes_back_from_its_words() {
        let streak = Streak::of_words([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(streak.to_words(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Streak::of_words(Streak::NONE.to_words()), Streak::NONE);
    }
}
