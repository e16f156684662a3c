//! Arguments, good and bad, and everything that needs no bus.

use std::process::Stdio;

use super::{Place, finish, program};

#[test]
fn bad_arguments_are_refused_in_words() {
    let long = "x".repeat(100_000);
    let empty = empty_file();
    let cases: &[(&[&str], i32)] = &[
        (&[], 2),
        (&["no such command"], 2),
        (&["ps", "--domain", "233"], 2),
        (&["ps", "--domain", "-1"], 2),
        (&["ps", "--domain", "99999999999999999999"], 2),
        (&["ps", "--wait", "nan"], 2),
        (&["ps", "--wait", "-1"], 2),
        (&["ps", "--wait", "1e300"], 2),
        (&["ps", "--ip", "5"], 2),
        (&["ps", "--color", "sometimes"], 2),
        (&["ps", "--interfaces", "no-such-interface"], 2),
        (&["ps", "--interfaces", "300.1.1.1/99"], 2),
        (&["ps", "--interfaces", &long], 2),
        (&["doctor", "--interfaces", "no-such-interface"], 2),
        (&["ps", "--peer", "not an address"], 2),
        (&["ps", "--peer", "1:2:3"], 2),
        (&["ps", "--peer", "127.0.0.1:99999"], 2),
        (&["shapes", "sub", "--peer", "1:2:3"], 2),
        (&["trace", "--log", "/no such folder/log"], 3),
        (&["ls", "a", "b"], 2),
        (&["why"], 2),
        (&["why", "zz", "01", "--wait", "0"], 2),
        (&["why", "", "", "--wait", "0"], 2),
        (&["why", "01", "02", "--wait", "0"], 1),
        (&["why", "no topic", "--wait", "0"], 1),
        (&["why", &long, "--wait", "0"], 1),
        (&["ls", "\u{1b}[2J*", "--wait", "0"], 1),
        (&["ls", "", "--wait", "0"], 1),
        (&["sub", "", "--timeout", "0"], 1),
        (&["sub", &long, "--timeout", "0"], 1),
        (&["sub", "T", "--count", "0"], 2),
        (&["sub", "T", "--count", "-5"], 2),
        (&["shapes"], 2),
        (&["shapes", "pub", "--shape", "hexagon"], 2),
        (&["shapes", "pub", "--rate", "0"], 2),
        (&["shapes", "pub", "--size", "-7"], 2),
        (&["shapes", "pub", "--xcdr", "3"], 2),
        (&["shapes", "pub", "--depth", "0"], 2),
        (&["shapes", "pub", "--color", &long], 2),
        (&["shapes", "pub", "--reliable", "--best-effort"], 2),
        (&["demo", "--seconds", "0"], 2),
        (&["demo", "--seconds", "1e9"], 2),
        (&["demo", "--quick", "--seconds", "2"], 2),
        (&["demo", "/no such file"], 2),
        (&["demo", "/"], 2),
        (&["demo", "/dev/null"], 2),
        (&["demo", &empty], 2),
        (&["demo", env!("CARGO_BIN_EXE_whimbrel")], 2),
        (&["completions", "no such shell"], 2),
    ];
    let place = Place::new();
    for (args, code) in cases {
        let shown: Vec<_> = args.iter().map(|it| it.get(..40).unwrap_or(it)).collect();
        // An option that is repeated is refused; those of the place come last.
        let own = args
            .iter()
            .any(|it| matches!(*it, "--domain" | "--interfaces"));
        let run = if own {
            finish(program(args))
        } else {
            place.run(args)
        };
        assert_eq!(run.code, *code, "{shown:?}: {}", run.stderr);
        assert!(
            !run.stderr.contains("panicked"),
            "{shown:?}: {}",
            run.stderr
        );
        assert!(!run.stderr.is_empty(), "{shown:?} says nothing");
    }
    std::fs::remove_file(empty).unwrap();
}

fn empty_file() -> String {
    let path = format!(
        "{}/empty {}",
        env!("CARGO_TARGET_TMPDIR"),
        std::process::id()
    );
    std::fs::write(&path, "").unwrap();
    path
}

#[test]
fn errors_are_json_where_that_was_asked_for() {
    let place = Place::new();
    for args in [
        &["ps", "--json", "--wait", "0"][..],
        &["ps", "--json", "--bad"],
    ] {
        let run = place.run(args);
        let error: serde_json::Value = serde_json::from_str(run.stderr.trim()).unwrap();
        assert!(error["error"].as_str().is_some_and(|it| !it.is_empty()));
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = finish(program(&["completions", shell])).expect(0);
        assert!(run.stdout.contains("doctor"), "{shell}");
    }
}

#[test]
fn help_lists_exit_codes() {
    let run = finish(program(&["--help"])).expect(0);
    assert!(run.stdout.contains("Exit codes"));
    assert!(!run.stdout.contains("demo-publisher"));
    let run = finish(program(&["shapes", "pub", "--help"])).expect(0);
    assert!(run.stdout.contains("--transient-local"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for args in [&["completions", "bash"][..], &["--help"]] {
        let mut command = program(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}
