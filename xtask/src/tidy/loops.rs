//! No import loops between the files of a crate.
//!
//! Paths that begin with `crate`, `self`, `super` or a declared child module are resolved to the
//! file that holds the module; `pub use` of a child resolves to the child. `lib.rs` and `main.rs`
//! only declare and are left out, as is test code.

use super::problem::Problem;
use super::scan::{self, Kind};
use super::tree::{Rust, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Reports each group of files that reach one another.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    tree.packages()
        .into_iter()
        .flat_map(|folder| check_crate(tree, folder))
        .collect()
}

/// One file as a module: its path segments below the crate root.
struct Module<'a> {
    path: &'a str,
    name: Vec<String>,
    rust: &'a Rust,
    /// Re-exported name to the full path it stands for.
    exports: BTreeMap<String, Vec<String>>,
}

fn check_crate(tree: &Tree, folder: &str) -> Vec<Problem> {
    let src = format!("{folder}/src/");
    let mut modules = Vec::new();
    for (file, rust) in tree.rust().filter(|(_, rust)| !rust.test_file) {
        let Some(below) = file.path.strip_prefix(&src) else {
            continue;
        };
        if below == "lib.rs" || below == "main.rs" || below.starts_with("bin/") {
            continue;
        }
        let name = module_name(below);
        let exports = paths(rust, &name)
            .into_iter()
            .filter(|p| p.exported)
            .filter_map(|p| Some((p.alias.or_else(|| p.segments.last().cloned())?, p.segments)))
            .collect();
        modules.push(Module {
            path: &file.path,
            name,
            rust,
            exports,
        });
    }
    let edges: Vec<BTreeSet<usize>> = (0..modules.len()).map(|n| edges(&modules, n)).collect();
    loops(&edges)
        .into_iter()
        .map(|group| {
            let names: Vec<&str> = group.iter().map(|n| modules[*n].path).collect();
            Problem::new(
                "loop",
                names[0],
                1,
                format!("files import each other: {}", names.join(", ")),
            )
        })
        .collect()
}

/// `a/b.rs` and `a/b/mod.rs` are both `[a, b]`.
fn module_name(below: &str) -> Vec<String> {
    let below = below.trim_end_matches(".rs");
    let below = below.strip_suffix("/mod").unwrap_or(below);
    below.split('/').map(str::to_owned).collect()
}

/// The modules that module `n` imports from.
fn edges(modules: &[Module<'_>], n: usize) -> BTreeSet<usize> {
    let here = &modules[n];
    paths(here.rust, &here.name)
        .into_iter()
        .filter(|path| !path.exported)
        .filter_map(|path| resolve(modules, path.segments))
        .filter(|to| *to != n)
        .collect()
}

/// The module with the longest name that begins the path, through re-exports.
fn resolve(modules: &[Module<'_>], mut path: Vec<String>) -> Option<usize> {
    for _ in 0..8 {
        let (found, module) = modules
            .iter()
            .enumerate()
            .filter(|(_, m)| path.starts_with(&m.name))
            .max_by_key(|(_, m)| m.name.len())?;
        let Some(target) = path
            .get(module.name.len())
            .and_then(|item| module.exports.get(item))
        else {
            return Some(found);
        };
        let mut next = target.clone();
        next.extend(path.drain(module.name.len() + 1..));
        path = next;
    }
    None
}

/// A path into this crate, from the crate root.
struct Reference {
    segments: Vec<String>,
    /// `pub use`: a name for others, not an import.
    exported: bool,
    alias: Option<String>,
}

/// All paths of a file that may lead into its own crate.
fn paths(rust: &Rust, name: &[String]) -> Vec<Reference> {
    let mut found = Vec::new();
    let children = children(rust);
    let mut inline: Vec<(String, usize)> = Vec::new();
    let mut exported_until = 0;
    for (at, token) in rust.product() {
        inline.retain(|(_, end)| at <= *end);
        if token.is("mod") && rust.reads(at + 2, &["{"]) {
            inline.push((
                rust.tokens[at + 1].text.clone(),
                scan::closing(&rust.tokens, at + 2),
            ));
        }
        if token.is("use") && is_pub(rust, at) {
            exported_until = end_of_use(rust, at);
        }
        if token.kind != Kind::Word || follows_path(rust, at) || !rust.reads(at + 1, &[":", ":"]) {
            continue;
        }
        let mut base: Vec<String> = name.to_vec();
        base.extend(inline.iter().map(|(n, _)| n.clone()));
        let rest = match token.text.as_str() {
            "crate" => {
                base.clear();
                at + 3
            }
            "self" => at + 3,
            "super" => {
                base.pop();
                at + 3
            }
            word if children.contains(word) => at,
            _ => continue,
        };
        let exported = at < exported_until;
        expand(rust, rest, base, exported, &mut found);
    }
    found
}

/// The names of `mod child;` in this file.
fn children(rust: &Rust) -> BTreeSet<String> {
    let declared = |at: &usize| rust.reads(*at, &["mod"]) && rust.reads(at + 2, &[";"]);
    let all = rust.product().map(|(at, _)| at).filter(declared);
    all.map(|at| rust.tokens[at + 1].text.clone()).collect()
}

/// True when the word continues a path (`a::word`) that began before it.
fn follows_path(rust: &Rust, at: usize) -> bool {
    at >= 2 && rust.reads(at - 2, &[":", ":"])
}

fn is_pub(rust: &Rust, at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| {
        rust.tokens[before].is("pub")
            || (rust.tokens[before].is(")") && before >= 3 && rust.tokens[before - 3].is("pub"))
    })
}

fn end_of_use(rust: &Rust, at: usize) -> usize {
    (at..rust.tokens.len())
        .find(|n| rust.tokens[*n].is(";"))
        .unwrap_or(rust.tokens.len())
}

/// Follows `a::{b, c::d}` from token `at` on and records each leaf.
fn expand(rust: &Rust, at: usize, base: Vec<String>, exported: bool, out: &mut Vec<Reference>) {
    let mut segments = base;
    let mut here = at;
    while let Some(token) = rust.tokens.get(here) {
        if token.is("{") {
            let end = scan::closing(&rust.tokens, here);
            let mut start = here + 1;
            while start < end {
                expand(rust, start, segments.clone(), exported, out);
                start = next_in_group(rust, start, end);
            }
            return;
        }
        if token.kind != Kind::Word {
            break;
        }
        match token.text.as_str() {
            "super" => {
                segments.pop();
            }
            "self" => {}
            word => segments.push(word.to_owned()),
        }
        if !rust.reads(here + 1, &[":", ":"]) {
            here += 1;
            break;
        }
        here += 3;
    }
    let alias = rust
        .reads(here, &["as"])
        .then(|| rust.tokens[here + 1].text.clone());
    out.push(Reference {
        segments,
        exported,
        alias,
    });
}

/// The token after the comma that ends the group member at `start`.
fn next_in_group(rust: &Rust, start: usize, end: usize) -> usize {
    let mut here = start;
    while here < end && !rust.tokens[here].is(",") {
        let nested = rust.tokens[here].is("{");
        here = if nested {
            scan::closing(&rust.tokens, here)
        } else {
            here
        } + 1;
    }
    here + 1
}

/// Groups of more than one node in which each reaches the others.
fn loops(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..edges.len()).map(|n| reachable(edges, n)).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for n in 0..edges.len() {
        let group: Vec<usize> = reach[n]
            .iter()
            .copied()
            .filter(|m| reach[*m].contains(&n))
            .collect();
        if group.len() > 1 && group.iter().all(|m| seen.insert(*m)) {
            found.push(group);
        }
    }
    found
}

/// Everything that can be reached from `n` by at least one edge.
fn reachable(edges: &[BTreeSet<usize>], n: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = edges[n].iter().copied().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(&edges[next]);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files as (name below `a/src/`, text) and the loops expected among them.
    fn check_loops(files: &[(&str, &str)], want: &[&str]) {
        let mut all: Vec<(String, &str)> = files
            .iter()
            .map(|(p, t)| (format!("a/src/{p}"), *t))
            .collect();
        all.push(("a/Cargo.toml".to_owned(), ""));
        let refs: Vec<(&str, &str)> = all.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        let found: Vec<String> = check(&Tree::of(&refs))
            .iter()
            .map(|p| {
                p.what
                    .replace("files import each other: ", "")
                    .replace("a/src/", "")
            })
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn two_and_three_files_in_a_ring_are_found() {
        check_loops(
            &[
                ("x.rs", "use crate::y::Y;"),
                ("y.rs", "fn f() -> crate::x::X { }"),
            ],
            &["x.rs, y.rs"],
        );
        check_loops(
            &[
                ("x.rs", "use crate::{y::Y, other};"),
                ("y.rs", "use super::z;"),
                ("z.rs", "use crate::x::{X, Z};"),
                ("other.rs", ""),
            ],
            &["x.rs, y.rs, z.rs"],
        );
    }

    #[test]
    fn a_chain_is_no_loop() {
        check_loops(
            &[
                ("x.rs", "use crate::y::Y; use crate::z::Z;"),
                ("y.rs", "use crate::z::Z;"),
                ("z.rs", ""),
            ],
            &[],
        );
    }

    #[test]
    fn lib_tests_strings_and_comments_do_not_count() {
        check_loops(
            &[
                ("lib.rs", "mod x; pub use x::X;"),
                ("x.rs", "use crate::y::Y; // crate::x::X"),
                (
                    "y.rs",
                    "const A: &str = \"crate::x::X\"; #[cfg(test)] mod t { use crate::x::X; }",
                ),
            ],
            &[],
        );
    }

    #[test]
    fn a_parent_that_uses_its_child_may_not_be_used_by_it() {
        check_loops(
            &[
                ("p/mod.rs", "mod c; use c::C; struct P;"),
                ("p/c.rs", "use super::P;"),
            ],
            &["p/c.rs, p/mod.rs"],
        );
        check_loops(
            &[
                ("p.rs", "mod c; use c::C;"),
                ("p/c.rs", "use super::d::D;"),
                ("p/d.rs", ""),
            ],
            &[],
        );
    }

    #[test]
    fn re_exports_resolve_to_the_file_behind_them() {
        check_loops(
            &[
                (
                    "p/mod.rs",
                    "mod c; mod d; pub use c::{C, E as F}; pub(crate) use d::D;",
                ),
                ("p/c.rs", "use super::D;"),
                ("p/d.rs", ""),
            ],
            &[],
        );
        check_loops(
            &[
                (
                    "p/mod.rs",
                    "mod c; mod d; pub use c::{C, E as F}; pub use d::D;",
                ),
                ("p/c.rs", "use super::D;"),
                ("p/d.rs", "use crate::p::F;"),
            ],
            &["p/c.rs, p/d.rs"],
        );
    }

    #[test]
    fn super_inside_an_inline_module_means_the_file() {
        check_loops(
            &[
                (
                    "x.rs",
                    "mod inner { use super::X; use super::super::y::Y; }",
                ),
                ("y.rs", "use crate::x::X;"),
            ],
            &["x.rs, y.rs"],
        );
    }
}
