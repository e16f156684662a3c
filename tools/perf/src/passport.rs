//! The machine and what runs on it, without which a figure means nothing.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use whimbrel_bench::clock::counts_ticks;
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
    note("qdisc", read("/proc/sys/net/core/default_qdisc"));
    note("loopback", path("lo", &["qdisc", "mtu", "state"]));
    note("offloads of loopback", offloads("lo"));
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
    let clock = if counts_ticks() {
        "time stamp counter, by which the kernel keeps time"
    } else {
        "CLOCK_MONOTONIC"
    };
    note("clock of round trips", clock.into());
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

/// What differs between passports so that figures cannot be compared: the machine and how it was
/// set up, not what ran on it. A passport that lacks a fact is unlike any other.
pub(crate) fn unlike(a: &Value, b: &Value) -> Vec<String> {
    let text = |passport: &Value, name: &str| match passport[name].as_str() {
        Some(text) => text.to_owned(),
        None => "not told".into(),
    };
    ALIKE
        .iter()
        .map(|name| (name, text(a, name), text(b, name)))
        .filter(|(_, a, b)| a != b || a == "not told")
        .map(|(name, a, b)| format!("{name}: {a} and {b}"))
        .collect()
}

/// Facts that must be equal for figures to be comparable.
const ALIKE: &[&str] = &[
    "cpu",
    "cores",
    "governor",
    "memory",
    "kernel",
    "rmem_default",
    "rmem_max",
    "wmem_default",
    "wmem_max",
    "qdisc",
    "loopback",
    "offloads of loopback",
    "build",
    "clock of round trips",
    "cores of the processes",
];

/// The words after each of `names` in what the system says of `interface`.
fn path(interface: &str, names: &[&str]) -> String {
    let said = said_by("ip", &["-o", "link", "show", "dev", interface]);
    let words: Vec<&str> = said.split_whitespace().collect();
    let named = words.windows(2).filter(|it| names.contains(&it[0]));
    let texts: Vec<String> = named.map(|it| it.join(" ")).collect();
    texts.join(", ")
}

/// Which offloads `interface` has on, as `ethtool` says.
fn offloads(interface: &str) -> String {
    let said = said_by("ethtool", &["-k", interface]);
    let on = said.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(": ")?;
        value.starts_with("on").then_some(name)
    });
    on.collect::<Vec<&str>>().join(", ")
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

    #[test]
    fn only_passports_of_one_machine_are_alike() {
        let passport = |cpu: &str, date: &str| {
            let mut facts = serde_json::Map::new();
            for name in ALIKE {
                facts.insert((*name).to_owned(), "x".into());
            }
            facts.insert("cpu".into(), cpu.into());
            facts.insert("date".into(), date.into());
            Value::Object(facts)
        };
        let (one, later) = (passport("one", "today"), passport("one", "tomorrow"));
        assert!(unlike(&one, &later).is_empty());
        let other = passport("another", "today");
        assert_eq!(unlike(&one, &other), ["cpu: one and another"]);
        assert_eq!(unlike(&Value::Null, &Value::Null).len(), ALIKE.len());
    }
}
