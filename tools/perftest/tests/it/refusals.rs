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
        ("-multicast", "-multicast: is not supported by Whimbrel"),
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
