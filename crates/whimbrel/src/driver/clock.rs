//! The only place that reads the clocks. Deadlines, leases and waits count the monotonic one; the
//! wall clock only stamps samples, so that steps of it change stamps and nothing else.

use std::cell::Cell;
use std::thread::LocalKey;
use std::time::{Duration as StdDuration, SystemTime, UNIX_EPOCH};

use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_net::clock::{Ticks, look_at_counter, monotonic_ns};

/// A second, so that machines that subtract small spans stay above zero.
const START_NS: u64 = 1_000_000_000;

/// How long the monotonic clock is reckoned from the processor's counter, and the wall clock from
/// that or from the other.
pub(crate) const RECKONED_MAX: Duration = Duration::from_millis(1);

/// How often a thread that is awake anyway looks whether the system still counts as we do.
const COUNTER_PERIOD: Duration = Duration::from_secs(30);

/// Clocks that were read one after the other in less were read together.
const TOGETHER_MAX: Duration = Duration::from_nanos(500);

/// What is reckoned is off by no more: as far as clocks are that were read together, and by what
/// the system corrects its own meanwhile, a thousandth at most.
const OFF_MAX: Duration = TOGETHER_MAX.plus(RECKONED_MAX.divided_by(1000));

thread_local! {
    /// Both clocks when both were read last.
    static READ: Cell<Option<(Instant, Timestamp)>> = const { Cell::new(None) };

    /// What the wall clock showed when it was read last, and the counter right after that.
    static COUNTED: Cell<Option<(Ticks, Timestamp)>> = const { Cell::new(None) };

    /// The same of the monotonic clock.
    static TICKED: Cell<Option<(Ticks, Instant)>> = const { Cell::new(None) };
}

/// The monotonic clock, as the machines count it. Within a [`RECKONED_MAX`] of reading it a thread
/// reckons it by the processor's counter, where there is one.
#[inline(always)]
pub(crate) fn now() -> Instant {
    let known = TICKED.try_with(Cell::get).ok().flatten();
    if let Some((ticks, at)) = known
        && let Some(since) = reckoned(ticks)
    {
        return at.after(since);
    }
    now_to_count_from()
}

#[inline(never)]
fn now_to_count_from() -> Instant {
    count_from(&TICKED, now_read)
}

/// The monotonic clock, as the system has it.
fn now_read() -> Instant {
    Instant(START_NS.saturating_add(monotonic_ns()))
}

/// How long ago a clock was read, while it may be reckoned from that.
#[inline(always)]
fn reckoned(since: Ticks) -> Option<Duration> {
    let since = i64::try_from(since.elapsed_ns()?).ok()?;
    (since < RECKONED_MAX.as_nanos()).then(|| Duration::from_nanos(since))
}

/// Reads a clock, and remembers in `place` what it showed where it can be reckoned from that.
fn count_from<T: Copy + 'static>(
    place: &'static LocalKey<Cell<Option<(Ticks, T)>>>,
    read: impl FnOnce() -> T,
) -> T {
    let before = Ticks::learned();
    let shown = read();
    // Last, so that what is reckoned lags a little and never goes back when it is read again.
    let after = before.map(Ticks::again);
    let took = before.and_then(Ticks::elapsed_ns);
    let together = took.is_some_and(|it| it < TOGETHER_MAX.as_nanos().unsigned_abs());
    let after = after.filter(|_| together);
    // At the end of a thread there may be no place for it any more.
    let _ = place.try_with(|it| it.set(after.map(|at| (at, shown))));
    shown
}

/// `span`, which is not below zero, as the system takes it.
pub(crate) const fn span(span: Duration) -> StdDuration {
    StdDuration::from_nanos(span.as_nanos().unsigned_abs())
}

/// How long until `at`; `None` for never.
#[cfg(not(shuttle))]
pub(crate) fn until(at: Instant) -> Option<StdDuration> {
    if at == Instant::FAR_FUTURE {
        return None;
    }
    Some(span(at.since(now())))
}

/// The wall clock. Within a [`RECKONED_MAX`] of reading it a thread reckons it by the processor's
/// counter, where there is one: so long after it was stepped it may be as before.
pub(crate) fn wall() -> Timestamp {
    let known = COUNTED.try_with(Cell::get).ok().flatten();
    if let Some((ticks, wall)) = known
        && let Some(since) = reckoned(ticks)
    {
        return Timestamp(wall.0.saturating_add(since.as_nanos()));
    }
    wall_to_count_from()
}

#[inline(never)]
fn wall_to_count_from() -> Timestamp {
    let wall = count_from(&COUNTED, wall_read);
    if wall == Timestamp::INVALID {
        let _ = COUNTED.try_with(|it| it.set(None));
    }
    wall
}

/// When to look whether the system still keeps time by the processor's counter, and whether it is
/// known how fast that counts: best before anything is written that is stamped by it.
#[derive(Debug)]
pub(super) struct CounterWatch {
    next_at: Instant,
    has_learned: bool,
}

impl CounterWatch {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            next_at: now.after(COUNTER_PERIOD),
            has_learned: Ticks::learned().is_some(),
        }
    }

    /// Looks, where that is due.
    pub(super) fn look(&mut self, now: Instant) {
        if !self.has_learned {
            self.has_learned = Ticks::learned().is_some();
        }
        if self.is_due(now) {
            look_at_counter();
        }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = now >= self.next_at;
        if is_due {
            self.next_at = now.after(COUNTER_PERIOD);
        }
        is_due
    }
}

/// The wall clock, as the system has it.
pub(crate) fn wall_read() -> Timestamp {
    match system_time().duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        Err(_) => Timestamp::INVALID,
    }
}

/// Both clocks, the wall clock by [`wall_at`].
pub(crate) fn both() -> (Instant, Timestamp) {
    let now = now();
    (now, wall_at(now))
}

/// The wall clock at `now`, which is what the monotonic one has just shown. Within a
/// [`RECKONED_MAX`] of reading it a thread reckons it from the other: so long after it was stepped
/// it may be as before.
#[inline(always)]
pub(crate) fn wall_at(now: Instant) -> Timestamp {
    let known = READ.try_with(Cell::get).ok().flatten();
    if let Some((at, wall)) = known
        && (at.0..at.after(RECKONED_MAX).0).contains(&now.0)
    {
        return Timestamp(wall.0.saturating_add(now.since(at).as_nanos()));
    }
    let wall = wall_read();
    // Whoever was interrupted between the two knows nothing of how they belong together.
    let together = wall != Timestamp::INVALID && self::now().since(now) < TOGETHER_MAX;
    // At the end of a thread there may be no place for it any more.
    let _ = READ.try_with(|it| it.set(together.then_some((now, wall))));
    wall
}

#[cfg(not(test))]
use SystemTime as Wall;
#[cfg(test)]
use tests::SteppedWall as Wall;

fn system_time() -> SystemTime {
    Wall::now()
}

/// When a wait of `timeout` ends, not sooner by any clock; `None` where the clock cannot say.
pub(crate) fn deadline(timeout: StdDuration) -> Option<Instant> {
    if timeout.is_zero() {
        return Some(now());
    }
    let timeout = u64::try_from(timeout.as_nanos()).ok()?;
    let end = now().0.checked_add(timeout)?;
    Some(Instant(end).after(OFF_MAX))
}

#[cfg(test)]
mod tests;
