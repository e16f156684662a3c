//! A report as JSON, one measurement a line. RFC 8259.

use serde_json::{Value as Json, json};

use super::record::{Record, Value};
use crate::goal::Goal;
use crate::machine::Facts;

/// A whole report.
pub(super) fn text(
    bench: &str,
    partial: bool,
    facts: &Facts,
    records: &[Record],
    goals: &[Goal],
) -> String {
    let lines = [
        format!("\"bench\": {}", json!(bench)),
        format!("\"partial\": {}", json!(partial)),
        format!("\"facts\": {}", list('{', '}', facts.iter().map(fact))),
        format!(
            "\"measurements\": {}",
            list('[', ']', records.iter().map(measurement))
        ),
        format!("\"goals\": {}", list('[', ']', goals.iter().map(judged))),
    ];
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// One item a line, so that two runs can be compared by lines.
fn list(begin: char, end: char, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|it| format!("  {it}")).collect();
    format!("{begin}\n{}\n{end}", items.join(",\n"))
}

fn fact((name, value): (&String, &String)) -> String {
    format!("{}: {}", json!(name), json!(value))
}

fn judged(goal: &Goal) -> String {
    json!({
        "name": goal.name,
        "measured": goal.measured,
        "at": goal.at,
        "side": format!("{:?}", goal.side),
        "bound": goal.bound,
        "met": goal.met(),
    })
    .to_string()
}

fn measurement(record: &Record) -> String {
    let values = record.0.iter().map(|(name, value)| {
        let value = match value {
            Value::Text(text) => json!(text),
            Value::Number(number) => json!(number),
        };
        (name.to_string(), value)
    });
    Json::Object(values.collect()).to_string()
}
