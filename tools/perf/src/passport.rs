//! The machine and what runs on it, without which a figure means nothing.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use whimbrel_payload::SEED;

use crate::contestant::{Product, Programs};

/// Facts by name; the products are those that take part.
pub(crate) fn facts(programs: &Programs) -> BTreeMap<String, String> {
    let read = |path: &str| {
        fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let cpuinfo = read("/proc/cpuinfo");
    let mut facts = BTreeMap::new();
    let mut note = |name: &str, value: String| {
        let value = if value.is_empty() {
            "unknown".into()
        } else {
            value
        };
        facts.insert(name.to_owned(), value);
    };
    note("cpu", field(&cpuinfo, "model name"));
    let cores = cpuinfo.lines().filter(|it| it.starts_with("processor"));
    note("cores", cores.count().to_string());
    note(
        "governor",
        read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    );
    note("memory", field(&read("/proc/meminfo"), "MemTotal"));
    note(
        "kernel",
        format!("Linux {}", read("/proc/sys/kernel/osrelease")),
    );
    note("load before", read("/proc/loadavg"));
    for name in ["rmem_default", "rmem_max", "wmem_default", "wmem_max"] {
        note(name, read(&format!("/proc/sys/net/core/{name}")));
    }
    note("date", said_by("date", &["--utc", "+%Y-%m-%d %H:%M UTC"]));
    note(
        "commit",
        said_by("git", &["describe", "--always", "--dirty"]),
    );
    let profile = if cfg!(debug_assertions) {
        "without optimization: no figure of Whimbrel means anything"
    } else {
        "release"
    };
    note("build", profile.into());
    note("seed", SEED.to_string());
    note(
        "cores of the processes",
        "asking 0, answering 1, by taskset".into(),
    );
    for product in Product::ALL {
        if product != Product::Raw && programs.missing(product).is_none() {
            note(product.name(), programs.version(product));
        }
    }
    facts
}

fn field(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|it| it.split_once(':')).map(|it| it.1.trim());
    value.unwrap_or_default().to_owned()
}

fn said_by(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    let said = output.map(|it| it.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "processor\t: 0\nmodel name\t: Best of All 9000\n";
        assert_eq!(field(text, "model name"), "Best of All 9000");
        assert_eq!(field(text, "memory"), "");
    }
}
