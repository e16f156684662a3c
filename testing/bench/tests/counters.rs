//! What a reliable sample costs in steady state, counted by the kernel.
//!
//! `cargo xtask bench calls` has the goals themselves. Here a machine may be as busy as it likes:
//! timers then ask for what is late, and who is preempted with a lock makes others wait. So the
//! bounds leave room for one such call in some samples, far from one more for each.

#![allow(missing_docs)]

use std::process::Command;

/// One is wanted, sent or received.
const CALLS_MAX: f64 = 1.2;

/// At most one is wanted; whoever waits in the receive call itself needs hardly any.
const WAITS_MAX: f64 = 1.0;

/// None is wanted.
const FUTEXES_MAX: f64 = 0.05;

const ACKNACKS_MAX: f64 = 0.1;

/// The figure of a line `goal: NAME measured FIGURE ...`.
fn figure(text: &str, name: &str) -> f64 {
    let begin = format!("goal: {name} measured ");
    let found = text.lines().find_map(|line| line.strip_prefix(&begin));
    let word = found.and_then(|rest| rest.split_whitespace().next());
    let figure = word.and_then(|word| word.parse().ok());
    figure.unwrap_or_else(|| panic!("no figure of {name} in:\n{text}"))
}

/// Datagrams of a sample of 16,000 octets, and of one of 100,000.
const DATAGRAMS_MIN: [f64; 2] = [11.0, 68.0];

/// Calls by which they leave together at most: others acknowledge.
const TOGETHER_MAX: [f64; 2] = [4.0, 5.0];

#[test]
fn a_sample_is_one_send_one_receive_at_most_one_wait_and_no_futex_in_every_way_of_receiving() {
    let out = std::env::temp_dir().join(format!("whimbrel-counters-{}", std::process::id()));
    let ran = Command::new(env!("CARGO_BIN_EXE_whimbrel-bench"))
        .args(["calls", "--messages", "800", "--contestant", "whimbrel"])
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    // Nobody reads it.
    let _ = std::fs::remove_dir_all(&out);
    let text = String::from_utf8_lossy(&ran.stdout);
    let why = String::from_utf8_lossy(&ran.stderr);
    assert!(text.contains("goals: "), "{why}");
    for mode in ["listener", "waitset", "take", "async"] {
        let of = |kind: &str| figure(&text, &format!("calls.{mode}.{kind}-per-message"));
        for kind in ["sends", "receives"] {
            assert!(of(kind) <= CALLS_MAX, "{mode}, {kind}:\n{text}");
        }
        assert!(of("waits") <= WAITS_MAX, "{mode}:\n{text}");
        assert!(
            of("sends") >= 1.0 && of("receives") >= 1.0,
            "{mode}:\n{text}"
        );
        assert!(of("futexes") <= FUTEXES_MAX, "{mode}:\n{text}");
    }
    for (setting, together) in [
        ("on", [true, true]),
        ("auto", [true, false]),
        ("off", [false; 2]),
    ] {
        for (at, size) in [16_000, 100_000].into_iter().enumerate() {
            let name = format!("calls.two-hosts.{setting}.{size}.sends-per-message");
            let sends = figure(&text, &name);
            assert!(sends >= 1.0, "{name}:\n{text}");
            if together[at] {
                assert!(sends <= TOGETHER_MAX[at], "{name}:\n{text}");
            } else {
                assert!(sends >= DATAGRAMS_MIN[at], "{name}:\n{text}");
            }
        }
    }
    let acknacks = figure(&text, "calls.stream.acknacks-per-sample");
    assert!(acknacks <= ACKNACKS_MAX, "{text}");
}
