//! The words of one line.

use std::str::FromStr;

use whimbrel_base::time::Duration;

/// `name=value` and flags that were not asked for yet.
pub(super) struct Words<'a>(Vec<(&'a str, Option<&'a str>)>);

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let word = |word: &'a str| match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        Self(text.split_whitespace().map(word).collect())
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let is_it = |(it, value): &(&str, Option<&str>)| *it == name && value.is_some();
        let index = self.0.iter().position(is_it)?;
        self.0.remove(index).1
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        let index = self
            .0
            .iter()
            .position(|(it, value)| *it == name && value.is_none());
        index.map(|index| self.0.remove(index)).is_some()
    }

    pub(super) fn some<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let parse = |text: &str| text.parse().map_err(|_| format!("{name} is not {text}"));
        self.take(name).map(parse).transpose()
    }

    pub(super) fn number<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, String> {
        self.some(name).map(|it| it.unwrap_or(default))
    }

    pub(super) fn needed<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        self.some(name)?.ok_or(format!("which {name}?"))
    }

    pub(super) fn list(&mut self, name: &str) -> Result<Vec<usize>, String> {
        let Some(text) = self.take(name) else {
            return Ok(Vec::new());
        };
        let parse = |text: &str| text.parse().map_err(|_| format!("{name} is not {text}"));
        text.split(',').map(parse).collect()
    }

    pub(super) fn span(&mut self, name: &str, default: Duration) -> Result<Duration, String> {
        self.take(name).map_or(Ok(default), span)
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("what is {name} here?")),
        }
    }
}

const UNITS: [(&str, i64); 4] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

/// Reads a time.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let read = |(unit, nanos): &(&str, i64)| {
        let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*nanos)
    };
    let nanos = UNITS.iter().find_map(read);
    let nanos = nanos.ok_or(format!(
        "{text} is no time: a whole number of ns, us, ms or s"
    ))?;
    Ok(Duration::from_nanos(nanos))
}

/// Writes a time as [`span`] reads it, in the largest unit that is exact.
pub(in crate::scenario) fn span_text(span: Duration) -> String {
    let nanos = span.as_nanos();
    let fitting = UNITS.iter().rev().find(|(_, unit)| nanos % unit == 0);
    let (unit, size) = fitting.unwrap_or(&UNITS[0]);
    format!("{}{unit}", nanos / size)
}
