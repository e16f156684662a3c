//! `cargo xtask survive`: the proofs that the bus survives, one line for each.
//!
//! A proof is a program that takes `--seconds S` or `--full`, prints its figure as last line and
//! ends with 1 when a bound was missed. A proof that fails never stops the later ones.

use crate::metadata;
use crate::process::{self, End};
use crate::setup;
use std::path::Path;
use std::time::{Duration, Instant};

/// What a proof may take beyond its share, to set up and take down.
const GRACE: Duration = Duration::from_secs(120);
/// The limit of a proof that runs with its whole numbers.
const FULL_LIMIT: Duration = Duration::from_secs(3600);

/// One item of the claim that the bus survives.
struct Item {
    name: &'static str,
    /// What follows `cargo run --release -p`: the package, and words for cargo.
    program: &'static [&'static str],
    /// The program's words before `--seconds`.
    words: &'static [&'static str],
    /// Parts of the whole time.
    parts: u32,
    /// Why this is known not to hold yet; `--but-open` names it instead of running it.
    open: Option<&'static str>,
}

const ITEMS: &[Item] = &[
    item("attack", &["whimbrel-survive"], &["attack"], 6),
    item("hunt", &["whimbrel-fuzz-targets", "--bin", "hunt"], &[], 6),
    // The same seeds each time: a change is judged by what it did, not by luck.
    item("simulation", &["whimbrel-sim"], &["--start", "1000000"], 8),
    item("churn", &["whimbrel-survive"], &["churn"], 6),
    item("cold", &["whimbrel-survive"], &["cold"], 3),
    item("write", &["whimbrel-survive"], &["write"], 4),
    item("memory", &["whimbrel-survive"], &["memory"], 6),
    item("scale", &["whimbrel-survive"], &["scale"], 6),
    item("hosts", &["whimbrel-survive"], &["hosts"], 10),
    item("large", &["whimbrel-survive"], &["large"], 6),
    item("interop depth", &["whimbrel-interop"], &["depth"], 10),
];

const fn item(
    name: &'static str,
    program: &'static [&'static str],
    words: &'static [&'static str],
    parts: u32,
) -> Item {
    Item {
        name,
        program,
        words,
        parts,
        open: None,
    }
}

/// How much of everything is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All items share so many minutes.
    Minutes(u32),
    /// Every item with the whole numbers of its claim.
    Full,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted<'a> {
    extent: Extent,
    only: Option<&'a str>,
    but_open: bool,
}

/// Runs what the words ask for, and prints a line for each item.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let wanted = parse(words)?;
    let chosen: Vec<&Item> = ITEMS
        .iter()
        .filter(|item| wanted.only.is_none_or(|name| name == item.name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = ITEMS.iter().map(|item| item.name).collect();
        let names = names.join(", ");
        return Err(format!("no item of this name; there are: {names}"));
    }
    let root = metadata::root();
    let (run, passed_over): (Vec<&Item>, Vec<&Item>) = chosen
        .into_iter()
        .partition(|item| item.open.is_none() || !wanted.but_open);
    // Built first, so that no share is spent on the compiler.
    for item in &run {
        build(&root, item)?;
    }
    let parts = run.iter().map(|item| item.parts).sum();
    let lines: Vec<(bool, String)> = run
        .iter()
        .map(|item| prove(&root, item, wanted.extent, parts))
        .collect();
    println!();
    for (_, line) in &lines {
        println!("{line}");
    }
    for item in passed_over {
        let why = item.open.unwrap_or_default();
        println!("survive: {:<14} not run, OPEN: {why}", item.name);
    }
    if lines.iter().all(|(held, _)| *held) {
        Ok(())
    } else {
        Err(String::new())
    }
}

fn parse<'a>(words: &[&'a str]) -> Result<Wanted<'a>, String> {
    let (mut extent, mut only, mut but_open) = (None, None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--full" => extent = Some(Extent::Full),
            "--minutes" => {
                let text = words.next().ok_or("--minutes needs a number")?;
                extent = Some(minutes(text)?);
            }
            "--only" => only = Some(*words.next().ok_or("--only needs a name")?),
            "--but-open" => but_open = true,
            _ => return Err(format!("what is {word}?")),
        }
    }
    Ok(Wanted {
        extent: extent.ok_or("how much? --minutes N or --full")?,
        only,
        but_open,
    })
}

fn minutes(text: &str) -> Result<Extent, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0 => Ok(Extent::Minutes(minutes)),
        _ => Err(format!("{text} is not a number of minutes")),
    }
}

fn build(root: &Path, item: &Item) -> Result<(), String> {
    if item.name == "hosts" {
        // It asks `whimbrel doctor`; a cold build of that must not take from its time.
        build_with(
            root,
            item,
            &["cargo", "build", "--release", "-p", "whimbrel-cli"],
        )?;
    }
    let words = [&["cargo", "build", "--release", "-p"], item.program].concat();
    build_with(root, item, &words)
}

fn build_with(root: &Path, item: &Item, words: &[&str]) -> Result<(), String> {
    println!("== {} ==  {}", item.name, words.join(" "));
    let mut command = setup::in_workspace(root, words);
    match process::watch(&mut command, FULL_LIMIT, |line| println!("{line}"))? {
        End::Success => Ok(()),
        end => Err(format!("{} does not build: {end:?}", item.name)),
    }
}

fn prove(root: &Path, item: &Item, extent: Extent, parts: u32) -> (bool, String) {
    let (amount, limit) = amount(item, extent, parts);
    let mut words = [
        &["cargo", "run", "--quiet", "--release", "-p"],
        item.program,
    ]
    .concat();
    words.push("--");
    words.extend(item.words);
    words.extend(amount.iter().map(String::as_str));
    println!("\n== {} ==  {}", item.name, words.join(" "));
    let begin = Instant::now();
    let mut figure = String::new();
    let mut command = setup::in_workspace(root, &words);
    let end = process::watch(&mut command, limit, |line| {
        println!("{line}");
        line.clone_into(&mut figure);
    });
    let (held, verdict) = match end {
        Ok(End::Success) => (true, "held".to_owned()),
        Ok(End::Failure(how)) => (false, format!("FAILED, {how}")),
        Ok(End::TimedOut) => (
            false,
            format!("FAILED, not done after {} s", limit.as_secs()),
        ),
        Err(why) => (false, format!("FAILED, {why}")),
    };
    let took = begin.elapsed().as_secs_f64();
    let line = format!(
        "survive: {:<14} {took:>6.1} s  {verdict}: {figure}",
        item.name
    );
    (held, line)
}

/// The words that say how much, and the limit of time.
fn amount(item: &Item, extent: Extent, parts: u32) -> (Vec<String>, Duration) {
    match extent {
        Extent::Full => (vec!["--full".to_owned()], FULL_LIMIT),
        Extent::Minutes(minutes) => {
            let whole = Duration::from_secs(60) * minutes;
            let share = whole * item.parts / parts;
            let seconds = share.as_secs().max(1);
            let words = vec!["--seconds".to_owned(), seconds.to_string()];
            (words, Duration::from_secs(seconds) * 2 + GRACE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ITEM: Item = Item {
        name: "x",
        program: &["y"],
        words: &[],
        parts: 2,
        open: None,
    };

    #[test]
    fn names_are_unique_and_shares_are_not_empty() {
        let names: BTreeSet<&str> = ITEMS.iter().map(|item| item.name).collect();
        assert_eq!(names.len(), ITEMS.len());
        assert!(ITEMS.iter().all(|i| i.parts > 0 && !i.program.is_empty()));
    }

    #[test]
    fn the_time_is_shared_by_parts() {
        let (words, limit) = amount(&ITEM, Extent::Minutes(1), 12);
        assert_eq!(words, ["--seconds", "10"]);
        assert_eq!(limit, Duration::from_secs(20) + GRACE);
        assert_eq!(amount(&ITEM, Extent::Full, 12).0, ["--full"]);
    }

    #[test]
    fn words_say_what_is_wanted() {
        let wanted = Wanted {
            extent: Extent::Minutes(1),
            only: Some("x"),
            but_open: true,
        };
        let words = ["--minutes", "1", "--but-open", "--only", "x"];
        assert_eq!(parse(&words), Ok(wanted));
        for words in [&["--minutes"][..], &["--only", "x"], &["--fast"], &[]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn only_whole_positive_minutes_are_taken() {
        assert_eq!(minutes("10"), Ok(Extent::Minutes(10)));
        for text in ["0", "-1", "1.5", "ten", ""] {
            assert!(minutes(text).is_err(), "{text}");
        }
    }
}
