//! Whimbrel as a contestant, by its public API alone.
#![forbid(unsafe_code)]

mod ends;
mod keyed;
mod local;
mod ping;
mod pong;
mod settings;

use std::process::ExitCode;

use whimbrel_bench::exchange::{Msg, Stream};
use whimbrel_bench::protocol::{option, run_program, serve};

fn main() -> ExitCode {
    run_program("bench_whimbrel", run)
}

fn run(words: &[String]) -> Result<(), String> {
    if let [word, bench] = words
        && word == "settings"
    {
        println!("{}", settings::of(bench)?);
        return Ok(());
    }
    let [bench, role, mode, ..] = words else {
        return Err("BENCH ROLE MODE OPTION...".into());
    };
    let domain: u32 = option(words, "--domain")?
        .parse()
        .map_err(|_| "bad domain")?;
    let number = |key: &str| -> Result<usize, String> {
        let text = option(words, key)?;
        text.parse().map_err(|_| format!("{key} {text}: no number"))
    };
    match (bench.as_str(), role.as_str()) {
        ("latency", "ping") if mode == "in-process" => {
            let local = local::Local::new(domain, false)?;
            serve(|order| local.block(order))
        }
        ("latency", "ping") if mode == "in-process-shared" => {
            let local = local::Local::new(domain, true)?;
            serve(|order| local.block_shared(order))
        }
        ("latency", "ping") if mode == "keyed" => {
            let ends = keyed::Ends::asking(domain)?;
            serve(|order| ends.block(order))
        }
        ("latency", "pong") if mode == "keyed" => keyed::answer(domain),
        ("latency", "ping") => {
            let mut ping = ping::Ping::new(domain, mode)?;
            serve(|order| ping.block(order))
        }
        ("latency", "pong") => pong::run(domain, mode),
        ("throughput", "pub" | "pubs") => {
            let payload = vec![0x55; number("--size")?];
            let payload = payload.into();
            let sample = Msg { seq: 0, payload };
            let (stream, readers) = (Stream::new(domain, mode)?, number("--number")?);
            if role == "pub" {
                return stream.write(readers, sample, Ok);
            }
            stream.write_by_threads((number("--writers")?, readers), &sample)
        }
        ("throughput", "sub") => Stream::new(domain, mode)?.read(number("--size")?),
        _ => Err(format!("no {role} of {bench}")),
    }
}
