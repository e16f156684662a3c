//! What the process holds of the system.

use std::env;
use std::fmt;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::heap;

/// How much more may be held after the warm-up: 2 %, and the grain of allocators, or on the heap
/// what the second process, which never rests, has us know of it.
const GROWTH: f64 = 0.02;
const GRAIN_BYTES: u64 = 1 << 20;
const HEAP_GRAIN_BYTES: u64 = 512 << 10;

/// How long the system may take to take back threads and descriptors.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what peers say of their farewells is awaited.
const REST: Duration = Duration::from_millis(300);

/// Memory is given back no later than that after the last time, as participants announce
/// themselves within half of it and look for it once a second.
const CALM: Duration = Duration::from_millis(1500);

/// Begins the program again with one arena of the allocator for all threads, unless somebody set
/// how many there are: what is resident else tells of the allocator for tens of thousands of
/// cycles.
pub(super) fn share_one_arena() {
    if env::var_os(heap::ARENAS_MAX).is_some() {
        return;
    }
    if let Ok(program) = env::current_exe() {
        let mut again = Command::new(program);
        again.args(env::args_os().skip(1));
        heap::one_arena(&mut again);
        // Comes back only where that is not possible; the proof is stricter then.
        let _ = again.exec();
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Resources {
    pub(super) threads: u64,
    pub(super) descriptors: u64,
    pub(super) resident_bytes: u64,
    pub(super) heap_bytes: u64,
}

impl Resources {
    pub(super) fn now() -> Self {
        Self {
            threads: entries("/proc/self/task"),
            descriptors: entries("/proc/self/fd"),
            resident_bytes: resident_bytes(),
            heap_bytes: heap::held_bytes() as u64,
        }
    }

    /// After farewells had time to be heard, and what they left was given back.
    pub(super) fn at_rest() -> Self {
        thread::sleep(REST);
        heap::settled(CALM, PATIENCE, 0);
        Self::now()
    }

    /// After the system had time to end what `before` did not have.
    pub(super) fn settled(before: &Self) -> Self {
        let started = Instant::now();
        loop {
            let now = Self::now();
            if now.left_behind(before).is_empty() || started.elapsed() > PATIENCE {
                return now;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Threads and descriptors that were not there before.
    pub(super) fn left_behind(&self, before: &Self) -> Vec<String> {
        let mut left = Vec::new();
        let mut compare = |what: &str, now: u64, before: u64| {
            if now > before {
                left.push(format!("{} {what} left behind", now - before));
            }
        };
        compare("threads", self.threads, before.threads);
        compare("descriptors", self.descriptors, before.descriptors);
        left
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        write!(
            f,
            "{} threads, {} fds, {:.1} MiB resident, {:.2} MiB heap",
            self.threads,
            self.descriptors,
            mib(self.resident_bytes),
            mib(self.heap_bytes)
        )
    }
}

/// Memory that grew over `held`, which was measured at rest after the warm-up.
///
/// What is resident follows the most that was ever held at once, by chance, for thousands of
/// cycles; it is judged only where `warm` says that these are over.
pub(super) fn growth(held: &[Resources], warm: bool) -> Vec<String> {
    let (Some(first), Some(last)) = (held.first(), held.last()) else {
        return vec!["memory was not measured".to_owned()];
    };
    let mut grown = Vec::new();
    let mut compare = |what: &str, first: u64, last: u64, grain: u64| {
        let bound = (first as f64 * (1.0 + GROWTH)) as u64 + grain;
        if last > bound {
            grown.push(format!("{what} grew from {first} to {last} octets"));
        }
    };
    compare(
        "the heap",
        first.heap_bytes,
        last.heap_bytes,
        HEAP_GRAIN_BYTES,
    );
    if warm {
        let (first, last) = (first.resident_bytes, last.resident_bytes);
        compare("resident memory", first, last, GRAIN_BYTES);
    }
    if last.threads > first.threads || last.descriptors > first.descriptors {
        grown.push(format!("from {first} to {last}"));
    }
    grown
}

fn entries(folder: &str) -> u64 {
    fs::read_dir(folder).map_or(0, |entries| entries.count() as u64)
}

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib * 1024)
}
