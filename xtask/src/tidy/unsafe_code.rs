//! `unsafe` only where a system call, shared memory or a library's interface of C needs it.

use super::problem::Problem;
use super::tree::Tree;

/// Folders in which `unsafe` may stand; there each block says why it is sound (a clippy rule).
const ALLOWED: &[&str] = &[
    "crates/net/src/sys/",
    "crates/compress/src/sys/",
    "crates/shm/src/",
    "bindings/",
];

/// Reports `unsafe` anywhere else, in tests as well.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut found = Vec::new();
    for (file, rust) in tree.rust() {
        if ALLOWED.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        for token in rust.tokens.iter().filter(|t| t.is("unsafe")) {
            let what = format!("unsafe belongs into {}", ALLOWED.join(", "));
            found.push(Problem::new("unsafe", &file.path, token.line, what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_at(path: &str, text: &str, want: usize) {
        assert_eq!(check(&Tree::of(&[(path, text)])).len(), want, "{path}");
    }

    #[test]
    fn only_the_named_folders_may() {
        check_at("crates/net/src/sys/a.rs", "unsafe { x() }", 0);
        check_at("crates/net/src/a.rs", "unsafe { x() }", 1);
        check_at(
            "crates/wire/src/a.rs",
            "#[cfg(test)] mod t { unsafe impl A for B {} }",
            1,
        );
    }

    #[test]
    fn the_word_in_a_comment_or_a_lint_name_is_fine() {
        check_at(
            "crates/a/src/lib.rs",
            "#![forbid(unsafe_code)] // unsafe\n",
            0,
        );
    }
}
