//! The monotonic clock of the system, one for measuring, which costs less to read, and short spans
//! by the processor's counter.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::sys;

/// How long the counter is watched before it is believed.
const WATCH: Duration = Duration::from_millis(20);

/// As [`WATCH`], before anything is known: enough for the spans of some milliseconds that are
/// reckoned until more is.
const FIRST_WATCH: Duration = Duration::from_millis(5);

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

/// A moment by the processor's counter, where the system itself keeps time by that. To read it
/// costs half of what the system's clocks do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks(u64);

impl Ticks {
    /// This moment; `None` where there is no such counter, and until it is known how fast it
    /// counts, which takes 10 ms. Nobody waits for that: whoever asks now and then lets it be
    /// learned, and then followed as the system corrects its clocks.
    pub fn learned() -> Option<Self> {
        if !COUNTER.stands(sys::has_counter) {
            return None;
        }
        // Whoever finds another at it has no more to add.
        if let Ok(mut watched) = WATCHED.try_lock() {
            let since = watched.as_ref().map(|it| it.at.elapsed());
            let is_known = PER_TICK.load(Ordering::Relaxed) > 0;
            let watch = if is_known { WATCH } else { FIRST_WATCH };
            if since.is_none_or(|it| it >= watch) {
                let now = Watched::begun(watched.as_ref(), reading());
                let before = watched.as_ref().and_then(|it| it.per_tick);
                if let Some(per_tick) = believed(before, now.per_tick) {
                    PER_TICK.store(per_tick, Ordering::Relaxed);
                }
                *watched = Some(now);
            }
        }
        (PER_TICK.load(Ordering::Relaxed) > 0).then(|| Self(sys::counter()))
    }

    /// This moment, by the same counter.
    #[inline]
    #[must_use]
    pub fn again(self) -> Self {
        Self(sys::counter())
    }

    /// Nanoseconds since this moment; `None` where the counter went back. Good for short spans.
    #[inline]
    pub fn elapsed_ns(self) -> Option<u64> {
        let ticks = u128::from(sys::counter().checked_sub(self.0)?);
        let per_tick = u128::from(PER_TICK.load(Ordering::Relaxed));
        u64::try_from((ticks * per_tick) >> 32).ok()
    }
}

/// Has [`Ticks::learned`] give nothing more where the system no longer keeps time by the counter:
/// it stops that for good when it finds it uneven. Where anybody counts by it this reads a file,
/// some microseconds: to be called now and then where those do not matter.
pub fn look_at_counter() {
    COUNTER.look_again(sys::has_counter);
}

/// Has [`Ticks::learned`] give nothing from now on, for whoever counts in this process.
pub fn give_up_counter() {
    COUNTER.give_up();
}

static COUNTER: Counter = Counter(AtomicU8::new(Counter::UNKNOWN));

/// Whether the system keeps time by the processor's counter.
#[derive(Debug)]
struct Counter(AtomicU8);

impl Counter {
    const UNKNOWN: u8 = 0;
    const STANDS: u8 = 1;
    const GONE: u8 = 2;

    /// Looks the first time only.
    fn stands(&self, look: impl FnOnce() -> bool) -> bool {
        if self.0.load(Ordering::Relaxed) == Self::UNKNOWN {
            self.note(Self::UNKNOWN, look());
        }
        self.0.load(Ordering::Relaxed) == Self::STANDS
    }

    /// Looks again where it stood.
    fn look_again(&self, look: impl FnOnce() -> bool) {
        if self.0.load(Ordering::Relaxed) == Self::STANDS {
            self.note(Self::STANDS, look());
        }
    }

    fn give_up(&self) {
        self.0.store(Self::GONE, Ordering::Relaxed);
    }

    /// Notes what was seen, unless somebody has noted more since.
    fn note(&self, before: u8, stands: bool) {
        let now = if stands { Self::STANDS } else { Self::GONE };
        let (order, noted) = (Ordering::Relaxed, &self.0);
        let _ = noted.compare_exchange(before, now, order, order);
    }
}

/// When the counter was read to learn how fast it counts.
#[derive(Debug)]
struct Watched {
    at: Instant,
    counter: u64,
    /// What it came to since it was read before, as [`Scale::per_tick`].
    per_tick: Option<u64>,
}

impl Watched {
    fn begun(before: Option<&Self>, (at, counter): (Instant, u64)) -> Self {
        let scale = before.and_then(|it| {
            let span = nanos(at.saturating_duration_since(it.at));
            Scale::of(it.counter, counter, span)
        });
        Self {
            at,
            counter,
            per_tick: scale.map(|it| it.per_tick),
        }
    }
}

/// What was `seen` of the counter, where that was so `before` as well. In a machine that sleeps the
/// counter may go on and the system's clock not, and one that moves may get another counter.
fn believed(before: Option<u64>, seen: Option<u64>) -> Option<u64> {
    let (before, seen) = (before?, seen?);
    (before.abs_diff(seen) <= before / 128).then_some(seen)
}

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

/// What was learned, as [`Scale::per_tick`]; zero before.
static PER_TICK: AtomicU64 = AtomicU64::new(0);

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
    fn short_spans_are_told_by_the_counter_once_its_speed_is_learned() {
        let learn = || {
            std::thread::sleep(WATCH);
            Ticks::learned()
        };
        // Another test may be at it just then.
        let learned = (0..100).find_map(|_| learn());
        assert_eq!(learned.is_some(), sys::has_counter());
        let told = || {
            let before = Instant::now();
            let at = Ticks::learned()?;
            let after = Instant::now();
            std::thread::sleep(Duration::from_millis(5));
            let least = nanos(after.elapsed());
            let told = at.elapsed_ns()?;
            Some((least * 999 / 1000..=nanos(before.elapsed()) * 1001 / 1000).contains(&told))
        };
        assert_eq!(told(), sys::has_counter().then_some(true));
        if sys::has_counter() {
            assert_eq!(Ticks(u64::MAX).elapsed_ns(), None, "it went back");
        }
    }

    #[test]
    fn a_counter_that_the_system_gave_up_is_gone_for_good_and_is_not_looked_at_again() {
        let counter = Counter(AtomicU8::new(Counter::UNKNOWN));
        counter.look_again(|| panic!("nobody counts by it"));
        assert!(counter.stands(|| true));
        counter.look_again(|| true);
        assert!(counter.stands(|| panic!("it is known")));
        counter.look_again(|| false);
        assert!(!counter.stands(|| panic!("it is known")));
        counter.look_again(|| panic!("it is gone"));
        let without = Counter(AtomicU8::new(Counter::UNKNOWN));
        assert!(!without.stands(|| false));
        let unwanted = Counter(AtomicU8::new(Counter::UNKNOWN));
        unwanted.give_up();
        assert!(!unwanted.stands(|| panic!("it is not to be looked at")));
    }

    #[test]
    fn what_the_counter_did_while_the_machine_slept_is_not_believed() {
        let (ticks_per_ns, hour_ns) = (3, 3_600_000_000_000);
        let mut counter = 1000;
        let begun = Instant::now();
        let mut at = begun;
        let mut watched = Watched::begun(None, (at, counter));
        let mut known = None;
        let mut watch = |slept_ns: u64, back: bool| {
            at += WATCH;
            counter += ticks_per_ns * (nanos(WATCH) + slept_ns);
            if back {
                counter = 0;
            }
            let now = Watched::begun(Some(&watched), (at, counter));
            known = believed(watched.per_tick, now.per_tick).or(known);
            watched = now;
            known
        };
        let right = Some((1 << 32) / 3);
        let by_turn = [
            watch(0, false),
            watch(0, false),
            watch(hour_ns, false),
            watch(0, false),
            watch(0, true),
            watch(0, false),
            watch(0, false),
        ];
        let off = |it: Option<u64>| it.zip(right).map(|(a, b): (u64, u64)| a.abs_diff(b));
        assert_eq!(by_turn[0], None, "once is not enough");
        assert!(
            by_turn[1..]
                .iter()
                .all(|it| off(*it).is_some_and(|off| off <= 1)),
            "{by_turn:?}"
        );
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
