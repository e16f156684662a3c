//! The monotonic clock of the system, and one for measuring, which costs less to read.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::sys;

/// How long the counter is watched before it is believed.
const WATCH: Duration = Duration::from_millis(20);

/// How often the counter and the system's clock are read together; the quickest time counts.
const READINGS: usize = 9;

/// The system's monotonic clock: nanoseconds since some moment, the same for all of this process.
#[inline]
pub fn monotonic_ns() -> u64 {
    sys::monotonic_ns()
}

/// Nanoseconds since some moment of this process, never going back on one thread. By the
/// processor's counter where the system itself keeps time by it, else by the system's monotonic
/// clock. The first call takes 20 ms: it finds out how fast the counter counts.
#[inline]
pub fn now_ns() -> u64 {
    let clock = CLOCK.get_or_init(Clock::watched);
    match clock.scale {
        Some(scale) => scale.nanos(sys::counter()),
        None => nanos(clock.begun.elapsed()),
    }
}

/// True where [`now_ns`] reads the processor's counter.
pub fn counts_ticks() -> bool {
    CLOCK.get_or_init(Clock::watched).scale.is_some()
}

static CLOCK: OnceLock<Clock> = OnceLock::new();

#[derive(Clone, Copy, Debug)]
struct Clock {
    begun: Instant,
    scale: Option<Scale>,
}

/// What the counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    begun: u64,
    /// Of a nanosecond, in units of 2⁻³².
    per_tick: u64,
}

impl Clock {
    fn watched() -> Self {
        let begun = Instant::now();
        if !sys::has_counter() {
            return Self { begun, scale: None };
        }
        let (from, first) = reading();
        while from.elapsed() < WATCH {
            std::hint::spin_loop();
        }
        let (to, last) = reading();
        let scale = Scale::of(first, last, nanos(to.saturating_duration_since(from)));
        Self { begun, scale }
    }
}

impl Scale {
    /// Where the counter went from `first` to `last` in so many nanoseconds.
    fn of(first: u64, last: u64, nanos: u64) -> Option<Self> {
        let ticks = u128::from(last.checked_sub(first)?);
        let per_tick = (u128::from(nanos) << 32).checked_div(ticks)?;
        let per_tick = u64::try_from(per_tick).ok().filter(|it| *it > 0)?;
        Some(Self {
            begun: first,
            per_tick,
        })
    }

    fn nanos(self, counter: u64) -> u64 {
        let ticks = u128::from(counter.saturating_sub(self.begun));
        ((ticks * u128::from(self.per_tick)) >> 32) as u64
    }
}

/// Both clocks at one moment, as nearly as that can be.
fn reading() -> (Instant, u64) {
    let read = || {
        let before = Instant::now();
        let counter = sys::counter();
        (before.elapsed(), before, counter)
    };
    let mut best = read();
    for _ in 1..READINGS {
        let next = read();
        if next.0 < best.0 {
            best = next;
        }
    }
    (best.1 + best.0 / 2, best.2)
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_clock_of_the_system() {
        let bracketed = || {
            let before = Instant::now();
            (before, now_ns(), Instant::now())
        };
        now_ns();
        let (before, first, after) = bracketed();
        std::thread::sleep(Duration::from_millis(100));
        let (then, last, at_last) = bracketed();
        let passed = last - first;
        // A thousandth is what watching the counter may have missed.
        let least = nanos(then - after) * 999 / 1000;
        let most = nanos(at_last - before) * 1001 / 1000;
        assert!((least..=most).contains(&passed), "{least} {passed} {most}");
    }

    #[test]
    fn the_monotonic_clock_is_that_of_the_standard_library() {
        let bracketed = || {
            let before = Instant::now();
            (before, monotonic_ns(), Instant::now())
        };
        let (before, first, after) = bracketed();
        std::thread::sleep(Duration::from_millis(10));
        let (then, last, at_last) = bracketed();
        let bounds = nanos(then - after)..=nanos(at_last - before);
        assert!(bounds.contains(&(last - first)), "{bounds:?}");
    }

    #[test]
    fn ticks_are_nanoseconds_by_what_was_watched() {
        let scale = Scale::of(1000, 46_000, 20_000).unwrap();
        assert_eq!(scale.nanos(1000), 0);
        // Rounded down, as the scale is.
        assert_eq!(scale.nanos(46_001), 20_000);
        assert_eq!(scale.nanos(999), 0);
        let later = scale.nanos(1000 + 45_000 * 3_600_000);
        assert!((71_999_999_900..=72_000_000_000).contains(&later));
        assert_eq!(Scale::of(5, 5, 100), None);
        assert_eq!(Scale::of(6, 5, 100), None);
        assert_eq!(Scale::of(5, 6, 0), None);
    }

    #[test]
    fn without_a_counter_it_is_the_clock_of_the_system() {
        assert_eq!(counts_ticks(), sys::has_counter());
    }
}
