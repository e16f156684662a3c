use std::collections::BTreeSet;

use whimbrel_base::cursor::Endian;

use super::CLASSES;
use super::round::play;

#[test]
fn every_case_holds_in_both_byte_orders() {
    let mut failures = Vec::new();
    for case in CLASSES.iter().copied().flatten() {
        for endian in [Endian::Little, Endian::Big] {
            if let Err(why) = play(case, endian, false) {
                failures.push(format!("{} {endian:?}: {why}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn names_are_unique() {
    let all = CLASSES.iter().copied().flatten();
    let names: BTreeSet<&str> = all.clone().map(|case| case.name).collect();
    assert_eq!(names.len(), all.count());
}
