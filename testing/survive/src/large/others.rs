//! How much of the cores others took while something was measured.

use std::fs;
use std::time::Instant;

use whimbrel_rig::process::Usage;

/// Nanoseconds of a tick of `/proc/stat`. proc_stat(5).
const TICK_NS: u64 = 10_000_000;

/// What had run when a measurement began.
pub(super) struct Others {
    at: Instant,
    own: Vec<u32>,
    own_ns: u64,
    all_ns: u64,
}

impl Others {
    /// Those beside the processes `own`, of which this one is also.
    pub(super) fn beside(own: &[u32]) -> Self {
        let own: Vec<_> = own.iter().copied().chain([std::process::id()]).collect();
        Self {
            at: Instant::now(),
            own_ns: used_ns(&own),
            own,
            all_ns: stat().0,
        }
    }

    /// The share of all cores that they took since: 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let (all_ns, cores) = stat();
        let own_ns = used_ns(&self.own).saturating_sub(self.own_ns);
        let all_ns = all_ns.saturating_sub(self.all_ns);
        let there_ns = self.at.elapsed().as_nanos() as f64 * cores as f64;
        share(all_ns, own_ns, there_ns)
    }
}

/// What is left of `all_ns` without `own_ns`, as a share of what there was.
fn share(all_ns: u64, own_ns: u64, there_ns: f64) -> f64 {
    let others_ns = all_ns.saturating_sub(own_ns);
    (others_ns as f64 / there_ns.max(1.0)).min(1.0)
}

fn used_ns(ids: &[u32]) -> u64 {
    ids.iter().map(|id| Usage::of(*id).cpu_ns).sum()
}

/// What processes have run in all, in nanoseconds, and how many cores there are.
fn stat() -> (u64, usize) {
    parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
}

fn parse(text: &str) -> (u64, usize) {
    let cores = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    let all = text.lines().find(|line| line.starts_with("cpu "));
    let ticks: Vec<u64> = all
        .into_iter()
        .flat_map(|line| line.split_whitespace().skip(1))
        .map(|it| it.parse().unwrap_or(0))
        .collect();
    // Of programs, of those that give way, in the system, and what the host took; what interrupts
    // took is mostly for the packets of the measurement.
    let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
    let worked = at(0) + at(1) + at(2) + at(7);
    (worked * TICK_NS, text.lines().filter(cores).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_programs_counts_and_idleness_and_interrupts_do_not() {
        let text = "cpu  10 2 5 1000 50 7 90 3 0 0\ncpu0 5 1\ncpu1 5 1\nintr 7\n";
        assert_eq!(parse(text), (20 * TICK_NS, 2));
        assert_eq!(parse(""), (0, 0));
    }

    #[test]
    fn what_is_own_is_not_that_of_others() {
        let check = |all, own, expected| assert_eq!(share(all, own, 200.0), expected);
        check(150, 100, 0.25);
        check(150, 150, 0.0);
        check(90, 100, 0.0);
        check(500, 100, 1.0);
        assert_eq!(share(0, 0, 0.0), 0.0);
    }

    #[test]
    fn this_system_says_what_it_has_done() {
        let (all_ns, cores) = stat();
        assert!(all_ns > 0 && cores > 0);
        assert!(used_ns(&[std::process::id()]) > 0);
    }
}
