//! The committed corpora, replayed; the seeds, complete and unchanged; golden datagrams, read.

mod announced;
mod batches;
mod compressed;
mod readable;
mod understood;
mod vectors;

use std::collections::BTreeSet;

use whimbrel_fuzz_targets::replay::{Effort, replay};
use whimbrel_fuzz_targets::{TARGETS, corpus, seeds};

/// Octets that all corpora together may take in the repository.
const CORPORA_MAX: usize = 330_000;

#[test]
fn no_input_makes_its_target_panic() {
    for (name, target) in TARGETS {
        for input in corpus::inputs(name).expect("a corpus") {
            let outcome = replay(*target, &input.name, &input.bytes, Effort::QUICK);
            assert_eq!(outcome.failures, Vec::<String>::new(), "{name}");
            assert!(outcome.runs > input.bytes.len().min(2), "{name}");
        }
    }
}

#[test]
fn seeds_are_committed_as_they_are_generated() {
    for seed in seeds::all() {
        let path = corpus::folder().join(seed.target).join(seed.file_name());
        let found = std::fs::read(&path).ok();
        assert!(
            found.as_ref() == Some(&seed.bytes),
            "{}: run `seed`",
            path.display()
        );
    }
}

#[test]
fn every_target_has_seeds_and_every_corpus_a_target() {
    let targets: BTreeSet<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let seeded: BTreeSet<&str> = seeds::all().iter().map(|seed| seed.target).collect();
    assert_eq!(targets, seeded);
    let folders = std::fs::read_dir(corpus::folder()).expect("the corpora");
    for folder in folders {
        let name = folder.expect("a corpus").file_name();
        assert!(
            targets.contains(name.to_str().expect("a plain name")),
            "{name:?}"
        );
    }
}

#[test]
fn seeds_have_names_of_their_own() {
    let seeds = seeds::all();
    let names: BTreeSet<_> = seeds.iter().map(|seed| (seed.target, &seed.name)).collect();
    assert_eq!(names.len(), seeds.len());
}

#[test]
fn corpora_stay_small() {
    let inputs = TARGETS
        .iter()
        .flat_map(|(name, _)| corpus::inputs(name).expect("a corpus"));
    let octets: usize = inputs.map(|input| input.bytes.len()).sum();
    assert!(octets < CORPORA_MAX, "{octets}");
}

#[test]
fn every_target_can_be_fuzzed() {
    let fuzz = corpus::folder().join("..");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("the manifest");
    for (name, _) in TARGETS {
        let path = format!("fuzz_targets/{name}.rs");
        let source = std::fs::read_to_string(fuzz.join(&path)).expect("a program");
        assert!(source.contains(&format!("run(\"{name}\", data)")), "{path}");
        assert!(manifest.contains(&format!("path = \"{path}\"")), "{path}");
    }
}
