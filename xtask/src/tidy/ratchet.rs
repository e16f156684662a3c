//! The list of known excesses, which may only shrink.
//!
//! `xtask/tidy-ratchet.toml` names a thing and its present size (`"path" = 612`). A thing above
//! its budget and not listed, above its listed size, below it, or listed without need is a
//! problem, so the list always tells the truth.

use super::budgets::Measure;
use super::problem::Problem;
use super::tree::Tree;
use std::collections::BTreeMap;

const PATH: &str = "xtask/tidy-ratchet.toml";

/// Judges measures by their budgets and by the list.
pub(crate) fn apply(tree: &Tree, measures: Vec<Measure>) -> Vec<Problem> {
    let text = tree.get(PATH).map_or("", |f| f.text.as_str());
    let mut problems = Vec::new();
    let mut listed = match parse(text) {
        Ok(listed) => listed,
        Err(line) => {
            problems.push(Problem::new(
                "ratchet",
                PATH,
                line,
                "expected \"name\" = number",
            ));
            return problems;
        }
    };
    for measure in measures.iter().filter(|m| m.size > m.size_max) {
        let Measure {
            rule,
            name,
            path,
            line,
            size,
            size_max,
        } = measure;
        match listed.remove(name.as_str()) {
            None => problems.push(Problem::new(
                rule,
                path,
                *line,
                format!("{name} has size {size}, at most {size_max}"),
            )),
            Some((_, allowed)) if *size > allowed => problems.push(Problem::new(
                rule,
                path,
                *line,
                format!("{name} grew from {allowed} to {size}, at most {size_max} is the aim"),
            )),
            Some((at, allowed)) if *size < allowed => problems.push(Problem::new(
                "ratchet",
                PATH,
                at,
                format!("{name} shrank to {size}: tighten the entry"),
            )),
            Some(_) => {}
        }
    }
    for (name, (at, _)) in listed {
        let what = format!("{name} keeps its budget now: remove the entry");
        problems.push(Problem::new("ratchet", PATH, at, what));
    }
    problems
}

/// Name to line and size; the error is the line that is no entry.
fn parse(text: &str) -> Result<BTreeMap<&str, (usize, usize)>, usize> {
    let mut found = BTreeMap::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, size) = line.split_once('=').ok_or(n + 1)?;
        let name = name
            .trim()
            .strip_prefix('"')
            .and_then(|s| s.strip_suffix('"'))
            .ok_or(n + 1)?;
        found.insert(name, (n + 1, size.trim().parse().map_err(|_| n + 1)?));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, size: usize, want: &[&str]) {
        let measure = Measure {
            rule: "file",
            name: "a.rs".to_owned(),
            path: "a.rs".to_owned(),
            line: 1,
            size,
            size_max: 500,
        };
        let found = apply(&Tree::of(&[(PATH, list)]), vec![measure]);
        let rules: Vec<&str> = found.iter().map(|p| p.rule).collect();
        assert_eq!(rules, want, "list {list:?}, size {size}");
    }

    #[test]
    fn without_an_entry_the_budget_holds() {
        check("", 500, &[]);
        check("", 501, &["file"]);
    }

    #[test]
    fn an_entry_must_equal_the_present_size() {
        check("\"a.rs\" = 600", 600, &[]);
        check("\"a.rs\" = 600", 601, &["file"]);
        check("\"a.rs\" = 600", 599, &["ratchet"]);
        check("\"a.rs\" = 600", 400, &["ratchet"]);
        check("\"gone.rs\" = 600", 400, &["ratchet"]);
    }

    #[test]
    fn a_line_that_is_no_entry_is_a_problem() {
        check("# fine\na.rs = 600", 400, &["ratchet"]);
    }
}
