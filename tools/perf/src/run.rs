//! The commands.

use std::path::Path;
use std::time::Instant;

use whimbrel_bench::goal::Goal;

use crate::again;
use crate::bytes;
use crate::claims;
use crate::compare;
use crate::contestant::Programs;
use crate::criteria::Criteria;
use crate::failure::Failure;
use crate::goals;
use crate::live;
use crate::measure::sustainable;
use crate::options::{Command, How};
use crate::passport;
use crate::progress::Progress;
use crate::report::model::{Outcome, Report, SCHEMA, Section, State};
use crate::report::{self, Histograms};
use crate::scenario::{ALL, CONSTANT, Extent, Scenario, Setting, What, peers_folder};
use crate::stop;
use crate::world::{Place, World};

/// Does what `command` says.
///
/// # Errors
/// What it could not do, or a criterion that was missed.
pub(crate) fn command(command: Command) -> Result<(), Failure> {
    stop::install()?;
    perform(command)
}

fn perform(command: Command) -> Result<(), Failure> {
    match command {
        Command::List => {
            list();
            Ok(())
        }
        Command::Run { scenarios, how } => {
            let mut all = Vec::new();
            for name in &scenarios {
                all.extend(Scenario::named(name)?);
            }
            measure(&all, &how)
        }
        Command::Reproduce { seed, how } => measure(&Scenario::of_seed(&seed)?, &how),
        Command::Again { report, out, peers } => {
            perform(again::command(&report, &out, peers)?)?;
            again::compare_with(&report, &out);
            Ok(())
        }
        Command::Live(what) => live::run(&what),
        Command::Goals { how } => goals(&how),
        Command::Bytes { how } => bytes::run(&setting(&how)?, &how.out),
        Command::Compare {
            a,
            b,
            race,
            sizes,
            expect,
        } => compare::compare([&a, &b], &race, &sizes, expect),
        Command::Crossover {
            a,
            b,
            race,
            from,
            to,
        } => compare::crossover([&a, &b], &race, [from, to]),
        Command::Rate { size, p99_max } => rate(size as usize, p99_max),
        Command::Sanity { criteria } => sanity(&criteria),
        Command::Role { .. } => Ok(()),
    }
}

fn list() {
    for scenario in ALL {
        let state = match scenario.what {
            What::Waiting(why) => format!("waiting: {why}"),
            _ => String::new(),
        };
        let (name, seed, title) = (scenario.name, scenario.seed, scenario.title);
        println!(
            "{name:<14} {seed:<5} {title}{}{state}",
            if state.is_empty() { "" } else { "; " }
        );
    }
}

fn setting(how: &How) -> Result<Setting, Failure> {
    let peers = how.peers.clone().unwrap_or_else(peers_folder);
    let extent = if how.miniature {
        Extent::Miniature
    } else if how.full {
        Extent::Full
    } else {
        Extent::Quick
    };
    Ok(Setting {
        programs: Programs::new(&peers).map_err(Failure::Setup)?,
        extent,
        payload: how.payload.clone(),
        sizes: how.sizes.iter().map(|it| *it as usize).collect(),
    })
}

/// Runs `scenarios` and writes the report after each, so that nothing measured is lost.
fn measure(scenarios: &[Scenario], how: &How) -> Result<(), Failure> {
    let setting = setting(how)?;
    how.payload
        .parse::<whimbrel_payload::Payload>()
        .map_err(|it| Failure::Setup(it.to_string()))?
        .octets(0, 1)
        .map_err(|it| Failure::Setup(it.to_string()))?;
    report::check(&how.out)?;
    let mut report = Report {
        schema: SCHEMA,
        command: format!("whimbrel-perf {}", portable(std::env::args().skip(1))),
        passport: passport::facts(&setting.programs),
        sections: Vec::new(),
        claims: Vec::new(),
    };
    let mut histograms = Histograms::new();
    let mut broken = None;
    let begun = Instant::now();
    for scenario in scenarios {
        let (section, outcome) = scenario.run(&setting, &mut histograms);
        say(&section);
        report.sections.push(section);
        report.claims = claims::judge(&report.sections);
        let took = format!("{} s", begun.elapsed().as_secs());
        report.passport.insert("took".into(), took);
        report::write(&report, &histograms, &how.out)?;
        match outcome {
            Err(Failure::Signal(number)) => return Err(Failure::Signal(number)),
            // The others may still run.
            Err(failure) => broken = broken.or(Some(failure)),
            Ok(()) => {}
        }
    }
    summarize(&report, &how.out);
    broken.map_or(Ok(()), Err)?;
    how.criteria.check(&report.sections)
}

/// The command line without folders, which say something on this machine only.
fn portable(words: impl Iterator<Item = String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut is_folder = false;
    for word in words {
        let begins = word.starts_with("--out") || word.starts_with("--peers");
        if !is_folder && !begins {
            kept.push(word);
            continue;
        }
        is_folder = begins && !word.contains('=');
    }
    kept.join(" ")
}

fn say(section: &Section) {
    let name = &section.name;
    match &section.state {
        State::Ran => {}
        State::Waiting(why) => println!("{name}: waiting: {why}"),
        State::Skipped(why) => println!("{name}: not run here: {why}"),
        State::Broke(why) => println!("{name}: broke off: {why}"),
    }
    for it in &section.latencies {
        println!(
            "{name}: {:>8} B  {:<18} {:>10.2} µs median, {:>10.2} µs mean, {:>9.2} µs min",
            it.size, it.contestant, it.p50_us, it.mean_us, it.min_us
        );
    }
    for it in &section.streams {
        println!(
            "{name}: {:>8} B  {:<22} {:>10.0} samples/s, {:.2} % lost",
            it.size, it.contestant, it.samples_per_s, it.lost_percent
        );
    }
    for it in &section.schedules {
        println!(
            "{name}: {:>8} B at {:>7}/s  {:>9.2} µs from the schedule, {:>9.2} µs from sending, \
             {} lost",
            it.size, it.rate, it.intended_p50_us, it.actual_p50_us, it.lost
        );
    }
    for it in &section.codecs {
        println!(
            "{name}: {:>8} B  {:<6} ratio {:>6.2}, {:>9.1} µs with a wire of 1 Gbit/s",
            it.size, it.codec, it.ratio, it.total_us
        );
    }
    for it in &section.savings {
        println!(
            "{name}: batch of {:>2}: {:.1} % saved, {:.1} % on the wire ({:.2} % published)",
            it.batch, it.saved_percent, it.wire_saved_percent, it.published_percent
        );
    }
}

fn summarize(report: &Report, out: &Path) {
    for it in &report.claims {
        if it.outcome != Outcome::Waiting {
            println!(
                "{}: {}: {} ({})",
                it.seed,
                it.claim,
                it.outcome.text(),
                it.figure
            );
        }
    }
    println!("report: {}", out.join("report.html").display());
}

fn rate(size: usize, p99_max: f64) -> Result<(), Failure> {
    let programs = Programs::new(&peers_folder()).map_err(Failure::Setup)?;
    let world = World::new(Place::Inter).map_err(Failure::Setup)?;
    let progress = Progress::new("rate", 12);
    println!("{CONSTANT}");
    let (best, rows) = sustainable(&world, &programs, size, p99_max, &progress)?;
    drop(progress);
    for row in &rows {
        let p99 = row
            .intended
            .percentile_us(0.99)
            .unwrap_or(row.intended.max_us());
        println!(
            "{:>8}/s: 99 % {p99:.1} µs from the schedule, {} of {} lost",
            row.rate, row.lost, row.sent
        );
    }
    match best {
        Some(rate) => {
            println!("{rate} samples/s of {size} B with nothing lost and 99 % within {p99_max} µs");
            Ok(())
        }
        None => Err(Failure::Missed(format!(
            "no rate keeps 99 % of samples of {size} B within {p99_max} µs"
        ))),
    }
}

fn goals(how: &How) -> Result<(), Failure> {
    let mut goals = goals::of_the_harness()?;
    let begun = Instant::now();
    let measured = measure(&Scenario::of_seed("all")?, how);
    goals.push(goals::of_time(begun.elapsed().as_secs_f64() / 60.0));
    for goal in &goals {
        println!("{goal}");
    }
    measured?;
    if goals.iter().all(Goal::met) {
        return Ok(());
    }
    Err(Failure::Missed("a goal of the tool itself".into()))
}

fn sanity(criteria: &Criteria) -> Result<(), Failure> {
    let setting = Setting {
        programs: Programs::new(Path::new("")).map_err(Failure::Setup)?,
        extent: Extent::Miniature,
        payload: "zeros".into(),
        sizes: Vec::new(),
    };
    let mut histograms = Histograms::new();
    let mut sections = Vec::new();
    for scenario in Scenario::named("lat3-inter")? {
        let (section, outcome) = scenario.run(&setting, &mut histograms);
        outcome?;
        if let State::Skipped(why) = &section.state {
            return Err(Failure::Setup(why.clone()));
        }
        sections.push(section);
    }
    criteria.check(&sections)?;
    let figures = sections.iter().flat_map(|it| &it.latencies);
    let texts: Vec<String> = figures
        .map(|it| format!("{} {:.1} µs", it.contestant, it.p50_us))
        .collect();
    println!("sane: median one way of 16 B: {}", texts.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_without_folders() {
        let line = "run lat3 --out /a/b --quick --peers=/c --sizes 64 --peers /d";
        let words = line.split(' ').map(str::to_owned);
        assert_eq!(portable(words), "run lat3 --quick --sizes 64");
    }
}
