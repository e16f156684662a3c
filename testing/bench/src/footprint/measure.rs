//! Starts processes and looks at them.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel_rig::process::{Process, Usage};

use super::figures::{Figures, IDLE, READERS, Who};
use super::size;
use crate::contestant::{Product, Programs};
use crate::parts;
use crate::protocol::{ANSWERED, READY};
use crate::spread::median;
use crate::stage::Stage;
use crate::turns;

/// How long it may take to begin, to meet, or to make all readers.
const PATIENCE: Duration = Duration::from_secs(30);

/// After that whatever a start has set going is over.
const SETTLING: Duration = Duration::from_secs(2);

/// What is measured in one round of one program.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    resident_kib: f64,
    private_kib: f64,
    threads: f64,
    reader_kib: f64,
    threads_with_readers: f64,
    threads_with_listener: f64,
    threads_of_crowd: f64,
    launch_ms: f64,
    match_ms: f64,
    match_cpu_ms: f64,
    sample_ms: f64,
}

/// Two processes that know each other, and how long they took.
struct Met {
    pair: [Process; 2],
    /// When the second was started.
    begun: Instant,
    /// From then on until both said that they are matched.
    took: Duration,
    /// The time of cores that the second used until then, from its launch on.
    cpu_ms: f64,
}

impl Met {
    /// From the start of the second process until its first sample was answered: asked for as soon
    /// as both are matched.
    fn first_sample(&mut self) -> Result<Duration, String> {
        let [_, second] = &mut self.pair;
        let said = second.ask("1", PATIENCE)?;
        if said != ANSWERED {
            return Err(format!("not {ANSWERED} but: {said}"));
        }
        Ok(self.begun.elapsed())
    }

    /// Of the process with more of them; the listener of each was called by now.
    fn threads(&self) -> Result<u64, String> {
        let [first, second] = &self.pair;
        Ok(first.holding()?.threads.max(second.holding()?.threads))
    }
}

/// Starts processes of one program.
struct Starter<'a> {
    who: Who,
    program: &'a Path,
    stage: &'a Stage,
}

impl Starter<'_> {
    fn start(&self, role: &str, side: &str, domain: usize) -> Result<Process, String> {
        let [seat, _] = self.stage.seats();
        let mut command = seat.program(self.program);
        command.args(["footprint", role, side, "--domain", &domain.to_string()]);
        command.args(["--interface", seat.interface, "--address", seat.address]);
        Process::start(&format!("{}, {role}", self.who.name()), &mut command)
    }

    /// Memory and threads of one participant, then of many readers.
    fn hold(&self, domain: usize) -> Result<Round, String> {
        let mut process = self.start("hold", "-", domain)?;
        process.wait_until(READY, PATIENCE)?;
        thread::sleep(SETTLING);
        let before = process.holding()?;
        process.ask(&READERS.to_string(), PATIENCE)?;
        thread::sleep(SETTLING);
        let after = process.holding()?;
        let more = after.resident_kib.saturating_sub(before.resident_kib);
        Ok(Round {
            resident_kib: before.resident_kib as f64,
            private_kib: before.private_kib as f64,
            threads: before.threads as f64,
            reader_kib: more as f64 / READERS as f64,
            threads_with_readers: after.threads as f64,
            ..Round::default()
        })
    }

    /// Threads of a process with many participants, writers and readers; NaN where it is not ours.
    fn crowd(&self, domain: usize) -> Result<f64, String> {
        if self.who.product().is_peer() {
            return Ok(f64::NAN);
        }
        let process = self.start("crowd", "-", domain)?;
        process.wait_until(READY, PATIENCE)?;
        Ok(process.holding()?.threads as f64)
    }

    /// Two processes that know each other; the second was started when the first had settled.
    fn pair(&self, domain: usize) -> Result<Met, String> {
        let first = self.start("match", "a", domain)?;
        thread::sleep(SETTLING);
        let begun = Instant::now();
        let second = self.start("match", "b", domain)?;
        second.wait_until(READY, PATIENCE)?;
        first.wait_until(READY, PATIENCE)?;
        let took = begun.elapsed();
        let cpu_ms = second.usage().cpu_ns as f64 / 1e6;
        Ok(Met {
            pair: [first, second],
            begun,
            took,
            cpu_ms,
        })
    }
}

/// The figures of `all`.
pub(super) fn all(
    all: &[Who],
    programs: &Programs,
    stage: &Stage,
    (rounds, stretches): (usize, usize),
) -> Result<Vec<Figures>, String> {
    let paths = all
        .iter()
        .map(|it| it.program(programs))
        .collect::<Result<Vec<_>, _>>()?;
    let raw = programs.of(Product::Raw)?;
    paths.iter().try_for_each(|it| size::forget(it))?;
    let starters: Vec<Starter<'_>> = all
        .iter()
        .zip(&paths)
        .map(|(who, program)| Starter {
            who: *who,
            program,
            stage,
        })
        .collect();
    let measured = in_turns(&starters, stage, rounds)?;
    let idle = idle(&starters, &raw, stage, stretches)?;
    let mut figures = Vec::new();
    for ((starter, rounds), stretches) in starters.iter().zip(&measured).zip(idle) {
        let median = |of: fn(&Round) -> f64| median(rounds.iter().map(of).collect());
        let idle = Idle::median(stretches).ok_or("no idle time was watched")?;
        figures.push(Figures {
            who: starter.who,
            resident_kib: median(|it| it.resident_kib),
            private_kib: median(|it| it.private_kib),
            threads: median(|it| it.threads),
            reader_kib: median(|it| it.reader_kib),
            threads_with_readers: median(|it| it.threads_with_readers),
            threads_with_listener: median(|it| it.threads_with_listener),
            threads_of_crowd: median(|it| it.threads_of_crowd),
            launch_ms: median(|it| it.launch_ms),
            match_ms: median(|it| it.match_ms),
            match_cpu_ms: median(|it| it.match_cpu_ms),
            sample_ms: median(|it| it.sample_ms),
            idle_cpu_ms: idle.cpu_ms,
            idle_system_ms: idle.system_ms,
            idle_wakes: idle.waits,
            binary_kib: size::kib(starter.program)?,
        });
    }
    Ok(figures)
}

/// What `rounds` rounds of each give, in which they take turns.
fn in_turns(
    starters: &[Starter<'_>],
    stage: &Stage,
    rounds: usize,
) -> Result<Vec<Vec<Round>>, String> {
    let mut measured = vec![Vec::new(); starters.len()];
    for round in 0..rounds {
        let launch_ms = launch_ms(stage)?;
        for at in turns::of_round(round, starters.len()) {
            let starter = &starters[at];
            // A domain of its own, so that nobody is remembered from an earlier round.
            let domain = 1 + round * starters.len() + at;
            let held = starter.hold(domain)?;
            let mut met = starter.pair(domain + 100)?;
            let sample = met.first_sample()?;
            let since_launch = |it: Duration| (it.as_secs_f64() * 1e3 - launch_ms).max(0.0);
            let threads_with_listener = met.threads()? as f64;
            let (match_ms, match_cpu_ms) = (since_launch(met.took), met.cpu_ms);
            drop(met);
            let threads_of_crowd = starter.crowd(domain)?;
            let figures = Round {
                launch_ms,
                match_ms,
                match_cpu_ms,
                sample_ms: since_launch(sample),
                threads_with_listener,
                threads_of_crowd,
                ..held
            };
            eprintln!("round {round}, {}: {figures:?}", starter.who.name());
            measured[at].push(figures);
        }
    }
    Ok(measured)
}

/// What a process uses where nothing happens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Idle {
    cpu_ms: f64,
    /// Of that, the system's part; NaN where it cannot be told.
    system_ms: f64,
    waits: f64,
}

impl Idle {
    /// The mean of a pair that has `used` this, beside a process that has but waited and called.
    fn of_pair(used: Usage, bare: Usage) -> Self {
        let us = |usage: Usage| usage.cpu_ns as f64 / 1e3;
        let (cpu_ms, waits) = (us(used) / 2e3, used.waits as f64 / 2.0);
        // With its calls, none of which are told apart.
        let wait_us = parts::wait_us(us(bare), 0.0, bare.waits as f64);
        let system_ms = wait_us.map(|us| us * waits / 1e3);
        Self {
            cpu_ms,
            system_ms: system_ms.filter(|ms| *ms <= cpu_ms).unwrap_or(f64::NAN),
            waits,
        }
    }

    /// The one that takes more than one half of the others, as a whole: parts of different ones do
    /// not make one.
    fn median(mut stretches: Vec<Self>) -> Option<Self> {
        stretches.sort_by(|one, other| one.cpu_ms.total_cmp(&other.cpu_ms));
        let middle = stretches.len() / 2;
        stretches.into_iter().nth(middle)
    }
}

/// What one of two matched processes of each product uses at idle in each of so many stretches: the
/// mean of both.
fn idle(
    starters: &[Starter<'_>],
    raw: &Path,
    stage: &Stage,
    stretches: usize,
) -> Result<Vec<Vec<Idle>>, String> {
    let pairs = starters
        .iter()
        .enumerate()
        .map(|(at, starter)| Ok(starter.pair(90 + at)?.pair))
        .collect::<Result<Vec<[Process; 2]>, String>>()?;
    let bare = idle_raw(raw, stage)?;
    thread::sleep(SETTLING * 3);
    let used = |pair: &[Process; 2]| pair[0].usage().plus(pair[1].usage());
    let mut idle = vec![Vec::new(); pairs.len()];
    for _ in 0..stretches {
        let before: Vec<Usage> = pairs.iter().map(used).collect();
        let bare_before = bare.usage();
        thread::sleep(IDLE);
        let bare = bare.usage().since(bare_before);
        eprintln!("a raw process at idle: {bare:?}");
        for ((pair, before), idle) in pairs.iter().zip(before).zip(&mut idle) {
            idle.push(Idle::of_pair(used(pair).since(before), bare));
        }
    }
    Ok(idle)
}

/// A process of the raw socket that is woken now and then and makes a call or two each time.
fn idle_raw(program: &Path, stage: &Stage) -> Result<Process, String> {
    let [seat, _] = stage.seats();
    let mut command = seat.program(program);
    command.args(["idle", "--address", seat.address]);
    let process = Process::start("raw, idle", &mut command)?;
    process.wait_until(READY, PATIENCE)?;
    Ok(process)
}

/// What it takes to start a program that does nothing, in milliseconds: the part of a start that
/// is none of the product's.
fn launch_ms(stage: &Stage) -> Result<f64, String> {
    let [seat, _] = stage.seats();
    let mut times = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        let status = seat.program(Path::new("true")).status();
        status.map_err(|error| format!("true: {error}"))?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_used_at_idle_each_wait_is_the_systems_as_far_as_it_takes_that() {
        let usage = |cpu_ns, waits| Usage {
            cpu_ns,
            waits,
            ..Usage::default()
        };
        let used = usage(4_000_000, 40);
        let wanted = |system_ms| Idle {
            cpu_ms: 2.0,
            system_ms,
            waits: 20.0,
        };
        assert_eq!(Idle::of_pair(used, usage(500_000, 10)), wanted(1.0));
        let dear = Idle::of_pair(used, usage(1_500_000, 10));
        assert!(dear.system_ms.is_nan(), "{dear:?}");
        assert!(Idle::of_pair(used, usage(0, 0)).system_ms.is_nan());
    }

    #[test]
    fn a_stretch_that_was_disturbed_does_not_count() {
        let stretch = |cpu_ms, waits| Idle {
            cpu_ms,
            system_ms: cpu_ms / 2.0,
            waits,
        };
        let stretches = [stretch(2.0, 21.0), stretch(40.0, 20.0), stretch(3.0, 19.0)];
        assert_eq!(Idle::median(stretches.to_vec()), Some(stretch(3.0, 19.0)));
        assert_eq!(Idle::median(Vec::new()), None);
    }
}
