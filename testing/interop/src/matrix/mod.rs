//! `run`: live peers of all products against Whimbrel, as a table.
//!
//! [`cases`] says what is tried, [`scene`] plays one case with one pair of peers and judges it,
//! [`table`] prints what came out. [`dissection`] reads all captures of the run at its end,
//! [`inflation`] what one more writer compressed; [`mixed`] has every product read one writer.

pub(crate) mod cases;
pub(crate) mod child;
pub(crate) mod command;
mod dissection;
pub(crate) mod hosts;
mod inflation;
mod mixed;
pub(crate) mod outcome;
pub(crate) mod samples;
pub(crate) mod scene;
pub(crate) mod shared;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use self::cases::{CASES, Case, Pair, Peer};
use self::outcome::Outcome;
use self::scene::{Captures, Stage};
use self::shared::{lock, root};

/// What `run` was asked for.
#[derive(Debug)]
struct Request {
    peer: Option<Peer>,
    case: Option<String>,
    jobs: usize,
    list: bool,
    /// Whimbrel captures its traffic, and the captures are dissected.
    captures: bool,
    peers_dir: PathBuf,
}

/// Runs the matrix, or lists it.
pub(crate) fn main(words: &[String]) -> ExitCode {
    let request = match Request::parse(words) {
        Ok(request) => request,
        Err(why) => {
            eprintln!("{why}\n{}", crate::USAGE);
            return ExitCode::from(2);
        }
    };
    let jobs = request.jobs();
    if request.list {
        for (case, pair) in &jobs {
            println!("{:<22} {pair}", case.name);
        }
        return ExitCode::SUCCESS;
    }
    let rows = [dissection::NAME, inflation::NAME, mixed::NAME];
    if jobs.is_empty() && !rows.iter().any(|it| request.wants(it)) {
        eprintln!("no case of this name with this peer; --list shows all");
        return ExitCode::from(2);
    }
    if jobs
        .iter()
        .any(|(_, pair)| !pair.other().is_played_always())
        && let Err(why) = crate::previous::build()
    {
        eprintln!("{why}");
        return ExitCode::FAILURE;
    }
    let mut outcomes = match play(&request, &jobs) {
        Ok(outcomes) => outcomes,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    outcomes.sort_by_key(|outcome| CASES.iter().position(|case| case.name == outcome.case));
    if table::report(&outcomes) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Plays all jobs, so many at a time, then dissects what was captured.
fn play(request: &Request, jobs: &[(&'static Case, Pair)]) -> Result<Vec<Outcome>, String> {
    let work = root().join("target/interop");
    std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    let set = command::fast_paths_set();
    if !set.is_empty() {
        println!("with {}", set.join(" "));
    }
    let captures = Captures::new(request.captures);
    let outcomes = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((case, pair)) = jobs.get(number) else {
                return;
            };
            let begin = Instant::now();
            let stage = Stage::new(case, *pair, number, &request.peers_dir, &work, &captures);
            let outcome = Outcome {
                case: case.name,
                pair: *pair,
                verdict: stage.play(),
                took: begin.elapsed(),
            };
            table::progress(&outcome);
            lock(&outcomes).push(outcome);
        }
    };
    thread::scope(|scope| {
        for _ in 0..request.jobs {
            scope.spawn(worker);
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    if request.wants(mixed::NAME) && request.peer.is_none() {
        let outcome = mixed::judge(&request.peers_dir);
        table::progress(&outcome);
        outcomes.push(outcome);
    }
    if request.captures && request.wants(dissection::NAME) {
        let outcome = dissection::judge(&captures.take(), &work);
        table::progress(&outcome);
        outcomes.push(outcome);
    }
    if request.wants(inflation::NAME) {
        let outcome = inflation::judge(&work);
        table::progress(&outcome);
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, String> {
        let mut request = Self {
            peer: None,
            case: None,
            jobs: 2,
            list: false,
            captures: true,
            peers_dir: root().join("target/peers"),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--list" {
                request.list = true;
                continue;
            }
            if word == "--no-captures" {
                request.captures = false;
                continue;
            }
            let value = words
                .next()
                .ok_or(format!("{word}: unknown or without a value"))?;
            match word.as_str() {
                "--peer" => request.peer = Some(value.parse()?),
                "--case" => request.case = Some(value.clone()),
                "--jobs" => {
                    let jobs = value.parse().ok().filter(|jobs| (1..=64).contains(jobs));
                    request.jobs = jobs.ok_or("--jobs: a number from 1 to 64")?;
                }
                "--peers-dir" => request.peers_dir = value.into(),
                _ => return Err(format!("unknown option {word}")),
            }
        }
        Ok(request)
    }

    /// True for a case that was asked for.
    fn wants(&self, name: &str) -> bool {
        self.case.as_ref().is_none_or(|text| name.contains(text))
    }

    /// What is to be played. The dissection alone brings the cases it cannot do without.
    fn jobs(&self) -> Vec<(&'static Case, Pair)> {
        let only_dissection = self.captures && self.wants(dissection::NAME) && self.case.is_some();
        let mut jobs = Vec::new();
        for case in CASES {
            let chosen = self.wants(case.name)
                || (only_dissection && dissection::NEEDS.contains(&case.name));
            let previous = Pair::with_previous();
            let pairs = Pair::ALL
                .iter()
                .chain(&previous)
                .filter(|pair| match self.peer {
                    Some(peer) => pair.other() == peer,
                    None => pair.other().is_played_always(),
                });
            jobs.extend(pairs.filter(|_| chosen).map(|pair| (case, *pair)));
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Result<Request, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Request::parse(&words)
    }

    #[test]
    fn everything_is_played_unless_told_otherwise() {
        let all = request("").unwrap().jobs();
        assert_eq!(all.len(), CASES.len() * Pair::ALL.len());
        let one = request("--peer fastdds --case 1MiB-late").unwrap().jobs();
        assert_eq!(one.len(), 2);
        assert!(one.iter().all(|(_, pair)| pair.other() == Peer::FastDds));
    }

    #[test]
    fn the_dissection_brings_what_it_needs() {
        let jobs = request("--case dissection --peer whimbrel").unwrap().jobs();
        assert_eq!(jobs.len(), dissection::NEEDS.len());
        let without = request("--no-captures --case dissection").unwrap();
        assert!(without.jobs().is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["--peer nobody", "--jobs 0", "--jobs", "--what 1"] {
            assert!(request(text).is_err(), "{text}");
        }
    }
}
