//! Layering: the table in ARCHITECTURE.md equals the `Cargo.toml`s, and every arrow points down.

use super::problem::Problem;
use super::tree::Tree;
use crate::metadata::{Metadata, Package, short_name};
use std::collections::{BTreeMap, BTreeSet};

const PATH: &str = "ARCHITECTURE.md";

/// The floors of the house, lowest first; tools, bindings and services stand above all of them.
const FLOORS: &[&[&str]] = &[
    &["base", "derive", "payload", "rig"],
    &["shm", "compress", "wire", "types"],
    &["net", "filter", "text", "idl"],
    &["proto"],
    &["security", "sim"],
    &["config"],
    &["whimbrel"],
    // What tools share with the bench: how processes that are measured talk.
    &["bench"],
];

/// Compares the table with the workspace.
pub(crate) fn check(tree: &Tree, metadata: &Metadata) -> Vec<Problem> {
    let Some(file) = tree.get(PATH) else {
        let what = "is missing: it must hold the crate map (a table with the columns `crate` and \
                    `may use`)";
        return vec![Problem::new("layers", PATH, 1, what)];
    };
    let rows = match parse(&file.text) {
        Ok(rows) => rows,
        Err(what) => return vec![Problem::new("layers", PATH, 1, what)],
    };
    let ours: BTreeSet<&str> = metadata.members().map(Package::short_name).collect();
    let mut found = Vec::new();
    for (name, row) in rows
        .iter()
        .filter(|(name, _)| !ours.contains(name.as_str()))
    {
        let what = format!("`{name}` is in the table but not in the workspace");
        found.push(Problem::new("layers", PATH, row.line, what));
    }
    for package in metadata.members() {
        found.extend(check_row(package, rows.get(package.short_name()), &ours));
        found.extend(check_arrows(package, metadata));
    }
    found
}

/// The row of one crate.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    may_use: BTreeSet<String>,
}

/// Reads the first table that has the columns `crate` and `may use`.
fn parse(text: &str) -> Result<BTreeMap<String, Row>, String> {
    let mut rows = BTreeMap::new();
    let mut may_use_column = None;
    for (n, line) in text.lines().enumerate() {
        let cells = cells(line);
        match may_use_column {
            None => {
                let is_map = cells.first().is_some_and(|cell| *cell == "crate");
                may_use_column = cells.iter().position(|cell| is_map && *cell == "may use");
            }
            Some(_) if cells.is_empty() => break,
            Some(column) => {
                let Some(name) = cells
                    .first()
                    .and_then(|cell| ticked(cell).into_iter().next())
                else {
                    continue;
                };
                let may_use = cells
                    .get(column)
                    .map(|cell| ticked(cell))
                    .unwrap_or_default();
                rows.insert(
                    name,
                    Row {
                        line: n + 1,
                        may_use,
                    },
                );
            }
        }
    }
    match may_use_column {
        Some(_) => Ok(rows),
        None => Err("has no table with the columns `crate` and `may use`".to_owned()),
    }
}

/// The cells of a table row; nothing for any other line.
fn cells(line: &str) -> Vec<&str> {
    match line.trim().strip_prefix('|') {
        Some(rest) => rest
            .trim_end_matches('|')
            .split('|')
            .map(str::trim)
            .collect(),
        None => Vec::new(),
    }
}

/// The names in back-ticks, without our prefix.
fn ticked(cell: &str) -> BTreeSet<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(|name| short_name(name).to_owned())
        .collect()
}

fn check_row(package: &Package, row: Option<&Row>, ours: &BTreeSet<&str>) -> Vec<Problem> {
    let name = package.short_name();
    let Some(row) = row else {
        let what = format!("the crate map lacks `{name}`");
        return vec![Problem::new("layers", PATH, 1, what)];
    };
    let uses: BTreeSet<&str> = package
        .dependencies
        .iter()
        .filter(|d| !d.dev)
        .map(|d| short_name(&d.name))
        .filter(|d| ours.contains(d))
        .collect();
    let may_use: BTreeSet<&str> = row.may_use.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for extra in uses.difference(&may_use) {
        let what = format!("`{name}` uses `{extra}`, which its row does not allow");
        found.push(Problem::new("layers", PATH, row.line, what));
    }
    for unused in may_use.difference(&uses) {
        let what = format!("`{name}` does not use `{unused}`, which its row lists");
        found.push(Problem::new("layers", PATH, row.line, what));
    }
    found
}

/// Normal arrows must point down, or lead from one testing crate to another; those of tests may be
/// level, lead to testing crates, or lead from a macro to the crate whose traits it writes.
fn check_arrows(package: &Package, metadata: &Metadata) -> Vec<Problem> {
    let mut found = Vec::new();
    for dependency in &package.dependencies {
        let target = metadata.members().find(|p| p.name == dependency.name);
        let Some(target) = target.filter(|t| t.name != package.name) else {
            continue;
        };
        let (from, to) = (floor(package), floor(target));
        let fine = match dependency.dev {
            true => to <= from || is_testing(target) || package.proc_macro,
            false => {
                let may = is_testing(package) || !is_testing(target);
                to < from || (to == from && from == FLOORS.len() && may)
            }
        };
        if !fine {
            let (a, b) = (package.short_name(), target.short_name());
            let path = format!("{}/Cargo.toml", package.folder.as_deref().unwrap_or(a));
            let what = format!(
                "`{a}` (floor {}) may not use `{b}` (floor {})",
                from + 1,
                to + 1
            );
            found.push(Problem::new("layers", &path, 1, what));
        }
    }
    found
}

fn floor(package: &Package) -> usize {
    let name = package.short_name();
    FLOORS
        .iter()
        .position(|names| names.contains(&name))
        .unwrap_or(FLOORS.len())
}

fn is_testing(package: &Package) -> bool {
    package
        .folder
        .as_deref()
        .is_some_and(|folder| folder.starts_with("testing/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    const TABLE: &str = "\
# House

| crate | may use | owns |
|---|---|---|
| `base` | | words |
| `wire` | `base` | bytes |
| `proto` | `base`, `wire` | behaviour |
";

    fn package(name: &str, folder: &str, uses: &[&str], dev: &[&str]) -> Package {
        let dependency = |dev| {
            move |name: &&str| Dependency {
                name: (*name).to_owned(),
                dev,
            }
        };
        Package {
            features: Vec::new(),
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: "MIT".to_owned(),
            links: None,
            folder: Some(folder.to_owned()),
            proc_macro: name == "whimbrel-derive",
            dependencies: uses
                .iter()
                .map(dependency(false))
                .chain(dev.iter().map(dependency(true)))
                .collect(),
        }
    }

    fn house() -> Vec<Package> {
        vec![
            package("whimbrel-base", "crates/base", &[], &[]),
            package(
                "whimbrel-wire",
                "crates/wire",
                &["whimbrel-base", "other"],
                &[],
            ),
            package(
                "whimbrel-proto",
                "crates/proto",
                &["whimbrel-base", "whimbrel-wire"],
                &[],
            ),
        ]
    }

    fn check_house(table: &str, packages: Vec<Package>, want: &[&str]) {
        let found = check(&Tree::of(&[(PATH, table)]), &Metadata { packages });
        let found: Vec<&str> = found.iter().map(|p| p.what.as_str()).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn the_table_equals_the_manifests() {
        check_house(TABLE, house(), &[]);
        check_house(
            &TABLE.replace("| `base` | bytes", "| | bytes"),
            house(),
            &["`wire` uses `base`, which its row does not allow"],
        );
        check_house(
            &TABLE.replace("| `base` | |", "| `base` | `wire` |"),
            house(),
            &["`base` does not use `wire`, which its row lists"],
        );
        check_house(
            &format!("{TABLE}| `gone` | | |\n"),
            house(),
            &["`gone` is in the table but not in the workspace"],
        );
        let less = TABLE.replace("| `wire` | `base` | bytes |\n", "");
        check_house(&less, house(), &["the crate map lacks `wire`"]);
    }

    #[test]
    fn a_missing_document_or_table_is_said() {
        let found = check(&Tree::of(&[]), &Metadata { packages: house() });
        assert!(found[0].what.starts_with("is missing"));
        check_house(
            "# House\n",
            house(),
            &["has no table with the columns `crate` and `may use`"],
        );
    }

    fn check_arrow(from: Package, to: Package, fine: bool) {
        let metadata = Metadata {
            packages: vec![from, to],
        };
        let found = check_arrows(&metadata.packages[0], &metadata);
        assert_eq!(found.is_empty(), fine, "{found:?}");
    }

    #[test]
    fn arrows_point_down() {
        let base = || package("whimbrel-base", "crates/base", &[], &[]);
        let types = || package("whimbrel-types", "crates/types", &[], &[]);
        check_arrow(
            package("whimbrel-base", "crates/base", &["whimbrel-types"], &[]),
            types(),
            false,
        );
        check_arrow(
            package("whimbrel-wire", "crates/wire", &["whimbrel-types"], &[]),
            types(),
            false,
        );
        check_arrow(
            package("whimbrel-wire", "crates/wire", &["whimbrel-base"], &[]),
            base(),
            true,
        );
    }

    #[test]
    fn only_testing_crates_use_testing_crates() {
        let replay = || package("whimbrel-replay", "testing/replay", &[], &[]);
        check_arrow(
            package(
                "whimbrel-proofs",
                "testing/proofs",
                &["whimbrel-replay"],
                &[],
            ),
            replay(),
            true,
        );
        check_arrow(
            package("whimbrel-cli", "tools/cli", &["whimbrel-replay"], &[]),
            replay(),
            false,
        );
    }

    #[test]
    fn arrows_of_tests_may_be_level_or_lead_to_testing_crates() {
        let types = || package("whimbrel-types", "crates/types", &[], &[]);
        let sim = || package("whimbrel-sim", "testing/sim", &[], &[]);
        check_arrow(
            package("whimbrel-wire", "crates/wire", &[], &["whimbrel-types"]),
            types(),
            true,
        );
        check_arrow(
            package("whimbrel-base", "crates/base", &[], &["whimbrel-types"]),
            types(),
            false,
        );
        check_arrow(
            package("whimbrel-base", "crates/base", &[], &["whimbrel-sim"]),
            sim(),
            true,
        );
        check_arrow(
            package("whimbrel-derive", "crates/derive", &[], &["whimbrel-types"]),
            types(),
            true,
        );
    }
}
