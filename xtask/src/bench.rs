//! `cargo xtask bench BENCH [OPTION]...`: builds all contestants, then has `whimbrel-bench`
//! measure them; `cargo xtask bench perftool` has `whimbrel-perf` keep its own goals, `cargo xtask
//! bench bytes` those of compression and bundles.

use crate::guided;
use crate::metadata;
use crate::ordered;
use crate::process::{self, End};
use crate::setup;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const BUILD: &[&str] = &[
    "cargo",
    "build",
    "--profile",
    "measured",
    "-p",
    "whimbrel-bench",
];
/// The program whose footprint is measured, as README.md says that small processes are built.
const BUILD_SMALL: &[&str] = &[
    "cargo",
    "build",
    "--profile",
    "small",
    "-p",
    "whimbrel-bench",
    "--bin",
    "bench_footprint",
    "--target",
];
const SMALL_FLAGS: &str = "-C target-feature=+crt-static";
const RUN: &[&str] = &[
    "cargo",
    "run",
    "--quiet",
    "--profile",
    "measured",
    "-p",
    "whimbrel-bench",
    "--",
];

const PERF: &[&str] = &[
    "cargo",
    "run",
    "--quiet",
    "--release",
    "-p",
    "whimbrel-perf",
    "--",
];

const PERFTOOL: &[&str] = &["goals", "--out", "target/bench/perftool"];

const BYTES: &[&str] = &["bytes", "--out", "target/bench/bytes"];

/// The ping-pong of Whimbrel as `bytes` starts it: with none of the codecs, and with those that are
/// built in by default; and what each is called among the peers' programs.
const PING_PONGS: [(&[&str], &str); 2] = [
    (&["--no-default-features"], "bench_whimbrel_no_codecs"),
    (&[], "bench_whimbrel_codecs"),
];
const PING_PONG: &str = "bench_whimbrel";
const BUILD_PING_PONG: &[&str] = &[
    "cargo",
    "build",
    "--quiet",
    "--release",
    "-p",
    "whimbrel-bench",
    "--bin",
    PING_PONG,
];

/// Proofs that are tests, as only a program with an allocator of its own can give them: what the
/// goal of each is called, the bench it belongs to, and the test.
const PROOFS: [(&str, &str, &[&str]); 2] = [
    (
        "bytes.codecs-that-allocate-once-warm",
        "bytes",
        &["whimbrel-compress", "--features", "zstd"],
    ),
    (
        "calls.ways-of-a-sample-that-allocate-once-warm",
        "calls",
        &["whimbrel"],
    ),
];

/// A full run takes minutes; whoever stalls is found out much earlier.
const LIMIT: Duration = Duration::from_secs(2 * 3600);

/// The word that asks for programs guided by a profile, and benches that know it.
const GUIDED: &str = "--guided";
const MAY_BE_GUIDED: [&str; 4] = ["latency", "throughput", "calls", "polling"];

/// All benches, and the words that ask what they take.
const BENCHES: [&str; 7] = [
    "latency",
    "throughput",
    "calls",
    "polling",
    "footprint",
    "bytes",
    "perftool",
];
const HELP: [&str; 2] = ["--help", "-h"];

/// The referee, built quickly, for who only asks.
const ASK: &[&str] = &["cargo", "run", "--quiet", "-p", "whimbrel-bench", "--"];

/// Measures; the error is empty when goals were missed, as the run has said which.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let root = metadata::root();
    let (options, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|it| **it == GUIDED);
    let (guided, words) = (!options.is_empty(), words.as_slice());
    let bench = words.first().copied().unwrap_or_default();
    if !BENCHES.contains(&bench) && !HELP.contains(&bench) {
        let all = BENCHES.join(", ");
        return Err(format!("bench: there is no {bench:?}, there are: {all}"));
    }
    if words.iter().any(|it| HELP.contains(it)) {
        let (of, before) = match bench {
            "perftool" => (PERF, &["--help"][..]),
            "bytes" => (PERF, &["bytes", "--help"][..]),
            _ => (ASK, &["--help"][..]),
        };
        return watch(&root, &[of, before].concat());
    }
    if guided && !MAY_BE_GUIDED.contains(&bench) {
        return Err(format!("bench: {bench} takes no {GUIDED}"));
    }
    setup::bench_peers(&root)?;
    if let ["perftool", rest @ ..] = words {
        return watch(&root, &[PERF, PERFTOOL, rest].concat());
    }
    if let ["bytes", rest @ ..] = words {
        let proved = prove_bytes(&root);
        build_ping_pongs(&root)?;
        return watch(&root, &[PERF, BYTES, rest].concat()).and(proved);
    }
    let proof = prove(&root, bench).map(|(goal, failed)| format!("{goal}={failed}"));
    let told = proof.as_deref().map(|it| ["--proof", it]);
    let words = &[words, told.as_ref().map_or(&[], |it| &it[..])].concat();
    if guided {
        let program = guided::build(&root)?;
        let mut measuring = setup::in_workspace(&root, &[&program.to_string_lossy()]);
        return watch_command(measuring.args(words));
    }
    watch(&root, BUILD)?;
    if bench == "footprint" {
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let mut build = setup::in_workspace(&root, &[BUILD_SMALL, &[&target]].concat());
        watch_command(build.env("RUSTFLAGS", SMALL_FLAGS))?;
        ordered::build(&root)?;
    }
    watch(&root, &[RUN, words].concat())
}

/// Runs the test that counts allocations for `bench`, where it has one: its goal, and how many such
/// tests failed.
fn prove(root: &Path, bench: &str) -> Option<(&'static str, u32)> {
    let (goal, _, package) = PROOFS.iter().find(|proof| proof.1 == bench)?;
    let test = [
        &["cargo", "test", "--quiet", "-p"],
        *package,
        &["--test", "allocations"],
    ];
    let failed = watch(root, &test.concat()).is_err();
    Some((goal, u32::from(failed)))
}

/// Says the goal that tests keep for `bytes`, whose program knows nothing of them.
fn prove_bytes(root: &Path) -> Result<(), String> {
    let Some((goal, failed)) = prove(root, "bytes") else {
        return Ok(());
    };
    let verdict = if failed == 0 { "met" } else { "missed" };
    println!("goal: {goal} measured {failed} wanted <= 0 {verdict}");
    if failed == 0 {
        Ok(())
    } else {
        Err(String::new())
    }
}

/// Builds the same program once in each way, to lie beside the peers' programs.
fn build_ping_pongs(root: &Path) -> Result<(), String> {
    let built = metadata::target(root).join("release").join(PING_PONG);
    for (features, name) in PING_PONGS {
        watch(root, &[BUILD_PING_PONG, features].concat())?;
        let kept = root.join(setup::PEER_OUTPUT).join(name);
        std::fs::copy(&built, &kept).map_err(|error| {
            format!("bench: {} to {}: {error}", built.display(), kept.display())
        })?;
    }
    Ok(())
}

fn watch(root: &Path, words: &[&str]) -> Result<(), String> {
    watch_command(&mut setup::in_workspace(root, words))
}

fn watch_command(command: &mut Command) -> Result<(), String> {
    match process::watch(command, LIMIT, |line| println!("{line}"))? {
        End::Success => Ok(()),
        End::Failure(_) => Err(String::new()),
        End::TimedOut => Err(format!("bench: not done after {} s", LIMIT.as_secs())),
    }
}
