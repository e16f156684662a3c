//! Replays all corpora on a stable toolchain: `replay [TARGET...]`.
//!
//! It runs itself again with a bound on its memory, so that an allocation by a claimed size ends
//! it; panics and inputs that take too long fail it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use whimbrel_fuzz_targets::replay::{Effort, replay};
use whimbrel_fuzz_targets::{TARGETS, Target, bounded, corpus};

fn main() -> ExitCode {
    if !bounded::is_bounded() {
        return bounded::run_again();
    }
    std::panic::set_hook(Box::new(|_| {}));
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let chosen = TARGETS
        .iter()
        .filter(|(n, _)| wanted.is_empty() || wanted.iter().any(|w| w == n));
    let reports: Vec<Result<(), String>> = chosen.map(|(name, run)| report(name, *run)).collect();
    for why in reports.iter().filter_map(|report| report.as_ref().err()) {
        eprintln!("{why}");
    }
    if reports.is_empty() {
        eprintln!("no such target");
    }
    match !reports.is_empty() && reports.iter().all(Result::is_ok) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn report(name: &str, target: Target) -> Result<(), String> {
    // Named first, so that an input that ends the process can be blamed on its target.
    eprintln!("replay {name}");
    let begin = Instant::now();
    let inputs = corpus::inputs(name).map_err(|e| format!("{name}: corpus: {e}"))?;
    if inputs.is_empty() {
        return Err(format!("{name}: the corpus is empty"));
    }
    let (mut runs, mut slowest, mut failures) = (0, Duration::ZERO, Vec::new());
    for input in &inputs {
        let outcome = replay(target, &input.name, &input.bytes, Effort::FULL);
        runs += outcome.runs;
        slowest = slowest.max(outcome.slowest);
        failures.extend(
            outcome
                .failures
                .into_iter()
                .map(|line| format!("{name}: {line}")),
        );
    }
    let (count, took) = (inputs.len(), begin.elapsed().as_secs_f64());
    let worst = slowest.as_secs_f64() * 1e6;
    println!("{name:<22} {count:>4} inputs {runs:>8} runs {took:>6.1} s  slowest {worst:>7.0} us");
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n"))
    }
}
