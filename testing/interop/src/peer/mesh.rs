//! A member of a mesh: many topics, and everybody writes and reads all of them.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{DataReader, DataWriter, DomainParticipant, Sample};

use super::end::End;
use super::options::Options;
use super::setup::{MAX_BLOCKING, reader_qos, writer_qos};
use super::values::Value;
use super::watch::{Linger, POLL};

/// Samples taken at once.
const TAKEN_MAX: usize = 64;

/// Matches, writes, and reads what all members wrote; the number of samples received.
pub(super) fn run<T: Value>(
    options: &Options,
    participant: &DomainParticipant,
) -> Result<u32, End> {
    let mut mesh = Mesh::<T>::create(options, participant)?;
    println!("ready");
    let mut before = (0, 0);
    loop {
        let found = mesh.look();
        if found != before {
            println!("mesh writers {} readers {}", found.0, found.1);
        }
        if found.0.min(found.1) >= options.members as usize {
            break;
        }
        before = found;
        mesh.take()?;
        mesh.in_time("not matched")?;
        thread::sleep(POLL);
    }
    for seq in 1..=options.count {
        mesh.write(seq)?;
        mesh.take()?;
        thread::sleep(Duration::from_millis(options.period_ms.into()));
    }
    let all = options.topics * options.members * options.count;
    while mesh.received < all {
        mesh.take()?;
        mesh.in_time(&format!("mesh: received {} of {all}", mesh.received))?;
        thread::sleep(POLL);
    }
    println!("complete {}", mesh.received);
    let linger = Linger::begin(options);
    while !linger.is_over() {
        mesh.take()?;
        thread::sleep(POLL);
    }
    Ok(mesh.received)
}

struct Mesh<'a, T: Value> {
    options: &'a Options,
    writers: Vec<DataWriter<T>>,
    readers: Vec<DataReader<T>>,
    /// The newest number of each key on each topic.
    newest: BTreeMap<(usize, String), u32>,
    received: u32,
}

impl<'a, T: Value> Mesh<'a, T> {
    fn create(options: &'a Options, participant: &DomainParticipant) -> Result<Self, End> {
        let mut mesh = Self {
            options,
            writers: Vec::new(),
            readers: Vec::new(),
            newest: BTreeMap::new(),
            received: 0,
        };
        for number in 0..options.topics {
            let topic = participant.create_topic::<T>(&format!("{}_{number}", options.topic))?;
            let mut qos = writer_qos(options);
            qos.reliability.max_blocking_time = MAX_BLOCKING;
            mesh.writers
                .push(participant.create_datawriter(&topic, qos)?);
            let reader = participant.create_datareader(&topic, reader_qos(options))?;
            mesh.readers.push(reader);
        }
        Ok(mesh)
    }

    /// The fewest matches of any reader and of any writer.
    fn look(&self) -> (usize, usize) {
        let of_readers = self
            .readers
            .iter()
            .map(|it| it.matched_publications().len());
        let of_writers = self
            .writers
            .iter()
            .map(|it| it.matched_subscriptions().len());
        (
            of_readers.min().unwrap_or_default(),
            of_writers.min().unwrap_or_default(),
        )
    }

    fn write(&self, seq: u32) -> Result<(), End> {
        let key = self.options.key_of(1);
        let value = T::make(self.options, seq, key)
            .ok_or_else(|| End::Usage(format!("no sample {seq} of key {key}")))?;
        for writer in &self.writers {
            writer.write(&value)?;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<(), End> {
        for number in 0..self.readers.len() {
            let samples = self.readers[number].take(TAKEN_MAX)?;
            for value in samples.iter().filter_map(Sample::data) {
                self.note(number, value)?;
            }
        }
        Ok(())
    }

    /// Numbers of a key come in order on each topic, none twice, and as they were written.
    fn note(&mut self, topic: usize, value: &T) -> Result<(), End> {
        let (facts, key) = (value.facts(), value.key());
        let wanted = T::make(self.options, facts.seq, &key);
        if wanted.is_none_or(|wanted| wanted.facts() != facts) {
            return Err(End::Failure(format!(
                "topic {topic}: sample {} of {key} is not as written",
                facts.seq
            )));
        }
        let newest = self.newest.entry((topic, key.clone())).or_default();
        if facts.seq != *newest + 1 {
            return Err(End::Failure(format!(
                "topic {topic}: sample {} of {key} after {newest}",
                facts.seq
            )));
        }
        *newest = facts.seq;
        self.received += 1;
        Ok(())
    }

    fn in_time(&self, what: &str) -> Result<(), End> {
        if Instant::now() > self.options.deadline {
            return Err(End::Timeout(what.into()));
        }
        Ok(())
    }
}
