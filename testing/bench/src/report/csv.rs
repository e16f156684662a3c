//! Records as comma-separated values. RFC 4180, lines ended as on Unix.

use super::record::{Record, Value};

/// A line of names, then a line for each record. All records have the names of the first.
pub(super) fn text(records: &[Record]) -> String {
    let mut text = String::new();
    for (n, record) in records.iter().enumerate() {
        if n == 0 {
            line(&mut text, record.0.iter().map(|(name, _)| quoted(name)));
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
