//! `cargo xtask COMMAND`: the repository's own automation.
//!
//! `tidy` checks the shape of the tree, `setup` installs what the tests need, `test` runs
//! everything, `licences` checks the licences of third-party crates, `features` builds with fewer
//! of the optional parts, `survive` proves that the bus survives, `bench` measures it beside
//! others. Nothing here is needed by a user of Whimbrel, and
//! nothing here may change a file of the tree.

mod api;
mod bench;
mod disk;
mod failures;
mod features;
mod guided;
mod licences;
mod metadata;
mod ordered;
mod process;
mod setup;
mod steps;
mod survive;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy [--citations]   check the shape of the tree; --citations lists cited sections instead
  setup [--rust-peers] install the peers and tools that the tests need; --rust-peers builds
                       RustDDS and Dust DDS for whimbrel-perf instead
  test [--only NAME]   run every step, or the one named; --list names them
  nightly [--only NAME]
                       what takes too long for every change, in the same way
  api [--print]        compare the public API with what releases promised; --print lists it
  features             build the codecs with no feature and with each alone, and the public crate
                       without those that are on by default
  licences             check the licences of all third-party crates against deny.toml
  survive --minutes N | --full [--only NAME] [--but-open]
                       prove that the bus survives: attacks, fuzzing, simulation, churn, scale,
                       bad networks, other vendors; one line each; --but-open leaves out what is
                       known not to hold yet, and says so
  bench latency|throughput|calls|polling|footprint|bytes|perftool [--quick] [OPTION]...
                       measure Whimbrel beside the raw socket and its peers, interleaved in one
                       run; prints goals and fails when one is missed; needs root; --guided: built
                       once more, guided by a profile of quick runs (not footprint and after)
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(),
        ["tidy", "--citations"] => tidy::citations(),
        ["setup"] => setup::run(),
        ["setup", "--rust-peers"] => setup::rust_peers(),
        ["test", rest @ ..] => table(steps::STEPS, rest),
        ["nightly", rest @ ..] => table(steps::NIGHTLY, rest),
        ["api"] => api::check(),
        ["api", "--print"] => api::print(),
        ["features"] => features::run(),
        ["licences"] => licences::run(),
        ["survive", rest @ ..] => survive::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => Err(USAGE.to_owned()),
        words => Err(not_understood(words)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // `test` has said everything, and its totals stay the last line of both outputs.
            if !why.is_empty() {
                eprintln!("{}", why.trim_end());
            }
            ExitCode::FAILURE
        }
    }
}

fn table(steps: &[steps::Step], words: &[&str]) -> Result<(), String> {
    match words {
        [] => test::run(steps, None),
        ["--list"] => test::list(steps),
        ["--only", name] => test::run(steps, Some(name)),
        words => Err(not_understood(words)),
    }
}

fn not_understood(words: &[&str]) -> String {
    format!("xtask: not understood: {}\n{USAGE}", words.join(" "))
}
