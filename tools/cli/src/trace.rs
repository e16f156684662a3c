//! `whimbrel trace`: what happens on the bus, a line per event.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use serde::Serialize;
use whimbrel::DomainParticipant;
use whimbrel::base::guid::Guid;
use whimbrel::domain::DiscoveredWriter;

use crate::bus::{self, vendor_name};
use crate::failure::Failure;
use crate::glob;
use crate::options::{BusOptions, TraceOptions};
use crate::output::{Output, clean};
use crate::policies;
use crate::source::{self, Content, Received, Source};
use crate::stop;
use crate::time;

/// How often samples are looked for.
const TURN: Duration = Duration::from_millis(20);

/// How often the counters of the participant are told.
const COUNTERS_PERIOD: Duration = Duration::from_secs(1);

/// An event, as JSON shows it.
#[derive(Serialize, Debug)]
struct Event<'a> {
    time: String,
    level: &'a str,
    source: &'a str,
    text: &'a str,
}

/// Where events go.
struct Log<'a> {
    output: &'a mut Output,
    file: Option<BufWriter<File>>,
}

impl Log<'_> {
    fn say(&mut self, level: &str, source: &str, text: &str) -> Result<(), Failure> {
        let stamp = time::utc(i64::try_from(time::now_ns()).unwrap_or(i64::MAX));
        let (source, text) = (clean(source), clean(text));
        let line = format!("{stamp} {level:<5} {source}: {text}");
        if let Some(file) = &mut self.file {
            writeln!(file, "{line}").map_err(Failure::setup("writing the log"))?;
        }
        if self.output.json {
            return self.output.object(&Event {
                time: stamp,
                level,
                source: &source,
                text: &text,
            });
        }
        self.output.line(&line)
    }

    fn finish(mut self) -> Result<(), Failure> {
        match &mut self.file {
            Some(file) => file.flush().map_err(Failure::setup("writing the log")),
            None => Ok(()),
        }
    }
}

/// What is on the bus, each with the words that tell of it.
#[derive(Default)]
struct Picture {
    participants: BTreeMap<Guid, String>,
    writers: BTreeMap<Guid, String>,
    readers: BTreeMap<Guid, String>,
}

pub(crate) fn run(
    options: &BusOptions,
    args: &TraceOptions,
    output: &mut Output,
) -> Result<(), Failure> {
    let file = match &args.log {
        None => None,
        Some(path) => {
            let what = format!("creating {}", path.display());
            Some(BufWriter::new(
                File::create(path).map_err(Failure::setup(what))?,
            ))
        }
    };
    let mut log = Log { output, file };
    let participant = bus::join(options, "trace")?;
    log.say(
        "INFO",
        "participant",
        &format!(
            "joined domain {} as {}",
            participant.domain_id(),
            participant.guid()
        ),
    )?;
    for interface in participant.interfaces() {
        log.say("INFO", "interfaces", &format!("uses {interface}"))?;
    }
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let mut known = Picture::default();
    let mut sources: BTreeMap<String, Box<dyn Source>> = BTreeMap::new();
    let mut counters_at = Instant::now();
    let mut stopped = Ok(());
    while stopped.is_ok() && deadline.is_none_or(|deadline| Instant::now() < deadline) {
        participant.wait_for_discovery(TURN, |_| false);
        let writers = participant.discovered_writers();
        let new = picture(&participant, &writers);
        tell(&known, &new, &participant, &mut log)?;
        known = new;
        if let Some(pattern) = &args.topic {
            listen(&participant, &writers, pattern, &mut sources, &mut log)?;
        }
        for (topic, source) in &sources {
            for received in source.take()? {
                log.say("DEBUG", topic, &describe(&received))?;
            }
        }
        if counters_at.elapsed() >= COUNTERS_PERIOD {
            counters_at = Instant::now();
            log.say("DEBUG", "sockets", &counters(&participant))?;
        }
        stopped = stop::check();
    }
    log.say("INFO", "participant", "leaves")?;
    log.finish()?;
    stopped
}

fn picture(participant: &DomainParticipant, writers: &[DiscoveredWriter]) -> Picture {
    let mut picture = Picture::default();
    for it in participant.discovered_participants() {
        let text = format!(
            "{} {:?} of {} on {} at {}, lease {}",
            it.guid,
            it.name,
            vendor_name(it.vendor),
            it.host.as_deref().unwrap_or("unknown host"),
            it.address,
            it.lease
        );
        picture.participants.insert(it.guid, text);
    }
    for it in writers.iter().filter(|it| !it.is_local) {
        let qos = policies::line(&policies::of_writer(&it.qos, &it.partition));
        let text = format!("{} {}: {}, {qos}", it.guid, it.topic_name, it.type_name);
        picture.writers.insert(it.guid, text);
    }
    for it in participant.discovered_readers() {
        if !it.is_local {
            let qos = policies::line(&policies::of_reader(&it.qos, &it.partition));
            let text = format!("{} {}: {}, {qos}", it.guid, it.topic_name, it.type_name);
            picture.readers.insert(it.guid, text);
        }
    }
    picture
}

fn tell(
    old: &Picture,
    new: &Picture,
    participant: &DomainParticipant,
    log: &mut Log<'_>,
) -> Result<(), Failure> {
    let mut changes = |source: &str, old: &BTreeMap<Guid, String>, new: &BTreeMap<Guid, String>| {
        for (guid, text) in new {
            match old.get(guid) {
                None => log.say("INFO", source, &format!("found {text}"))?,
                Some(known) if known != text => {
                    log.say("INFO", source, &format!("changed {text}"))?;
                }
                Some(_) => {}
            }
        }
        for (guid, text) in old {
            if !new.contains_key(guid) {
                log.say("INFO", source, &format!("lost {text}"))?;
            }
        }
        Ok::<(), Failure>(())
    };
    changes("participants", &old.participants, &new.participants)?;
    changes("writers", &old.writers, &new.writers)?;
    changes("readers", &old.readers, &new.readers)?;
    for writer in new.writers.keys() {
        for reader in new.readers.keys() {
            if !old.writers.contains_key(writer) || !old.readers.contains_key(reader) {
                judge(participant, *writer, *reader, log)?;
            }
        }
    }
    Ok(())
}

/// Tells whether a new pair matches, where it is of one topic.
fn judge(
    participant: &DomainParticipant,
    writer: Guid,
    reader: Guid,
    log: &mut Log<'_>,
) -> Result<(), Failure> {
    let verdicts = participant
        .explain_match(writer, reader)
        .unwrap_or_default();
    let same_topic = |it: &whimbrel::RuleVerdict| it.rule == "topic name" && it.passed;
    if !verdicts.iter().any(same_topic) {
        return Ok(());
    }
    let failed: Vec<_> = verdicts.iter().filter(|it| !it.passed).collect();
    if failed.is_empty() {
        let text = format!(
            "{writer} and {reader} match by all {} rules",
            verdicts.len()
        );
        return log.say("INFO", "matches", &text);
    }
    failed.iter().try_for_each(|it| {
        let text = format!("{writer} and {reader} do not match: {it}");
        log.say("WARN", "matches", &text)
    })
}

/// Opens the topics that are new and wanted.
fn listen(
    participant: &DomainParticipant,
    writers: &[DiscoveredWriter],
    pattern: &str,
    sources: &mut BTreeMap<String, Box<dyn Source>>,
    log: &mut Log<'_>,
) -> Result<(), Failure> {
    for writer in writers.iter().filter(|it| !it.is_local) {
        let name = &writer.topic_name;
        if sources.contains_key(name) || !glob::matches(pattern, name) {
            continue;
        }
        match source::open(participant, writer, false) {
            Ok(source) => {
                sources.insert(name.clone(), source);
                log.say("INFO", name, &format!("reads {}", writer.type_name))?;
            }
            Err(failure) => {
                log.say("WARN", name, &format!("cannot be read: {failure:?}"))?;
            }
        }
    }
    Ok(())
}

fn describe(received: &Received) -> String {
    let state = if received.info.valid_data {
        String::new()
    } else {
        format!("{} ", received.info.instance_state)
    };
    let (from, to) = (
        received.info.source_timestamp,
        received.info.reception_timestamp,
    );
    let delay = to.0.saturating_sub(from.0);
    match &received.content {
        Content::Known(value) => format!("{state}{value} after {} us", delay / 1_000),
        Content::Octets(octets) => format!("{state}{} octets", octets.len()),
    }
}

fn counters(participant: &DomainParticipant) -> String {
    let it = participant.diagnostics();
    format!(
        "received {} datagrams with {} octets, sent {} with {}, refused {}",
        it.received.0,
        it.received.1,
        it.sent.0,
        it.sent.1,
        it.rejects.total()
    )
}
