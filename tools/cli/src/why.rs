//! `whimbrel why`: every rule by which a writer and a reader match, or do not.

mod codecs;

use std::borrow::Cow;

use serde::Serialize;
use whimbrel::base::guid::Guid;
use whimbrel::base::vendor::VendorId;
use whimbrel::qos::{DataRepresentation, PolicyId};
use whimbrel::{DomainParticipant, RuleVerdict};

use self::codecs::Codecs;
use crate::bus;
use crate::failure::Failure;
use crate::options::{BusOptions, WhyOptions};
use crate::output::{Output, Style, clean, count_of, topics_there};

/// A writer and a reader, as JSON shows them.
#[derive(Serialize, Debug)]
struct Pair {
    topic: String,
    writer: String,
    reader: String,
    matched: bool,
    rules: Vec<Rule>,
}

#[derive(Serialize, Debug)]
struct Rule {
    rule: &'static str,
    writer: String,
    reader: String,
    /// `None` where the rule does not apply.
    passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Cow<'static, str>>,
    /// What to know of the pair though it matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// An endpoint of the bus that was asked for.
#[derive(Clone, Debug)]
struct Known {
    guid: Guid,
    topic: String,
    encoding: DataRepresentation,
    /// Its participant is known to be of another vendor.
    is_foreign: bool,
}

pub(crate) fn run(
    options: &BusOptions,
    args: &WhyOptions,
    output: &mut Output,
) -> Result<(), Failure> {
    let participant = bus::look(options, "why")?;
    let others: Vec<_> = participant
        .discovered_participants()
        .into_iter()
        .filter(|it| it.vendor != VendorId::WHIMBREL)
        .collect();
    let is_foreign = |guid: Guid| others.iter().any(|it| it.guid.prefix == guid.prefix);
    let writers: Vec<_> = participant
        .discovered_writers()
        .into_iter()
        .map(|it| Known {
            guid: it.guid,
            topic: it.topic_name,
            encoding: it.qos.data_representation,
            is_foreign: is_foreign(it.guid),
        })
        .collect();
    let readers: Vec<_> = participant
        .discovered_readers()
        .into_iter()
        .map(|it| Known {
            guid: it.guid,
            topic: it.topic_name,
            encoding: it.qos.data_representation,
            is_foreign: is_foreign(it.guid),
        })
        .collect();
    let pairs = match &args.reader {
        Some(reader) => vec![(
            find(&writers, &args.writer, "writer")?,
            find(&readers, reader, "reader")?,
        )],
        None => of_topic(&writers, &readers, &args.writer)?,
    };
    let mut refused = 0;
    for (writer, reader) in &pairs {
        let pair = explain(&participant, writer, reader)?;
        refused += usize::from(!pair.matched);
        if output.json {
            output.object(&pair)?;
        } else {
            print(&pair, output)?;
        }
    }
    if refused == 0 {
        Ok(())
    } else {
        Err(Failure::Said)
    }
}

/// The endpoint whose GUID begins with `text`.
fn find(known: &[Known], text: &str, kind: &str) -> Result<Known, Failure> {
    let wanted: String = text
        .chars()
        .filter(|c| !matches!(c, '.' | ':'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if wanted.is_empty() || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(Failure::Usage(format!(
            "{text:?} is not the beginning of a GUID; `whimbrel ls -v` lists the {kind}s"
        )));
    }
    let digits = |guid: Guid| crate::output::hex(&guid.to_bytes());
    let found: Vec<_> = known
        .iter()
        .filter(|it| digits(it.guid).starts_with(&wanted))
        .collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Failure::Negative(format!(
            "no {kind} found whose GUID begins with {text}; `whimbrel ls -v` lists them"
        ))),
        several => {
            let guids: Vec<_> = several.iter().map(|it| it.guid.to_string()).collect();
            Err(Failure::Usage(format!(
                "{text} begins the GUIDs of {}: {}",
                count_of(several.len(), kind),
                guids.join(", ")
            )))
        }
    }
}

fn of_topic(
    writers: &[Known],
    readers: &[Known],
    topic: &str,
) -> Result<Vec<(Known, Known)>, Failure> {
    let of = |known: &[Known]| -> Vec<Known> {
        known
            .iter()
            .filter(|it| it.topic == topic)
            .cloned()
            .collect()
    };
    let there = topics_there(writers.iter().chain(readers).map(|it| it.topic.as_str()));
    let (writers, readers) = (of(writers), of(readers));
    if writers.is_empty() && readers.is_empty() {
        return Err(Failure::Negative(format!(
            "no topic {topic:?} found; {there}"
        )));
    }
    if writers.is_empty() || readers.is_empty() {
        return Err(Failure::Negative(format!(
            "topic {topic:?} has {} and {}: there is no pair to match",
            count_of(writers.len(), "writer"),
            count_of(readers.len(), "reader")
        )));
    }
    let pairs = writers.iter().flat_map(|writer| {
        readers
            .iter()
            .map(|reader| (writer.clone(), reader.clone()))
    });
    Ok(pairs.collect())
}

fn explain(
    participant: &DomainParticipant,
    writer: &Known,
    reader: &Known,
) -> Result<Pair, Failure> {
    let verdicts = participant
        .explain_match(writer.guid, reader.guid)
        .ok_or_else(|| Failure::Negative("the writer or the reader has just left".into()))?;
    let codecs = Codecs::of(&writer.encoding, &reader.encoding);
    let matched = verdicts.iter().all(|it| it.passed);
    let batches_by_any = writer.is_foreign || !reader.is_foreign;
    let note = matched.then(|| codecs.note(batches_by_any)).flatten();
    let rules = verdicts.iter().map(|it| rule(it, codecs, note.as_ref()));
    Ok(Pair {
        topic: writer.topic.clone(),
        writer: writer.guid.to_string(),
        reader: reader.guid.to_string(),
        matched,
        rules: rules.chain([security()]).collect(),
    })
}

fn rule(verdict: &RuleVerdict, codecs: Codecs, note: Option<&String>) -> Rule {
    let is_of_codecs = verdict.policy == Some(PolicyId::DataRepresentation);
    Rule {
        advice: (!verdict.passed).then(|| advice(verdict, codecs)),
        note: note.filter(|_| is_of_codecs).cloned(),
        rule: verdict.rule,
        writer: verdict.writer.clone(),
        reader: verdict.reader.clone(),
        passed: Some(verdict.passed),
    }
}

/// Listed so that nobody wonders: there is no DDS Security here that could stand in the way.
fn security() -> Rule {
    Rule {
        rule: "security",
        writer: "none".into(),
        reader: "none".into(),
        passed: None,
        advice: None,
        note: None,
    }
}

/// What to change for a rule to pass.
fn advice(verdict: &RuleVerdict, codecs: Codecs) -> Cow<'static, str> {
    let text = match verdict.policy {
        None if verdict.rule == "topic name" => {
            "give both the same topic name; letters count, and ROS 2 puts `rt/` in front of its own"
        }
        None if verdict.rule == "type name" => {
            "give both types the same name, modules included (`#[dds(rename = \"module::Name\")]`)"
        }
        None => "declare the same key members on both sides",
        Some(PolicyId::Partition) => "give publisher and subscriber a partition in common",
        Some(PolicyId::Reliability) => "make the writer RELIABLE, or the reader BEST_EFFORT",
        Some(PolicyId::Durability) => {
            "make the writer at least as durable as the reader asks, or ask for VOLATILE"
        }
        Some(PolicyId::Deadline) => {
            "offer a period no longer than the reader's, or have the reader ask for a longer one"
        }
        Some(PolicyId::LatencyBudget) => {
            "offer a budget no longer than the reader's, or have the reader ask for a longer one"
        }
        Some(PolicyId::Ownership) => "make both SHARED or both EXCLUSIVE",
        Some(PolicyId::Liveliness) => {
            "offer a kind as strong and a lease no longer than the reader asks for"
        }
        Some(PolicyId::DestinationOrder) => {
            "make the writer's BY_SOURCE_TIMESTAMP, or the reader's BY_RECEPTION_TIMESTAMP"
        }
        Some(PolicyId::Presentation) => {
            "offer at least the access scope, coherence and order that the subscriber asks for"
        }
        Some(PolicyId::DataRepresentation) => return codecs.advice().into(),
        Some(_) => "give both sides the same value",
    };
    text.into()
}

fn print(pair: &Pair, output: &mut Output) -> Result<(), Failure> {
    let name = clean(&pair.topic);
    let topic = output.paint(Style::Bold, &name);
    output.line(&format!(
        "{topic}: writer {} and reader {}",
        pair.writer, pair.reader
    ))?;
    for it in &pair.rules {
        let mark = match it.passed {
            Some(true) => output.paint(Style::Good, "pass"),
            Some(false) => output.paint(Style::Bad, "FAIL"),
            None => output.paint(Style::Dim, "n/a "),
        };
        let (writer, reader) = (clean(&it.writer), clean(&it.reader));
        let values = if writer == reader {
            format!("both {writer}")
        } else {
            format!("writer {writer}, reader {reader}")
        };
        output.line(&format!("  {mark}  {:<20}  {values}", it.rule))?;
        if let Some(advice) = &it.advice {
            output.line(&format!("        change: {advice}"))?;
        }
        if let Some(note) = &it.note {
            output.line(&format!("        note: {note}"))?;
        }
    }
    let failed = pair.rules.iter().filter(|it| it.passed == Some(false));
    let failed = failed.count();
    let verdict = if pair.matched {
        output.paint(Style::Good, "they match")
    } else {
        let text = format!("they do not match: {} failed", count_of(failed, "rule"));
        output.paint(Style::Bad, &text)
    };
    output.line(&format!("  => {verdict}"))
}
