//! What `cargo metadata` says of the workspace and its third-party crates.

use crate::process;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The platform whose dependencies are judged; others would need crates that no test here builds.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// All packages of the dependency graph.
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// One package, ours or a third party's.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// SPDX expression, empty when the package states none.
    pub(crate) licence: String,
    /// The native library this package links, if it says so.
    pub(crate) links: Option<String>,
    /// Folder relative to the workspace root for a member, none for third parties.
    pub(crate) folder: Option<String>,
    pub(crate) proc_macro: bool,
    pub(crate) dependencies: Vec<Dependency>,
    /// Names of its features.
    pub(crate) features: Vec<String>,
}

/// One line of a `[dependencies]` table.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) dev: bool,
}

impl Metadata {
    /// Asks cargo about the workspace at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        Self::ask(root, &[])
    }

    /// Asks cargo about the workspace of `manifest` with all that its features bring along.
    pub(crate) fn load_all(root: &Path, manifest: &str) -> Result<Self, String> {
        Self::ask(root, &["--all-features", "--manifest-path", manifest])
    }

    fn ask(root: &Path, words: &[&str]) -> Result<Self, String> {
        let mut cargo = Command::new("cargo");
        cargo.args([
            "metadata",
            "--format-version",
            "1",
            "--filter-platform",
            PLATFORM,
        ]);
        cargo.args(words);
        let text = process::output(cargo.current_dir(root))?;
        Self::parse(&text, root)
    }

    /// Parses the JSON that cargo prints.
    pub(crate) fn parse(text: &str, root: &Path) -> Result<Self, String> {
        let json: Value = serde_json::from_str(text).map_err(|e| format!("cargo metadata: {e}"))?;
        let packages = list(&json, "packages")
            .map(|p| Package::parse(p, root))
            .collect();
        Ok(Self { packages })
    }

    /// The packages of this workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.folder.is_some())
    }

    /// The packages that others wrote.
    pub(crate) fn third_party(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.folder.is_none())
    }
}

impl Package {
    fn parse(json: &Value, root: &Path) -> Self {
        let ours = json.get("source").is_none_or(Value::is_null);
        let manifest = PathBuf::from(text(json, "manifest_path"));
        let folder = manifest.parent().filter(|_| ours).map(|f| {
            f.strip_prefix(root)
                .unwrap_or(f)
                .to_string_lossy()
                .replace('\\', "/")
        });
        let proc_macro = list(json, "targets")
            .flat_map(|t| list(t, "kind"))
            .any(|kind| kind.as_str() == Some("proc-macro"));
        let dependencies = list(json, "dependencies")
            .map(|d| Dependency {
                name: text(d, "name"),
                dev: d.get("kind").and_then(Value::as_str) == Some("dev"),
            })
            .collect();
        let features = json.get("features").and_then(Value::as_object);
        let features = features.map(|it| it.keys().cloned().collect());
        Self {
            features: features.unwrap_or_default(),
            name: text(json, "name"),
            version: text(json, "version"),
            licence: text(json, "license"),
            links: json.get("links").and_then(Value::as_str).map(str::to_owned),
            folder,
            proc_macro,
            dependencies,
        }
    }

    /// The package's name as ARCHITECTURE.md writes it.
    pub(crate) fn short_name(&self) -> &str {
        short_name(&self.name)
    }
}

/// A package name without the `whimbrel-` that most of ours carry.
pub(crate) fn short_name(name: &str) -> &str {
    name.strip_prefix("whimbrel-").unwrap_or(name)
}

/// The workspace root: above the package that cargo runs, wherever that was built.
pub(crate) fn root() -> PathBuf {
    let running = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = running.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    here.parent().unwrap_or(&here).to_owned()
}

/// Where cargo builds the workspace at `root`.
pub(crate) fn target(root: &Path) -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root.join(named.unwrap_or_else(|| "target".into()))
}

fn list<'a>(json: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    json.get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text(json: &Value, key: &str) -> String {
    json.get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_third_parties_are_told_apart() {
        let text = r#"{"packages": [
            {"name": "whimbrel-a", "version": "0.1.0", "source": null, "license": "MIT",
             "manifest_path": "/r/crates/a/Cargo.toml", "links": null,
             "targets": [{"kind": ["proc-macro"]}], "features": {"x": [], "default": ["x"]},
             "dependencies": [{"name": "b", "kind": "dev"}, {"name": "c", "kind": null}]},
            {"name": "b", "version": "1.0.0", "source": "registry", "license": null,
             "manifest_path": "/home/b/Cargo.toml", "links": "z", "targets": [],
             "dependencies": []}]}"#;
        let found = Metadata::parse(text, Path::new("/r")).unwrap();
        let ours = found.members().next().unwrap();
        assert_eq!(ours.folder.as_deref(), Some("crates/a"));
        assert_eq!(ours.short_name(), "a");
        assert!(ours.proc_macro);
        assert_eq!(ours.features, ["default", "x"]);
        let dev: Vec<bool> = ours.dependencies.iter().map(|d| d.dev).collect();
        assert_eq!(dev, [true, false]);
        let theirs = found.third_party().next().unwrap();
        assert_eq!(
            (theirs.name.as_str(), theirs.links.as_deref()),
            ("b", Some("z"))
        );
        assert_eq!(theirs.licence, "");
    }

    #[test]
    fn text_that_is_not_json_is_an_error() {
        assert!(Metadata::parse("no", Path::new("/r")).is_err());
    }
}
