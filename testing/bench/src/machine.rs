//! Facts of the machine and of what was measured, without which a figure means nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::contestant::{Product, Programs};

/// What decides how cores sleep and share, and by what time is kept.
const SYSTEM: [(&str, &str); 3] = [
    (
        "clock",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (
        "idle_driver",
        "/sys/devices/system/cpu/cpuidle/current_driver",
    ),
    (
        "siblings_of_core_0",
        "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    ),
];

/// Facts by name.
pub type Facts = BTreeMap<String, String>;

/// What cores had done when the facts of this run were asked for.
static BEGUN: OnceLock<Ticks> = OnceLock::new();

/// The machine, its system, and the versions of `products` and their settings in `bench`.
///
/// # Errors
/// A product does not tell them.
pub fn facts(programs: &Programs, products: &[Product], bench: &str) -> Result<Facts, String> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let mut facts = Facts::new();
    BEGUN.get_or_init(Ticks::now);
    let mut note =
        |name: &str, value: String| facts.insert(name.to_owned(), value.trim().to_owned());
    note(
        "cpu",
        field(&cpuinfo, "model name")
            .unwrap_or("unknown")
            .to_owned(),
    );
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor"));
    note("cores", cores.count().to_string());
    note(
        "memory",
        field(&read("/proc/meminfo"), "MemTotal")
            .unwrap_or("unknown")
            .to_owned(),
    );
    note(
        "kernel",
        format!("Linux {}", read("/proc/sys/kernel/osrelease").trim()),
    );
    for name in ["rmem_default", "rmem_max", "wmem_default", "wmem_max"] {
        note(name, read(&format!("/proc/sys/net/core/{name}")));
    }
    for (name, path) in SYSTEM {
        note(name, read(path));
    }
    note("load_before", read("/proc/loadavg"));
    note(
        "commit",
        said_by(Command::new("git").args(["describe", "--always", "--dirty"])),
    );
    note(
        "date",
        said_by(Command::new("date").args(["--utc", "+%Y-%m-%d %H:%M UTC"])),
    );
    note("rustc", said_by(Command::new("rustc").arg("--version")));
    note("profile", profile());
    for product in products.iter().filter(|it| **it != Product::Raw) {
        let program = programs.of(*product)?;
        let name = product.name();
        let said = |what: &str| {
            let text = said_by(Command::new(&program).args([what, bench]));
            let missing = || format!("{name} does not tell its {what}");
            (!text.is_empty()).then_some(text).ok_or_else(missing)
        };
        if product.is_peer() {
            note(name, said("version")?);
        }
        note(&format!("{name}_settings"), said("settings")?);
    }
    note("whimbrel", env!("CARGO_PKG_VERSION").to_owned());
    Ok(facts)
}

/// Notes how the machine was once all was measured: the three load averages and how many threads
/// run, and the share of all cores in percent that its host gave to others since [`facts`].
pub fn note_end(facts: &mut Facts) {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    facts.insert("load_after".to_owned(), load.trim().to_owned());
    if let Some(begun) = BEGUN.get() {
        let stolen = Ticks::now().stolen_percent_since(begun);
        facts.insert("stolen_percent".to_owned(), format!("{stolen:.2}"));
    }
}

/// Time of all cores since the start of the machine, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ticks {
    /// They worked, or their host gave them to others.
    pub worked: u64,
    /// All of it.
    pub all: u64,
    /// Their host gave them to others.
    pub stolen: u64,
}

impl Ticks {
    /// Until now.
    pub fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self::of(text.lines().next().unwrap_or_default())
    }

    /// Of the line `cpu` of `/proc/stat`. proc_stat(5).
    fn of(line: &str) -> Self {
        // user nice system idle iowait irq softirq steal; guest times are within user and nice.
        let ticks: Vec<u64> = line
            .split_whitespace()
            .skip(1)
            .take(8)
            .filter_map(|word| word.parse().ok())
            .collect();
        let all: u64 = ticks.iter().sum();
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        Self {
            worked: all - idle,
            all,
            stolen: ticks.get(7).copied().unwrap_or(0),
        }
    }

    fn stolen_percent_since(self, before: &Self) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        100.0 * self.stolen.saturating_sub(before.stolen) as f64 / all as f64
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn said_by(command: &mut Command) -> String {
    let output = command
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}

/// The cargo profile by which this program, and those beside it, were built.
fn profile() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.parent().and_then(Path::file_name);
    folder.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "processor\t: 0\nmodel name\t: Best of All 9000\n";
        assert_eq!(field(text, "model name"), Some("Best of All 9000"));
        assert_eq!(field(text, "memory"), None);
    }

    #[test]
    fn waiting_is_not_work() {
        let before = Ticks::of("cpu  10 1 5 100 20 2 3 4 9 9");
        assert_eq!((before.worked, before.all), (25, 145));
        assert_eq!(Ticks::of(""), Ticks::default());
        let after = Ticks::of("cpu  50 1 5 200 20 2 3 64 9 9");
        assert_eq!(after.stolen_percent_since(&before), 30.0);
    }
}
