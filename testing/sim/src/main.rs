//! Plays many seeds and says what was found.

use std::process::ExitCode;

use whimbrel_sim::crowd::{CrowdSettings, gather};
use whimbrel_sim::random::TrafficHash;
use whimbrel_sim::scenario::Scenario;
use whimbrel_sim::world::play;

const USAGE: &str = "usage: whimbrel-sim [--seeds N] [--start S] [--seed S [--trace]] \
                     [--endpoints | --discovery] [--keep-going] [--costs]";

const CROWD_USAGE: &str = "usage: whimbrel-sim crowd --participants N [--endpoints M] \
                           [--no-multicast] [--seed S]";

#[derive(Debug)]
struct Options {
    start: u64,
    seeds: u64,
    trace: bool,
    keep_going: bool,
    costs: bool,
    endpoints: bool,
    discovery: bool,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        start: 0,
        seeds: 100,
        trace: false,
        keep_going: false,
        costs: false,
        endpoints: true,
        discovery: true,
    };
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().ok_or(format!("{word} needs a number"))?;
            text.parse().map_err(|_| format!("{text} is not a number"))
        };
        match word.as_str() {
            "--seeds" => options.seeds = number()?,
            "--start" => options.start = number()?,
            "--seed" => (options.start, options.seeds) = (number()?, 1),
            "--trace" => options.trace = true,
            "--costs" => options.costs = true,
            "--keep-going" => options.keep_going = true,
            "--endpoints" => options.discovery = false,
            "--discovery" => options.endpoints = false,
            _ => return Err(format!("what is {word}? {USAGE}")),
        }
    }
    Ok(options)
}

/// `crowd --participants N [--endpoints M] [--no-multicast] [--seed S]`
fn crowd(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let mut settings = CrowdSettings {
        participants: 125,
        endpoints: 10,
        multicast: true,
        seed: 0,
    };
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().ok_or(format!("{word} needs a number"))?;
            text.parse::<u64>()
                .map_err(|_| format!("{text} is not a number"))
        };
        match word.as_str() {
            "--participants" => settings.participants = number()?.max(2) as usize,
            "--endpoints" => settings.endpoints = number()? as usize & !1,
            "--seed" => settings.seed = number()?,
            "--no-multicast" => settings.multicast = false,
            _ => return Err(format!("what is {word}? {CROWD_USAGE}")),
        }
    }
    let outcome = gather(settings);
    println!("{outcome}");
    Ok(match outcome.converged_after {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    })
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == "crowd").is_some() {
        return crowd(words).unwrap_or_else(|text| {
            eprintln!("{text}");
            ExitCode::from(2)
        });
    }
    let options = match parse(words) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    let mut hash = TrafficHash::EMPTY;
    let mut findings = 0;
    let mut done = 0;
    for seed in options.start..options.start.saturating_add(options.seeds) {
        for discovery in [false, true] {
            let wanted = if discovery {
                options.discovery
            } else {
                options.endpoints
            };
            if !wanted {
                continue;
            }
            let scenario = Scenario::new(seed, discovery);
            let outcome = play(&scenario, options.trace);
            hash.add(outcome.hash);
            if options.trace {
                print!("{scenario}");
            }
            if options.costs {
                println!(
                    "seed {seed}: {} octets sent for {}, at rest {:?} after healing, {} steps",
                    outcome.sent_bytes, outcome.useful_bytes, outcome.settled_after, outcome.steps
                );
            }
            if !outcome.findings.is_empty() {
                findings += outcome.findings.len();
                print!("{scenario}");
                for finding in &outcome.findings {
                    println!("FOUND (seed {seed}): {finding}");
                }
            }
        }
        done += 1;
        if findings > 0 && !options.keep_going {
            break;
        }
        if done % 250 == 0 && done < options.seeds {
            println!("{done} seeds played");
        }
    }
    println!(
        "simulation: {done} seeds, {findings} findings, {:016x} traffic hash",
        hash.value()
    );
    if findings > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
