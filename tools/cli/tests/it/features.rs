//! The table of policies and the page made of it.

use std::fs;
use std::path::Path;

use whimbrel::built_in_codecs;
use whimbrel::qos::CompressionIds;

use super::{finish, program};

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_page_is_what_the_program_prints() {
    let printed = finish(program(&["features", "--markdown"]))
        .expect(0)
        .stdout;
    let page = fs::read_to_string(repository().join("docs/features.md")).unwrap();
    assert!(
        page == printed,
        "docs/features.md is old: run `whimbrel features --markdown > docs/features.md`"
    );
}

#[test]
fn the_tests_it_names_exist() {
    let rows = finish(program(&["features", "--json"])).expect(0).objects();
    assert!(rows.len() > 40);
    for row in rows {
        for test in row["tests"].as_array().unwrap() {
            check_test(test.as_str().unwrap());
        }
    }
    let page = fs::read_to_string(repository().join("docs/features.md")).unwrap();
    let beyond = page.split("\n## Codecs\n").nth(1).unwrap();
    let quoted = beyond.split('`').skip(1).step_by(2);
    let named: Vec<_> = quoted.filter(|it| it.contains(".rs::")).collect();
    assert!(named.len() > 9, "{named:?}");
    named.into_iter().for_each(check_test);
}

/// Sees that `test`, a file of this repository, `::` and a name, is one.
fn check_test(test: &str) {
    let (file, name) = test.split_once("::").unwrap();
    let text = fs::read_to_string(repository().join(file)).unwrap();
    let is_test = text.contains(&format!("#[test]\nfn {name}()"))
        || text.contains(&format!("#[test]\n    fn {name}()"));
    assert!(is_test, "{test} is not a test");
}

#[test]
fn every_codec_is_in_the_table() {
    let page = fs::read_to_string(repository().join("docs/features.md")).unwrap();
    for codec in CompressionIds::ALL.iter() {
        assert!(page.contains(&format!("\n| {codec} | ")), "{codec}");
    }
}

#[test]
fn every_codec_is_listed_as_built_in_or_not() {
    let text = finish(program(&["features"])).expect(0).stdout;
    let codecs = text.split("\nCODEC ").nth(1).unwrap();
    let rows = finish(program(&["features", "--json"])).expect(0).objects();
    for codec in CompressionIds::ALL.iter() {
        let here = built_in_codecs().intersects(codec);
        let line = codecs
            .lines()
            .find(|it| it.starts_with(&format!("{codec} ")));
        let line = line.unwrap_or_else(|| panic!("{codec}: {text}"));
        let state = if here {
            " built in "
        } else {
            " not built in: "
        };
        assert!(line.contains(state), "{line}");
        let value = format!("codec {codec}");
        let row = rows
            .iter()
            .find(|it| it["value"] == value.as_str())
            .unwrap();
        assert_eq!(row["works"].as_bool(), Some(here), "{row}");
    }
}

#[test]
fn a_policy_and_its_values_are_listed() {
    let text = finish(program(&["features"])).expect(0).stdout;
    let line = text.lines().find(|it| it.contains("BY_SOURCE_TIMESTAMP"));
    let line = line.unwrap();
    assert!(line.starts_with("DESTINATION_ORDER"), "{line}");
    assert!(line.contains("refused: "), "{line}");
}
