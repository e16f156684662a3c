//! A report as JSON. RFC 8259.

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
    let whole = json!({
        "bench": bench,
        "partial": partial,
        "facts": facts,
        "measurements": records.iter().map(measurement).collect::<Vec<_>>(),
        "goals": goals.iter().map(judged).collect::<Vec<_>>(),
    });
    format!("{whole:#}\n")
}

fn judged(goal: &Goal) -> Json {
    json!({
        "name": goal.name,
        "measured": goal.measured,
        "at": goal.at,
        "side": format!("{:?}", goal.side),
        "bound": goal.bound,
        "met": goal.met(),
    })
}

fn measurement(record: &Record) -> Json {
    let values = record.0.iter().map(|(name, value)| {
        let value = match value {
            Value::Text(text) => json!(text),
            Value::Number(number) => json!(number),
        };
        ((*name).to_owned(), value)
    });
    Json::Object(values.collect())
}
