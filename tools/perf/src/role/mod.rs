//! The processes that are measured, when they are ours: they answer lines, and know nothing of what
//! becomes of their figures.

mod ends;
mod local;
mod open;
mod ping;
mod pong;
mod raw;
mod stream;
mod words;

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
            let local = local::Local::new(domain, sample()?)?;
            serve(|order| local.block(order))
        }
        ("latency", "ping", _) => {
            let ping = ping::Ping::new(domain, sample()?)?;
            serve_lines(|line| ping.answer(line))
        }
        ("latency", "pong", _) => pong::run(domain),
        ("throughput", "pub", _) => stream::write(domain, mode, words),
        ("throughput", "sub", _) => stream::read(domain, mode),
        _ => Err(format!("no {role} {mode} of {bench}")),
    }
}
