//! How long `write` takes while everything that may hold it up does so.
//!
//! A reliable KEEP_ALL writer sends to a reader that reads; in each state something else happens:
//! readers join and leave, datagrams get lost, a process with a reader is stopped or killed, a
//! reader takes nothing, history is full. In each state every write must return within
//! `max_blocking_time`, and what the machine itself takes away.

mod bus;
mod reader;

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::domain::Warning;
use whimbrel::qos::ResourceLimits;
use whimbrel::{DataWriter, DataWriterQos, DomainParticipant, Duration as DdsDuration, Error};

use crate::proof::{Figure, Proof, Share};
use bus::{Block, all, join, topic};
use reader::Reader;

/// The row of this proof.
pub const PROOF: Proof = Proof {
    name: "write",
    claim: "write returns within max_blocking_time in every state; stuck readers are given up",
    run,
    child: Some(child),
};

/// `max_blocking_time` of all writers.
const BLOCKING: Duration = Duration::from_millis(50);

/// How much longer a thread may take to be woken and scheduled, at the 99.99th percentile, besides
/// what a thread that only sleeps was late meanwhile.
const SCHEDULING: Duration = Duration::from_millis(50);

/// Between writes.
const PERIOD: Duration = Duration::from_micros(200);

/// When a stopped reader is given up, and what a loaded machine adds.
const GIVEN_UP_MAX: Duration = Duration::from_secs(15);

const PATIENCE: Duration = Duration::from_secs(20);

/// What holds up the writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Calm,
    Joins,
    Loss,
    NotTaking,
    FullHistory,
    Killed,
    Stopped,
}

const STATES: &[(State, &str)] = &[
    (State::Calm, "calm"),
    (State::Joins, "readers join and leave"),
    (State::Loss, "10 % loss"),
    (State::NotTaking, "a full reader takes nothing"),
    (State::FullHistory, "history of 1"),
    (State::Killed, "a reader's process is killed"),
    (State::Stopped, "a reader's process is stopped"),
];

/// Durations of the writes of one state.
struct Measured {
    name: &'static str,
    took: Vec<Duration>,
    timed_out: usize,
    /// How late the machine woke a thread that only sleeps, at worst.
    late: Duration,
}

impl Measured {
    fn bound(&self) -> Duration {
        BLOCKING + SCHEDULING + self.late
    }

    fn at(&self, share: f64) -> Duration {
        let last = self.took.len().saturating_sub(1);
        let at = (last as f64 * share).ceil() as usize;
        self.took.get(at).copied().unwrap_or_default()
    }
}

fn run(share: &Share) -> Figure {
    let time = if share.full {
        Duration::from_secs(20)
    } else {
        share.time / STATES.len() as u32
    };
    let mut wrong = Vec::new();
    let mut worst: Option<Measured> = None;
    let mut writes = 0;
    for (state, name) in STATES {
        match measure(*state, name, time) {
            Err(why) => wrong.push(format!("{name}: {why}")),
            Ok(measured) => {
                println!("{}", line(&measured));
                writes += measured.took.len();
                if measured.at(0.9999) > measured.bound() {
                    wrong.push(format!("{name}: p99.99 {:?}", measured.at(0.9999)));
                }
                if worst
                    .as_ref()
                    .is_none_or(|it| it.at(0.9999) < measured.at(0.9999))
                {
                    worst = Some(measured);
                }
            }
        }
    }
    let given_up = if share.full { given_up() } else { Ok(None) };
    let (name, p9999, slowest, bound) = worst.map_or(("nothing", 0.0, 0.0, 0.0), |it| {
        (it.name, ms(it.at(0.9999)), ms(it.at(1.0)), ms(it.bound()))
    });
    let mut text = format!(
        "{writes} writes in {} states, worst p99.99 {p9999:.1} ms ({name}; slowest {slowest:.1} \
         ms; bound {bound:.1} ms = max_blocking_time {} ms + {} ms + lateness of the machine)",
        STATES.len(),
        BLOCKING.as_millis(),
        SCHEDULING.as_millis(),
    );
    match given_up {
        Ok(None) => {}
        Ok(Some(after)) => {
            let after = after.as_secs_f64();
            text += &format!("; a stopped reader was given up and reported after {after:.1} s");
        }
        Err(why) => wrong.push(why),
    }
    if wrong.is_empty() {
        Figure::held(text)
    } else {
        Figure::missed(format!("{}; {text}", wrong.join("; ")))
    }
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

fn line(measured: &Measured) -> String {
    format!(
        "  {:<30} {:>7} writes, {:>5} timed out, p50 {:>7.3} ms, p99.99 {:>7.2} ms, max {:>7.2} \
         ms; machine late {:.2} ms",
        measured.name,
        measured.took.len(),
        measured.timed_out,
        ms(measured.at(0.5)),
        ms(measured.at(0.9999)),
        ms(measured.at(1.0)),
        ms(measured.late),
    )
}

fn writer(here: &DomainParticipant, samples_max: u32) -> Result<DataWriter<Block>, String> {
    let blocking = DdsDuration::from_nanos(BLOCKING.as_nanos() as i64);
    let qos = DataWriterQos::default()
        .reliable()
        .keep_all()
        .max_blocking_time(blocking)
        .resource_limits(ResourceLimits::UNLIMITED.max_samples(samples_max));
    let writer = here.create_datawriter(&topic(here)?, qos);
    writer.map_err(|why| why.to_string())
}

fn measure(state: State, name: &'static str, time: Duration) -> Result<Measured, String> {
    let tag = format!("write-{}-{state:?}", std::process::id());
    let lost = if state == State::Loss { 100 } else { 0 };
    let (here, there) = (join(&tag, lost)?, join(&tag, 0)?);
    let samples_max = if state == State::FullHistory { 1 } else { 1000 };
    let writer = writer(&here, samples_max)?;
    // It always reads, so that the writer has somebody to wait for.
    let reader = there.create_datareader(&topic(&there)?, all());
    let reader = reader.map_err(|why| why.to_string())?;
    let full = all().resource_limits(ResourceLimits::UNLIMITED.max_samples(10));
    let full = (state == State::NotTaking)
        .then(|| {
            there
                .create_datareader(&topic(&there)?, full)
                .map_err(|why| why.to_string())
        })
        .transpose()?;
    let far = matches!(state, State::Killed | State::Stopped)
        .then(|| Reader::start(&tag))
        .transpose()?;
    let readers = 1 + usize::from(full.is_some()) + usize::from(far.is_some());
    let matched = writer.wait_for_matched(readers, PATIENCE);
    matched.map_err(|why| format!("no match: {why}"))?;
    let end = Instant::now() + time;
    thread::scope(|threads| {
        threads.spawn(|| {
            while Instant::now() < end + BLOCKING {
                let _ = reader.take_timeout(1000, Duration::from_millis(10));
            }
        });
        threads.spawn(|| disturb(state, &there, far, end, time));
        let machine = threads.spawn(|| lateness(end));
        let mut measured = write_until(&writer, name, end)?;
        measured.late = machine
            .join()
            .map_err(|_| "a thread that sleeps panicked")?;
        Ok(measured)
    })
}

/// How late a thread that only sleeps is woken at worst.
fn lateness(end: Instant) -> Duration {
    let mut worst = Duration::ZERO;
    while Instant::now() < end {
        let begin = Instant::now();
        thread::sleep(PERIOD);
        worst = worst.max(begin.elapsed().saturating_sub(PERIOD));
    }
    worst
}

/// Does to the writer what `state` says.
fn disturb(
    state: State,
    there: &DomainParticipant,
    far: Option<Reader>,
    end: Instant,
    time: Duration,
) {
    if state == State::Joins {
        while Instant::now() < end {
            let reader = topic(there).map(|topic| there.create_datareader(&topic, all()));
            thread::sleep(Duration::from_millis(3));
            drop(reader);
        }
    }
    let Some(far) = far else { return };
    thread::sleep(time / 4);
    match state {
        State::Killed => far.kill(),
        _ => {
            far.stop();
            thread::sleep(end.saturating_duration_since(Instant::now()));
            far.go_on();
        }
    }
}

fn write_until(
    writer: &DataWriter<Block>,
    name: &'static str,
    end: Instant,
) -> Result<Measured, String> {
    let mut measured = Measured {
        name,
        took: Vec::new(),
        timed_out: 0,
        late: Duration::ZERO,
    };
    let mut block = Block {
        number: 0,
        fill: vec![1; 500],
    };
    while Instant::now() < end {
        let begin = Instant::now();
        let outcome = writer.write(&block);
        measured.took.push(begin.elapsed());
        match outcome {
            Ok(()) => block.number += 1,
            Err(Error::Timeout) => measured.timed_out += 1,
            Err(why) => return Err(why.to_string()),
        }
        thread::sleep(PERIOD);
    }
    measured.took.sort_unstable();
    Ok(measured)
}

/// How long after it was stopped a reader no longer holds up the writer, which tells of it.
fn given_up() -> Result<Option<Duration>, String> {
    let tag = format!("write-{}-given-up", std::process::id());
    let here = join(&tag, 0)?;
    let writer = writer(&here, 10)?;
    let far = Reader::start(&tag)?;
    let matched = writer.wait_for_matched(1, PATIENCE);
    matched.map_err(|why| format!("no match: {why}"))?;
    far.stop();
    let stopped = Instant::now();
    let mut block = Block {
        number: 0,
        fill: Vec::new(),
    };
    while writer.statistics().given_up == 0 {
        if stopped.elapsed() > GIVEN_UP_MAX {
            return Err(format!(
                "a stopped reader still holds after {GIVEN_UP_MAX:?}"
            ));
        }
        block.number += 1;
        let _ = writer.write(&block);
    }
    let after = stopped.elapsed();
    let warnings = here.warnings();
    let guid = writer.guid();
    let told =
        |it: &Warning| matches!(it, Warning::ReaderGivenUp { writer, .. } if *writer == guid);
    if !warnings.iter().any(told) {
        return Err("nobody was warned of a reader that was given up".to_owned());
    }
    writer
        .write(&block)
        .map_err(|why| format!("still held up: {why}"))?;
    far.go_on();
    Ok(Some(after))
}

fn child(words: &[String]) -> ExitCode {
    match words {
        [tag] => reader::run(tag),
        _ => ExitCode::from(2),
    }
}
