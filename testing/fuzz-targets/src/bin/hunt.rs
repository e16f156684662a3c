//! Hunts for inputs that break a target: `hunt [--seconds S | --full] [--target T] [--seed N]`.
//!
//! What is found is made small and written into the corpus of its target; the same seed finds it
//! again. The last line is the figure.

use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use whimbrel_fuzz_targets::hunt::{Found, INPUT_MAX, Quarry};
use whimbrel_fuzz_targets::thread_time::thread_time;
use whimbrel_fuzz_targets::{bounded, corpus};

/// How long one target is tried before the next has its turn.
const TURN: Duration = Duration::from_millis(100);

/// How long the full form hunts.
const FULL: Duration = Duration::from_secs(600);

const USAGE: &str = "usage: hunt [--seconds S | --full] [--target NAME] [--seed N]";

struct Wanted {
    time: Duration,
    target: Option<String>,
    seed: u64,
}

fn main() -> ExitCode {
    if !bounded::is_bounded() {
        return bounded::run_again();
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = match wanted(&words) {
        Ok(wanted) => wanted,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match hunt(&wanted) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn wanted(words: &[String]) -> Result<Wanted, String> {
    let mut wanted = Wanted {
        time: Duration::from_secs(8),
        target: None,
        seed: 1,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--full" {
            wanted.time = FULL;
            continue;
        }
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        let bad = || format!("what is {word} {value}?");
        match word.as_str() {
            "--seconds" => {
                let seconds = value.parse().map_err(|_| bad())?;
                wanted.time = Duration::try_from_secs_f64(seconds).map_err(|_| bad())?;
            }
            "--target" => wanted.target = Some(value.clone()),
            "--seed" => wanted.seed = value.parse().map_err(|_| bad())?,
            _ => return Err(bad()),
        }
    }
    Ok(wanted)
}

/// How many targets were broken.
fn hunt(wanted: &Wanted) -> Result<usize, String> {
    std::panic::set_hook(Box::new(|_| {}));
    let begin = Instant::now();
    let quarries = Quarry::all(wanted.seed, wanted.target.as_deref());
    let mut quarries = quarries.map_err(|why| format!("corpora: {why}"))?;
    if quarries.is_empty() {
        return Err("there is no such target".to_owned());
    }
    let mut broken = Vec::new();
    while begin.elapsed() < wanted.time {
        for quarry in &mut quarries {
            let turn = Instant::now();
            // An input that ends the process can be blamed on its turn.
            eprintln!("{} from {}", quarry.name, quarry.tried);
            while turn.elapsed() < TURN && begin.elapsed() < wanted.time {
                if let Some(found) = quarry.try_next() {
                    report(wanted.seed, &found)?;
                    broken.push(found.target);
                    break;
                }
            }
        }
        let hunted = |name: &str| broken.contains(&name);
        quarries.retain(|quarry| !hunted(quarry.name));
        if quarries.is_empty() {
            break;
        }
    }
    for quarry in &quarries {
        let us = quarry.slowest.as_micros();
        println!(
            "{:<22} {:>9} inputs, slowest {us:>6} us",
            quarry.name, quarry.tried
        );
    }
    let tried: u64 = quarries.iter().map(|it| it.tried).sum();
    let slowest = quarries.iter().max_by_key(|it| it.slowest);
    let (name, us) = slowest.map_or(("none", 0), |it| (it.name, it.slowest.as_micros()));
    println!(
        "hunt: {tried} inputs of {} targets in {:.1} s of processor time, seed {}: {} broken; \
         slowest {us} us of {} ms ({name})",
        quarries.len(),
        thread_time().as_secs_f64(),
        wanted.seed,
        broken.len(),
        INPUT_MAX.as_millis(),
    );
    Ok(broken.len())
}

/// Writes the input into its corpus and says how to get it again.
fn report(seed: u64, found: &Found) -> Result<(), String> {
    let Found {
        target,
        index,
        why,
        bytes,
    } = found;
    let path = corpus::folder()
        .join(target)
        .join(format!("found-{seed}-{index}"));
    fs::write(&path, bytes).map_err(|why| format!("{}: {why}", path.display()))?;
    println!("{target}: {why}");
    println!("  {} octets in {}", bytes.len(), path.display());
    println!("  again by: hunt --target {target} --seed {seed} (input {index})");
    Ok(())
}
