//! A process of the crowd: some participants with endpoints, told by standard input what to do.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use whimbrel::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant};

/// How long a process waits for its endpoints to match before it says that they have not.
const PATIENCE: Duration = Duration::from_secs(240);

/// Wait between two looks at the matches.
const LOOK_PERIOD: Duration = Duration::from_millis(20);

/// What is written; never, here.
#[derive(DdsType, Debug)]
struct Word {
    text: String,
}

/// What a process holds.
struct Holding {
    participants: Vec<DomainParticipant>,
    writers: Vec<DataWriter<Word>>,
    readers: Vec<DataReader<Word>>,
}

/// What a process is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The domain to join.
    pub(super) domain: u32,
    /// Participants in the process.
    pub(super) participants: usize,
    /// Topics; each participant writes and reads every one.
    pub(super) topics: usize,
    /// Readers ask for reliability; else the default, best effort.
    pub(super) reliable: bool,
}

impl Shape {
    /// The words that [`Shape::parse`] reads.
    pub(super) fn words(&self) -> [String; 4] {
        [
            self.domain.to_string(),
            self.participants.to_string(),
            self.topics.to_string(),
            self.reliable.to_string(),
        ]
    }

    fn parse(words: &[String]) -> Option<Self> {
        let [domain, participants, topics, reliable] = words else {
            return None;
        };
        Some(Self {
            domain: domain.parse().ok()?,
            participants: participants.parse().ok()?,
            topics: topics.parse().ok()?,
            reliable: reliable.parse().ok()?,
        })
    }
}

/// Holds what `words` say until standard input ends.
pub(super) fn run(words: &[String]) -> ExitCode {
    let Some(shape) = Shape::parse(words) else {
        eprintln!("not a shape: {words:?}");
        return ExitCode::from(2);
    };
    let holding = match hold(shape) {
        Ok(holding) => holding,
        Err(error) => {
            say(&format!("failed {error}"));
            return ExitCode::FAILURE;
        }
    };
    say("ready");
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["wait", count] => say(holding.wait(count.parse().unwrap_or(usize::MAX))),
            ["report"] => say(&holding.report()),
            _ => break,
        }
    }
    ExitCode::SUCCESS
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone ends this process by the end of its input.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn hold(shape: Shape) -> Result<Holding, whimbrel::Error> {
    let mut holding = Holding {
        participants: Vec::new(),
        writers: Vec::new(),
        readers: Vec::new(),
    };
    let mut reader_qos = DataReaderQos::default();
    if shape.reliable {
        reader_qos = reader_qos.reliable();
    }
    for _ in 0..shape.participants {
        let participant = DomainParticipant::new(shape.domain)?;
        for number in 0..shape.topics {
            let topic = participant.create_topic::<Word>(&format!("crowd/topic_{number}"))?;
            let writer = participant.create_datawriter(&topic, DataWriterQos::default())?;
            let reader = participant.create_datareader(&topic, reader_qos.clone())?;
            holding.writers.push(writer);
            holding.readers.push(reader);
        }
        holding.participants.push(participant);
    }
    Ok(holding)
}

impl Holding {
    /// Waits until every endpoint is matched with `count` others.
    fn wait(&self, count: usize) -> &'static str {
        let deadline = std::time::Instant::now() + PATIENCE;
        while !self.is_matched(count) {
            if std::time::Instant::now() > deadline {
                return "late";
            }
            std::thread::sleep(LOOK_PERIOD);
        }
        "matched"
    }

    fn is_matched(&self, count: usize) -> bool {
        let writers = self.writers.iter();
        let mut writers = writers.map(|writer| writer.matched_subscriptions().len());
        let readers = self.readers.iter();
        let mut readers = readers.map(|reader| reader.matched_publications().len());
        writers.all(|own| own >= count) && readers.all(|own| own >= count)
    }

    /// Octets and datagrams sent and received, datagrams lost for want of room, participants that
    /// have a well-known port, matches.
    fn report(&self) -> String {
        let mut sums = [0u64; 7];
        for participant in &self.participants {
            let all = participant.diagnostics();
            let lost = all.sockets.iter().filter_map(|it| it.datagrams_dropped);
            let more = [
                all.sent.1,
                all.sent.0,
                all.received.1,
                all.received.0,
                lost.sum::<u64>() + all.send_dropped,
                u64::from(all.participant_index.is_some()),
                0,
            ];
            for (sum, more) in sums.iter_mut().zip(more) {
                *sum += more;
            }
        }
        let writers = self.writers.iter();
        sums[6] = writers
            .map(|writer| writer.matched_subscriptions().len() as u64)
            .sum();
        sums.map(|sum| sum.to_string()).join(" ")
    }
}
