//! How long drops take.

use std::any::Any;
use std::fmt::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::watchdog;

/// Longest that any drop may take.
pub(super) const DROP_MAX: Duration = Duration::from_millis(500);

/// Something to be dropped, and its name.
pub(super) type Thing = (&'static str, Box<dyn Any>);

struct Kind {
    name: &'static str,
    count: u64,
    total: Duration,
    slowest: Duration,
}

static KINDS: Mutex<Vec<Kind>> = Mutex::new(Vec::new());

/// Drops `value` and notes how long that took.
pub(super) fn timed<T>(name: &'static str, value: T) {
    watchdog::step(name);
    let started = Instant::now();
    drop(value);
    note(name, started.elapsed());
    watchdog::step("working");
}

fn note(name: &'static str, took: Duration) {
    let mut kinds = KINDS.lock().expect("nobody panics here");
    let at = kinds.iter().position(|kind| kind.name == name);
    let at = at.unwrap_or_else(|| {
        kinds.push(Kind {
            name,
            count: 0,
            total: Duration::ZERO,
            slowest: Duration::ZERO,
        });
        kinds.len() - 1
    });
    let kind = &mut kinds[at];
    kind.count += 1;
    kind.total += took;
    kind.slowest = kind.slowest.max(took);
}

/// How many there were, the slowest, and what that was.
pub(super) fn summary() -> (u64, Duration, &'static str) {
    let kinds = KINDS.lock().expect("nobody panics here");
    let count = kinds.iter().map(|kind| kind.count).sum();
    let slowest = kinds.iter().max_by_key(|kind| kind.slowest);
    slowest.map_or((count, Duration::ZERO, "nothing"), |kind| {
        (count, kind.slowest, kind.name)
    })
}

/// A line for each kind.
pub(super) fn table() -> String {
    let kinds = KINDS.lock().expect("nobody panics here");
    let mut out = String::new();
    for kind in kinds.iter() {
        let mean = kind.total / u32::try_from(kind.count).unwrap_or(u32::MAX).max(1);
        let (mean, slowest) = (mean.as_secs_f64() * 1e3, kind.slowest.as_secs_f64() * 1e3);
        let (name, count) = (kind.name, kind.count);
        let line = writeln!(
            out,
            "  {count:>7} × {name:<44} mean {mean:>7.2} ms, slowest {slowest:>7.2} ms"
        );
        line.expect("a string takes everything");
    }
    out
}
