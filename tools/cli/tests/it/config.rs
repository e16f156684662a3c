//! Settings: in force, from where, and refused with a word.

use serde_json::Value;

use super::{Run, finish, program};

fn run(args: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = program(args);
    command.envs(variables.iter().copied());
    finish(command)
}

fn setting<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|it| it["setting"] == name).unwrap()
}

#[test]
fn every_setting_is_shown_with_its_source() {
    let args = ["config", "show", "--json", "--ip", "46"];
    let variables = [("WHIMBREL_PEERS", "127.0.0.1:7412"), ("WHIMBREL_IP", "6")];
    let rows = run(&args, &variables).expect(0).objects();
    let check = |name, value: &str, source: &str| {
        let row = setting(&rows, name);
        assert_eq!(
            (row["value"].as_str(), row["source"].as_str()),
            (Some(value), Some(source)),
            "{name}"
        );
    };
    check("domain", "0", "default");
    check("peers", "127.0.0.1:7412", "environment");
    check("ip", "46", "option");
    check("interfaces", "all", "default");
    check("lease", "10s", "default");
    check("remote_participants_max", "1024", "default");
    assert_eq!(setting(&rows, "peers")["variable"], "WHIMBREL_PEERS");
    let text = run(&["config", "show"], &variables).expect(0).stdout;
    let line = text.lines().find(|it| it.starts_with("peers")).unwrap();
    assert!(line.ends_with("environment WHIMBREL_PEERS"), "{line}");
}

#[test]
fn what_is_not_understood_is_listed_and_no_command_ignores_it() {
    let variables = [
        ("WHIMBREL_PEER", "10.0.0.7"),
        ("WHIMBREL_INTERFACES", "lo,10.0.0.0/99"),
    ];
    let found = run(&["config", "check", "--json"], &variables)
        .expect(2)
        .objects();
    assert_eq!(found.len(), 2, "{found:?}");
    let place = &found[0];
    assert_eq!(place["variable"], "WHIMBREL_INTERFACES");
    assert_eq!(
        (&place["position"], &place["value"]),
        (&4.into(), &variables[1].1.into())
    );
    let text = found[1]["problem"].as_str().unwrap();
    assert!(text.contains("did you mean WHIMBREL_PEERS?"), "{text}");
    for args in [
        &["ps", "--wait", "0"][..],
        &["config", "show"],
        &["shapes", "sub"],
        &["demo", "--quick"],
    ] {
        let refused = run(args, &variables[..1]).expect(2);
        let error = &refused.stderr;
        assert_eq!(refused.stdout, "", "{args:?}");
        assert!(
            error.contains("did you mean WHIMBREL_PEERS?"),
            "{args:?}: {error}"
        );
    }
}

#[test]
fn options_and_interfaces_that_are_not_there_are_found_before_they_matter() {
    let check = ["config", "check", "--interfaces", "lo"];
    run(&check, &[]).expect(0);
    let check = ["config", "check", "--interfaces", "no-such-interface"];
    let found = run(&check, &[]).expect(2).stdout;
    assert!(found.contains("no-such-interface"), "{found}");
    let check = ["config", "check", "--interfaces", "lo,no-such-interface"];
    let found = run(&check, &[]).expect(0).stdout;
    assert!(found.contains("no-such-interface"), "{found}");
    let check = ["config", "check", "--peer", "10.0.0.x"];
    let found = run(&check, &[]).expect(2).stdout;
    assert!(found.contains("10.0.0.x"), "{found}");
}
