//! `depth`: what the matrix has no time for, with live peers of all products.
//!
//! [`plan`] lists the cases, [`stage`] starts peers and watches them; one module for each class of
//! cases. The cases come in the order of [`plan`], the first of every class whatever the time, then
//! as many as fit; where all fit they begin anew with other losses. The last line is the figure.

mod big_endian;
mod lines;
mod loss;
mod mesh;
mod of_matrix;
mod plan;
mod pressure;
mod restarts;
mod stage;
mod tally;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use self::plan::Job;
use self::stage::Stage;
use self::tally::Tally;
use crate::matrix::cases::Peer;
use crate::matrix::shared::{lock, root};

/// From so many seconds on, previous releases are played.
const PREVIOUS_FROM_S: u64 = 30;

/// What `depth` was asked for.
#[derive(Debug)]
pub(crate) struct Request {
    seconds: u64,
    full: bool,
    list: bool,
    case: Option<String>,
    peer: Option<Peer>,
    jobs: usize,
    peers_dir: PathBuf,
}

/// Plays what fits, or lists everything.
pub(crate) fn main(words: &[String]) -> ExitCode {
    let request = match Request::parse(words) {
        Ok(request) => request,
        Err(why) => {
            eprintln!("{why}\n{}", crate::USAGE);
            return ExitCode::from(2);
        }
    };
    let jobs: Vec<Job> = plan::jobs(request.full, request.plays_previous())
        .into_iter()
        .filter(|job| request.wants(job))
        .collect();
    if request.list {
        jobs.iter().for_each(|job| println!("{}", job.name()));
        return ExitCode::SUCCESS;
    }
    if jobs.is_empty() {
        eprintln!("no case of this name with this peer; --list shows all");
        return ExitCode::from(2);
    }
    if request.plays_previous()
        && let Err(why) = crate::previous::build()
    {
        println!("interop depth: FAILED, {why}");
        return ExitCode::FAILURE;
    }
    let begin = Instant::now();
    let tally = play(&request, &jobs);
    println!("{}", tally.figure(begin.elapsed(), jobs.len()));
    if tally.held() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Plays the jobs, so many at a time, until the time is over.
fn play(request: &Request, jobs: &[Job]) -> Tally {
    let deadline = Instant::now() + Duration::from_secs(request.seconds);
    let tally = Mutex::new(Tally::default());
    let next = Mutex::new(0_usize);
    let worker = || {
        while let Some((number, job)) = pick(jobs, &next, request, deadline) {
            let begin = Instant::now();
            let stage = Stage::new(number, &request.peers_dir);
            let result = job.play(&stage);
            let seconds = begin.elapsed().as_secs_f64();
            match &result {
                Ok(_) => println!("ok     {seconds:>5.1} s  {}", job.name()),
                Err(why) => println!("FAILED {seconds:>5.1} s  {}: {why}", job.name()),
            }
            lock(&tally).add(job.class, &job.name(), result);
        }
    };
    thread::scope(|scope| {
        for _ in 0..request.jobs {
            scope.spawn(worker);
        }
    });
    tally.into_inner().unwrap_or_default()
}

/// The next job that must be played, or may.
fn pick<'a>(
    jobs: &'a [Job],
    next: &Mutex<usize>,
    request: &Request,
    deadline: Instant,
) -> Option<(usize, &'a Job)> {
    let mut next = lock(next);
    loop {
        let number = *next;
        let job = jobs.get(number % jobs.len())?;
        let first_pass = number < jobs.len();
        let must = first_pass && (job.first || request.full);
        let fits = Instant::now() + job.takes <= deadline;
        if !first_pass && Instant::now() >= deadline {
            return None;
        }
        *next += 1;
        if must || fits {
            return Some((number, job));
        }
        if !first_pass && number >= 2 * jobs.len() && !jobs.iter().any(|it| fits_at(it, deadline)) {
            return None;
        }
    }
}

fn fits_at(job: &Job, deadline: Instant) -> bool {
    Instant::now() + job.takes <= deadline
}

impl Request {
    /// Previous releases must be built first: not in the short form.
    const fn plays_previous(&self) -> bool {
        self.full || self.seconds >= PREVIOUS_FROM_S
    }

    fn parse(words: &[String]) -> Result<Self, String> {
        let mut request = Self {
            seconds: 60,
            full: false,
            list: false,
            case: None,
            peer: None,
            jobs: 3,
            peers_dir: root().join("target/peers"),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--list" => request.list = true,
                "--full" => request.full = true,
                _ => {
                    let value = words.next();
                    let value = value.ok_or(format!("{word}: unknown or without a value"))?;
                    request.set(word, value)?;
                }
            }
        }
        Ok(request)
    }

    fn set(&mut self, word: &str, value: &str) -> Result<(), String> {
        match word {
            "--seconds" => {
                let seconds = value.parse().ok().filter(|it| (1..=86_400).contains(it));
                self.seconds = seconds.ok_or("--seconds: a number from 1 to 86400")?;
            }
            "--jobs" => {
                let jobs = value.parse().ok().filter(|it| (1..=16).contains(it));
                self.jobs = jobs.ok_or("--jobs: a number from 1 to 16")?;
            }
            "--peer" => self.peer = Some(value.parse()?),
            "--case" => self.case = Some(value.into()),
            "--peers-dir" => self.peers_dir = value.into(),
            _ => return Err(format!("unknown option {word}")),
        }
        Ok(())
    }

    fn wants(&self, job: &Job) -> bool {
        let name = job.name();
        self.case.as_ref().is_none_or(|text| name.contains(text))
            && self.peer.is_none_or(|peer| job.has(peer))
    }
}

#[cfg(test)]
mod tests;
