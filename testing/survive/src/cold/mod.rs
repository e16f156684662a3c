//! Cold starts: whatever a reliable writer writes after it saw a match arrives, from the first
//! sample on, though the reader's side may not know of the match yet.
//!
//! Several threads start pairs again and again: new endpoints on participants that stay, and now
//! and then new participants, writer first, reader first or both at once. The writer waits for
//! nothing but its own status.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant,
    StatusCondition, StatusKind, Topic, WaitSet,
};

use crate::proof::{Figure, Proof, Share};

/// The row of this proof.
pub const PROOF: Proof = Proof {
    name: "cold",
    claim: "all samples written after the writer saw a reliable match arrive",
    run,
    child: None,
};

const DOMAIN: u32 = 84;

/// Cold starts of the claim.
const STARTS_FULL: u64 = 100_000;

const THREADS: u64 = 12;

/// Samples written at once after the match.
const BURST: u32 = 5;

/// One start in so many is with new participants.
const PARTICIPANTS_EVERY: u64 = 20;

/// How long a match and samples are waited for on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Number {
    start: u64,
    number: u32,
}

#[derive(Default)]
struct Tally {
    begun: AtomicU64,
    done: AtomicU64,
    new_participants: AtomicU64,
    fault: Mutex<Option<String>>,
}

fn run(share: &Share) -> Figure {
    let tally = Tally::default();
    let started = Instant::now();
    let is_over = |begun: u64| {
        if share.full {
            begun >= STARTS_FULL
        } else {
            started.elapsed() >= share.time
        }
    };
    thread::scope(|threads| {
        for thread in 0..THREADS {
            let (tally, is_over) = (&tally, &is_over);
            threads.spawn(move || {
                if let Err(why) = starts(thread, tally, is_over) {
                    tally.fault.lock().expect("nobody panics here").replace(why);
                }
            });
        }
    });
    let (done, fresh) = (&tally.done, &tally.new_participants);
    let (done, fresh) = (done.load(Ordering::Relaxed), fresh.load(Ordering::Relaxed));
    let text = format!(
        "{done} cold starts in {:.1} s ({fresh} with new participants), {} samples written upon \
         the match, none lost",
        started.elapsed().as_secs_f64(),
        done * u64::from(BURST),
    );
    match tally.fault.into_inner().expect("nobody panics here") {
        None if done > 0 => Figure::held(text),
        None => Figure::missed("no start was made"),
        Some(why) => Figure::missed(format!("{why}, after {done} cold starts")),
    }
}

fn join(tag: &str) -> Result<DomainParticipant, String> {
    let builder = DomainParticipant::builder(DOMAIN).interfaces("lo");
    let joined = builder.log(false).domain_tag(tag).build();
    joined.map_err(|why| why.to_string())
}

fn starts(thread: u64, tally: &Tally, is_over: &dyn Fn(u64) -> bool) -> Result<(), String> {
    // Each pair of threads' participants alone, or all would match with all.
    let tag = format!("cold-{}-{thread}", std::process::id());
    let (mut here, mut there) = (join(&tag)?, join(&tag)?);
    loop {
        let start = tally.begun.fetch_add(1, Ordering::Relaxed);
        if is_over(start) || tally.fault.lock().expect("nobody panics here").is_some() {
            return Ok(());
        }
        if start.is_multiple_of(PARTICIPANTS_EVERY) {
            (here, there) = (join(&tag)?, join(&tag)?);
            tally.new_participants.fetch_add(1, Ordering::Relaxed);
        }
        one(&here, &there, start).map_err(|why| format!("start {start}: {why}"))?;
        tally.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// One for each start, or a writer might match the reader of the one before, which leaves.
fn topic(of: &DomainParticipant, start: u64) -> Result<Topic<Number>, String> {
    let topic = of.create_topic(&format!("cold-{start}"));
    topic.map_err(|why| why.to_string())
}

fn write_upon_match(here: &DomainParticipant, start: u64) -> Result<DataWriter<Number>, String> {
    let topic = topic(here, start)?;
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = here.create_datawriter(&topic, qos);
    let writer = writer.map_err(|why| why.to_string())?;
    wait(&writer.status_condition(), StatusKind::PublicationMatched)?;
    for number in 0..BURST {
        let written = writer.write(&Number { start, number });
        written.map_err(|why| format!("sample {number}: {why}"))?;
    }
    Ok(writer)
}

fn wait(condition: &StatusCondition, kind: StatusKind) -> Result<(), String> {
    condition.set_enabled_statuses(kind);
    let wait_set = WaitSet::new();
    wait_set.attach(condition.clone());
    wait_set
        .wait(PATIENCE)
        .map(drop)
        .map_err(|why| format!("no match: {why}"))
}

fn read(there: &DomainParticipant, start: u64) -> Result<DataReader<Number>, String> {
    let topic = topic(there, start)?;
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos);
    reader.map_err(|why| why.to_string())
}

fn one(here: &DomainParticipant, there: &DomainParticipant, start: u64) -> Result<(), String> {
    thread::scope(|threads| {
        let reader_first = start
            .is_multiple_of(3)
            .then(|| read(there, start))
            .transpose()?;
        let writer = threads.spawn(|| write_upon_match(here, start));
        if start % 3 == 1 {
            thread::sleep(Duration::from_micros(start % 1000));
        }
        let reader = reader_first.map_or_else(|| read(there, start), Ok)?;
        // The writer stays until all was read.
        let writer = writer.join().map_err(|_| "the writer panicked")??;
        let mut next = 0;
        while next < BURST {
            let taken = reader.take_timeout(BURST as usize, PATIENCE);
            let taken = taken.map_err(|_| {
                let (writer, there) = (ends_of(&writer, &reader), reader.subscriber());
                let there = there.participant().diagnostics();
                format!("{next} of {BURST} samples arrived: {writer}; {there:?}")
            })?;
            for data in taken.into_iter().filter_map(|sample| sample.into_data()) {
                if (data.start, data.number) != (start, next) {
                    return Err(format!("{data:?} arrived instead of {next}"));
                }
                next += 1;
            }
        }
        Ok(())
    })
}

/// How a pair stands between which samples do not flow.
fn ends_of(writer: &DataWriter<Number>, reader: &DataReader<Number>) -> String {
    format!(
        "writer {} matched with {:?}, {:?}; reader {} matched with {:?}, {:?}",
        writer.guid(),
        writer.matched_subscriptions(),
        writer.statistics(),
        reader.guid(),
        reader.matched_publications(),
        reader.statistics(),
    )
}
