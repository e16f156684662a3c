//! `cargo xtask licences`: every third-party crate offers a licence that deny.toml allows.
//!
//! The list in deny.toml is the one that cargo-deny reads, so both give the same verdict.

use crate::metadata::{self, Metadata, Package};
use crate::setup;
use std::collections::BTreeSet;
use std::fs;

/// Checks all third-party crates of the workspace, and of that of the peers in Rust.
pub(crate) fn run() -> Result<(), String> {
    let root = metadata::root();
    let path = root.join("deny.toml");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let allowed = allow_list(&text)?;
    let ours = Metadata::load(&root)?;
    let peers = Metadata::load_all(&root, setup::RUST_PEERS)?;
    for (metadata, what) in [(&ours, ""), (&peers, " of the peers in Rust")] {
        let bad: Vec<String> = metadata
            .third_party()
            .filter_map(|package| refuse(package, &allowed))
            .collect();
        if !bad.is_empty() {
            return Err(bad.join("\n"));
        }
        println!(
            "licences: {} third-party crates{what}, all allowed",
            metadata.third_party().count()
        );
    }
    Ok(())
}

/// Why the package's licence does not do, if so.
fn refuse(package: &Package, allowed: &BTreeSet<String>) -> Option<String> {
    let Package {
        name,
        version,
        licence,
        ..
    } = package;
    match permits(licence, allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} {version}: `{licence}` offers no allowed licence"
        )),
        Err(why) => Some(format!("{name} {version}: `{licence}`: {why}")),
    }
}

/// The strings of `allow = [...]` under `[licenses]`.
fn allow_list(text: &str) -> Result<BTreeSet<String>, String> {
    let plain: String = text
        .lines()
        .filter(|l| !l.trim_start().starts_with('#'))
        .collect();
    let list = plain
        .split_once("[licenses]")
        .and_then(|(_, rest)| rest.split_once("allow = ["))
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(list, _)| list)
        .ok_or("deny.toml: no `allow = [...]` under [licenses]")?;
    let found: BTreeSet<String> = list
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    if found.is_empty() {
        return Err("deny.toml: the allow list is empty".to_owned());
    }
    Ok(found)
}

/// Evaluates an SPDX expression with AND, OR, WITH and parentheses; AND binds closer than OR.
fn permits(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        at: 0,
        allowed,
    };
    let verdict = parser.any()?;
    match parser.peek() {
        None => Ok(verdict),
        Some(word) => Err(format!("`{word}` where an operator was expected")),
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    allowed: &'a BTreeSet<String>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).copied()
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut verdict = self.all()?;
        while self.eat("OR") {
            verdict |= self.all()?;
        }
        Ok(verdict)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut verdict = self.one()?;
        while self.eat("AND") {
            verdict &= self.one()?;
        }
        Ok(verdict)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.eat("(") {
            let verdict = self.any()?;
            return if self.eat(")") {
                Ok(verdict)
            } else {
                Err("`)` is missing".to_owned())
            };
        }
        let mut name = match self.peek() {
            Some(word) if !["AND", "OR", "WITH", ")"].contains(&word) => word.to_owned(),
            _ => return Err("a licence is missing".to_owned()),
        };
        self.at += 1;
        if self.eat("WITH") {
            let exception = self.peek().ok_or("an exception is missing")?;
            name = format!("{name} WITH {exception}");
            self.at += 1;
        }
        Ok(self.allowed.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, want: Option<bool>) {
        let allowed = allow_list("[licenses]\nallow = [\"MIT\", \"ISC\", \"A WITH b\"]\n").unwrap();
        assert_eq!(permits(expression, &allowed).ok(), want, "{expression}");
    }

    #[test]
    fn expressions_are_evaluated() {
        check("MIT", Some(true));
        check("GPL-3.0", Some(false));
        check("GPL-3.0 OR MIT", Some(true));
        check("GPL-3.0 AND MIT", Some(false));
        check("(GPL-3.0 OR MIT) AND ISC", Some(true));
        check("GPL-3.0 OR MIT AND ISC", Some(true));
        check("MIT OR GPL-3.0 AND LGPL-2.1", Some(true));
        check("A WITH b", Some(true));
        check("A", Some(false));
        check("MIT/Apache-2.0", Some(true));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for bad in ["", "MIT OR", "(MIT", "MIT ISC", "AND MIT", "A WITH"] {
            check(bad, None);
        }
    }

    #[test]
    fn a_crate_without_a_licence_is_refused() {
        let text = r#"{"packages": [{"name": "x", "source": "registry", "license": null}]}"#;
        let metadata = Metadata::parse(text, std::path::Path::new("/r")).unwrap();
        assert!(refuse(&metadata.packages[0], &BTreeSet::from(["MIT".to_owned()])).is_some());
    }

    #[test]
    fn the_allow_list_is_read_past_comments() {
        let text = "[licenses]\n# \"GPL\"\nallow = [\n  \"MIT\",\n  # \"LGPL\",\n  \"ISC\",\n]\n";
        let want = BTreeSet::from(["ISC".to_owned(), "MIT".to_owned()]);
        assert_eq!(allow_list(text), Ok(want));
        assert!(allow_list("[licenses]\nallow = []\n").is_err());
        assert!(allow_list("[bans]\n").is_err());
    }
}
