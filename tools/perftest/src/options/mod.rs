//! The words of the command line: every option that RTI Perftest 4.3 has, found by any prefix of
//! its name in any case.

mod spec;
mod table;
mod value;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::failure::Failure;
use spec::{Argument, Side, Spec, Standing};
use table::TABLE;

/// The options of a command line, checked one by one.
#[derive(Debug, Default)]
pub(crate) struct Given {
    values: BTreeMap<&'static str, Vec<String>>,
    /// What those that change nothing are, and why.
    pub(crate) idle: Vec<String>,
}

impl Given {
    /// Reads `words`, which come after the name of the program.
    ///
    /// # Errors
    /// Unknown options, missing or wrong arguments, options refused here or of the other side.
    pub(crate) fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut given = Self::default();
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.next() {
            let spec = find(word)?;
            if let Standing::Refused(why) = spec.standing {
                return Err(wrong(spec, format!("is not supported by Whimbrel: {why}")));
            }
            let takes_next = match spec.argument {
                Argument::None => false,
                Argument::OptionalNumber(..) | Argument::OptionalNumbers(..) => {
                    rest.peek().is_some_and(|next| !next.starts_with('-'))
                }
                _ => true,
            };
            let value = if takes_next {
                let value = rest.next().ok_or_else(|| wrong(spec, "needs a value"))?;
                value::check(spec.argument, value).map_err(|why| wrong(spec, why))?
            } else {
                String::new()
            };
            if let Standing::Idle(why) = spec.standing {
                given.idle.push(format!("-{}: {why}", spec.name));
            }
            given.values.entry(spec.name).or_default().push(value);
        }
        given.check_sides()?;
        Ok(given)
    }

    fn check_sides(&self) -> Result<(), Failure> {
        if self.has("pub") && self.has("sub") {
            return Err(Failure::Options(
                "-pub and -sub: a process is one of both".into(),
            ));
        }
        let (other, name) = if self.has("pub") {
            (Side::Subscriber, "-sub")
        } else {
            (Side::Publisher, "-pub")
        };
        let misplaced = TABLE
            .iter()
            .find(|it| it.side == other && self.has(it.name));
        misplaced.map_or(Ok(()), |spec| {
            Err(wrong(spec, format!("goes with {name} only")))
        })
    }

    /// Whether the option `name` was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// What was given last for `name`.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.last().map(String::as_str)
    }

    /// Everything that was given for `name`.
    pub(crate) fn texts(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// The number given for `name`.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// The number given for `name`, which cannot be negative, or else `default`.
    pub(crate) fn count(&self, name: &str, default: u64) -> u64 {
        let number = self.number(name).and_then(|it| u64::try_from(it).ok());
        number.unwrap_or(default)
    }
}

/// Whether the help is wanted; the original looks for it before anything else.
pub(crate) fn asks_for_help(words: &[String]) -> bool {
    let is_help = |it: &String| ["-h", "-help", "--help"].contains(&it.to_lowercase().as_str());
    words.iter().any(is_help)
}

/// The options, each with what becomes of it.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "whimbrel-perftest [OPTION]...\n\n\
         Measures latency and throughput with the options, protocol and output of RTI Perftest \
         4.3.\nStart one process with -pub and one with -sub (the default). Any prefix of a name \
         will do, in any case.\n\n",
    );
    for spec in TABLE {
        let side = match spec.side {
            Side::Both => "",
            Side::Publisher => " [-pub]",
            Side::Subscriber => " [-sub]",
        };
        let head = format!("-{} {}", spec.name, value::shape(spec.argument));
        // Writing to a string cannot fail.
        let _ = match spec.standing {
            Standing::Works => writeln!(text, "  {head:<40} {}{side}", spec.meaning),
            Standing::Idle(why) => {
                writeln!(
                    text,
                    "  {head:<40} {}{side}; no effect: {why}",
                    spec.meaning
                )
            }
            Standing::Refused(why) => {
                writeln!(text, "  {head:<40} {}{side}; refused: {why}", spec.meaning)
            }
        };
    }
    text
}

/// The option that `word` names: the whole name, else the first in order of which it is a prefix.
fn find(word: &str) -> Result<&'static Spec, Failure> {
    let typed = word.strip_prefix('-').filter(|it| !it.is_empty());
    let typed = typed.ok_or_else(|| unknown(word))?.to_lowercase();
    let mut found: Vec<&Spec> = TABLE
        .iter()
        .filter(|it| it.name.to_lowercase().starts_with(&typed))
        .collect();
    // In this order a name comes before those that it begins.
    found.sort_by_key(|it| it.name.to_lowercase());
    found.first().copied().ok_or_else(|| unknown(word))
}

fn unknown(word: &str) -> Failure {
    Failure::Options(format!(
        "{word}: there is no such option (-help lists them)"
    ))
}

fn wrong(spec: &Spec, why: impl std::fmt::Display) -> Failure {
    Failure::Options(format!("-{}: {why}", spec.name))
}

#[cfg(test)]
mod tests;
