//! The look of text files: no trailing white space, a newline at the end, module docs on top.

use super::problem::Problem;
use super::tree::{File, Tree};

/// Files whose text is data, kept byte for byte.
const DATA: &[&str] = &["data/", "testing/vectors/"];

/// Checks every text file that is not data.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let written = |file: &&File| !DATA.iter().any(|folder| file.path.starts_with(folder));
    let mut found = Vec::new();
    for file in tree.files.iter().filter(written) {
        for (n, line) in file.text.lines().enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                found.push(Problem::new(
                    "whitespace",
                    &file.path,
                    n + 1,
                    "trailing white space",
                ));
            }
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            let last = file.text.lines().count();
            found.push(Problem::new(
                "whitespace",
                &file.path,
                last,
                "no newline at the end",
            ));
        }
        if lacks_docs(file) {
            let what = "begins without `//!`: say what the module is and must never do";
            found.push(Problem::new("module docs", &file.path, 1, what));
        }
    }
    found
}

fn lacks_docs(file: &File) -> bool {
    let product = file.rust.as_ref().is_some_and(|rust| !rust.test_file);
    product && file.path.contains("/src/") && !file.text.starts_with("//!")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_file(path: &str, text: &str, want: &[&str]) {
        let found = check(&Tree::of(&[(path, text)]));
        let rules: Vec<&str> = found.iter().map(|p| p.rule).collect();
        assert_eq!(rules, want, "{path}: {text:?}");
    }

    #[test]
    fn white_space_at_the_end_is_found() {
        check_file("a.md", "x\ny\n", &[]);
        check_file("a.md", "x \ny\t\n", &["whitespace", "whitespace"]);
        check_file("a.md", "x", &["whitespace"]);
        check_file("data/run.log", "x \n", &[]);
    }

    #[test]
    fn source_begins_with_docs() {
        check_file("a/src/b.rs", "//! B.\n", &[]);
        check_file("a/src/b.rs", "fn b() {}\n", &["module docs"]);
        check_file("a/src/tests.rs", "fn b() {}\n", &[]);
    }
}
