//! Records as comma-separated values. RFC 4180, lines ended as on Unix, with comments before them.

use super::record::{Record, Value};
use crate::machine::Facts;

/// A comment for each fact, `# NAME: VALUE`; then a line of names and a line for each record. Where
/// the names of a record are others than those before, they come first, after an empty line.
pub(super) fn text(facts: &Facts, records: &[Record]) -> String {
    let mut text = String::new();
    for (name, value) in facts {
        let value = value.lines().collect::<Vec<_>>().join("; ");
        text.push_str(&format!("# {name}: {value}\n"));
    }
    let mut names = Vec::new();
    for record in records {
        let own: Vec<&str> = record.0.iter().map(|(name, _)| &**name).collect();
        if own != names {
            if !names.is_empty() {
                text.push('\n');
            }
            line(&mut text, own.iter().map(|name| quoted(name)));
            names = own;
        }
        line(&mut text, record.0.iter().map(|(_, value)| cell(value)));
    }
    text
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push_str(&cells.collect::<Vec<_>>().join(","));
    text.push('\n');
}

fn cell(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        // Not measured.
        Value::Number(number) if number.is_nan() => String::new(),
        Value::Number(number) => trimmed(*number),
    }
}

/// At most three digits behind the point; none that say nothing.
fn trimmed(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
