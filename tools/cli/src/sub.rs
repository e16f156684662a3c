//! `whimbrel sub`: the samples of a topic.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use whimbrel::DomainParticipant;
use whimbrel::domain::DiscoveredWriter;

use crate::bus;
use crate::failure::Failure;
use crate::options::{BusOptions, SubOptions};
use crate::output::{Output, Style, clean, count_of, hex, topics_there};
use crate::source::{self, Content, Received};
use crate::stop;
use crate::time;

/// Octets of a payload on one line.
const OCTETS_PER_LINE: usize = 16;

/// A sample, as JSON shows it.
#[derive(Serialize, Debug)]
struct Row<'a> {
    topic: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    source_timestamp: Option<String>,
    reception_timestamp: String,
    writer: String,
    instance: String,
    instance_state: String,
    valid_data: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// How long to wait for a writer before saying what is waited for.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// Why octets are shown of a sample whose type is known.
const UNDECODABLE: &str = "the payload is not of its type";

pub(crate) fn run(
    options: &BusOptions,
    args: &SubOptions,
    output: &mut Output,
) -> Result<(), Failure> {
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let participant = bus::join(options, "sub")?;
    let writer = find_writer(&participant, options, args, deadline)?;
    let source = source::open(&participant, &writer, args.hex)?;
    let reason = source::reason_for_octets(&writer.type_name, args.hex);
    if let (Some(reason), false) = (&reason, output.json) {
        let note = format!("# payloads in hexadecimal: {}", clean(reason));
        output.line(&output.paint(Style::Dim, &note))?;
    }
    let reason = reason.as_deref().unwrap_or(UNDECODABLE);
    let mut seen = 0;
    while args.count.is_none_or(|count| seen < count) {
        if !source.wait(stop::slice(deadline)?) {
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break;
            }
            continue;
        }
        for received in source.take()? {
            if args.count.is_some_and(|count| seen >= count) {
                break;
            }
            print(&writer, &received, reason, output)?;
            seen += 1;
        }
    }
    let wanted = args.count.unwrap_or(1);
    if seen < wanted {
        let seen = count_of(usize::try_from(seen).unwrap_or(usize::MAX), "sample");
        return Err(Failure::Negative(format!(
            "{seen} of topic {:?} came within the time allowed",
            args.topic
        )));
    }
    Ok(())
}

fn topics_written(participant: &DomainParticipant) -> String {
    let writers = participant.discovered_writers();
    topics_there(writers.iter().map(|it| it.topic_name.as_str()))
}

/// Waits for a writer of the topic; its type and QoS are what we read with.
fn find_writer(
    participant: &DomainParticipant,
    options: &BusOptions,
    args: &SubOptions,
    deadline: Option<Instant>,
) -> Result<DiscoveredWriter, Failure> {
    let mut found = None;
    let mut note_at = (!options.json).then(|| Instant::now() + SILENCE_MAX);
    let deadline = deadline.or(options.wait.map(|wait| Instant::now() + wait));
    loop {
        participant.wait_for_discovery(stop::slice(deadline)?, |it| {
            let mut writers = it.discovered_writers().into_iter();
            found = writers.find(|writer| writer.topic_name == args.topic);
            found.is_some()
        });
        if found.is_none() && note_at.is_some_and(|at| at <= Instant::now()) {
            note_at = None;
            let (topic, there) = (&args.topic, topics_written(participant));
            eprintln!("whimbrel: waiting for a writer of topic {topic:?}; {there}");
        }
        match found.take() {
            Some(writer) => return Ok(writer),
            None if deadline.is_none_or(|deadline| Instant::now() < deadline) => {}
            None => {
                let (topic, there) = (&args.topic, topics_written(participant));
                return Err(Failure::Negative(format!(
                    "no writer of topic {topic:?} found; {there}"
                )));
            }
        }
    }
}

fn print(
    writer: &DiscoveredWriter,
    received: &Received,
    reason: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let info = &received.info;
    let stamp = (!info.source_timestamp.is_invalid()).then(|| time::utc(info.source_timestamp.0));
    if output.json {
        let (data, payload) = match &received.content {
            Content::Known(value) => (Some(value), None),
            Content::Octets(octets) => (None, Some(hex(octets))),
        };
        return output.object(&Row {
            topic: &writer.topic_name,
            type_name: &writer.type_name,
            source_timestamp: stamp,
            reception_timestamp: time::utc(info.reception_timestamp.0),
            writer: received.writer().to_string(),
            instance: info.instance_handle.to_string(),
            instance_state: info.instance_state.to_string(),
            valid_data: info.valid_data,
            data,
            reason: payload.is_some().then_some(reason),
            payload,
        });
    }
    let stamp = stamp.unwrap_or_else(|| time::utc(info.reception_timestamp.0));
    let stamp = output.paint(Style::Dim, &stamp);
    let state = if info.valid_data {
        String::new()
    } else {
        format!(
            " {}",
            output.paint(Style::Warning, &info.instance_state.to_string())
        )
    };
    match &received.content {
        Content::Known(value) => {
            let value = clean(&value.to_string());
            output.line(&format!("{stamp}{state} {value}"))
        }
        Content::Octets(octets) => {
            let what = encapsulation(octets);
            output.line(&format!(
                "{stamp}{state} {}, {what}",
                count_of(octets.len(), "octet")
            ))?;
            octets
                .chunks(OCTETS_PER_LINE)
                .enumerate()
                .try_for_each(|(at, line)| output.line(&dump(at * OCTETS_PER_LINE, line)))
        }
    }
}

/// What the first octets of a payload say of the rest.
fn encapsulation(octets: &[u8]) -> String {
    let Some(id) = octets.first_chunk::<2>() else {
        return "no payload".into();
    };
    let id = u16::from_be_bytes(*id);
    let endian = if id & 1 == 0 { "big" } else { "little" };
    match id & !1 {
        0x0000 => format!("XCDR1 {endian}-endian"),
        0x0002 => format!("XCDR1 parameter list {endian}-endian"),
        0x0006 => format!("XCDR2 {endian}-endian"),
        0x0008 => format!("XCDR2 delimited {endian}-endian"),
        0x000a => format!("XCDR2 parameter list {endian}-endian"),
        _ => format!("encapsulation {id:#06x}"),
    }
}

fn dump(offset: usize, octets: &[u8]) -> String {
    let digits: Vec<_> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    let letters: String = octets
        .iter()
        .map(|octet| match octet {
            b' '..=b'~' => char::from(*octet),
            _ => '.',
        })
        .collect();
    let width = OCTETS_PER_LINE * 3 - 1;
    format!("  {offset:06x}  {:width$}  {letters}", digits.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_show_digits_and_letters() {
        assert_eq!(
            dump(16, b"Blue\0"),
            format!("  000010  {:47}  Blue.", "42 6c 75 65 00")
        );
        assert_eq!(encapsulation(&[0, 7, 0, 0]), "XCDR2 little-endian");
        assert_eq!(encapsulation(&[]), "no payload");
    }
}
