//! `whimbrel features`: every policy, what works of it, and the tests that show it.

use std::borrow::Cow;

use serde::Serialize;
use whimbrel::built_in_codecs;
use whimbrel::qos::{CompressionIds, FEATURES, Feature, PolicyId};

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

/// They try every codec that was built in.
const CODEC_TESTS: &[&str] =
    &["crates/compress/src/tests.rs::everything_comes_back_at_every_level"];

/// A row, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row {
    policy: &'static str,
    value: Cow<'static, str>,
    works: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Cow<'static, str>>,
    request_offered: bool,
    changeable: bool,
    tests: &'static [&'static str],
}

impl Row {
    fn of(feature: &Feature) -> Self {
        let refusal = feature.refusal();
        Self {
            policy: feature.policy.short_name(),
            value: feature.value.into(),
            works: refusal.is_none(),
            refused: refusal.map(|it| it.why.into()),
            request_offered: feature.is_request_offered(),
            changeable: feature.is_changeable(),
            tests: feature.tests,
        }
    }

    fn here(&self) -> String {
        let refused = self.refused.as_deref();
        refused.map_or_else(|| "works".into(), |why| format!("refused: {why}"))
    }
}

pub(crate) fn run(args: &FeaturesOptions, output: &mut Output) -> Result<(), Failure> {
    let rows: Vec<Row> = FEATURES.iter().map(Row::of).collect();
    if output.json {
        let codecs = codecs().map(|it| it.row());
        return rows
            .into_iter()
            .chain(codecs)
            .try_for_each(|row| output.object(&row));
    }
    if args.markdown {
        return markdown(&rows, output);
    }
    let cells = |row: &Row| vec![row.policy.into(), row.value.to_string(), row.here()];
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    output.table(&["POLICY", "VALUE", "HERE"], &cells)?;
    output.line("")?;
    let cells = |it: Codec| {
        vec![
            it.id.to_string(),
            it.here(),
            it.whose.into(),
            it.levels.into(),
        ]
    };
    let cells: Vec<Vec<String>> = codecs().map(cells).collect();
    output.table(&["CODEC", "HERE", "WHOSE", "LEVELS"], &cells)
}

/// A row of the page's table of codecs.
struct Codec {
    id: CompressionIds,
    whose: &'static str,
    feature: &'static str,
    levels: &'static str,
}

impl Codec {
    /// What `line` of the page says, where that is such a row.
    fn of(line: &'static str) -> Option<Self> {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        Some(Self {
            id: CompressionIds::from_name(cells.next()?)?,
            whose: cells.next()?,
            feature: cells.next()?,
            levels: cells.next()?,
        })
    }

    fn refused(&self) -> Option<String> {
        let missing = !built_in_codecs().intersects(self.id);
        let feature = self.feature.split(',').next().unwrap_or_default();
        missing.then(|| format!("not built in: enable the crate's feature {feature}"))
    }

    fn here(&self) -> String {
        self.refused().unwrap_or_else(|| "built in".into())
    }

    /// As what DATA_REPRESENTATION may say.
    fn row(&self) -> Row {
        let refused = self.refused();
        Row {
            policy: PolicyId::DataRepresentation.short_name(),
            value: format!("codec {}", self.id).into(),
            works: refused.is_none(),
            refused: refused.map(Into::into),
            request_offered: CompressionIds::SHARED.intersects(self.id),
            changeable: false,
            tests: CODEC_TESTS,
        }
    }
}

/// Those of the page: it says of each codec that there is where it comes from.
fn codecs() -> impl Iterator<Item = Codec> {
    BEYOND.lines().filter_map(Codec::of)
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
