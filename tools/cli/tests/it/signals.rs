//! Ctrl-C and SIGTERM: the command leaves the bus, says so, and ends with the code of shells.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::DomainParticipant;

use super::{PATIENCE, Place, collect, program, wait};

/// Far less than the lease of 10 s, after which those are forgotten who just vanish.
const LEAVING_MAX: Duration = Duration::from_secs(5);

/// Time between looks.
const TURN: Duration = Duration::from_millis(10);

fn send(signal: &str, ids: &[u32]) {
    let ids = ids.iter().map(ToString::to_string);
    let sent = Command::new("kill").arg(signal).args(ids).status().unwrap();
    assert!(sent.success(), "{signal}");
}

fn participant(place: &Place) -> DomainParticipant {
    let builder = DomainParticipant::builder(place.domain).domain_tag(&place.tag);
    builder.interfaces("lo").build().unwrap()
}

/// Runs `commands`, each a participant of the given name, until all are on the bus; then signals
/// all of them.
fn check(signal: &str, code: i32, commands: &[(&str, &[&str])]) {
    let place = Place::new();
    let observer = participant(&place);
    let run = |(_, args): &(&str, &[&str])| {
        let mut command = place.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        (command, child)
    };
    let mut running: Vec<(Command, Child)> = commands.iter().map(run).collect();
    let wanted: BTreeSet<String> = commands
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let all_here = |it: &DomainParticipant| {
        let found = it.discovered_participants();
        let names: BTreeSet<_> = found.iter().map(|it| it.name.clone()).collect();
        // They know of us, and so will tell us that they leave.
        let mutual = found.iter().all(|it| it.confirmed);
        mutual && names == wanted && found.len() == commands.len()
    };
    let started = Instant::now();
    // That somebody knows of us is no event, so we look again and again.
    let mut met = false;
    while !met && started.elapsed() < PATIENCE {
        met = observer.wait_for_discovery(TURN, all_here);
    }

    let signalled = Instant::now();
    let ids: Vec<_> = running.iter().map(|(_, child)| child.id()).collect();
    send(&format!("-{signal}"), &ids);
    let nobody = |it: &DomainParticipant| it.discovered_participants().is_empty();
    let alone = observer.wait_for_discovery(PATIENCE, nobody);
    let took = signalled.elapsed();
    for (command, child) in &mut running {
        let stderr = collect(child.stderr.take().unwrap());
        let status = wait(child, command);
        assert_eq!(status.code(), Some(code), "{command:?}");
        let said = stderr.join().unwrap();
        assert_eq!(said, format!("whimbrel: stopped by SIG{signal}\n"));
    }
    assert!(met, "not all of {wanted:?} were seen");
    assert!(alone && took < LEAVING_MAX, "left after {took:?}");
}

#[test]
fn a_publisher_leaves_before_its_lease_ends() {
    let publisher: &[&str] = &["shapes", "pub"];
    check("INT", 130, &[("whimbrel shapes", publisher)]);
    check("TERM", 143, &[("whimbrel shapes", publisher)]);
}

#[test]
fn no_wait_keeps_a_command() {
    let first: &[(&str, &[&str])] = &[
        ("whimbrel shapes", &["shapes", "sub", "--shape", "square"]),
        (
            "whimbrel shapes",
            &["shapes", "pub", "--shape", "circle", "--readers", "9"],
        ),
        ("whimbrel sub", &["sub", "no such topic"]),
        ("whimbrel trace", &["trace", "*"]),
    ];
    check("INT", 130, first);
    let looks: &[(&str, &[&str])] = &[
        ("whimbrel ps", &["ps", "--wait", "600"]),
        ("whimbrel ls", &["ls", "--wait", "600"]),
        ("whimbrel why", &["why", "no such topic", "--wait", "600"]),
        ("whimbrel doctor", &["doctor", "--wait", "600"]),
    ];
    check("TERM", 143, looks);
}

#[test]
fn a_stop_is_json_where_that_was_asked_for() {
    let place = Place::new();
    let observer = participant(&place);
    let mut command = place.command(&["sub", "no such topic", "--json"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let here = |it: &DomainParticipant| !it.discovered_participants().is_empty();
    assert!(observer.wait_for_discovery(PATIENCE, here));
    send("-INT", &[child.id()]);
    let stderr = collect(child.stderr.take().unwrap());
    assert_eq!(wait(&mut child, &command).code(), Some(130));
    assert_eq!(stderr.join().unwrap(), "{\"stopped\":\"SIGINT\"}\n");
}

#[test]
fn the_demo_ends_its_processes() {
    // A terminal signals all processes at once, others the parent alone.
    for everybody in [false, true] {
        let mut command = program(&["demo", "--seconds", "60"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut demo = command.spawn().unwrap();
        let stderr = collect(demo.stderr.take().unwrap());
        let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
        // What it is about, the heading, and the first row.
        for _ in 0..3 {
            lines.next().unwrap().unwrap();
        }
        let rest = thread::spawn(move || lines.map_while(Result::ok).count());
        let children = format!("/proc/{0}/task/{0}/children", demo.id());
        let children = std::fs::read_to_string(children).unwrap();
        let children: Vec<u32> = children
            .split_whitespace()
            .map(|id| id.parse().unwrap())
            .collect();
        assert_eq!(children.len(), 2);

        let mut ids = vec![demo.id()];
        if everybody {
            ids.extend(&children);
        }
        send("-INT", &ids);
        let status = wait(&mut demo, &command);
        assert_eq!(status.code(), Some(130), "everybody: {everybody}");
        for id in children {
            assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
        }
        assert_eq!(stderr.join().unwrap(), "whimbrel: stopped by SIGINT\n");
        rest.join().unwrap();
    }
}

#[test]
fn a_second_signal_ends_what_the_first_cannot() {
    // Opening a pipe without reader takes for ever.
    let pipe = format!("{}/log {}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut command = Place::new().command(&["trace", "--log", &pipe]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !handles_signals(&child) {
        assert!(started.elapsed() < PATIENCE, "no handlers");
        thread::sleep(TURN);
    }
    let mut sent = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        send("-INT", &[child.id()]);
        sent += 1;
        thread::sleep(TURN);
    };
    std::fs::remove_file(&pipe).unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(sent >= 2, "ended by the first");
}

/// Whether the handler of the last signal, SIGTERM, is there.
fn handles_signals(child: &Child) -> bool {
    const SIGTERM: u32 = 15;
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    caught >> (SIGTERM - 1) & 1 == 1
}
