//! The only place that reads the clocks. Deadlines, leases and waits count the monotonic one; the
//! wall clock only stamps samples, so that steps of it change stamps and nothing else.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration as StdDuration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use whimbrel_base::time::{Duration, Instant, Timestamp};

/// A second, so that machines that subtract small spans stay above zero.
const START_NS: u64 = 1_000_000_000;

/// How long the wall clock is reckoned from the other.
const RECKONED_MAX: Duration = Duration::from_millis(1);

/// Clocks that were read one after the other in less were read together.
const TOGETHER_MAX: Duration = Duration::from_nanos(500);

thread_local! {
    /// Both clocks when both were read last.
    static READ: Cell<Option<(Instant, Timestamp)>> = const { Cell::new(None) };
}

fn origin() -> StdInstant {
    static ORIGIN: OnceLock<StdInstant> = OnceLock::new();
    *ORIGIN.get_or_init(StdInstant::now)
}

/// The monotonic clock, as the machines count it.
pub(crate) fn now() -> Instant {
    let elapsed = u64::try_from(origin().elapsed().as_nanos()).unwrap_or(u64::MAX);
    Instant(START_NS.saturating_add(elapsed))
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

/// The wall clock.
pub(crate) fn wall() -> Timestamp {
    match system_time().duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        Err(_) => Timestamp::INVALID,
    }
}

/// Both clocks. Within a [`RECKONED_MAX`] of reading both, a thread reads the monotonic one only
/// and reckons the other from it: so long after it was stepped the wall clock may be as before.
pub(crate) fn both() -> (Instant, Timestamp) {
    let now = now();
    let known = READ.try_with(Cell::get).ok().flatten();
    if let Some((at, wall)) = known
        && now.since(at) < RECKONED_MAX
    {
        return (
            now,
            Timestamp(wall.0.saturating_add(now.since(at).as_nanos())),
        );
    }
    let wall = wall();
    // Whoever was interrupted between the two knows nothing of how they belong together.
    let together = wall != Timestamp::INVALID && self::now().since(now) < TOGETHER_MAX;
    // At the end of a thread there may be no place for it any more.
    let _ = READ.try_with(|it| it.set(together.then_some((now, wall))));
    (now, wall)
}

#[cfg(not(test))]
use SystemTime as Wall;
#[cfg(test)]
use tests::SteppedWall as Wall;

fn system_time() -> SystemTime {
    Wall::now()
}

/// When a wait of `timeout` ends; `None` where the clock cannot say.
pub(crate) fn deadline(timeout: StdDuration) -> Option<Instant> {
    let timeout = u64::try_from(timeout.as_nanos()).ok()?;
    now().0.checked_add(timeout).map(Instant)
}

#[cfg(test)]
mod tests;
