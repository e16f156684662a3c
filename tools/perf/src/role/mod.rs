//! The processes that are measured, when they are ours: they answer lines, and know nothing of what
//! becomes of their figures.

mod ends;
mod local;
mod open;
mod ping;
mod raw;
pub(crate) mod stages;
mod words;

use whimbrel_bench::exchange::{Counters, Stream};
use whimbrel_bench::protocol::{serve, serve_lines};

use ends::Sample;
use words::number;

/// Plays the role that `words` name: `BENCH ROLE MODE OPTION...`.
///
/// # Errors
/// Words that name none, or what stopped it.
pub(crate) fn play(words: &[String]) -> Result<(), String> {
    let [bench, role, mode, ..] = words else {
        return Err("role: PRODUCT BENCH ROLE MODE OPTION...".into());
    };
    let domain = number(words, "--domain")? as u32;
    let sample = || Sample::new(words);
    match (bench.as_str(), role.as_str(), mode.as_str()) {
        ("raw-latency", "ping", _) => {
            let ping = raw::Ping::new(words)?;
            serve(|order| ping.block(order))
        }
        ("raw-latency", "pong", _) => raw::pong(words),
        ("raw-throughput", "pub", _) => raw::blast(words),
        ("raw-throughput", "sub", _) => raw::count(words),
        ("latency", "ping", "in-process") => {
            let local = local::Local::new(domain, sample()?, words)?;
            serve(|order| local.block(order))
        }
        ("latency", "ping", _) => {
            let ping = ping::Ping::new(domain, sample()?, words)?;
            serve_lines(|line| ping.answer(line))
        }
        ("latency", "pong", _) => {
            let ends = ends::open(domain, ["pong", "ping"], words)?;
            ends.echo();
            serve_lines(|_| Ok(Counters::of(&ends.writer).to_string()))
        }
        ("stages", "ping", _) => {
            let asking = stages::Asking::new(domain, sample()?, words)?;
            serve_lines(|line| asking.answer(line))
        }
        ("stages", "pong", _) => {
            let answering = stages::Answering::new(domain, words)?;
            serve_lines(|_| Ok(answering.answer()))
        }
        ("throughput", "pub", _) => {
            let sample = sample()?.of(number(words, "--size")?)?;
            let stream = Stream::new(domain, mode)?;
            stream.write(1, sample, |qos| ends::turned(qos, words))
        }
        ("throughput", "sub", _) => Stream::new(domain, mode)?.read(number(words, "--size")?),
        _ => Err(format!("no {role} {mode} of {bench}")),
    }
}
