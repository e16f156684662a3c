//! Which sections of the standards the code cites, and where.

use super::tree::Tree;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The standards as they are cited in comments.
const STANDARDS: &[&str] = &["RTPS 2.5", "DDS 1.4", "XTypes 1.3"];

/// How often a section is cited.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    product: usize,
    test: usize,
}

/// A table of sections, sorted by standard and number.
pub(crate) fn report(tree: &Tree) -> String {
    let counts = collect(tree);
    let mut out = String::from("| section | in code | in tests |\n|---|---:|---:|\n");
    for ((standard, section), count) in &counts {
        let name = section
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(".");
        // Writing into a string cannot fail.
        let _ = writeln!(
            out,
            "| {standard} §{name} | {} | {} |",
            count.product, count.test
        );
    }
    let _ = writeln!(out, "\n{} sections", counts.len());
    out
}

/// Section numbers compare by number, so that §8.3.10 follows §8.3.9.
type Key = (&'static str, Vec<u32>);

fn collect(tree: &Tree) -> BTreeMap<Key, Count> {
    let mut counts: BTreeMap<Key, Count> = BTreeMap::new();
    for (file, rust) in tree.rust() {
        for (n, line) in file.text.lines().enumerate() {
            for key in cited(line) {
                let count = counts.entry(key).or_default();
                if rust.line_in_test(n + 1) {
                    count.test += 1;
                } else {
                    count.product += 1;
                }
            }
        }
    }
    counts
}

/// All citations of a line, as in `RTPS 2.5 §8.3.8.2`.
fn cited(line: &str) -> Vec<Key> {
    let mut found = Vec::new();
    for standard in STANDARDS {
        for (at, text) in line.match_indices(standard) {
            let Some(rest) = line[at + text.len()..].strip_prefix(" §") else {
                continue;
            };
            let number: &str = rest
                .split(|c: char| c != '.' && !c.is_ascii_digit())
                .next()
                .unwrap_or("");
            let parts: Vec<u32> = number
                .split('.')
                .filter_map(|part| part.parse().ok())
                .collect();
            if !parts.is_empty() {
                found.push((*standard, parts));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_to_their_end() {
        let found = cited("// RTPS 2.5 §8.3.8.2, XTypes 1.3 §7.4. and RTPS 2.2 §1, DDS 1.4 §x");
        assert_eq!(
            found,
            [("RTPS 2.5", vec![8, 3, 8, 2]), ("XTypes 1.3", vec![7, 4])]
        );
    }

    #[test]
    fn code_and_tests_are_counted_apart_and_sorted_by_number() {
        let text =
            "// RTPS 2.5 §8.10\n// RTPS 2.5 §8.9\n#[cfg(test)]\nmod t {\n// RTPS 2.5 §8.9\n}\n";
        let report = report(&Tree::of(&[("a/src/b.rs", text)]));
        let rows: Vec<&str> = report.lines().skip(2).take(2).collect();
        assert_eq!(
            rows,
            ["| RTPS 2.5 §8.9 | 1 | 1 |", "| RTPS 2.5 §8.10 | 1 | 0 |"]
        );
        assert!(report.ends_with("\n2 sections\n"));
    }
}
