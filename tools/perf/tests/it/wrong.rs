//! What may go wrong around a run: the machine, its permissions, its disk, a process that dies.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{Folder, program, run, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_whimbrel-perf");

/// Whether this process may do everything.
fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    text(&id.stdout).trim() == "0"
}

/// The process id of a child of `parent` whose command line has the word `word`.
fn child_of(parent: u32, word: &str) -> Option<u32> {
    let read = |id: u32, name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).ok();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    ids.into_iter().find(|id| {
        let status = read(*id, "status").unwrap_or_default();
        let line = read(*id, "cmdline").unwrap_or_default();
        status.contains(&format!("PPid:\t{parent}\n")) && line.split('\0').any(|it| it == word)
    })
}

/// A run under way, once its process with the role `role` is there.
fn under_way(words: &[&str], role: &str) -> (Child, u32) {
    let child = program()
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let found = loop {
        if let Some(found) = child_of(child.id(), role) {
            break found;
        }
        assert!(Instant::now() < deadline, "no process with the role {role}");
        thread::sleep(Duration::from_millis(10));
    };
    (child, found)
}

fn kill(name: &str, id: u32) {
    let status = Command::new("kill")
        .args(["-s", name, &id.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// That nothing of the network of the run `id` is left; cables and queues go with their hosts.
fn assert_no_network(id: u32) {
    if let Ok(spaces) = Command::new("ip").args(["netns", "list"]).output() {
        let spaces = text(&spaces.stdout);
        assert!(!spaces.contains(&format!("wrig{id}x")), "{spaces}");
    }
}

#[test]
fn a_killed_child_breaks_the_run_and_takes_its_hosts_along() {
    if !is_root() {
        return;
    }
    let out = Folder::new("killed");
    let place = ["lat3-dual", "--peers", "nowhere", "--out", out.text()];
    let words = [&["run", "comp-bw-batch"], &place[..], &["--full"]].concat();
    let begun = Instant::now();
    let (child, pong) = under_way(&words, "pong");
    kill("KILL", pong);
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    // Nobody waits for answers that cannot come.
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let report = out.report();
    assert_eq!(
        report["sections"][0]["savings"].as_array().unwrap().len(),
        4
    );
    assert_eq!(report["sections"][1]["state"]["kind"], "broke", "{report}");
    assert_no_network(id);
}

#[test]
fn an_interrupted_slow_cable_is_removed_with_its_queues() {
    if !is_root() {
        return;
    }
    let out = Folder::new("cable");
    let words = ["run", "comp-lat", "--full", "--out", out.text()];
    let (child, _) = under_way(&words, "ping");
    let id = child.id();
    kill("INT", id);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(out.report()["sections"][0]["state"]["kind"], "broke");
    assert_no_network(id);
}

#[test]
fn nobody_waits_for_who_stands_still_once_interrupted() {
    let out = Folder::new("still");
    let words = ["run", "lat3-inter", "--full", "--peers", "nowhere"];
    let (child, pong) = under_way(&[&words[..], &["--out", out.text()]].concat(), "pong");
    kill("STOP", pong);
    let (id, begun) = (child.id(), Instant::now());
    // So that somebody waits for it.
    thread::sleep(Duration::from_secs(1));
    kill("HUP", id);
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(25));
    assert_eq!(output.status.code(), Some(129), "{}", text(&output.stderr));
    assert_eq!(out.report()["sections"][0]["state"]["kind"], "broke");
    assert_no_network(id);
}

#[test]
fn a_full_disk_keeps_what_was_written_before() {
    if !is_root() {
        return;
    }
    let (disk, saved) = (Folder::new("disk"), Folder::new("saved"));
    let script = format!(
        "mount -t tmpfs -o size=48k tmpfs '{0}' && {PROGRAM} run comp-bw-batch comp-codec lat3-inter \
         --miniature --peers nowhere --out '{0}'; code=$?; cp '{0}/report.json' '{1}'; exit $code",
        disk.text(),
        saved.text()
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
    let output = command.env("WHIMBREL_INTERFACES", "lo").output().unwrap();
    let why = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{why}");
    assert!(
        why.contains("writing results to") && why.contains("No space left"),
        "{why}"
    );
    let report = saved.report();
    assert_eq!(
        report["sections"][0]["savings"].as_array().unwrap().len(),
        4
    );
}

#[test]
fn without_permission_two_hosts_are_not_run_and_results_not_begun() {
    let as_nobody = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--clear-groups", PROGRAM]);
        command
            .args(words)
            .env("WHIMBREL_INTERFACES", "lo")
            .output()
    };
    // Not root, or the program is where nobody else may look.
    let Ok(list) = as_nobody(&["list"]) else {
        return;
    };
    if !list.status.success() {
        return;
    }
    let out = Folder::new("nobody");
    let output = as_nobody(&["run", "cft", "--out", out.text()]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let why = text(&output.stderr);
    assert!(
        why.contains("results go to") && why.contains("Permission denied"),
        "{why}"
    );
    let mode = Command::new("chmod").args(["777", out.text()]).status();
    assert!(mode.unwrap().success());
    let words = ["run", "lat3-dual", "--miniature", "--peers", "nowhere"];
    let output = as_nobody(&[&words[..], &["--out", out.text()]].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains("lat3-dual: not run here: network namespaces need root"),
        "{said}"
    );
}

#[test]
fn a_port_in_use_is_named() {
    let taken = UdpSocket::bind("127.0.0.1:17407").unwrap();
    let words = ["role", "raw-latency", "pong", "blocking", "--domain", "7"];
    let output = run(&[&words[..], &["--address", "127.0.0.1"]].concat());
    let why = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{why}");
    assert!(
        why.contains("UDP port 17407 of 127.0.0.1: Address already in use"),
        "{why}"
    );
    drop(taken);
}

#[test]
fn a_peer_that_is_missing_is_told_where_it_is_wanted() {
    let words = ["compare", "whimbrel", "cyclone", "--peers", "/nowhere"];
    let output = run(&words);
    assert_eq!(output.status.code(), Some(2));
    let why = text(&output.stderr);
    assert!(why.contains("/nowhere/bench_cyclone is not there"), "{why}");
    assert!(!Path::new("/nowhere").exists());
}

#[test]
fn payloads_and_sizes_that_cannot_be_do_not_begin() {
    for (words, part) in [
        (&["run", "cft", "--payload", "file:/"][..], "/"),
        (&["run", "cft", "--payload", "file:"], ""),
        (&["run", "cft", "--payload", "noise"], "noise"),
        (&["run", "cft", "--sizes", "536870913"], "536870913"),
        (&["run", "cft", "--sizes", "-1"], "-1"),
        (&["run", "cft", "--sizes", "many"], "many"),
        (
            &["compare", "raw", "whimbrel", "--payload", "file:/nowhere"],
            "/nowhere",
        ),
        (&["compare", "raw", "whimbrel", "--rounds", "4"], "4"),
        (
            &["compare", "raw", "whimbrel", "--expect", "better"],
            "better",
        ),
        (&["rate", "--size", "x"], "x"),
        (&["rate", "--size", "999999999999"], "999999999999"),
        (&["rate", "--p99-max", "nan"], "nan"),
        (&["run", "cft", "--loss-max=-1"], "-1"),
    ] {
        let output = run(words);
        let why = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {why}");
        assert!(why.contains(part), "{words:?}: {why}");
    }
}
