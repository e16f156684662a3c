//! `whimbrel ps`: the participants of the domain.

use serde::Serialize;
use whimbrel::DomainParticipant;
use whimbrel::domain::DiscoveredParticipant;

use crate::bus::{self, vendor_name};
use crate::failure::Failure;
use crate::options::BusOptions;
use crate::output::{Output, clean};

/// A participant, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row {
    guid: String,
    vendor: String,
    name: String,
    host: Option<String>,
    pid: Option<String>,
    address: String,
    locators: Vec<String>,
    lease_seconds: Option<f64>,
    lease_left_seconds: Option<f64>,
    known_for_seconds: Option<f64>,
    confirmed: bool,
}

pub(crate) fn run(options: &BusOptions, output: &mut Output) -> Result<(), Failure> {
    let participant = bus::look(options, "ps")?;
    let found = participant.discovered_participants();
    if found.is_empty() {
        return Err(nobody(&participant));
    }
    let rows: Vec<Row> = found.iter().map(row).collect();
    if output.json {
        return rows.iter().try_for_each(|row| output.object(row));
    }
    let cells: Vec<_> = rows.into_iter().map(cells).collect();
    output.table(
        &[
            "GUID",
            "VENDOR",
            "NAME",
            "HOST",
            "PID",
            "ADDRESS",
            "LEASE LEFT",
        ],
        &cells,
    )
}

/// What to say when there is nobody else.
pub(crate) fn nobody(participant: &DomainParticipant) -> Failure {
    Failure::Negative(format!(
        "no participant found in domain {}; `whimbrel doctor` looks for the cause",
        participant.domain_id()
    ))
}

fn row(it: &DiscoveredParticipant) -> Row {
    let seconds = |span: whimbrel::Duration| {
        (!span.is_infinite()).then(|| (span.as_nanos() / 1_000_000) as f64 / 1e3)
    };
    Row {
        guid: it.guid.to_string(),
        vendor: vendor_name(it.vendor),
        name: it.name.clone(),
        host: it.host.clone(),
        pid: it.process_id.clone(),
        address: it.address.to_string(),
        locators: it.locators.iter().map(ToString::to_string).collect(),
        lease_seconds: seconds(it.lease),
        lease_left_seconds: seconds(it.lease_left),
        known_for_seconds: seconds(it.known_for),
        confirmed: it.confirmed,
    }
}

fn cells(row: Row) -> Vec<String> {
    let or_dash = |text: Option<String>| match text.as_deref() {
        None | Some("") => "-".into(),
        Some(text) => clean(text),
    };
    let left = row
        .lease_left_seconds
        .map_or_else(|| "infinite".into(), |left| format!("{left:.1}s"));
    vec![
        row.guid,
        row.vendor,
        or_dash(Some(row.name)),
        or_dash(row.host),
        or_dash(row.pid),
        row.address,
        left,
    ]
}
