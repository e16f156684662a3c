//! The public API, one line per item, and what a release promised of it.
//!
//! The lines come from the pages that rustdoc writes: items, their members with signatures, the
//! traits they implement, and what is exported again. `xtask/api/VERSION.txt` is what a release
//! had; a line of it that is gone breaks users, and fails unless `broken.txt` names it and why.

use crate::metadata;
use crate::process;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate that promises; what it exports of others is listed as its own.
const CRATE: &str = "whimbrel";

const PROMISES: &str = "xtask/api";

/// What is broken on purpose: a line of a release, ` # ` and why.
const BROKEN: &str = "broken";

/// Vanished lines that are shown.
const SHOWN_MAX: usize = 20;

/// How the ids of an item's members begin.
const MEMBERS: &[&str] = &[
    "method.",
    "tymethod.",
    "variant.",
    "structfield.",
    "associatedconstant.",
    "associatedtype.",
];

/// Compares with what the releases had.
pub(crate) fn check() -> Result<(), String> {
    let root = metadata::root();
    let present = present(&root)?;
    let mut releases: Vec<PathBuf> = fs::read_dir(root.join(PROMISES))
        .map_err(|error| format!("{PROMISES}: {error}"))?
        .filter_map(|entry| entry.ok().map(|it| it.path()))
        .filter(|path| path.file_stem().is_some_and(|it| it != BROKEN))
        .collect();
    releases.sort();
    if releases.is_empty() {
        return Err(format!("api: no release in {PROMISES}"));
    }
    let broken = decided(
        &fs::read_to_string(root.join(PROMISES).join(format!("{BROKEN}.txt"))).unwrap_or_default(),
    )?;
    let mut complaints = String::new();
    for line in broken.iter().filter(|line| present.contains(*line)) {
        complaints += &format!("api: {BROKEN}.txt names what is there: {line}\n");
    }
    let promised = present.union(&broken).cloned().collect();
    for path in &releases {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        complaints += &missing(&name, &text, &promised);
    }
    if !complaints.is_empty() {
        return Err(format!(
            "{complaints}api: a release promised more than there is"
        ));
    }
    println!(
        "api: {} lines, all of {} releases among them but {} broken on purpose",
        present.len(),
        releases.len(),
        broken.len()
    );
    Ok(())
}

/// The lines that may be gone; each has a reason.
fn decided(text: &str) -> Result<BTreeSet<String>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(" # ") {
            Some((line, why)) if !why.trim().is_empty() => Ok(line.to_owned()),
            _ => Err(format!("api: {BROKEN}.txt: no reason for: {line}")),
        })
        .collect()
}

/// Prints the present API, for the file of a release.
pub(crate) fn print() -> Result<(), String> {
    for line in present(&metadata::root())? {
        println!("{line}");
    }
    Ok(())
}

/// What `release` had and `present` has not.
fn missing(release: &str, had: &str, present: &BTreeSet<String>) -> String {
    let gone: Vec<&str> = had.lines().filter(|it| !present.contains(*it)).collect();
    let mut text = String::new();
    for line in gone.iter().take(SHOWN_MAX) {
        text += &format!("api: gone since {release}: {line}\n");
    }
    if gone.len() > SHOWN_MAX {
        text += &format!("api: gone since {release}: {} in all\n", gone.len());
    }
    text
}

fn present(root: &Path) -> Result<BTreeSet<String>, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["doc", "--quiet", "--locked", "--no-deps", "-p", CRATE]);
    process::output(cargo.current_dir(root))?;
    let mut lines = BTreeSet::new();
    pages(
        &metadata::target(root).join("doc").join(CRATE),
        CRATE,
        &mut lines,
    )?;
    Ok(lines)
}

/// All pages of a module and those below.
fn pages(folder: &Path, module: &str, lines: &mut BTreeSet<String>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let (path, file) = (entry.path(), entry.file_name());
        let file = file.to_string_lossy();
        if path.is_dir() {
            pages(&path, &format!("{module}::{file}"), lines)?;
        } else if let Some(page) = file.strip_suffix(".html") {
            let html = fs::read_to_string(&path).map_err(|e| format!("{file}: {e}"))?;
            lines.extend(page_lines(module, page, &html));
        }
    }
    Ok(())
}

/// The lines of the page `struct.Name`, `index` and so on.
fn page_lines(module: &str, page: &str, html: &str) -> Vec<String> {
    // What every type has by blanket and by structure is not promised.
    let own = html.split("id=\"synthetic-implementations\"").next();
    let own = own.unwrap_or(html);
    let Some((kind, name)) = page.split_once('.') else {
        let exported =
            sections(own).filter(|(id, _)| page == "index" && id.starts_with("reexport."));
        return exported
            .map(|(_, text)| format!("{module} {text}"))
            .collect();
    };
    if own.contains("<title>Redirection</title>") {
        return Vec::new();
    }
    let item = format!("{module}::{name}");
    let mut lines = vec![format!("{item} {kind}")];
    if matches!(kind, "fn" | "type" | "constant" | "macro") {
        let declared = own.split("<pre class=\"rust item-decl\">").nth(1);
        let declared = declared.and_then(|it| it.split("</pre>").next());
        lines.extend(declared.map(|it| format!("{item} {}", words(it))));
    }
    let (inherent, of_traits) = own
        .split_once("id=\"trait-implementations\"")
        .unwrap_or((own, ""));
    let members = sections(inherent).filter(|(id, _)| MEMBERS.iter().any(|it| id.starts_with(it)));
    let implemented = sections(of_traits).filter(|(id, _)| id.starts_with("impl-"));
    let texts = members.chain(implemented).map(|(_, text)| text);
    lines.extend(
        texts
            .filter(|it| !it.is_empty())
            .map(|it| format!("{item} {it}")),
    );
    lines
}

/// Everything that has an id, with the text that follows it up to the end of its element.
fn sections(html: &str) -> impl Iterator<Item = (&str, String)> {
    html.split(" id=\"").skip(1).filter_map(|part| {
        let (id, rest) = part.split_once('"')?;
        let (_, body) = rest.split_once('>')?;
        let ends = ["</section>", "</h3></section>", "</code></span>", "</dt>"];
        let end = ends.iter().filter_map(|it| body.find(it)).min();
        Some((id, words(body.get(..end.unwrap_or(0))?)))
    })
}

/// The text between the tags, blanks made one.
fn words(html: &str) -> String {
    let mut text = String::new();
    let mut within = false;
    for character in html.chars() {
        match character {
            '<' => within = true,
            '>' if within => within = false,
            other if !within => text.push(other),
            _ => {}
        }
    }
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("§", " "),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.strip_prefix("Source")
        .unwrap_or(&text)
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r##"<pre class="rust item-decl"><code>pub struct W;</code></pre>
<span id="structfield.depth" class="structfield section-header"><a href="#x" class="anchor">§</a><code>depth: <a href="y">u32</a></code></span>
<section id="method.write" class="method"><a class="src rightside" href="z">Source</a><h4 class="code-header">pub fn <a class="fn">write</a>(&amp;self) -&gt; <a>Result</a>&lt;()&gt;</h4></section>
<h2 id="trait-implementations"></h2><section id="impl-Debug-for-W" class="impl"><h3 class="code-header">impl Debug for W</h3></section>
<h2 id="synthetic-implementations"></h2><section id="method.borrow"><h4>fn borrow()</h4></section>"##;

    #[test]
    fn members_are_listed_with_their_signatures() {
        let lines = page_lines("whimbrel::publication", "struct.W", PAGE);
        let expected = [
            "whimbrel::publication::W struct",
            "whimbrel::publication::W depth: u32",
            "whimbrel::publication::W pub fn write(&self) -> Result<()>",
            "whimbrel::publication::W impl Debug for W",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_is_broken_on_purpose_has_a_reason() {
        let text = "# comment\na pub fn b() # it had to go\n";
        let expected = BTreeSet::from(["a pub fn b()".to_owned()]);
        assert_eq!(decided(text), Ok(expected));
        assert!(decided("a pub fn b()\n").is_err());
    }

    #[test]
    fn what_vanished_is_named() {
        let present = BTreeSet::from(["a struct".to_owned(), "b new".to_owned()]);
        assert_eq!(missing("0.1.0", "a struct\n", &present), "");
        let gone = missing("0.1.0", "a struct\na pub fn write()\n", &present);
        assert_eq!(gone, "api: gone since 0.1.0: a pub fn write()\n");
    }
}
