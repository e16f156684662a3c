//! Each scenario in miniature, and what happens when a run goes wrong.

mod compare;
mod live;
mod wrong;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whimbrel-perf"));
    command.env("WHIMBREL_INTERFACES", "lo");
    command
}

fn run(words: &[&str]) -> Output {
    program().args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of its own; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("perf-it-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn report(&self) -> Value {
        let json = fs::read_to_string(self.0.join("report.json")).unwrap();
        serde_json::from_str(&json).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in the system's folder for such.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The sections of a run of `scenario` that ended well.
fn miniature(scenario: &str) -> Vec<Value> {
    let out = Folder::new(scenario);
    let words = [
        "run",
        scenario,
        "--miniature",
        "--peers",
        "nowhere",
        "--out",
        out.text(),
    ];
    let output = run(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = out.report();
    assert_eq!(report["schema"], "whimbrel-perf/1");
    for name in ["report.html", "report.csv"] {
        assert!(out.0.join(name).exists(), "{name}");
    }
    report["sections"].as_array().unwrap().clone()
}

/// Whether the section ran; without root it may say that it needs root.
fn ran(section: &Value) -> bool {
    let state = &section["state"];
    if state["kind"] == "skipped" {
        assert!(state["why"].as_str().unwrap().contains("root"), "{state}");
        return false;
    }
    assert_eq!(state["kind"], "ran");
    true
}

#[test]
fn the_latency_scenarios_run() {
    let sections = miniature("lat3");
    assert_eq!(sections.len(), 3);
    for section in &sections {
        let notes = section["notes"].to_string();
        assert!(
            notes.contains("without Cyclone DDS: nowhere/bench_cyclone"),
            "{notes}"
        );
        if !ran(section) {
            continue;
        }
        let latencies = section["latencies"].as_array().unwrap();
        let intra = section["name"] == "lat3-intra";
        assert_eq!(latencies.len(), if intra { 1 } else { 3 });
        for it in latencies {
            // Five rounds of twenty; of at least three where the machine has no time.
            assert!((15..=100).contains(&it["count"].as_u64().unwrap()), "{it}");
            assert!(it["min_us"].as_f64() > Some(0.0));
            // One sample lies beyond 99 % of a hundred.
            assert_eq!(it["p99_us"], Value::Null);
        }
        assert_eq!(section["floor"].is_null(), intra);
        assert!(notes.contains("entropy 0.00"), "{notes}");
    }
}

#[test]
fn text_over_a_slow_cable_runs_with_every_codec() {
    let sections = miniature("comp-lat");
    assert_eq!(sections.len(), 2);
    for (section, rate) in sections.iter().zip(["100 Mbit/s", "1 Gbit/s"]) {
        if !ran(section) {
            continue;
        }
        let latencies = section["latencies"].as_array().unwrap();
        let wire: Vec<f64> = latencies
            .iter()
            .map(|it| it["wire_bytes"].as_f64().unwrap())
            .collect();
        let [none, lz4, zlib, bzip2] = wire[..] else {
            panic!("{latencies:?}");
        };
        // Every codec makes a kilobyte of log smaller, ways there and back.
        assert!(
            none > 1024.0 && [lz4, zlib, bzip2].iter().all(|it| *it < none),
            "{wire:?}"
        );
        assert!(
            latencies.iter().all(|it| it["repairs"].is_u64()),
            "{latencies:?}"
        );
        let notes = section["notes"].to_string();
        assert!(notes.contains(rate) && notes.contains("entropy"), "{notes}");
        assert_eq!(section["crossovers"].as_array().unwrap().len(), 3);
        for it in section["budgets"].as_array().unwrap() {
            let stages = it["stages"].as_array().unwrap();
            let sum: f64 = stages.iter().map(|it| it[1].as_f64().unwrap()).sum();
            assert!(
                (sum - it["total_us"].as_f64().unwrap()).abs() < 1e-6,
                "{it}"
            );
        }
        assert_eq!(section["budgets"].as_array().unwrap().len(), 4);
        let ledgers = section["ledgers"].as_array().unwrap();
        assert_eq!(ledgers.len(), 4);
        let saved = |at: usize| -ledgers[at]["entries"][2][1].as_f64().unwrap();
        assert!(saved(0) == 0.0 && saved(2) > 300.0, "{ledgers:?}");
    }
}

#[test]
fn compressed_streams_run() {
    let sections = miniature("mak-compress");
    if ran(&sections[0]) {
        let streams = sections[0]["streams"].as_array().unwrap();
        assert_eq!(streams.len(), 8);
        let wire = |at: usize| streams[at]["wire_bytes"].as_f64().unwrap();
        // Plain and ZLIB of the log, then of noise.
        assert!(wire(1) < wire(0) && wire(2) > 1024.0, "{streams:?}");
    }
}

#[test]
fn streams_and_schedules_run() {
    let bundle = miniature("bundle");
    assert!(ran(&bundle[0]));
    let streams = bundle[0]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 7);
    for it in streams {
        assert!(it["samples_per_s"].as_f64() > Some(0.0), "{it}");
    }
    let schedule = miniature("schedule");
    assert!(ran(&schedule[0]));
    assert_eq!(schedule[0]["schedules"].as_array().unwrap().len(), 2);
}

#[test]
fn codecs_and_savings_run_without_a_bus() {
    let codecs = miniature("comp-codec");
    assert_eq!(codecs[0]["codecs"].as_array().unwrap().len(), 4);
    let savings = miniature("comp-bw-batch");
    let saved: Vec<f64> = savings[0]["savings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["saved_percent"].as_f64().unwrap())
        .collect();
    assert_eq!(saved.len(), 4);
    assert!(saved.is_sorted(), "{saved:?}");
}

#[test]
fn what_cannot_run_yet_says_so() {
    for name in ["cft", "flex-size", "flex-wan"] {
        let sections = miniature(name);
        assert_eq!(sections[0]["state"]["kind"], "waiting", "{name}");
    }
    let list = text(&run(&["list"]).stdout);
    for name in ["lat3-dual", "comp-lat", "flex-comp-lan"] {
        assert!(list.contains(name), "{list}");
    }
}

#[test]
fn a_missed_criterion_is_an_exit_code() {
    let output = run(&["sanity", "--p99-max", "0.001"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("99 % latency in µs"));
    assert_eq!(run(&["sanity"]).status.code(), Some(0));
}

#[test]
fn what_makes_no_sense_does_not_begin() {
    let refused = |words: &[&str], part: &str| {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = text(&output.stderr);
        assert!(said.contains(part), "{said}");
    };
    refused(
        &["run", "nothing"],
        "no scenario nothing: there are comp-lat",
    );
    refused(&["reproduce", "S9"], "no seed S9");
    refused(&["run", "cft", "--payload", "file:/nowhere"], "/nowhere");
    refused(&["run", "cft", "--payload", "file:/dev/null"], "empty");
    refused(&["run", "cft", "--out", "/proc/nowhere"], "/proc/nowhere");
    refused(&["run", "cft", "--sizes", "0"], "0");
    refused(&["run", "cft", "--quick", "--full"], "cannot be used with");
}

/// Programs of peers that behave like `script`.
fn peers(name: &str, script: &str) -> Folder {
    let folder = Folder::new(name);
    for peer in ["bench_cyclone", "bench_fastdds"] {
        let path = folder.0.join(peer);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

#[test]
fn a_peer_that_dies_breaks_the_run_and_loses_nothing() {
    let out = Folder::new("dies");
    let peers = peers("dying", "echo ready; read order; exit 3");
    let words = [
        "run",
        "comp-bw-batch",
        "lat3-inter",
        "--miniature",
        "--out",
        out.text(),
    ];
    let output = program()
        .args(words)
        .args(["--peers", peers.text()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report = out.report();
    assert_eq!(
        report["sections"][0]["savings"].as_array().unwrap().len(),
        4
    );
    assert_eq!(report["sections"][1]["state"]["kind"], "broke");
}

#[test]
fn an_interrupted_run_leaves_what_it_has_and_no_namespace() {
    let out = Folder::new("signal");
    // It answers late, so that the signal comes in the middle.
    let peers = peers("slow", "echo ready; read order; sleep 5; echo rtt_ns");
    let child = program()
        .args([
            "run",
            "comp-bw-batch",
            "lat3-inter",
            "--miniature",
            "--out",
            out.text(),
        ])
        .args(["--peers", peers.text()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    wait_for(&out.0.join("report.json"));
    thread::sleep(Duration::from_secs(2));
    let kill = Command::new("kill")
        .args(["-s", "INT", &id.to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(out.report()["sections"][0]["name"], "comp-bw-batch");
    let spaces = Command::new("ip").args(["netns", "list"]).output();
    if let Ok(spaces) = spaces {
        assert!(!text(&spaces.stdout).contains(&format!("wrig{id}x")));
    }
}

fn wait_for(path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(
            Instant::now() < deadline,
            "{} does not come",
            path.display()
        );
        thread::sleep(Duration::from_millis(20));
    }
}
