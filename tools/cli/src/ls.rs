//! `whimbrel ls`: topics, their types, and who writes and reads them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use whimbrel::DomainParticipant;
use whimbrel::base::guid::Guid;
use whimbrel::statistics::TOPIC_NAME;

use crate::bus::{self, Directory};
use crate::failure::Failure;
use crate::glob;
use crate::options::{BusOptions, LsOptions};
use crate::output::{Output, Style, clean, count_of};
use crate::policies::{self, NamedValue};
use crate::statistics::{self, Counted};

/// How participants are made to tell.
const HOW_TO_TELL: &str = "do not tell what was counted: WHIMBREL_STATISTICS=on, or \
                           DomainParticipantBuilder::statistics, has them do so.";

/// Shown where a participant that tells has not done so in time.
const NOT_YET: &str = "has not told yet what it counted";

/// The vendor whose participants can tell.
const OURS: &str = "Whimbrel";

/// A topic, as JSON shows it.
#[derive(Serialize, Default, Debug)]
struct Row {
    topic: String,
    types: BTreeSet<String>,
    writers: usize,
    readers: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    endpoints: Vec<Endpoint>,
}

/// A writer or reader, as JSON shows it.
#[derive(Serialize, Debug)]
struct Endpoint {
    guid: String,
    kind: &'static str,
    #[serde(rename = "type")]
    type_name: String,
    host: String,
    vendor: String,
    qos: BTreeMap<&'static str, String>,
    /// What it has counted, where its participant tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Value>,
    /// The same for people; empty where its participant does not tell.
    #[serde(skip)]
    counted: String,
    /// Its participant could tell, and does not.
    #[serde(skip)]
    is_silent: bool,
    #[serde(skip)]
    line: String,
}

pub(crate) fn run(
    options: &BusOptions,
    args: &LsOptions,
    output: &mut Output,
) -> Result<(), Failure> {
    let participant = bus::look(options, "ls")?;
    let counted = if args.verbose {
        statistics::ask(&participant)?
    } else {
        Counted::default()
    };
    let topics = collect(&participant, args, &counted);
    if topics.is_empty() {
        if participant.discovered_participants().is_empty() {
            return Err(crate::ps::nobody(&participant));
        }
        let what = match args.topic.as_str() {
            "*" => "no topic".into(),
            pattern => format!("no topic named {pattern:?}"),
        };
        return Err(Failure::Negative(format!(
            "{what} found in domain {}",
            participant.domain_id()
        )));
    }
    if output.json {
        return topics.values().try_for_each(|row| output.object(row));
    }
    if args.verbose {
        topics.values().try_for_each(|row| verbose(row, output))?;
        return silent(&topics, output);
    }
    let cells = |row: &Row| {
        vec![
            clean(&row.topic),
            row.writers.to_string(),
            row.readers.to_string(),
            types(row),
        ]
    };
    let rows: Vec<_> = topics.values().map(cells).collect();
    output.table(&["TOPIC", "WRITERS", "READERS", "TYPE"], &rows)
}

fn collect(
    participant: &DomainParticipant,
    args: &LsOptions,
    counted: &Counted,
) -> BTreeMap<String, Row> {
    let directory = Directory::of(participant);
    let mut topics: BTreeMap<String, Row> = BTreeMap::new();
    let mut add = |topic: &str, type_name: &str, guid: Guid, policies: Vec<NamedValue>| {
        if !glob::matches(&args.topic, topic) {
            return;
        }
        let row = topics.entry(topic.to_owned()).or_insert_with(|| Row {
            topic: topic.to_owned(),
            ..Row::default()
        });
        row.types.insert(type_name.to_owned());
        let kind = if guid.entity.is_writer() {
            row.writers += 1;
            "writer"
        } else {
            row.readers += 1;
            "reader"
        };
        if args.verbose {
            row.endpoints.push(Endpoint {
                guid: guid.to_string(),
                kind,
                type_name: type_name.to_owned(),
                host: directory.host(guid),
                vendor: directory.vendor(guid),
                line: policies::line(&policies),
                qos: policies.into_iter().collect(),
                statistics: counted.of(guid).map(statistics::object),
                counted: match counted.of(guid) {
                    Some(it) => statistics::line(it),
                    None if counted.is_offered(guid) && topic != TOPIC_NAME => NOT_YET.into(),
                    None => String::new(),
                },
                is_silent: !counted.is_offered(guid) && directory.vendor(guid) == OURS,
            });
        }
    };
    for it in participant.discovered_writers() {
        let policies = policies::of_writer(&it.qos, &it.partition);
        add(&it.topic_name, &it.type_name, it.guid, policies);
    }
    for it in participant.discovered_readers() {
        let policies = policies::of_reader(&it.qos, &it.partition);
        add(&it.topic_name, &it.type_name, it.guid, policies);
    }
    topics
}

fn verbose(row: &Row, output: &mut Output) -> Result<(), Failure> {
    let topic = output.paint(Style::Bold, &clean(&row.topic));
    output.line(&format!("{topic}: {}", types(row)))?;
    let several = row.types.len() > 1;
    for it in &row.endpoints {
        let type_name = if several {
            format!(" type {}", clean(&it.type_name))
        } else {
            String::new()
        };
        output.line(&format!(
            "  {} {}  {} ({})  {}{type_name}",
            it.kind, it.guid, it.host, it.vendor, it.line
        ))?;
        if !it.counted.is_empty() {
            output.line(&format!("    {}", it.counted))?;
        }
    }
    Ok(())
}

/// Says whose figures are missing.
fn silent(topics: &BTreeMap<String, Row>, output: &mut Output) -> Result<(), Failure> {
    let endpoints = topics.values().flat_map(|row| &row.endpoints);
    let count = endpoints.filter(|it| it.is_silent).count();
    if count == 0 {
        return Ok(());
    }
    let text = format!(
        "The participants of {} {HOW_TO_TELL}",
        count_of(count, "endpoint")
    );
    output.line(&output.paint(Style::Dim, &text))
}

fn types(row: &Row) -> String {
    let types: Vec<_> = row.types.iter().map(|it| clean(it)).collect();
    types.join(", ")
}
