//! The program of the footprint, built for speed and linked so that what runs lies together.
//!
//! The system maps what lies around code in use, by 64 KiB. A process with one participant runs a
//! sixth of the code of the bus, which is spread over all of it, so that nearly all is mapped. The
//! linker puts functions in an order that it is given: first those that a start runs, then those
//! that run besides once endpoints have met. README.md says how to do the same with any program.

use crate::guided;
use crate::metadata;
use crate::setup;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

const PROGRAM: &str = "bench_footprint";

/// How it is linked, by the profile with which it was built, or functions have other names.
const LINK: [&str; 8] = [
    "cargo",
    "rustc",
    "--quiet",
    "--profile",
    "measured",
    "-p",
    "whimbrel-bench",
    "--bin",
];

/// How long one build may take.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Runs what follows on a host of its own whose loopback carries multicast, as the bench does: on
/// it each hears itself.
const ALONE: [&str; 5] = [
    "unshare",
    "--net",
    "sh",
    "-c",
    "ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec \"$0\" \"$@\"",
];

/// What runs the program and notes all functions that ran, for two minutes at most.
const WATCHER: [&str; 7] = [
    "timeout",
    "120",
    "valgrind",
    "--quiet",
    "--tool=callgrind",
    "--compress-strings=no",
    "--demangle=no",
];

/// How long it goes on once it is ready: what is said again in the seconds after a start.
const READY_FOR: Duration = Duration::from_secs(5);

/// Its roles, by the words that start them; those of a group live at the same time.
const ROLES: [&[[&str; 2]]; 2] = [&[["hold", "-"]], &[["match", "a"], ["match", "b"]]];

/// A domain in which nobody else is expected: not all roles are on a host of their own.
const DOMAIN: &str = "201";

/// Finds out what the program runs that was built for the other benches, and links it anew, to lie
/// where the bench looks for it.
///
/// # Errors
/// It does not run as it should, or cannot be linked.
pub(crate) fn build(root: &Path) -> Result<(), String> {
    let target = metadata::target(root);
    let program = target.join("measured").join(PROGRAM);
    let place = target.join("ordered");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    println!("what runs: {PROGRAM}");
    let mut names = Names::default();
    for group in ROLES {
        for ran in watch(root, &program, group, &place)? {
            let text = fs::read_to_string(&ran);
            names.add(&text.map_err(|error| format!("{}: {error}", ran.display()))?);
        }
    }
    if !names.in_order.iter().any(|it| it.contains("whimbrel")) {
        return Err(format!("{PROGRAM}: no function of the bus is known to run"));
    }
    let order = place.join("whole.order");
    fs::write(&order, names.in_order.join("\n"))
        .map_err(|error| format!("{}: {error}", order.display()))?;
    // Functions that became part of others are not there any more.
    let flag = format!(
        "-Clink-arg=-Wl,--symbol-ordering-file={},--no-warn-symbol-ordering",
        guided::named_by_content(&order)?.display()
    );
    let folder = place.to_string_lossy();
    let rest = [PROGRAM, "--target-dir", folder.as_ref(), "--", &flag];
    setup::step(
        &mut setup::in_workspace(root, &[&LINK[..], &rest].concat()),
        LIMIT,
    )
}

/// Runs a group of roles for a while; gives the files that say what each ran.
fn watch(
    root: &Path,
    program: &Path,
    group: &[[&str; 2]],
    place: &Path,
) -> Result<Vec<PathBuf>, String> {
    let mut running: Vec<(Child, PathBuf)> = Vec::new();
    let host = if group.len() == 1 { &ALONE[..] } else { &[] };
    for [role, side] in group {
        let ran = place.join(format!("{role}{side}.ran"));
        let mut command = setup::in_workspace(root, &[host, &WATCHER].concat());
        command.arg(format!("--callgrind-out-file={}", ran.display()));
        command.arg(program).args(["footprint", role, side]);
        command.args(["--domain", DOMAIN]);
        command.env("WHIMBREL_INTERFACES", "lo");
        // It goes on until its input ends.
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let child = child.map_err(|error| format!("{command:?}: {error}"))?;
        running.push((child, ran));
    }
    // Whoever says nothing has ended; why, it has said itself.
    let is_ready = |(child, _): &mut (Child, PathBuf)| {
        let said = child.stdout.as_mut().map(|it| {
            let mut line = String::new();
            BufReader::new(it).read_line(&mut line).map(|_| line)
        });
        matches!(said, Some(Ok(line)) if line.trim_end() == "ready")
    };
    if running.iter_mut().all(is_ready) {
        thread::sleep(READY_FOR);
    }
    for (child, _) in &mut running {
        drop(child.stdin.take());
    }
    let end = |(mut child, ran): (Child, PathBuf)| match child.wait() {
        Ok(status) if status.success() => Ok(ran),
        Ok(status) => Err(format!("{PROGRAM}, {}: {status}", ran.display())),
        Err(error) => Err(format!("{PROGRAM}, {}: {error}", ran.display())),
    };
    let ended: Vec<Result<PathBuf, String>> = running.into_iter().map(end).collect();
    ended.into_iter().collect()
}

/// Names of functions that ran, each once, in the order in which they were found.
#[derive(Default)]
struct Names {
    in_order: Vec<String>,
    known: BTreeSet<String>,
}

impl Names {
    /// Adds those that `text` tells of: in lines `fn=NAME`, with a tick and a number behind those
    /// that call themselves.
    fn add(&mut self, text: &str) {
        let named = text.lines().filter_map(|it| it.strip_prefix("fn="));
        for name in named.filter_map(|it| it.split('\'').next()) {
            if self.known.insert(name.to_owned()) {
                self.in_order.push(name.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_ran_are_named_once_and_in_order() {
        let mut names = Names::default();
        names.add(
            "# callgrind format\n\nob=/a\nfl=b.rs\nfn=_Rb\n12 3\ncfn=_Rc\ncalls=1 0\nfn=_Ra\n",
        );
        names.add("fn=_Ra'2\n1 2\nfn=_Rd\n");
        assert_eq!(names.in_order, ["_Rb", "_Ra", "_Rd"]);
    }
}
