//! Third-party crates under the facade: at most fifty, none of them C.

use super::problem::Problem;
use crate::metadata::Metadata;
use crate::process;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const COUNT_MAX: usize = 50;
const FACADE: &str = "whimbrel";
const PATH: &str = "crates/whimbrel/Cargo.toml";

/// Build helpers that compile or look for native libraries.
const NATIVE_BUILDERS: &[&str] = &["cc", "cmake", "bindgen", "pkg-config", "vcpkg"];

/// Crates whose `links` key guards against duplicates and names no native library.
const HARMLESS_LINKS: &[&str] = &["rayon-core", "prettyplease"];

/// What `cargo tree` prints for the facade with its default features.
pub(crate) struct Trees {
    normal: String,
    with_build: String,
}

impl Trees {
    /// Asks cargo.
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        let tree = |edges: &str| {
            let mut cargo = Command::new("cargo");
            cargo.args(["tree", "-p", FACADE, "--edges", edges, "--prefix", "none"]);
            process::output(cargo.args(["--format", "{p}"]).current_dir(root))
        };
        Ok(Self {
            normal: tree("normal")?,
            with_build: tree("normal,build")?,
        })
    }
}

/// Judges the trees; `metadata` tells who links what.
pub(crate) fn check(metadata: &Metadata, trees: &Trees) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut report = |what: String| found.push(Problem::new("third party", PATH, 1, what));
    let normal = names(&trees.normal);
    if !normal.contains(FACADE) {
        report(format!(
            "cargo tree does not show `{FACADE}`: the count would mean nothing"
        ));
    }
    let ours: BTreeSet<&str> = metadata.members().map(|p| p.name.as_str()).collect();
    let theirs: BTreeSet<&str> = normal.difference(&ours).copied().collect();
    if theirs.len() > COUNT_MAX {
        let list = theirs.iter().copied().collect::<Vec<_>>().join(", ");
        report(format!(
            "{} crates, at most {COUNT_MAX}: {list}",
            theirs.len()
        ));
    }
    let all = names(&trees.with_build);
    for name in NATIVE_BUILDERS.iter().filter(|name| all.contains(*name)) {
        report(format!("`{name}` builds native code"));
    }
    let linking = metadata
        .third_party()
        .filter(|p| all.contains(p.name.as_str()));
    for package in linking.filter(|p| !HARMLESS_LINKS.contains(&p.name.as_str())) {
        if let Some(library) = &package.links {
            report(format!(
                "`{}` links the native library {library}",
                package.name
            ));
        }
    }
    found
}

/// The package names of a tree, one a line: `name v1.2.3 (path)`.
fn names(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_tree(normal: &str, build: &str, links: &str, want: &[&str]) {
        let metadata = format!(
            r#"{{"packages": [{{"name": "whimbrel", "manifest_path": "/r/w/Cargo.toml"}},
                {{"name": "sys", "source": "registry", "links": {links}}}]}}"#
        );
        let metadata = Metadata::parse(&metadata, Path::new("/r")).unwrap();
        let trees = Trees {
            normal: normal.to_owned(),
            with_build: build.to_owned(),
        };
        let found = check(&metadata, &trees);
        let found: Vec<&str> = found.iter().map(|p| p.what.as_str()).collect();
        assert_eq!(found.len(), want.len(), "{found:?}");
        for (what, want) in found.iter().zip(want) {
            assert!(what.starts_with(want), "{what}");
        }
    }

    #[test]
    fn fifty_are_enough() {
        let many = |n: usize| {
            let lines: Vec<String> = (0..n).map(|k| format!("c{k} v1.0.0")).collect();
            format!(
                "whimbrel v0.1.0 (/r/w)\n{}\nc0 v1.0.0 (*)\n",
                lines.join("\n")
            )
        };
        check_tree(&many(50), "", "null", &[]);
        check_tree(&many(51), "", "null", &["51 crates, at most 50"]);
    }

    #[test]
    fn native_code_is_found() {
        let tree = "whimbrel v0.1.0\nsys v1.0.0\n";
        check_tree(tree, tree, "null", &[]);
        check_tree(tree, tree, "\"z\"", &["`sys` links the native library z"]);
        check_tree(
            tree,
            "whimbrel v0.1.0\ncc v1.0.0\n",
            "null",
            &["`cc` builds"],
        );
    }

    #[test]
    fn an_empty_tree_does_not_pass() {
        check_tree("", "", "null", &["cargo tree does not show"]);
    }
}
