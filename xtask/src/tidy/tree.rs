//! The tree that tidy looks at: every text file below the workspace root, Rust files scanned.
//!
//! Build output and generated corpora are left out. Rules get a [`Tree`], so each can be tried on
//! made-up files.

use super::scan::{self, Token};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Folders that hold no source: names of folders, or paths from the root.
const SKIPPED: &[&str] = &[".git", ".peers", "target", "fuzz/artifacts", "fuzz/corpus"];

/// All text files, sorted by path.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

/// One text file; `path` is relative to the root with forward slashes.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) rust: Option<Rust>,
}

/// What is known of a Rust file.
pub(crate) struct Rust {
    pub(crate) tokens: Vec<Token>,
    /// Token ranges (first, last) that exist only in tests.
    test_ranges: Vec<(usize, usize)>,
    /// Line ranges (first, last) of the same.
    test_lines: Vec<(usize, usize)>,
    /// The whole file is test code.
    pub(crate) test_file: bool,
}

impl Tree {
    /// Reads the tree below `root`; files that are not UTF-8 are left out.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        Ok(Self::new(files))
    }

    /// A tree of made-up files.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self::new(
            files
                .iter()
                .map(|(p, t)| ((*p).to_owned(), (*t).to_owned()))
                .collect(),
        )
    }

    fn new(mut files: Vec<(String, String)>) -> Self {
        files.sort();
        let mut files: Vec<File> = files
            .into_iter()
            .map(|(path, text)| File::new(path, text))
            .collect();
        let declared: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
        for file in &mut files {
            let listed = declared.contains(&file.path);
            if let Some(rust) = &mut file.rust {
                rust.test_file |= listed;
            }
        }
        Self { files }
    }

    /// All Rust files with their scan.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&File, &Rust)> {
        self.files
            .iter()
            .filter_map(|f| f.rust.as_ref().map(|r| (f, r)))
    }

    /// The file at this path.
    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|f| f.path == path)
    }

    /// The folders that hold a package, relative to the root.
    pub(crate) fn packages(&self) -> Vec<&str> {
        self.files
            .iter()
            .filter_map(|f| f.path.strip_suffix("/Cargo.toml"))
            .collect()
    }
}

impl File {
    fn new(path: String, text: String) -> Self {
        let rust = path.ends_with(".rs").then(|| Rust::new(&path, &text));
        Self { path, text, rust }
    }
}

impl Rust {
    fn new(path: &str, text: &str) -> Self {
        let tokens = scan::tokens(text);
        let test_ranges = scan::test_items(&tokens);
        let line = |at: usize| tokens.get(at).map_or(0, |t| t.line);
        let test_lines = test_ranges
            .iter()
            .map(|(a, b)| (line(*a), line(*b)))
            .collect();
        let test_file = path.ends_with("/tests.rs")
            || path
                .split('/')
                .any(|part| part == "tests" || part == "benches");
        Self {
            tokens,
            test_ranges,
            test_lines,
            test_file,
        }
    }

    /// True when the token belongs to test code.
    pub(crate) fn in_test(&self, token: usize) -> bool {
        self.test_file
            || self
                .test_ranges
                .iter()
                .any(|(a, b)| (*a..=*b).contains(&token))
    }

    /// True when the line (from 1) belongs to test code.
    pub(crate) fn line_in_test(&self, line: usize) -> bool {
        self.test_file
            || self
                .test_lines
                .iter()
                .any(|(a, b)| (*a..=*b).contains(&line))
    }

    /// The tokens outside tests with their index.
    pub(crate) fn product(&self) -> impl Iterator<Item = (usize, &Token)> {
        self.tokens
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.in_test(*at))
    }

    /// True when the tokens from `at` on read like `words`.
    pub(crate) fn reads(&self, at: usize, words: &[&str]) -> bool {
        words
            .iter()
            .enumerate()
            .all(|(n, w)| self.tokens.get(at + n).is_some_and(|t| t.is(w)))
    }
}

/// The paths of files declared as `#[cfg(test)] mod name;`, by name or by a path attribute.
fn test_modules(file: &File) -> Vec<String> {
    let Some(rust) = &file.rust else {
        return Vec::new();
    };
    let folder = module_folder(&file.path);
    let beside = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    for (first, last) in &rust.test_ranges {
        for at in *first..*last {
            if rust.reads(at, &["mod"]) && rust.reads(at + 2, &[";"]) {
                let name = &rust.tokens[at + 1].text;
                found.push(format!("{folder}/{name}.rs"));
                found.push(format!("{folder}/{name}/mod.rs"));
            }
            if rust.reads(at, &["[", "path", "="]) {
                let name = rust.tokens[at + 3].text.trim_matches('"');
                found.push(format!("{beside}/{name}"));
            }
        }
    }
    found
}

/// The folder in which the modules of this file are looked for.
pub(crate) fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    }
}

fn walk(root: &Path, below: &str, out: &mut Vec<(String, String)>) -> Result<(), String> {
    let folder = root.join(below);
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let entry = entry.map_err(|e| format!("{}: {e}", folder.display()))?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = if below.is_empty() {
            name.clone()
        } else {
            format!("{below}/{name}")
        };
        let kind = entry.file_type().map_err(|e| format!("{path}: {e}"))?;
        if SKIPPED.contains(&name.as_str()) || SKIPPED.contains(&path.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, out)?;
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            out.push((path, text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_test_module_is_a_test_file() {
        let tree = Tree::of(&[
            ("a/src/lib.rs", "#[cfg(test)] mod helper; mod real;"),
            (
                "a/src/b.rs",
                "#[cfg(test)] #[path = \"b_tests.rs\"] mod tests;",
            ),
            ("a/src/b_tests.rs", ""),
            ("a/src/helper.rs", ""),
            ("a/src/real.rs", ""),
        ]);
        let is_test = |path| {
            tree.get(path)
                .and_then(|f| f.rust.as_ref())
                .unwrap()
                .test_file
        };
        assert!(is_test("a/src/helper.rs"));
        assert!(is_test("a/src/b_tests.rs"));
        assert!(!is_test("a/src/real.rs"));
    }

    #[test]
    fn modules_live_beside_mod_files_and_below_the_others() {
        assert_eq!(module_folder("a/src/lib.rs"), "a/src");
        assert_eq!(module_folder("a/src/b/mod.rs"), "a/src/b");
        assert_eq!(module_folder("a/src/b.rs"), "a/src/b");
    }

    #[test]
    fn lines_of_an_inline_test_module_are_test_lines() {
        let tree = Tree::of(&[(
            "a/src/b.rs",
            "fn x() {}\n#[cfg(test)]\nmod t {\n}\nfn y() {}\n",
        )]);
        let rust = tree.files[0].rust.as_ref().unwrap();
        let found: Vec<bool> = (1..=5).map(|line| rust.line_in_test(line)).collect();
        assert_eq!(found, [false, true, true, true, false]);
    }
}
