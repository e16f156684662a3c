//! Scripts written and read.

use super::*;

#[test]
fn every_scenario_is_read_as_it_was_written() {
    for seed in 0..300 {
        for kind in [Kind::Given, Kind::Discovery, Kind::Wide] {
            let scenario = Scenario::of(kind, seed);
            let text = scenario.to_string();
            let again = read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
            assert_eq!(format!("{scenario:?}"), format!("{again:?}"), "{text}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let network = "network heals=1s\nnode host=0\nwriter node=0\n";
    assert!(read(network).is_ok());
    let cases = [
        ("nonsense", "what is nonsense?"),
        ("node host=x", "host is not x"),
        ("node colour=red", "what is colour here?"),
        ("at 1 start writer=0", "is no time"),
        ("node process=7", "who does not exist"),
        ("at 1s start writer=7", "who does not exist"),
        ("at 1s start", "which writer or reader"),
        ("at 1s jump node=0", "to jump?"),
        ("link from=0 to=9", "no node"),
        ("writer topic=1", "which node?"),
        ("at 0s write writer=0 kind=odd", "no kind odd"),
    ];
    for (line, why) in cases {
        let refused = read(&format!("{network}{line}")).unwrap_err();
        assert!(refused.contains(why), "{line}: {refused}");
    }
}
