//! The referee: `whimbrel-bench BENCH [OPTION]...`. Ends with 1 when a goal was missed.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use whimbrel_bench::arguments::{Arguments, Bench, USAGE};
use whimbrel_bench::goal::Goal;
use whimbrel_bench::{calls, footprint, latency, polling, throughput};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|it| matches!(&it[..], "--help" | "-h")) {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::parse(&words) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprint!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut report = match arguments.bench {
        Bench::Latency => latency::run(arguments)?,
        Bench::Throughput => throughput::run(arguments)?,
        Bench::Calls => calls::run(arguments)?,
        Bench::Polling => polling::run(arguments)?,
        Bench::Footprint => footprint::run(arguments)?,
    };
    let proofs = arguments.proofs.iter();
    let proved = proofs.map(|(name, failed)| Goal::proved(name, *failed));
    report.goals.extend(proved);
    print!("{}", report.text());
    report.write(&arguments.out)?;
    Ok(report.met())
}
