//! Whether it pays to poll a socket before blocking.

mod rare;
mod usual;

use whimbrel_base::time::{Duration, Instant};

use self::rare::Rare;
use self::usual::Usual;
use crate::domain::Waiting;

/// A wait that took up to so many budgets while blocked might be short enough when polled: waking
/// a thread takes most of that time, here and where what is waited for comes from. In a machine
/// that shares its cores with others a core that has nothing to do is long in coming back.
const SOON_BUDGETS: u32 = 8;

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
    /// When the last wait ended.
    ended_at: Instant,
    rare: Rare,
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
            ended_at: Instant::ZERO,
            rare: Rare::new(),
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
                let affords = !self.is_rare(now) || self.rare.may(now);
                let tries = self.missed.is_none() && may && affords;
                let reach = self.reach.filter(|_| tries)?;
                Some(now.after(reach))
            }
        }
    }

    /// Polling from `started` on found something at `now`.
    pub(super) fn note_found(&mut self, started: Instant, now: Instant) {
        let took = now.since(started);
        self.note_end(started, took, now);
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

    /// Something was there at the first look, at `now`, which says nothing of polling.
    pub(super) fn note_there(&mut self, now: Instant) {
        self.ended_at = now;
    }

    /// The wait ended at `now` with nothing: its deadline has passed.
    pub(super) fn note_timed_out(&mut self, now: Instant) {
        if self.missed.is_some() {
            self.learn_of_blocked(now, now);
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
        let (began, polled_until) = missed.unwrap_or((started, started));
        let (took, polled) = (now.since(began), polled_until.since(began));
        self.note_end(began, polled, now);
        let budget = self.budget();
        let soon = took <= self.soon();
        self.reach = soon.then(|| {
            let (least, wanted) = (budget.divided_by(REACH_SHARE_MIN), took.times(REACH_WAITS));
            wanted.clamp(least, budget).max(took)
        });
        if missed.is_some() {
            let useful = std::mem::take(&mut self.useful);
            let is_too_late = self.is_too_late(polled);
            if is_too_late || self.pauses > 0 || (!soon && useful < USEFUL_MIN) {
                self.give_up(polled_until);
            }
        } else if soon {
            self.note_usual(now, took);
        }
    }

    /// A wait that began at `began` ended at `now`; so much of it was polled.
    #[inline(always)]
    fn note_end(&mut self, began: Instant, polled: Duration, now: Instant) {
        if !polled.is_zero() && self.is_rare(began) {
            self.rare.spend(pause_for(polled), now);
        }
        self.ended_at = now;
    }

    /// Whether a wait that begins at `began` is far from the one before.
    fn is_rare(&self, began: Instant) -> bool {
        began.since(self.ended_at) > self.soon()
    }

    /// What took longer was not soon.
    fn soon(&self) -> Duration {
        self.budget().times(SOON_BUDGETS)
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

/// The time of which a fiftieth is what was polled: so long nothing more may be, where that was of
/// no use or waits are far apart.
fn pause_for(spent: Duration) -> Duration {
    Duration::from_nanos(spent.as_nanos().saturating_mul(PAUSE_SHARE))
}

#[cfg(test)]
mod tests;
