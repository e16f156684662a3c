//! The raw contestant: UDP datagrams with as many octets as a bus needs for the same sample.
#![forbid(unsafe_code)]

mod datagram;
mod latency;
mod receive;
mod throughput;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.first().map(String::as_str) {
        Some("latency") => latency::run(&words),
        Some("throughput") => throughput::run(&words),
        _ => Err("no such bench".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench_raw {}: {why}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}
