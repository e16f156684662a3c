//! What a reliable sample costs in steady state, counted by the kernel.
//!
//! `cargo xtask bench calls` has the goals themselves. Here a machine may be as busy as it likes:
//! timers then ask for what is late, and who is preempted with a lock makes others wait. So the
//! bounds leave room for one such call in some samples, far from one more for each, and are to be
//! kept in one run of three. What leaves together depends on how fast it is written and arrives,
//! so only an optimised build is counted.

#![allow(missing_docs)]

use std::process::Command;

/// One is wanted, sent or received.
const CALLS_MAX: f64 = 1.2;

/// Two are wanted in all, whatever they are, where nobody polls.
const ALL_CALLS_MAX: f64 = 2.5;

/// As [`ALL_CALLS_MAX`] of who writes a stream: one, with three for each acknowledgment.
const WRITER_CALLS_MAX: f64 = 1.8;

/// At most one is wanted; whoever waits in the receive call itself needs hardly any.
const WAITS_MAX: f64 = 1.0;

/// None is wanted.
const FUTEXES_MAX: f64 = 0.05;

const ACKNACKS_MAX: f64 = 0.1;

/// As [`ACKNACKS_MAX`] of samples so large that a reader is asked after eleven of them.
const LARGE_ACKNACKS_MAX: f64 = 0.12;
const LARGE_BYTES_MIN: usize = 63_000;

/// The figure of a line `goal: NAME measured FIGURE ...`.
fn figure(text: &str, name: &str) -> f64 {
    let begin = format!("goal: {name} measured ");
    let found = text.lines().find_map(|line| line.strip_prefix(&begin));
    let word = found.and_then(|rest| rest.split_whitespace().next());
    let figure = word.and_then(|word| word.parse().ok());
    figure.unwrap_or_else(|| panic!("no figure of {name} in:\n{text}"))
}

/// Datagrams of a sample of 16,000 octets, and of one of 1,000,000.
const DATAGRAMS_MIN: [f64; 2] = [11.0, 680.0];

/// Calls by which they leave together at most, as many as the system takes: others acknowledge and
/// ask.
const TOGETHER_MAX: [f64; 2] = [4.0, 51.0];

/// As [`TOGETHER_MAX`], of a large one four at a time at least.
const SOON_MAX: [f64; 2] = [4.0, 204.0];

/// Calls for a sample to a dozen readers.
const MANY_READERS_MAX: f64 = 2.0;

/// Calls for a sample that leaves with others to another host.
const BUNDLED_MAX: f64 = 0.4;

/// What the bench says in one run.
fn count(run: u32) -> String {
    let name = format!("whimbrel-counters-{}-{run}", std::process::id());
    let out = std::env::temp_dir().join(name);
    let ran = Command::new(env!("CARGO_BIN_EXE_whimbrel-bench"))
        .args(["calls", "--messages", "800", "--contestant", "whimbrel"])
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    // Nobody reads it.
    let _ = std::fs::remove_dir_all(&out);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let why = String::from_utf8_lossy(&ran.stderr);
    assert!(text.contains("goals: "), "{why}");
    text
}

/// Every way of receiving that is counted.
const WAYS: [&str; 10] = [
    "listener",
    "waitset",
    "take",
    "async",
    "automatic",
    "automatic-listener",
    "automatic-waitset",
    "automatic-async",
    "best-effort",
    "keyed",
];

/// Every way of streaming that is counted.
const PACES: [&str; 4] = [
    "two-cores.blocking",
    "two-cores.steady",
    "two-cores.full",
    "one-core.full",
];

/// Has `check` look at what each message took in the way `way`.
fn check_calls(text: &str, way: &str, check: &mut impl FnMut(String, f64)) {
    for (kind, bound) in [
        ("sends", CALLS_MAX),
        ("receives", CALLS_MAX),
        ("waits", WAITS_MAX),
        ("futexes", FUTEXES_MAX),
    ] {
        check(format!("{way}.{kind}-per-message"), bound);
    }
    if !way.contains("automatic") {
        check(format!("{way}.calls-per-message"), ALL_CALLS_MAX);
    }
    for kind in ["sends", "receives"] {
        let name = format!("{way}.{kind}-per-message");
        assert!(figure(text, &name) >= 1.0, "{name}:\n{text}");
    }
}

/// Every figure that is beyond its bound.
fn beyond(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |name: String, bound: f64| {
        let figure = figure(text, &name);
        if figure > bound {
            found.push(format!("{name}: {figure}, at most {bound}"));
        }
    };
    for placement in ["one-core", "two-cores"] {
        for mode in WAYS {
            check_calls(text, &format!("calls.{placement}.{mode}"), &mut check);
        }
    }
    for pace in PACES {
        for size in [64, 1024, 8192, LARGE_BYTES_MIN] {
            let stream = format!("calls.stream.{pace}.{size}");
            let acknacks_max = if size < LARGE_BYTES_MIN {
                ACKNACKS_MAX
            } else {
                LARGE_ACKNACKS_MAX
            };
            check(format!("{stream}.acknacks-per-sample"), acknacks_max);
            check(
                format!("{stream}.writer-calls-per-sample"),
                WRITER_CALLS_MAX,
            );
            check(format!("{stream}.sends-per-sample"), CALLS_MAX);
            check(format!("{stream}.receives-per-sample"), CALLS_MAX);
            check(format!("{stream}.waits-per-sample"), WAITS_MAX);
            // Who writes into a full history waits for room.
            if !pace.ends_with("full") {
                check(format!("{stream}.futexes-per-sample"), FUTEXES_MAX);
            }
            if pace.ends_with("blocking") {
                check(format!("{stream}.reader-calls-per-sample"), ALL_CALLS_MAX);
            }
        }
    }
    for mode in ["best-effort", "reliable"] {
        let name = format!("calls.2-writers.{mode}.futexes-per-sample");
        check(name, FUTEXES_MAX);
    }
    check(
        "calls.two-hosts.auto.stream.1000.sends-per-sample".into(),
        BUNDLED_MAX,
    );
    let alone = figure(text, "calls.two-hosts.off.stream.1000.sends-per-sample");
    assert!(alone >= 0.9, "{alone}:\n{text}");
    check(
        "calls.12-readers.on.sends-per-message".into(),
        MANY_READERS_MAX,
    );
    let alone = figure(text, "calls.12-readers.off.sends-per-message");
    assert!(alone >= 12.0, "{alone}:\n{text}");
    for (setting, most) in [
        ("on", Some(TOGETHER_MAX)),
        ("auto", Some(SOON_MAX)),
        ("off", None),
    ] {
        for (at, size) in [16_000, 1_000_000].into_iter().enumerate() {
            let name = format!("calls.two-hosts.{setting}.{size}.sends-per-message");
            let sends = figure(text, &name);
            assert!(sends >= 1.0, "{name}:\n{text}");
            if let Some(most) = most {
                check(name, most[at]);
            } else {
                assert!(sends >= DATAGRAMS_MIN[at], "{name}:\n{text}");
            }
        }
    }
    found
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "counts an optimised build: `cargo test --release`"
)]
fn a_sample_is_one_send_one_receive_at_most_one_wait_and_no_futex_in_every_way_of_receiving() {
    for run in 0..3 {
        let found = beyond(&count(run));
        if found.is_empty() {
            return;
        }
        println!("run {run}: {found:#?}");
    }
    panic!("something was beyond its bound in each run");
}
