//! Counting by `perf stat` on the kernel's tracepoints.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Something that is counted: the sum of events.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    events: &'static [&'static str],
    /// Which of them count; all where it is empty.
    filter: &'static str,
}

/// What is counted. Who polls looks in vain; what it receives are looks that found something.
pub(super) const COUNTED: &[Kind] = &[
    kind("calls", &["raw_syscalls:sys_enter"]),
    kind(
        "sends",
        &[
            "syscalls:sys_enter_sendto",
            "syscalls:sys_enter_sendmsg",
            "syscalls:sys_enter_sendmmsg",
        ],
    ),
    kind(
        "looks",
        &[
            "syscalls:sys_enter_recvfrom",
            "syscalls:sys_enter_recvmsg",
            "syscalls:sys_enter_recvmmsg",
        ],
    ),
    Kind {
        name: "receives",
        events: &[
            "syscalls:sys_exit_recvfrom",
            "syscalls:sys_exit_recvmsg",
            "syscalls:sys_exit_recvmmsg",
        ],
        filter: "ret > 0",
    },
    kind(
        "waits",
        &[
            "syscalls:sys_enter_epoll_wait",
            "syscalls:sys_enter_epoll_pwait",
            "syscalls:sys_enter_epoll_pwait2",
            "syscalls:sys_enter_poll",
            "syscalls:sys_enter_ppoll",
            "syscalls:sys_enter_select",
            "syscalls:sys_enter_pselect6",
        ],
    ),
    kind("futexes", &["syscalls:sys_enter_futex"]),
    kind("switches", &["context-switches"]),
];

const fn kind(name: &'static str, events: &'static [&'static str]) -> Kind {
    Kind {
        name,
        events,
        filter: "",
    }
}

/// Until then the counter is in place.
const PLACING: Duration = Duration::from_millis(500);

/// A count for each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counts(BTreeMap<&'static str, f64>);

impl Counts {
    /// That of one kind; not a number where it was not counted.
    pub(super) fn of(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }

    #[cfg(test)]
    pub(super) fn with(name: &str, count: f64) -> Self {
        let kinds = COUNTED.iter().filter(|it| it.name == name);
        Self(kinds.map(|it| (it.name, count)).collect())
    }

    /// For each of `messages`.
    pub(super) fn per(mut self, messages: usize) -> Self {
        self.0.values_mut().for_each(|it| *it /= messages as f64);
        self
    }

    /// Of lines `COUNT,UNIT,EVENT,...`, as `perf stat -x,` prints them.
    ///
    /// # Errors
    /// An event is missing or was not counted.
    fn parse(text: &str) -> Result<Self, String> {
        let mut by_event = BTreeMap::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            if let [count, _, event, ..] = fields.as_slice()
                && let Ok(count) = count.parse::<f64>()
            {
                by_event.insert(*event, count);
            }
        }
        let mut counts = Self::default();
        for kind in COUNTED {
            let found = kind.events.iter().map(|event| {
                let count = by_event.get(event).copied();
                count.ok_or_else(|| format!("the kernel did not count {event}: {}", text.trim()))
            });
            counts
                .0
                .insert(kind.name, found.sum::<Result<f64, String>>()?);
        }
        Ok(counts)
    }
}

/// Counts in a process until stopped.
pub(super) struct Counter(Child);

impl Counter {
    /// Counts in the process `id`.
    ///
    /// # Errors
    /// `perf` is missing.
    pub(super) fn start(id: u32) -> Result<Self, String> {
        let [counter] = Self::start_in([id])?;
        Ok(counter)
    }

    /// Counts in each process of `ids`.
    ///
    /// # Errors
    /// `perf` is missing.
    pub(super) fn start_in<const N: usize>(ids: [u32; N]) -> Result<[Self; N], String> {
        let counters = ids.into_iter().map(Self::placed);
        let counters = counters.collect::<Result<Vec<_>, _>>()?;
        thread::sleep(PLACING);
        counters
            .try_into()
            .map_err(|_| "not one for each".to_owned())
    }

    /// On its way to the process `id`.
    fn placed(id: u32) -> Result<Self, String> {
        let mut command = Command::new("perf");
        command.args(["stat", "-x,"]);
        for kind in COUNTED {
            command.args(["-e", &kind.events.join(",")]);
            if !kind.filter.is_empty() {
                command.args(["--filter", kind.filter]);
            }
        }
        let child = command
            .args(["-p", &id.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("perf: {error}: cargo xtask setup"))?;
        Ok(Self(child))
    }

    /// What was counted.
    ///
    /// # Errors
    /// The kernel does not let us count.
    pub(super) fn stop(mut self) -> Result<Counts, String> {
        let interrupted = Command::new("kill")
            .args(["-s", "INT", &self.0.id().to_string()])
            .status();
        interrupted.map_err(|error| format!("kill: {error}"))?;
        let mut text = String::new();
        if let Some(mut output) = self.0.stderr.take() {
            let read = output.read_to_string(&mut text);
            read.map_err(|error| format!("perf: {error}"))?;
        }
        Counts::parse(&text)
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // It has ended when it was stopped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(but: &str) -> String {
        let events = COUNTED.iter().flat_map(|it| it.events);
        let counted = events.filter(|event| **event != but);
        counted
            .map(|event| format!("100,,{event},5,100.00,,\n"))
            .collect()
    }

    #[test]
    fn events_of_a_kind_are_summed_and_shared() {
        let counts = Counts::parse(&lines("")).unwrap().per(50);
        assert_eq!(counts.of("calls"), 2.0);
        assert_eq!(counts.of("sends"), 6.0);
        assert_eq!(counts.of("waits"), 14.0);
        assert!(counts.of("allocations").is_nan());
    }

    #[test]
    fn what_was_not_counted_is_an_error() {
        let event = "syscalls:sys_enter_futex";
        let why = Counts::parse(&lines(event)).unwrap_err();
        assert!(why.contains(event), "{why}");
        let refused = format!("{}<not supported>,,{event},0,100.00,,\n", lines(event));
        assert!(Counts::parse(&refused).is_err());
    }
}
