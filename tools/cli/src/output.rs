//! Standard output: text with colours where they help, or JSON lines.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;
use crate::options::When;

/// Topics named where one was not found.
const TOPICS_NAMED_MAX: usize = 8;

/// How a piece of text looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    Bold,
    Dim,
    Good,
    Bad,
    Warning,
}

/// Where a command writes to. Every line is flushed, so that pipes see it at once.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    colors: bool,
}

impl Output {
    pub(crate) fn new(json: bool, color: Option<When>) -> Self {
        let colors = match color.unwrap_or(When::Auto) {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let set = |name| std::env::var_os(name).unwrap_or_default();
                io::stdout().is_terminal() && set("NO_COLOR").is_empty() && set("TERM") != "dumb"
            }
        };
        Self {
            json,
            colors: colors && !json,
        }
    }

    /// `text` in a style, where there are colours.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Bold => 1,
            Style::Dim => 2,
            Style::Good => 32,
            Style::Bad => 31,
            Style::Warning => 33,
        };
        if self.colors {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Writes one line.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.write_all(b"\n")?;
        Ok(stdout.flush()?)
    }

    /// Writes one JSON object as a line.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(object).map_err(Failure::setup("writing JSON"))?;
        self.line(&text)
    }

    /// Writes a table with a heading; the last column may be of any width.
    pub(crate) fn table(&mut self, heading: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
        let mut widths: Vec<usize> = heading.iter().map(|it| it.chars().count()).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let layout = |cells: &mut dyn Iterator<Item = &str>| -> String {
            let padded: Vec<_> = cells
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        let heading = layout(&mut heading.iter().copied());
        self.line(&self.paint(Style::Bold, &heading))?;
        for row in rows {
            let line = layout(&mut row.iter().map(String::as_str));
            self.line(&line)?;
        }
        Ok(())
    }
}

/// Text from the network without anything a terminal could take for a command.
pub(crate) fn clean(text: &str) -> String {
    let escape = |c: char| -> String {
        let turns = matches!(c, '\u{200e}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            c.escape_unicode().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(escape).collect()
}

/// Where to look for the topic that was meant: the names of those there are, or who lists them.
pub(crate) fn topics_there<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: BTreeSet<&str> = names.collect();
    if names.is_empty() || names.len() > TOPICS_NAMED_MAX {
        return "`whimbrel ls` lists the topics".to_owned();
    }
    let names: Vec<String> = names.into_iter().map(clean).collect();
    format!("there are: {}", names.join(", "))
}

/// `1 sample`, `2 samples`.
pub(crate) fn count_of(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Octets in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_the_network_commands_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\\u{a}c");
        assert_eq!(clean("größe"), "größe");
        assert_eq!(clean("a\u{2067}b"), "a\\u{2067}b");
    }

    #[test]
    fn topics_are_named_where_they_are_few() {
        let listed = "`whimbrel ls` lists the topics";
        assert_eq!(topics_there([].into_iter()), listed);
        let few = ["Square", "Circle", "Square", "a\x1b"].into_iter();
        assert_eq!(topics_there(few), "there are: Circle, Square, a\\u{1b}");
        let many: Vec<String> = (0..9).map(|it| it.to_string()).collect();
        assert_eq!(topics_there(many.iter().map(String::as_str)), listed);
    }

    #[test]
    fn colours_only_where_wanted() {
        let painted = |when| Output::new(false, Some(when)).paint(Style::Good, "ok");
        assert_eq!(painted(When::Always), "\x1b[32mok\x1b[0m");
        assert_eq!(painted(When::Never), "ok");
        assert_eq!(
            Output::new(true, Some(When::Always)).paint(Style::Good, "ok"),
            "ok"
        );
    }
}
