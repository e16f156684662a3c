//! The figures, as tables and records show them.

use super::count::{COUNTED, Counts};
use crate::contestant::Contestant;
use crate::placement::Placement;
use crate::report::{Record, Table};

/// Counts per message of one contestant.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) contestant: Contestant,
    pub(super) placement: Placement,
    pub(super) per_message: Counts,
}

/// For CSV and JSON.
pub(super) fn record(row: &Row) -> Record {
    let record = Record::new()
        .text("product", row.contestant.product.name())
        .text("mode", row.contestant.mode.name())
        .text("placement", row.placement.name());
    with_counts(record, "", &row.per_message)
}

/// `record` with every count, each under its name after `prefix`.
pub(super) fn with_counts(record: Record, prefix: &str, counts: &Counts) -> Record {
    let with = |record: Record, kind: &'static str| {
        record.number(format!("{prefix}{kind}"), counts.of(kind))
    };
    COUNTED.iter().map(|it| it.name).fold(record, with)
}

/// For people.
pub(super) fn table(rows: &[Row], placement: Placement) -> Table {
    let mut head = vec!["contestant".to_owned()];
    head.extend(COUNTED.iter().map(|it| it.name.to_owned()));
    let line = |row: &Row| {
        let mut cells = vec![row.contestant.name()];
        cells.extend(cells_of(&row.per_message));
        cells
    };
    let here = rows.iter().filter(|it| it.placement == placement);
    Table {
        title: format!("per message in the process that answers, {placement}"),
        head,
        lines: here.map(line).collect(),
    }
}

/// Every count as a cell of a table.
pub(super) fn cells_of(counts: &Counts) -> impl Iterator<Item = String> {
    COUNTED
        .iter()
        .map(|it| format!("{:.3}", counts.of(it.name)))
}
