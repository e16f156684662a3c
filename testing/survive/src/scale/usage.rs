//! What a process has used of the machine, as Linux tells it.

use std::fs;
use std::time::Duration;

/// Processor time and wake-ups of a process since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Time on a processor, of all threads that live.
    pub(super) cpu: Duration,
    /// Times that a thread was put on a processor after it had waited.
    pub(super) wakes: u64,
    /// Threads.
    pub(super) threads: usize,
}

impl Usage {
    /// Of process `pid`; nothing where the system does not tell.
    pub(super) fn of(pid: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        let tasks = tasks.into_iter().flatten().flatten();
        tasks.fold(Self::default(), |sum, task| {
            let text = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            Self {
                cpu: sum.cpu + cpu_of(&text("schedstat")),
                wakes: sum.wakes + wakes_of(&text("status")),
                threads: sum.threads + 1,
            }
        })
    }

    /// What was used since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            wakes: self.wakes.saturating_sub(earlier.wakes),
            threads: self.threads,
        }
    }
}

/// The first number of `schedstat`: nanoseconds on a processor.
fn cpu_of(schedstat: &str) -> Duration {
    let first = schedstat.split_whitespace().next();
    let nanos = first.and_then(|word| word.parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanos)
}

/// Switches that the thread made by waiting: each wait ends with a wake-up.
fn wakes_of(status: &str) -> u64 {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_tells_is_understood() {
        assert_eq!(cpu_of("1500000 77 3\n"), Duration::from_micros(1500));
        assert_eq!(cpu_of(""), Duration::ZERO);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t9\n";
        assert_eq!(wakes_of(status), 42);
        assert_eq!(wakes_of("Name:\tx\n"), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_threads_and_used_time() {
        let usage = Usage::of(std::process::id());
        assert!(usage.threads >= 1 && usage.cpu > Duration::ZERO);
        assert_eq!(Usage::of(u32::MAX), Usage::default());
    }
}
