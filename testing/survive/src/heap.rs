//! What the process holds on its heap.

use std::alloc::System;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use cap::Cap;

/// Counts what is allocated, and refuses what goes over a limit; without limit until one is set.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// What comes and goes with every sample is less.
const GRAIN_BYTES: usize = 32 << 10;

/// Setting of the system's allocator: how many arenas threads may share.
pub const ARENAS_MAX: &str = "MALLOC_ARENA_MAX";

/// Has the program of `command` share one arena of the allocator among all its threads.
///
/// Threads that come and go fill one arena after the other and leave them resident though almost
/// all of it is free: what is resident then tells of the allocator.
pub fn one_arena(command: &mut Command) {
    command.env(ARENAS_MAX, "1");
}

/// Octets allocated at this moment.
pub fn held_bytes() -> usize {
    HEAP.allocated()
}

/// What is held once it is at most `enough`, has not fallen for `calm`, or `longest` is over.
pub fn settled(calm: Duration, longest: Duration, enough: usize) -> usize {
    let started = Instant::now();
    let mut held = held_bytes();
    let (mut lowest, mut since) = (held, started);
    while held > enough && since.elapsed() < calm && started.elapsed() < longest {
        thread::sleep(Duration::from_millis(20));
        let now = held_bytes();
        if now.saturating_add(GRAIN_BYTES) < lowest {
            (lowest, since) = (now, Instant::now());
        }
        held = held.min(now);
    }
    held
}

/// Runs `work` with at most `more_bytes` more than is held now; the process aborts when it takes
/// more. Call it while no other thread works.
pub fn limited<R>(more_bytes: usize, work: impl FnOnce() -> R) -> R {
    let limit = held_bytes().saturating_add(more_bytes);
    let _limit = HEAP.set_limit(limit).is_ok().then_some(Limit);
    work()
}

/// A limit that is in force, also while a panic unwinds.
struct Limit;

impl Drop for Limit {
    fn drop(&mut self) {
        // Raising a limit never fails.
        let _ = HEAP.set_limit(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_counted() {
        // Other tests run meanwhile, so it is a large one.
        let before = held_bytes();
        let buffer = vec![1_u8; 1 << 28];
        assert!(held_bytes() >= before + (1 << 27), "{}", buffer.len());
    }
}
