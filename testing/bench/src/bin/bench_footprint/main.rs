//! Whimbrel as a small program: what exists costs something, even when nothing happens.
//!
//! A program of its own, so that what is measured is the library as a user's program would have it,
//! without what other benches need.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use whimbrel::{DataReader, DataReaderQos, DomainParticipant, Error};
use whimbrel_bench::exchange::{Ends, Msg, Qos};
use whimbrel_bench::protocol::{option, run_program, serve_numbers, stand_by};

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
        _ => Err(format!("no {role} of {bench}")),
    }
}

/// A writer and a reader that answers, each matched with the other process.
fn meet(domain: u32, first: bool) -> Result<(), String> {
    let topics = if first { ["a", "b"] } else { ["b", "a"] };
    let participant = DomainParticipant::new(domain).map_err(|error| error.to_string())?;
    let ends = Ends::new(&participant, topics, &Qos::default());
    let ends = ends.map_err(|error| error.to_string())?;
    ends.echo();
    ends.meet()?;
    stand_by()
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
