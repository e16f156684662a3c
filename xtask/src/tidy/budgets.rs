//! Size budgets: lines per file, function and crate, depth of folders, width of lines.
//!
//! Test code is not counted, except for the width of lines, where tests may hold string tables.

use super::problem::Problem;
use super::scan;
use super::tree::{File, Rust, Tree};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const CRATE_LINES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 3;
const WIDTH_MAX: usize = 100;

/// One measured thing; `name` is what the ratchet calls it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) rule: &'static str,
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) size: usize,
    pub(crate) size_max: usize,
}

/// Measures every file, function, crate and folder of product code.
pub(crate) fn measure(tree: &Tree) -> Vec<Measure> {
    let mut found = Vec::new();
    for (file, rust) in tree.rust().filter(|(_, rust)| !rust.test_file) {
        found.push(Measure {
            rule: "file",
            name: file.path.clone(),
            path: file.path.clone(),
            line: 1,
            size: product_lines(file, rust),
            size_max: FILE_LINES_MAX,
        });
        found.extend(depth(file));
        found.extend(functions(file, rust));
    }
    found.extend(crates(tree));
    found
}

/// Lines of Rust source and scripts wider than the budget.
pub(crate) fn check_widths(tree: &Tree) -> Vec<Problem> {
    let mut found = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|f| f.path.ends_with(".rs") || f.path.ends_with(".sh"))
    {
        for (n, line) in file.text.lines().enumerate() {
            let table =
                file.rust.as_ref().is_some_and(|r| r.line_in_test(n + 1)) && line.contains('"');
            let width = line.chars().count();
            if width > WIDTH_MAX && !table && !line.contains("://") {
                let what = format!("{width} columns, at most {WIDTH_MAX}");
                found.push(Problem::new("width", &file.path, n + 1, what));
            }
        }
    }
    found
}

fn product_lines(file: &File, rust: &Rust) -> usize {
    (1..=file.text.lines().count())
        .filter(|line| !rust.line_in_test(*line))
        .count()
}

fn depth(file: &File) -> Option<Measure> {
    let (_, below) = file.path.split_once("/src/")?;
    Some(Measure {
        rule: "depth",
        name: file.path.clone(),
        path: file.path.clone(),
        line: 1,
        size: below.matches('/').count(),
        size_max: DEPTH_MAX,
    })
}

fn functions(file: &File, rust: &Rust) -> Vec<Measure> {
    let mut found = Vec::new();
    for (at, token) in rust.product().filter(|(_, token)| token.is("fn")) {
        let Some(name) = rust
            .tokens
            .get(at + 1)
            .filter(|t| t.kind == scan::Kind::Word)
        else {
            continue;
        };
        let Some(open) = body(rust, at) else { continue };
        let close = scan::closing(&rust.tokens, open);
        found.push(Measure {
            rule: "function",
            name: format!("{}::{}", file.path, name.text),
            path: file.path.clone(),
            line: token.line,
            size: rust.tokens[close].line - token.line + 1,
            size_max: FUNCTION_LINES_MAX,
        });
    }
    found
}

/// The brace that opens the body of the function at `at`; none for a bare signature.
fn body(rust: &Rust, at: usize) -> Option<usize> {
    let mut here = at;
    loop {
        let token = rust.tokens.get(here)?;
        if token.is("{") {
            return Some(here);
        }
        if token.is(";") || token.is("}") {
            return None;
        }
        let nested = token.is("(") || token.is("[");
        here = if nested {
            scan::closing(&rust.tokens, here)
        } else {
            here
        } + 1;
    }
}

fn crates(tree: &Tree) -> Vec<Measure> {
    let measure = |folder: &str| Measure {
        rule: "crate",
        name: folder.to_owned(),
        path: format!("{folder}/Cargo.toml"),
        line: 1,
        size: tree
            .rust()
            .filter(|(f, r)| f.path.starts_with(&format!("{folder}/src/")) && !r.test_file)
            .map(|(f, r)| product_lines(f, r))
            .sum(),
        size_max: CRATE_LINES_MAX,
    };
    tree.packages().into_iter().map(measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes one rule finds in one file.
    fn check(rule: &str, path: &str, text: &str, want: &[usize]) {
        let tree = Tree::of(&[(path, text), ("a/Cargo.toml", "")]);
        let found = measure(&tree);
        let found: Vec<usize> = found
            .iter()
            .filter(|m| m.rule == rule)
            .map(|m| m.size)
            .collect();
        assert_eq!(found, want, "{rule} of {text:?}");
    }

    #[test]
    fn files_count_without_their_tests() {
        check(
            "file",
            "a/src/b.rs",
            "x\ny\n#[cfg(test)]\nmod t {\n}\n",
            &[2],
        );
        check("file", "a/src/tests.rs", "x\ny\n", &[]);
        check("crate", "a/src/b.rs", "x\ny\n", &[2]);
    }

    #[test]
    fn functions_end_at_their_own_brace() {
        check(
            "function",
            "a/src/b.rs",
            "fn f(x: [u8; { 2 }]) {\n '{'; \"}\";\n}\nfn g();",
            &[3],
        );
        check(
            "function",
            "a/src/b.rs",
            "type F = fn(u8) -> u8;\nfn g()\nwhere A: B,\n{\n}",
            &[4],
        );
        check(
            "function",
            "a/src/b.rs",
            "#[cfg(test)]\nmod t { fn long() {\n\n} }",
            &[],
        );
    }

    #[test]
    fn depth_counts_folders_below_src() {
        check("depth", "a/src/b.rs", "", &[0]);
        check("depth", "a/src/b/c/d/e/f.rs", "", &[4]);
    }

    #[test]
    fn only_addresses_and_tables_of_tests_may_be_wide() {
        let wide = "x".repeat(101);
        let code = format!("// {wide}\n");
        let tree = Tree::of(&[
            ("a/src/bad.rs", code.as_str()),
            ("a/src/url.rs", &format!("// https://{wide}\n")),
            ("a/src/tests.rs", &format!("\"{wide}\"\n")),
            ("README.md", code.as_str()),
        ]);
        let found = check_widths(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "a/src/bad.rs");
    }
}
