//! `whimbrel features`: every policy, what works of it, and the tests that show it.

use serde::Serialize;
use whimbrel::qos::{FEATURES, Feature};

use crate::failure::Failure;
use crate::options::FeaturesOptions;
use crate::output::Output;

/// What stands above the table of `docs/features.md`.
const PREFACE: &str = "\
# QoS policies: what works, what is refused

Printed by `whimbrel features --markdown`; a test compares this page with what it prints. A value
that does not work here is refused with UNSUPPORTED (`Error::UnsupportedPolicy`) by every operation
that takes QoS, never accepted in silence. The column *here* is what those very checks say.
RxO: a writer offers, a reader requests. Changeable: may change once the entity exists.
";

/// What stands below it.
const BEYOND: &str = include_str!("features/beyond.md");

/// A row, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row {
    policy: &'static str,
    value: &'static str,
    works: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
    request_offered: bool,
    changeable: bool,
    tests: &'static [&'static str],
}

impl Row {
    fn of(feature: &Feature) -> Self {
        let refusal = feature.refusal();
        Self {
            policy: feature.policy.short_name(),
            value: feature.value,
            works: refusal.is_none(),
            refused: refusal.map(|it| it.why),
            request_offered: feature.is_request_offered(),
            changeable: feature.is_changeable(),
            tests: feature.tests,
        }
    }

    fn here(&self) -> String {
        self.refused
            .map_or_else(|| "works".into(), |why| format!("refused: {why}"))
    }
}

pub(crate) fn run(args: &FeaturesOptions, output: &mut Output) -> Result<(), Failure> {
    let rows: Vec<Row> = FEATURES.iter().map(Row::of).collect();
    if output.json {
        return rows.iter().try_for_each(|row| output.object(row));
    }
    if args.markdown {
        return markdown(&rows, output);
    }
    let cells = |row: &Row| vec![row.policy.into(), row.value.into(), row.here()];
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    output.table(&["POLICY", "VALUE", "HERE"], &cells)
}

fn markdown(rows: &[Row], output: &mut Output) -> Result<(), Failure> {
    output.line(PREFACE)?;
    output.line("| policy | value | here | RxO | changeable | tests |")?;
    output.line("|---|---|---|---|---|---|")?;
    let yes = |it| if it { "yes" } else { "no" };
    for row in rows {
        let tests: Vec<_> = row.tests.iter().map(|it| format!("`{it}`")).collect();
        output.line(&format!(
            "| {} | {} | {} | {} | {} | {} |",
            row.policy,
            row.value,
            row.here(),
            yes(row.request_offered),
            yes(row.changeable),
            tests.join(", ")
        ))?;
    }
    output.line("")?;
    output.line(BEYOND.trim_end())
}
