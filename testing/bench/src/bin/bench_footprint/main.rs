//! Whimbrel as a small program: what exists costs something, even when nothing happens.
//!
//! A program of its own, so that what is measured is the library as a user's program would have it,
//! without what other benches need.
#![forbid(unsafe_code)]

mod crowd;

use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};

use whimbrel::{
    DataReader, DataReaderListener, DataReaderQos, DomainParticipant, Error, StatusKind,
};
use whimbrel_bench::exchange::{Ends, Msg, PATIENCE, Qos};
use whimbrel_bench::protocol::{
    ANSWERED, option, run_program, serve_lines, serve_numbers, stand_by,
};

fn main() -> ExitCode {
    run_program("bench_footprint", run)
}

fn run(words: &[String]) -> Result<(), String> {
    let [bench, role, side, ..] = words else {
        return Err("footprint ROLE SIDE OPTION...".into());
    };
    let domain = option(words, "--domain")?;
    let domain: u32 = domain.parse().map_err(|_| "bad domain")?;
    match (bench.as_str(), role.as_str()) {
        ("footprint", "match") => meet(domain, side == "a"),
        ("footprint", "hold") => hold(domain),
        ("footprint", "crowd") => crowd::hold(domain),
        _ => Err(format!("no {role} of {bench}")),
    }
}

/// Tells that a sample came.
struct Telling(Sender<()>);

impl DataReaderListener<Msg> for Telling {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        if let Ok(Some(sample)) = reader.take_next_sample()
            && sample.data().is_some()
        {
            // Nobody waits any more when it was given up.
            let _ = self.0.send(());
        }
    }
}

/// A writer and a reader, each matched with the other process. The first answers every sample; the
/// other writes one for each line of its input.
fn meet(domain: u32, first: bool) -> Result<(), String> {
    let topics = if first { ["a", "b"] } else { ["b", "a"] };
    let participant = DomainParticipant::new(domain).map_err(|error| error.to_string())?;
    let ends = Ends::new(&participant, topics, &Qos::default());
    let ends = ends.map_err(|error| error.to_string())?;
    if first {
        ends.echo();
        ends.meet()?;
        return stand_by();
    }
    let (sender, answers) = channel();
    let telling = Box::new(Telling(sender));
    ends.reader
        .set_listener(Some(telling), StatusKind::DataAvailable);
    ends.meet()?;
    serve_lines(|_| {
        let written = ends.writer.write(&Msg::default());
        written.map_err(|error| error.to_string())?;
        let answered = answers.recv_timeout(PATIENCE);
        answered.map_err(|error| format!("no answer: {error}"))?;
        Ok(ANSWERED.to_owned())
    })
}

/// A participant, and as many readers as each line of the input says.
fn hold(domain: u32) -> Result<(), String> {
    let participant = DomainParticipant::new(domain).map_err(|error| error.to_string())?;
    let mut readers = Vec::new();
    serve_numbers(|count| {
        let more = (0..count).map(|_| one_more(&participant));
        let more: Result<Vec<_>, Error> = more.collect();
        readers.extend(more.map_err(|error| error.to_string())?);
        Ok(())
    })
}

fn one_more(participant: &DomainParticipant) -> Result<DataReader<Msg>, Error> {
    let topic = participant.create_topic::<Msg>("many")?;
    participant.create_datareader(&topic, DataReaderQos::default())
}
