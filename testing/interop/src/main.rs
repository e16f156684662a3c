//! Whimbrel among other implementations, live.
//!
//! Three programs in one: `peer` is Whimbrel behind the command line and the lines that every live
//! peer has (`testing/interop/README.md`), written on the public API alone; `run` starts peers of
//! all products against it, compares what one says it sent with what the other says it received,
//! and prints a table; `depth` plays with them what takes longer: restarts, loss, back-pressure, a
//! mesh, the other order of octets. It must never count a case as passed that was not run.
#![forbid(unsafe_code)]

mod checksum;
mod depth;
mod matrix;
mod peer;
mod previous;

use std::process::ExitCode;

const USAGE: &str = "usage:
  whimbrel-interop peer pub|sub|mesh --topic NAME --type shape|keyless|telemetry [OPTION]...
  whimbrel-interop run [--peer cyclone|cyclone_py|fastdds|whimbrel|whimbrel-previous]
                       [--case TEXT] [--jobs N] [--peers-dir DIR] [--list] [--no-captures]
  whimbrel-interop depth [--seconds S] [--full] [--peer NAME] [--case TEXT] [--jobs N]
                         [--peers-dir DIR] [--list]
The options of `peer` are in testing/interop/README.md.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((verb, rest)) if verb == "peer" => peer::main(rest),
        Some((verb, rest)) if verb == "run" => matrix::main(rest),
        Some((verb, rest)) if verb == "depth" => depth::main(rest),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
