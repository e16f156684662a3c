//! Where the time of cores goes: system calls, wake-ups, and the product's own work.
//!
//! The kernel counts what the system takes of it; how much of that is for waits follows from how
//! often threads waited and from what one wait takes. That is found by subtraction: a raw socket
//! that sends to itself and receives in one thread makes the calls of another that waits, but never
//! waits itself.

use whimbrel_rig::process::Usage;

use crate::report::Record;

/// With fewer waits for each message their time is lost in that of the calls.
const WAITS_MIN: f64 = 0.01;

/// Names of [`Parts`] in CSV and JSON.
pub(crate) const OF_CORES: [&str; 3] =
    ["calls_us_of_cores", "wakes_us_of_cores", "own_us_of_cores"];

/// Parts of the time on cores for each message, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parts {
    /// The system's calls, and what interrupts brought; `None` where they are not told from waits.
    pub(crate) calls_us: Option<f64>,
    /// Threads that give up their core and are woken.
    pub(crate) wakes_us: Option<f64>,
    /// The product's work.
    pub(crate) own_us: f64,
}

impl Parts {
    /// Of what was `used` for so many `messages`, each wait of a thread taking `wait_us`, if that
    /// is known. Nothing where too little was used for the hundredths of a second in which the
    /// system's part is counted.
    pub(crate) fn of(used: Usage, messages: u64, wait_us: Option<f64>) -> Option<Self> {
        let each = |sum: u64| sum as f64 / messages.max(1) as f64;
        let system_us = each(used.system_part_ns()?) / 1000.0;
        // Where waits would take all, what one takes is not known well enough.
        let wakes_us = wait_us
            .map(|us| each(used.waits) * us)
            .filter(|us| *us < system_us);
        Some(Self {
            calls_us: wakes_us.map(|wakes| system_us - wakes),
            wakes_us,
            own_us: each(used.cpu_ns) / 1000.0 - system_us,
        })
    }

    /// Calls, wake-ups and own work as cells of a table, with their shares of `total_us`.
    pub(crate) fn cells(parts: Option<Self>, total_us: f64) -> [String; 3] {
        Self::split(parts).map(|it| share(it, total_us))
    }

    /// The same for CSV and JSON, as figures of these `names`.
    pub(crate) fn record(parts: Option<Self>, names: [&'static str; 3], record: Record) -> Record {
        let figures = names.into_iter().zip(Self::split(parts));
        figures.fold(record, |record, (name, part)| {
            record.number(name, part.unwrap_or(f64::NAN))
        })
    }

    fn split(parts: Option<Self>) -> [Option<f64>; 3] {
        let calls = parts.and_then(|it| it.calls_us);
        let wakes = parts.and_then(|it| it.wakes_us);
        [calls, wakes, parts.map(|it| it.own_us)]
    }
}

/// A part and its share of the whole; `-` where it is not told from others.
pub(crate) fn share(part_us: Option<f64>, total_us: f64) -> String {
    part_us.map_or("-".to_owned(), |us| {
        let percent = 100.0 * us / total_us.max(f64::MIN_POSITIVE);
        format!("{us:.2} ({percent:.0} %)")
    })
}

/// What each of `waits` takes of `cpu_us`, of which calls take `calls_us`; nothing where there were
/// hardly any.
pub(crate) fn wait_us(cpu_us: f64, calls_us: f64, waits: f64) -> Option<f64> {
    (waits >= WAITS_MIN && cpu_us >= calls_us).then(|| (cpu_us - calls_us) / waits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_take_what_is_used_beyond_the_calls() {
        assert_eq!(wait_us(4.0, 3.0, 0.25), Some(4.0));
        assert_eq!(wait_us(3.0, 3.0, 0.25), Some(0.0));
        assert_eq!(wait_us(2.0, 3.0, 0.25), None);
        assert_eq!(wait_us(4.0, 3.0, 0.001), None);
    }

    #[test]
    fn the_time_of_cores_is_split_in_calls_wake_ups_and_the_rest() {
        let split = |cpu_ns, wait_us| {
            let used = Usage {
                cpu_ns,
                system_ns: cpu_ns / 4 * 3,
                waits: 100_000,
                ..Usage::default()
            };
            Parts::cells(Parts::of(used, 200_000, wait_us), 4.0)
        };
        let whole_ns = 800_000_000;
        let wanted = ["2.00 (50 %)", "1.00 (25 %)", "1.00 (25 %)"];
        assert_eq!(split(whole_ns, Some(2.0)), wanted);
        // Waits do not take more than the system did.
        assert_eq!(split(whole_ns, Some(9.0)), ["-", "-", "1.00 (25 %)"]);
        assert_eq!(split(whole_ns, None), ["-", "-", "1.00 (25 %)"]);
        let too_little_ns = Usage::SPLIT_NS_MIN - 1;
        assert_eq!(split(too_little_ns, Some(2.0)), ["-", "-", "-"]);
    }
}
