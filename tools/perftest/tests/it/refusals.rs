//! Command lines that cannot be.

use super::{Ended, Running};

fn refused(line: &str) -> Ended {
    let ended = Running::start(line).end();
    assert_eq!(ended.code(), Some(255), "{line}: {}", ended.err);
    assert!(ended.out.is_empty(), "{}", ended.out);
    ended
}

#[test]
fn wrong_command_lines_end_as_those_of_the_original() {
    for (line, wanted) in [
        ("-nonsense", "-nonsense: there is no such option"),
        ("-pub -cft 1", "-cft: goes with -sub only"),
        (
            "-multicastA 1",
            "-multicastAddr 1: one multicast address, for all topics",
        ),
        (
            "-pub -load /nowhere",
            "-loadDataFromFile /nowhere: No such file",
        ),
        ("-pub -load /", "-loadDataFromFile /: Is a directory"),
        (
            "-pub -load /dev/null",
            "-loadDataFromFile /dev/null: it is empty",
        ),
        ("-dataLen 3", "-dataLen: 3 is not within 28"),
        ("-securePSK x", "-securePSK: is not supported by Whimbrel"),
    ] {
        let said = refused(line).err;
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn interfaces_that_are_not_there_are_named() {
    let ended = Running::start("-sub -nic 192.0.2.77").end();
    assert_eq!(ended.code(), Some(1), "{}", ended.err);
    assert!(ended.err.contains("192.0.2.77"), "{}", ended.err);
}

#[test]
fn multicast_that_no_interface_carries_is_told() {
    // The tests of this repository keep to loopback, which carries it only once it is told to.
    let flags = std::fs::read_to_string("/sys/class/net/lo/flags").unwrap();
    let flags = u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).unwrap();
    const IFF_MULTICAST: u32 = 0x1000;
    if flags & IFF_MULTICAST != 0 {
        return;
    }
    let ended = Running::start("-sub -multicast").end();
    assert_eq!(ended.code(), Some(1), "{}", ended.err);
    assert!(
        ended.err.contains("-multicast: no interface"),
        "{}",
        ended.err
    );
}

#[test]
fn an_output_file_that_cannot_be_is_told_before_the_test() {
    let ended = Running::start("-sub -outputFile /nowhere/at/all").end();
    assert_eq!(ended.code(), Some(1));
    assert!(
        ended.err.contains("-outputFile /nowhere/at/all: "),
        "{}",
        ended.err
    );
}

#[test]
fn the_help_names_every_option() {
    let ended = Running::start("-help").end();
    assert_eq!(ended.code(), Some(0));
    for name in [
        "-latencyTest",
        "-compressionId",
        "-flowController",
        "-pubRatebps",
    ] {
        assert!(ended.out.contains(name), "{name}");
    }
}

/// The program for a user who may nothing; none where this is no root, or the program is where
/// nobody else may look.
fn as_nobody(words: &[&str]) -> Option<std::process::Output> {
    let output = std::process::Command::new("setpriv")
        .args(["--reuid", "65534", "--clear-groups"])
        .arg(env!("CARGO_BIN_EXE_whimbrel-perftest"))
        .args(words)
        .env("WHIMBREL_INTERFACES", "lo")
        .output();
    output.ok()
}

#[test]
fn files_without_permission_are_named() {
    let runs = as_nobody(&["-help"]).is_some_and(|it| it.status.success());
    if !runs {
        return;
    }
    let path = std::env::temp_dir().join(format!("perftest-it-{}-secret", std::process::id()));
    std::fs::write(&path, "text").unwrap();
    let mode = std::process::Command::new("chmod")
        .arg("600")
        .arg(&path)
        .status();
    assert!(mode.unwrap().success());
    let name = path.to_str().unwrap();
    for (words, code) in [
        (["-pub", "-load", name], 255),
        (["-sub", "-outputFile", name], 1),
    ] {
        let output = as_nobody(&words).unwrap();
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{why}");
        assert!(
            why.contains("Permission denied") && why.contains(name),
            "{why}"
        );
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn contradictions_are_told() {
    for (line, wanted) in [
        ("-pub -sub", "one of both"),
        (
            "-pub -latencyTest -batchSize 100",
            "-batchSize and -latencyTest",
        ),
        ("-pub -pubRate 1 -sleep 1", "one says the rate"),
        ("-dataLen 2147482621", "is not within"),
        ("-compressionLevel 11", "11 is not within 0 to 10"),
        ("-compressionId rar", "rar is none of"),
        ("-sub -cft 5:4", "5 is above 4"),
    ] {
        let said = refused(line).err;
        assert!(said.contains(wanted), "{said}");
    }
}
