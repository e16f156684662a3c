//! The steps of `cargo xtask test` and of `cargo xtask nightly`, in order. A new step is a new row.

/// One step: a command run at the workspace root.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) command: &'static [&'static str],
    /// Added to the environment.
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// After this many seconds the step is ended and has failed.
    pub(crate) limit_s: u64,
    pub(crate) count: Count,
}

/// What a step adds to the totals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// One, passed or failed.
    Itself,
    /// The sums of its `test result:` lines, and itself if it failed without naming a test.
    TestResults,
}

/// The driver's locks and threads are those of the model checker; apart from other builds.
const MODELS: &[(&str, &str)] = &[
    ("RUSTFLAGS", "--cfg shuttle"),
    ("CARGO_TARGET_DIR", "target/models"),
];

/// Every access of the driver and of std is watched; what is compiled so is apart as well.
const THREAD_SANITIZER: &[(&str, &str)] = &[
    ("RUSTFLAGS", "-Zsanitizer=thread"),
    ("CARGO_TARGET_DIR", "target/sanitize"),
    ("TSAN_OPTIONS", "halt_on_error=1 exitcode=66"),
    // A backtrace of such a program takes longer than the tests wait for anything.
    ("RUST_BACKTRACE", "0"),
];

/// The tests of the public API, for settings other than the default.
const PUBLIC_API: &[&str] = &["cargo", "test", "-p", "whimbrel", "--test", "it"];

/// Calls of the system per sample, of an optimised build: how many samples leave by one depends on
/// how fast they are written.
const COUNTED_CALLS: &[&str] = &[
    "cargo",
    "test",
    "--release",
    "-p",
    "whimbrel-bench",
    "--test",
    "counters",
];

/// The matrix of live peers; all of its packets are captured and judged by another program.
const INTEROP: &[&str] = &["bash", "testing/interop/run.sh"];

/// The same, where nobody captures: who does has no fast path to a socket, nor past it.
const INTEROP_UNTAPPED: &[&str] = &["bash", "testing/interop/run.sh", "--no-captures"];

/// Samples reach readers of the same process as they do others. Datagrams leave many by one call
/// for other hosts only: that is tried by the cases of two hosts with live peers, and counted for
/// each setting by the tests of `whimbrel-bench`.
const BY_NETWORK: &[(&str, &str)] = &[
    ("WHIMBREL_IN_PROCESS", "off"),
    ("WHIMBREL_SEGMENTATION_OFFLOAD", "on"),
];

/// Only the callback thread calls listeners, and nobody polls. Whoever waits receives, one datagram
/// by each call.
const LISTENERS_QUEUED: &[(&str, &str)] = &[
    ("WHIMBREL_IN_PROCESS", "queued"),
    ("WHIMBREL_WAITING", "receive"),
    ("WHIMBREL_BATCHED_RECEIVE", "off"),
];

/// Whoever waits receives, one datagram by each call, and does not poll before. What sends is as
/// usual: another program judges what is captured so.
const RECEIVING: &[(&str, &str)] = &[
    ("WHIMBREL_WAITING", "receive"),
    ("WHIMBREL_BATCHED_RECEIVE", "off"),
];

/// Nobody within the process is handed a value, only what it is encoded as.
const ENCODED: &[(&str, &str)] = &[("WHIMBREL_IN_PROCESS", "encoded")];

/// Whoever waits polls without end, and asks the system for the time; one socket sends all.
const POLLING: &[(&str, &str)] = &[
    ("WHIMBREL_WAITING", "spin"),
    ("WHIMBREL_PROCESSOR_COUNTER", "off"),
    ("WHIMBREL_CONNECTED_SOCKETS", "off"),
    ("WHIMBREL_BULK_SOCKET", "off"),
];

/// Everything that is quicker is off: what waits sleeps, one thread receives for all, and sockets
/// have the room that the system gives them.
const NO_FAST_PATHS: &[(&str, &str)] = &[
    ("WHIMBREL_RECEIVE_BUFFER_BYTES", "system"),
    ("WHIMBREL_SEND_BUFFER_BYTES", "system"),
    ("WHIMBREL_IN_PROCESS", "off"),
    ("WHIMBREL_SEGMENTATION_OFFLOAD", "off"),
    ("WHIMBREL_CONNECTED_SOCKETS", "off"),
    ("WHIMBREL_BATCHED_RECEIVE", "off"),
    ("WHIMBREL_BATCHED_SEND", "off"),
    ("WHIMBREL_AUTOMATIC_BUNDLING", "off"),
    ("WHIMBREL_RECEIVE_CREDIT", "off"),
    ("WHIMBREL_BULK_SOCKET", "off"),
    ("WHIMBREL_PROCESSOR_COUNTER", "off"),
    ("WHIMBREL_WAITING", "sleep"),
];

const DENY_WARNINGS: &[(&str, &str)] = &[("RUSTDOCFLAGS", "-D warnings")];

/// What must pass before a change is taken, cheap checks before expensive ones.
pub(crate) const STEPS: &[Step] = &[
    step("setup", &["cargo", "xtask", "setup"], 1200),
    step("fmt", &["cargo", "fmt", "--all", "--check"], 120),
    step("tidy", &["cargo", "xtask", "tidy"], 300),
    step("licences", &["cargo", "xtask", "licences"], 120),
    step(
        "clippy",
        &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        1200,
    ),
    step("features", &["cargo", "xtask", "features"], 600),
    Step {
        count: Count::TestResults,
        ..step(
            "tests",
            &["cargo", "test", "--workspace", "--no-fail-fast"],
            1800,
        )
    },
    Step {
        count: Count::TestResults,
        ..step("tests of counted calls", COUNTED_CALLS, 1200)
    },
    Step {
        env: BY_NETWORK,
        count: Count::TestResults,
        ..step("tests by the network", PUBLIC_API, 600)
    },
    Step {
        env: LISTENERS_QUEUED,
        count: Count::TestResults,
        ..step("tests with queued listeners", PUBLIC_API, 600)
    },
    Step {
        env: ENCODED,
        count: Count::TestResults,
        ..step("tests with samples encoded", PUBLIC_API, 600)
    },
    Step {
        env: POLLING,
        count: Count::TestResults,
        ..step("tests with endless polling", PUBLIC_API, 600)
    },
    Step {
        env: NO_FAST_PATHS,
        count: Count::TestResults,
        ..step("tests without fast paths", PUBLIC_API, 600)
    },
    Step {
        env: MODELS,
        count: Count::TestResults,
        ..step(
            "models",
            &["cargo", "test", "-p", "whimbrel", "--lib", "models"],
            600,
        )
    },
    Step {
        env: DENY_WARNINGS,
        ..step(
            "docs",
            &["cargo", "doc", "--workspace", "--no-deps", "--locked"],
            900,
        )
    },
    step("api", &["cargo", "xtask", "api"], 600),
    step(
        "fuzz programs",
        &[
            "cargo",
            "check",
            "--manifest-path",
            "fuzz/Cargo.toml",
            "--locked",
        ],
        900,
    ),
    step(
        "fuzz corpora",
        &[
            "cargo",
            "run",
            "--release",
            "-p",
            "whimbrel-fuzz-targets",
            "--bin",
            "replay",
        ],
        900,
    ),
    Step {
        env: RECEIVING,
        count: Count::TestResults,
        ..step("interop with captures", INTEROP, 1500)
    },
    Step {
        count: Count::TestResults,
        ..step("interop with default settings", INTEROP_UNTAPPED, 1500)
    },
    Step {
        env: BY_NETWORK,
        count: Count::TestResults,
        ..step("interop with all offloads", INTEROP_UNTAPPED, 1500)
    },
    Step {
        env: POLLING,
        count: Count::TestResults,
        ..step("interop with endless polling", INTEROP_UNTAPPED, 1500)
    },
    Step {
        env: NO_FAST_PATHS,
        count: Count::TestResults,
        ..step("interop without fast paths", INTEROP_UNTAPPED, 1500)
    },
    step("demo", &["cargo", "demo"], 600),
    step(
        "simulation",
        &[
            "cargo",
            "run",
            "--release",
            "-p",
            "whimbrel-sim",
            "--",
            "--seeds",
            "1000",
            "--start",
            "0",
        ],
        900,
    ),
    step(
        "survive",
        &["cargo", "xtask", "survive", "--minutes", "1", "--but-open"],
        1500,
    ),
];

/// What takes too long for every change.
pub(crate) const NIGHTLY: &[Step] = &[
    step("setup", &["cargo", "xtask", "setup"], 1200),
    step(
        "survive",
        &["cargo", "xtask", "survive", "--minutes", "10"],
        3600,
    ),
    step(
        "standard library sources",
        &[
            "rustup",
            "component",
            "add",
            "rust-src",
            "--toolchain",
            "nightly",
        ],
        600,
    ),
    Step {
        env: THREAD_SANITIZER,
        count: Count::TestResults,
        ..step(
            "sanitizer",
            // What is skipped waits for time spans that this slow program does not keep.
            &[
                "rustup",
                "run",
                "nightly",
                "cargo",
                "test",
                "-Zbuild-std",
                "--target",
                "x86_64-unknown-linux-gnu",
                "-p",
                "whimbrel",
                "--lib",
                "--test",
                "it",
                "--",
                "--test-threads",
                "2",
                "--skip",
                "large_sample",
                "--skip",
                "a_full_reader_holds",
                "--skip",
                "every_call_may_be_made_in_every_callback",
            ],
            3600,
        )
    },
];

const fn step(name: &'static str, command: &'static [&'static str], limit_s: u64) -> Step {
    Step {
        name,
        command,
        env: &[],
        limit_s,
        count: Count::Itself,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_commands_are_whole() {
        for steps in [STEPS, NIGHTLY] {
            let names: BTreeSet<&str> = steps.iter().map(|s| s.name).collect();
            assert_eq!(names.len(), steps.len());
            assert!(steps.iter().all(|s| !s.command.is_empty() && s.limit_s > 0));
        }
    }
}
