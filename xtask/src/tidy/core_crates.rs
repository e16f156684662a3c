//! The core crates cannot reach a clock, a socket, a thread or a hash map, and cannot panic on
//! bytes from outside: their `lib.rs` says so to the compiler, and no product line goes around it.

use super::problem::Problem;
use super::tree::{File, Rust, Tree};

/// Folders below `crates/`.
const CORE: &[&str] = &["base", "wire", "types", "filter", "proto"];

/// Clippy lints that `lib.rs` must deny and that no product line may allow.
const DENIED: &[&str] = &[
    "unwrap_used",
    "expect_used",
    "panic",
    "indexing_slicing",
    "arithmetic_side_effects",
    "unreachable",
];

/// Token sequences that product code of the core never contains.
const BANNED: &[&[&str]] = &[
    &["std", ":", ":"],
    &["extern", "crate", "std"],
    &["Instant", ":", ":", "now"],
    &["SystemTime"],
    &["thread", ":", ":"],
    &["HashMap"],
    &["HashSet"],
    &["hashbrown"],
    &["unsafe"],
];

/// Checks each core crate that exists.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut found = Vec::new();
    for name in CORE {
        let folder = format!("crates/{name}/src/");
        for (file, rust) in tree.rust().filter(|(f, _)| f.path.starts_with(&folder)) {
            if file.path.len() == folder.len() + "lib.rs".len() && file.path.ends_with("lib.rs") {
                found.extend(check_lib(file, rust));
            }
            found.extend(check_product(file, rust));
        }
    }
    found
}

fn check_lib(file: &File, rust: &Rust) -> Vec<Problem> {
    let has = |words: &[&str]| (0..rust.tokens.len()).any(|at| rust.reads(at, words));
    let mut missing = Vec::new();
    if !has(&["#", "!", "[", "no_std", "]"]) {
        missing.push("#![no_std]".to_owned());
    }
    if !has(&["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"]) {
        missing.push("#![forbid(unsafe_code)]".to_owned());
    }
    let denied = lints_after(rust, &["#", "!", "[", "deny", "("]);
    for lint in DENIED
        .iter()
        .filter(|lint| !denied.iter().any(|d| d == *lint))
    {
        missing.push(format!("#![deny(clippy::{lint})]"));
    }
    missing
        .into_iter()
        .map(|what| Problem::new("core", &file.path, 1, format!("lacks {what}")))
        .collect()
}

/// The lint names inside every attribute that begins with `words`, without their tool.
fn lints_after(rust: &Rust, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for at in (0..rust.tokens.len()).filter(|at| rust.reads(*at, words)) {
        let rest = rust.tokens.iter().skip(at + words.len());
        found.extend(rest.take_while(|t| !t.is(")")).map(|t| t.text.clone()));
    }
    found
}

fn check_product(file: &File, rust: &Rust) -> Vec<Problem> {
    let mut found = Vec::new();
    for (at, token) in rust.product() {
        let banned = BANNED.iter().filter(|words| rust.reads(at, words));
        found.extend(banned.map(|words| {
            let what = format!("the core never says `{}`", words.concat());
            Problem::new("core", &file.path, token.line, what)
        }));
        if (token.is("allow") || token.is("expect")) && rust.reads(at + 1, &["("]) {
            found.extend(allowed(file, rust, at));
        }
    }
    found
}

/// Denied lints that the attribute at `at` lets through; `cfg_attr(test, allow(..))` may.
fn allowed(file: &File, rust: &Rust, at: usize) -> Vec<Problem> {
    let attribute = at >= 2 && rust.tokens[at - 1].is("[") && !rust.tokens[at - 2].is(".");
    if !attribute {
        return Vec::new();
    }
    let names = rust.tokens.iter().skip(at + 2).take_while(|t| !t.is(")"));
    names
        .filter(|name| DENIED.contains(&name.text.as_str()))
        .map(|name| {
            let what = format!("the core never lets clippy::{} through", name.text);
            Problem::new("core", &file.path, name.line, what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "//! Docs.\n#![no_std]\n#![forbid(unsafe_code)]\n#![deny(clippy::unwrap_used, \
        clippy::expect_used, clippy::panic, clippy::indexing_slicing, \
        clippy::arithmetic_side_effects, clippy::unreachable)]\n\
        #![cfg_attr(test, allow(clippy::unwrap_used))]\n#[cfg(test)]\nextern crate std;\n";

    fn check_file(path: &str, text: &str, want: usize) {
        let found = check(&Tree::of(&[(path, text)]));
        assert_eq!(found.len(), want, "{path}: {text:?}: {found:?}");
    }

    #[test]
    fn lib_must_say_everything() {
        check_file("crates/wire/src/lib.rs", GOOD, 0);
        check_file("crates/wire/src/lib.rs", "", 2 + DENIED.len());
        check_file("crates/wire/src/lib.rs", &GOOD.replace("#![no_std]", ""), 1);
        check_file(
            "crates/wire/src/lib.rs",
            &GOOD.replace("clippy::panic,", ""),
            1,
        );
        check_file("crates/wire/src/lib.rs", &GOOD.replace("forbid", "deny"), 1);
        check_file("crates/net/src/lib.rs", "", 0);
    }

    #[test]
    fn each_banned_word_is_found_outside_tests_only() {
        for words in BANNED {
            let code = words.join(" ").replace(": :", "::");
            check_file("crates/proto/src/a.rs", &code, 1);
            check_file("crates/proto/src/a.rs", &format!("// {code}"), 0);
            check_file(
                "crates/proto/src/a.rs",
                &format!("#[cfg(test)] mod t {{ {code} }}"),
                0,
            );
            check_file("crates/net/src/a.rs", &code, 0);
        }
    }

    #[test]
    fn denied_lints_cannot_be_allowed_locally() {
        check_file(
            "crates/base/src/a.rs",
            "#[allow(clippy::panic)] fn f() {}",
            1,
        );
        check_file(
            "crates/base/src/a.rs",
            "#[expect(clippy::indexing_slicing)] fn f() {}",
            1,
        );
        check_file(
            "crates/base/src/a.rs",
            "#[allow(clippy::needless)] fn f() {}",
            0,
        );
        check_file(
            "crates/base/src/a.rs",
            "fn f() { x.expect(unreachable) }",
            0,
        );
    }
}
