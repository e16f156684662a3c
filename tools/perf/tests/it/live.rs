//! Roles that anybody can join.

use std::process::Stdio;

use super::{program, run, text};

#[test]
fn lines_come_while_something_happens_and_name_the_peer() {
    let words = [
        "live",
        "sub",
        "pong",
        "--domain",
        "214",
        "--seconds",
        "5",
        "--loss-max",
        "0",
    ];
    let other = program()
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = other.id();
    let words = ["live", "pub", "ping", "--domain", "214", "--seconds", "4"];
    let rates = ["--rate", "200", "--ping-rate", "50", "--matches-min", "1"];
    let ping = run(&[&words[..], &rates[..]].concat());
    let (said, why) = (text(&ping.stdout), text(&ping.stderr));
    assert_eq!(ping.status.code(), Some(0), "{said}{why}");
    assert!(said.contains(&format!(":{id} size 64 one way")), "{said}");
    assert!(
        said.contains("% of a core") && said.contains("sent again"),
        "{said}"
    );
    assert!(said.contains("all of ping: 64 B"), "{said}");
    let other = other.wait_with_output().unwrap();
    let said = text(&other.stdout);
    assert_eq!(
        other.status.code(),
        Some(0),
        "{said}{}",
        text(&other.stderr)
    );
    assert!(
        said.contains("sub   size 64 total") && said.contains("kS/s"),
        "{said}"
    );
    assert!(said.contains("all of sub: "), "{said}");
}

#[test]
fn who_is_alone_is_silent_and_misses_what_was_asked_for() {
    let idle = run(&["live", "sub", "pong", "--domain", "215", "--seconds", "3"]);
    let said = text(&idle.stdout);
    assert_eq!(idle.status.code(), Some(0), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let alone = ["--matches-min", "1", "--match-within", "1"];
    let missed = run(&[&["live", "pong", "--domain", "216"], &alone[..]].concat());
    assert_eq!(missed.status.code(), Some(1));
    let why = text(&missed.stderr);
    assert!(
        why.contains("0 other participants instead of 1 in 1 s"),
        "{why}"
    );
    // Also where time is up first.
    let alone = ["--matches-min", "1", "--seconds", "1"];
    let missed = run(&[&["live", "pong", "--domain", "216"], &alone[..]].concat());
    assert_eq!(missed.status.code(), Some(1), "{}", text(&missed.stdout));
    let slow = ["--seconds", "1", "--rate-min", "1"];
    let missed = run(&[&["live", "sub", "--domain", "217"], &slow[..]].concat());
    assert_eq!(missed.status.code(), Some(1), "{}", text(&missed.stdout));
    for words in [
        &["live"][..],
        &["live", "sub", "--size", "7"],
        &["live", "sub", "--domain", "233"],
    ] {
        assert_eq!(run(words).status.code(), Some(2), "{words:?}");
    }
}
