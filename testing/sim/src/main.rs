//! Plays many seeds, or one script, or has a crowd meet, and says what was found.

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use whimbrel_sim::campaign::{Campaign, Tally, kind_of, run, try_play};
use whimbrel_sim::crowd::{CrowdSettings, gather};
use whimbrel_sim::scenario::{Kind, Scenario, script};
use whimbrel_sim::shrink::shrink;
use whimbrel_sim::world::Outcome;

const USAGE: &str = "usage: whimbrel-sim [--seeds N | --seconds S] [--start SEED] [--jobs N]
                    [--kind given|discovery|wide] [--keep-going] [--scripts DIR]
       whimbrel-sim --seed SEED [--kind KIND] [--trace]
       whimbrel-sim replay FILE [--trace]
       whimbrel-sim crowd --participants N [--endpoints M] [--observed K]
                    [--no-multicast] [--seed S]";

/// Plays spent on making one finding short.
const SHRINK_PLAYS: usize = 600;

/// Findings made short and printed in full; of the others a line is enough.
const SHRUNK_MAX: u64 = 5;

#[derive(Debug)]
struct Options {
    campaign: Campaign,
    seconds: Option<u64>,
    one: bool,
    trace: bool,
    scripts: Option<String>,
}

/// Seeds that were never tried before, as far as the clock tells.
fn fresh_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| it.as_millis() as u64) << 8
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        campaign: Campaign {
            start: 0,
            seeds: 100,
            kind: None,
            keep_going: false,
            jobs: 1,
        },
        seconds: None,
        one: false,
        trace: false,
        scripts: None,
    };
    let mut start = None;
    while let Some(word) = words.next() {
        let mut text = || words.next().ok_or(format!("{word} needs something"));
        let number = |text: String| {
            let parsed: Result<u64, _> = text.parse();
            parsed.map_err(|_| format!("{text} is not a number"))
        };
        let campaign = &mut options.campaign;
        match word.as_str() {
            "--seeds" => campaign.seeds = number(text()?)?,
            "--seconds" => options.seconds = Some(number(text()?)?),
            "--start" => start = Some(number(text()?)?),
            "--seed" => {
                (start, campaign.seeds) = (Some(number(text()?)?), 1);
                options.one = true;
            }
            "--jobs" => campaign.jobs = number(text()?)?.clamp(1, 64) as usize,
            "--kind" => campaign.kind = Some(kind(&text()?)?),
            "--trace" => options.trace = true,
            "--keep-going" => campaign.keep_going = true,
            "--scripts" => options.scripts = Some(text()?),
            _ => return Err(format!("what is {word}?\n{USAGE}")),
        }
    }
    if options.seconds.is_some() {
        options.campaign.seeds = u64::MAX;
        start = start.or_else(|| Some(fresh_seed()));
    }
    options.campaign.start = start.unwrap_or(0);
    Ok(options)
}

fn kind(name: &str) -> Result<Kind, String> {
    match name {
        "given" => Ok(Kind::Given),
        "discovery" => Ok(Kind::Discovery),
        "wide" => Ok(Kind::Wide),
        _ => Err(format!("no kind {name}\n{USAGE}")),
    }
}

fn crowd(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let mut settings = CrowdSettings {
        participants: 125,
        endpoints: 10,
        observed: usize::MAX,
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
            "--observed" => settings.observed = number()?.max(1) as usize,
            "--seed" => settings.seed = number()?,
            "--no-multicast" => settings.multicast = false,
            _ => return Err(format!("what is {word}?\n{USAGE}")),
        }
    }
    let outcome = gather(settings);
    println!("{outcome}");
    Ok(code(outcome.converged_after.is_some()))
}

fn replay(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let file = words.next().ok_or(USAGE)?;
    let trace = words.next().is_some_and(|word| word == "--trace");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let scenario = script::read(&text).map_err(|why| format!("{file}: {why}"))?;
    let outcome = try_play(&scenario, trace);
    tell(&outcome);
    Ok(code(outcome.findings.is_empty()))
}

fn tell(outcome: &Outcome) {
    for finding in &outcome.findings {
        println!("FOUND: {finding}");
    }
    println!(
        "{} findings, {} datagrams, {} octets sent for {}, matched {:?} and at rest {:?} after \
         healing, {} steps, {:016x} hash",
        outcome.findings.len(),
        outcome.datagrams,
        outcome.sent_bytes,
        outcome.useful_bytes,
        outcome.matched_after,
        outcome.settled_after,
        outcome.steps,
        outcome.hash,
    );
}

fn code(is_right: bool) -> ExitCode {
    if is_right {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Makes a finding short, prints it, and keeps it where scripts are kept.
fn report(options: &Options, scenario: &Scenario, kind: Kind, outcome: &Outcome) {
    let first = outcome.findings.first().cloned().unwrap_or_default();
    println!("FOUND (seed {}, {kind:?}): {first}", scenario.seed);
    let small = shrink(scenario, &first, SHRINK_PLAYS);
    let text = format!(
        "# {first}\n# from seed {}, {kind:?}\n{small}",
        scenario.seed
    );
    print!("{text}");
    if let Some(directory) = &options.scripts {
        let file = format!("{directory}/{kind:?}-{}.txt", scenario.seed).to_lowercase();
        match std::fs::write(&file, text) {
            Ok(()) => println!("kept as {file}"),
            Err(error) => println!("{file}: {error}"),
        }
    }
}

fn play_many(options: &Options) -> Tally {
    let started = Instant::now();
    let limit = options.seconds.map(Duration::from_secs);
    let enough = || limit.is_some_and(|limit| started.elapsed() >= limit);
    let shrunk = std::sync::atomic::AtomicU64::new(0);
    let on_finding = |scenario: &Scenario, kind, outcome: &Outcome| {
        if shrunk.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < SHRUNK_MAX {
            report(options, scenario, kind, outcome);
        } else {
            println!(
                "FOUND (seed {}, {kind:?}): {}",
                scenario.seed, outcome.findings[0]
            );
        }
    };
    let on_progress = |tally: &Tally| {
        if tally.seeds().is_multiple_of(1000) {
            println!("{tally}");
        }
    };
    println!("from seed {}", options.campaign.start);
    run(&options.campaign, enough, on_finding, on_progress)
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let done = if words.next_if(|word| word == "crowd").is_some() {
        crowd(words)
    } else if words.next_if(|word| word == "replay").is_some() {
        replay(words)
    } else {
        parse(words).map(|options| {
            if options.one {
                let seed = options.campaign.start;
                let scenario = Scenario::of(options.campaign.kind.unwrap_or(kind_of(seed)), seed);
                let outcome = try_play(&scenario, options.trace);
                print!("{scenario}");
                tell(&outcome);
                return code(outcome.findings.is_empty());
            }
            let tally = play_many(&options);
            println!("{tally}");
            code(tally.found == 0)
        })
    };
    done.unwrap_or_else(|text| {
        eprintln!("{text}");
        ExitCode::from(2)
    })
}
