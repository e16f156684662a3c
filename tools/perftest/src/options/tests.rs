use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn refusal(line: &str) -> String {
    match Given::parse(&words(line)) {
        Err(Failure::Options(why)) => why,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn names_are_found_by_any_prefix_in_any_case() {
    let name = |word| find(word).unwrap().name;
    assert_eq!(name("-best"), "bestEffort");
    assert_eq!(name("-exec"), "executionTime");
    assert_eq!(name("-noPrint"), "noPrintIntervals");
    assert_eq!(name("-noXML"), "noXmlQos");
    assert_eq!(name("-datalen"), "dataLen");
    assert_eq!(name("-NOOUTPUTHEADERS"), "noOutputHeaders");
    assert_eq!(name("-pub"), "pub");
    assert_eq!(name("-pubr"), "pubRate");
    assert_eq!(name("-transport"), "transport");
    assert_eq!(name("-compression"), "compressionId");
    assert_eq!(name("-s"), "scan");
    // A hidden one comes first, there as here.
    assert_eq!(name("-instance"), "instanceHashBuckets");
    assert_eq!(name("-instances"), "instances");
    for word in ["", "-", "pub", "--pub", "-pubx", "100"] {
        assert!(find(word).is_err(), "{word}");
    }
}

#[test]
fn every_option_is_there_once_and_found_by_its_name() {
    for spec in TABLE {
        assert_eq!(find(&format!("-{}", spec.name)).unwrap().name, spec.name);
        let same = TABLE
            .iter()
            .filter(|it| it.name.eq_ignore_ascii_case(spec.name));
        assert_eq!(same.count(), 1, "{}", spec.name);
        assert!(
            help().contains(&format!("-{} ", spec.name)),
            "{}",
            spec.name
        );
    }
}

#[test]
fn what_is_refused_is_named() {
    let mut refused = 0;
    for spec in TABLE {
        let Standing::Refused(why) = spec.standing else {
            continue;
        };
        refused += 1;
        let said = refusal(&format!("-{} 1", spec.name));
        assert!(
            said.starts_with(&format!("-{}: ", spec.name)) && said.ends_with(why),
            "{said}"
        );
    }
    assert!(refused > 40);
}

#[test]
fn values_are_checked() {
    assert_eq!(refusal("-dataLen"), "-dataLen: needs a value");
    assert_eq!(
        refusal("-dataLen 27"),
        "-dataLen: 27 is not within 28 to 2147482620"
    );
    assert_eq!(
        refusal("-dataLen many"),
        "-dataLen: many is no whole number"
    );
    assert_eq!(
        refusal("-pub -pubRate 10:hop"),
        "-pubRate: hop is none of spin, sleep"
    );
    assert_eq!(
        refusal("-domain 251"),
        "-domain: 251 is not within 0 to 250"
    );
    assert!(refusal("-frobnicate").contains("no such option"));
}

#[test]
fn arguments_that_may_be_missing_may() {
    let given = Given::parse(&words("-unbounded -keyed -dataLen 99")).unwrap();
    assert_eq!(given.text("unbounded"), Some(""));
    let given = Given::parse(&words("-unbounded 1000 -keyed")).unwrap();
    assert_eq!(given.number("unbounded"), Some(1000));
    let given = Given::parse(&words("-pub -pubRate 500 -scan 32:64")).unwrap();
    assert_eq!(given.text("pubRate"), Some("500:spin"));
    assert_eq!(given.text("scan"), Some("32:64"));
}

#[test]
fn options_of_the_other_side_are_errors() {
    assert_eq!(
        refusal("-sub -latencyTest"),
        "-latencyTest: goes with -pub only"
    );
    assert_eq!(refusal("-latencyTest"), "-latencyTest: goes with -pub only");
    assert_eq!(
        refusal("-pub -numPublishers 2"),
        "-numPublishers: goes with -sub only"
    );
    assert!(refusal("-pub -sub").contains("one of both"));
}

#[test]
fn the_help_is_asked_for_in_two_ways() {
    assert!(asks_for_help(&words("-pub -h")));
    assert!(asks_for_help(&words("-HELP")));
    assert!(!asks_for_help(&words("-pub")));
}
