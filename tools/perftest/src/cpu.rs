//! The share of all cores that this process uses.

use std::fs;
use std::thread::available_parallelism;
use std::time::Instant;

/// Ticks of `/proc/self/stat` in a second. proc_pid_stat(5), sysconf(3): 100 on every Linux.
const TICKS_PER_S: f64 = 100.0;

/// Measures from its creation, and from one call to the next.
#[derive(Debug)]
pub(crate) struct CpuMonitor {
    cores: f64,
    begun: (Instant, u64),
    last: (Instant, u64),
}

impl CpuMonitor {
    pub(crate) fn new() -> Self {
        let now = (Instant::now(), used());
        Self {
            cores: available_parallelism().map_or(1.0, |it| it.get() as f64),
            begun: now,
            last: now,
        }
    }

    /// Percent of all cores since the last call.
    pub(crate) fn interval(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.last, (Instant::now(), used()));
        self.share(before)
    }

    /// Percent of all cores since the creation.
    pub(crate) fn average(&self) -> f64 {
        self.share(self.begun)
    }

    fn share(&self, (since, ticks): (Instant, u64)) -> f64 {
        let wall_s = since.elapsed().as_secs_f64().max(1e-9);
        let used_s = used().saturating_sub(ticks) as f64 / TICKS_PER_S;
        100.0 * used_s / wall_s / self.cores
    }
}

/// Ticks that this process has used so far.
fn used() -> u64 {
    ticks(&fs::read_to_string("/proc/self/stat").unwrap_or_default())
}

/// User and system time in a line of `stat`; the name before them may hold anything.
fn ticks(stat: &str) -> u64 {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = after_name.split_whitespace().skip(11).take(2);
    fields.filter_map(|it| it.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_times_count_whatever_the_name_is() {
        let line = "7 (a) b 9) S 1 1 1 0 -1 4194304 100 0 0 0 12 30 5 6 20 0 9 0";
        assert_eq!(ticks(line), 42);
        assert_eq!(ticks(""), 0);
    }
}
