//! The program of the footprint, built for speed and linked in the order of what runs.
//!
//! The system maps what lies around code in use, by 64 KiB. A process with one participant runs a
//! sixth of the code of the bus, which is spread over all of it, so that nearly all is mapped. The
//! linker puts functions in an order that it is given: first those that a start runs, then those
//! that run once endpoints have met. README.md says how to do the same with any program.

use crate::guided;
use crate::metadata;
use crate::setup;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

const PROGRAM: &str = "bench_footprint";

/// As for all benches: names of functions depend on it.
const BUILD: &[&str] = &[
    "cargo",
    "build",
    "--quiet",
    "--profile",
    "measured",
    "-p",
    "whimbrel-bench",
    "--bin",
    PROGRAM,
];

/// How long one build may take.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Runs what follows on a host of its own whose loopback carries multicast, as the bench does, on
/// which nobody else is heard but each hears itself.
const ALONE: [&str; 5] = [
    "unshare",
    "--net",
    "sh",
    "-c",
    "ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec \"$0\" \"$@\"",
];

/// What runs the program and notes all functions that ran.
const WATCHER: [&str; 4] = [
    "valgrind",
    "--tool=callgrind",
    "--compress-strings=no",
    "--demangle=no",
];

/// How long the program is watched: a start, and what is said again in the seconds after it, some
/// tens of times slower than it is.
const WATCHED: Duration = Duration::from_secs(8);

/// Its roles, by the words that start them; those of a group live at the same time.
const ROLES: [&[[&str; 2]]; 2] = [&[["hold", "-"]], &[["match", "a"], ["match", "b"]]];

/// Builds it, finds out what runs, and links it anew, to lie where the bench looks for it.
///
/// # Errors
/// It cannot be built, or does not run as it should.
pub(crate) fn build(root: &Path) -> Result<(), String> {
    setup::step(&mut setup::in_workspace(root, BUILD), LIMIT)?;
    let target = metadata::target(root);
    let program = target.join("measured").join(PROGRAM);
    let place = target.join("ordered");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    println!("what runs: {PROGRAM}");
    let mut names = Names::default();
    for (group, domain) in ROLES.iter().zip(1..) {
        for ran in watch(root, &program, group, (&place, domain))? {
            let text = fs::read_to_string(&ran);
            names.add(&text.map_err(|error| format!("{}: {error}", ran.display()))?);
        }
    }
    let order = place.join("order");
    fs::write(&order, names.in_order.join("\n"))
        .map_err(|error| format!("{}: {error}", order.display()))?;
    // The build looks at the name of the file only.
    let kept = place.join(format!("{:016x}.order", guided::content(&order)?));
    fs::rename(&order, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    let flag = format!(
        "-Clink-arg=-Wl,--symbol-ordering-file={},--no-warn-symbol-ordering",
        kept.display()
    );
    let folder = place.to_string_lossy();
    let words = [BUILD, &["--target-dir", folder.as_ref()]].concat();
    let mut build = setup::in_workspace(root, &words);
    setup::step(build.env("RUSTFLAGS", flag), LIMIT)
}

/// Runs a group of roles for a while; gives the files that say what each ran.
fn watch(
    root: &Path,
    program: &Path,
    group: &[[&str; 2]],
    (place, domain): (&Path, u32),
) -> Result<Vec<PathBuf>, String> {
    let mut running: Vec<(Child, PathBuf)> = Vec::new();
    for [role, side] in group {
        let ran = place.join(format!("{role}{side}.ran"));
        let host = if group.len() == 1 { &ALONE[..] } else { &[] };
        let mut command = setup::in_workspace(root, &[host, &WATCHER].concat());
        command.arg(format!("--callgrind-out-file={}", ran.display()));
        command.arg(program).args(["footprint", role, side]);
        command.args(["--domain", &domain.to_string()]);
        // It goes on until its input ends.
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("{command:?}: {error}"))?;
        running.push((child, ran));
    }
    thread::sleep(WATCHED);
    for (child, _) in &mut running {
        drop(child.stdin.take());
    }
    let end = |(mut child, ran): (Child, PathBuf)| match child.wait() {
        Ok(status) if status.success() => Ok(ran),
        other => Err(format!("{PROGRAM} as {}: {other:?}", ran.display())),
    };
    running.into_iter().map(end).collect()
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
