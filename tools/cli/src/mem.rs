//! `whimbrel mem`: what knowing everybody in the domain costs a participant.

use serde::Serialize;

use crate::bus;
use crate::failure::Failure;
use crate::options::BusOptions;
use crate::output::{Output, count_of};

/// What is held, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row {
    entity: String,
    topic: String,
    samples: usize,
    instances: usize,
    bytes: usize,
}

pub(crate) fn run(options: &BusOptions, output: &mut Output) -> Result<(), Failure> {
    let participant = bus::look(options, "mem")?;
    let memory = participant.memory();
    let endpoints = memory.writers.iter().chain(&memory.readers);
    let mut rows: Vec<Row> = endpoints
        .map(|it| Row {
            entity: it.guid.to_string(),
            topic: it.topic_name.clone(),
            samples: it.samples,
            instances: it.instances,
            bytes: it.bytes,
        })
        .collect();
    let discovery = memory.discovery;
    rows.push(Row {
        entity: "participant".into(),
        topic: format!("limit {} octets", memory.bytes_max),
        samples: rows.iter().map(|it| it.samples).sum(),
        instances: rows.iter().map(|it| it.instances).sum(),
        bytes: memory.bytes,
    });
    rows.push(Row {
        entity: "discovery".into(),
        topic: format!(
            "{}, {}, {}",
            count_of(discovery.participants, "participant"),
            count_of(discovery.writers, "writer"),
            count_of(discovery.readers, "reader")
        ),
        samples: 0,
        instances: discovery.participants + discovery.writers + discovery.readers,
        bytes: discovery.bytes,
    });
    if output.json {
        return rows.iter().try_for_each(|row| output.object(row));
    }
    let cells = |row: Row| {
        vec![
            row.entity,
            row.samples.to_string(),
            row.instances.to_string(),
            row.bytes.to_string(),
            row.topic,
        ]
    };
    let cells: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    output.table(&["ENTITY", "SAMPLES", "INSTANCES", "OCTETS", "OF"], &cells)
}
