//! The shape of the tree, checked: `cargo xtask tidy`, and again as a test of this crate.
//!
//! Each rule is a small file with one function over a [`Tree`]; a rule reports [`Problem`]s and
//! never changes a file.

mod budgets;
mod citations;
mod core_crates;
mod layers;
mod loops;
mod problem;
mod ratchet;
mod scan;
mod text;
mod third_party;
mod tree;
mod unsafe_code;
mod words;

use crate::metadata::{self, Metadata};
use problem::Problem;
use tree::Tree;

/// Checks the tree of this workspace; the error lists every problem.
pub(crate) fn run() -> Result<(), String> {
    let root = metadata::root();
    let tree = Tree::read(&root)?;
    let metadata = Metadata::load(&root)?;
    let mut problems = check_tree(&tree);
    problems.extend(layers::check(&tree, &metadata));
    problems.extend(third_party::check(
        &metadata,
        &third_party::Trees::load(&root)?,
    ));
    report(problems)?;
    println!("tidy: {} files, nothing to put right", tree.files.len());
    Ok(())
}

/// Prints which sections of the standards the code cites, and how often.
pub(crate) fn citations() -> Result<(), String> {
    let tree = Tree::read(&metadata::root())?;
    print!("{}", citations::report(&tree));
    Ok(())
}

/// Every rule that needs nothing but the files.
fn check_tree(tree: &Tree) -> Vec<Problem> {
    let mut problems = ratchet::apply(tree, budgets::measure(tree));
    problems.extend(budgets::check_widths(tree));
    problems.extend(loops::check(tree));
    problems.extend(core_crates::check(tree));
    problems.extend(unsafe_code::check(tree));
    problems.extend(words::check(tree));
    problems.extend(text::check(tree));
    problems
}

fn report(mut problems: Vec<Problem>) -> Result<(), String> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(format!(
        "{}\ntidy: {} to put right",
        lines.join("\n"),
        problems.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_tree_is_tidy() {
        if let Err(why) = run() {
            panic!("{why}");
        }
    }

    #[test]
    fn problems_are_an_error_that_lists_them_in_order() {
        let problems = vec![
            Problem::new("b", "z.rs", 2, "two"),
            Problem::new("a", "a.rs", 1, "x"),
        ];
        let why = report(problems).unwrap_err();
        assert_eq!(why, "a.rs:1: [a] x\nz.rs:2: [b] two\ntidy: 2 to put right");
        assert_eq!(report(Vec::new()), Ok(()));
    }

    #[test]
    fn every_rule_is_wired_in() {
        let tree = Tree::of(&[
            ("crates/base/Cargo.toml", ""),
            ("crates/base/src/lib.rs", "//! Docs.\n"),
            ("crates/net/Cargo.toml", ""),
            (
                "crates/net/src/a.rs",
                "use crate::b::B; fn f() { unsafe {} } \n",
            ),
            (
                "crates/net/src/b.rs",
                concat!("//! B.\nuse crate::a::A; // FIX", "ME\n"),
            ),
            (
                "crates/net/src/c.rs",
                &format!("//! C.\n//! {}\n", "wide ".repeat(30).trim_end()),
            ),
            (
                "crates/net/src/d.rs",
                &format!("//! D.\n{}", "fn x() {}\n".repeat(600)),
            ),
        ]);
        let mut rules: Vec<&str> = check_tree(&tree).iter().map(|p| p.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let want = [
            "core",
            "file",
            "loop",
            "module docs",
            "unsafe",
            "whitespace",
            "width",
            "word",
        ];
        assert_eq!(rules, want);
    }
}
