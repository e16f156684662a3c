//! The raw contestant: UDP datagrams with as many octets as a bus needs for the same sample; and
//! processes that only keep cores busy, or hardly do anything.
#![forbid(unsafe_code)]

mod busy;
mod datagram;
mod end;
mod idle;
mod joined;
mod latency;
mod receive;
mod throughput;

use std::process::ExitCode;

use whimbrel_bench::protocol::run_program;

fn main() -> ExitCode {
    run_program("bench_raw", |words| {
        match words.first().map(String::as_str) {
            Some("busy") => busy::run(),
            Some("idle") => idle::run(words),
            Some("latency") => latency::run(words),
            Some("throughput") => throughput::run(words),
            _ => Err("no such bench".to_owned()),
        }
    })
}
