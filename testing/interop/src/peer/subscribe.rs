//! The subscriber.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel::{DataReader, DomainParticipant, Error, InstanceState, Sample, SampleSeq};

use super::end::End;
use super::options::Options;
use super::setup::reader_qos;
use super::values::Value;
use super::watch::{Linger, Matched, POLL};

/// Samples taken at once.
const TAKEN_MAX: usize = 64;

/// Reads until the options are satisfied; the number of samples.
pub(super) fn run<T: Value>(
    options: &Options,
    participant: &DomainParticipant,
) -> Result<u32, End> {
    let topic = participant.create_topic::<T>(&options.topic)?;
    let reader = participant.create_datareader(&topic, reader_qos(options))?;
    println!("ready");
    let mut subscriber = Subscriber {
        reader,
        matched: Matched::default(),
        states: BTreeMap::new(),
        received: 0,
    };
    while subscriber.received < options.count {
        subscriber.step(options.take_ms)?;
        if Instant::now() > options.deadline {
            return Err(End::Timeout(subscriber.progress(options.count)));
        }
    }
    let linger = Linger::begin(options);
    while !linger.is_over() {
        subscriber.step(options.take_ms)?;
    }
    Ok(subscriber.received)
}

struct Subscriber<T: Value> {
    reader: DataReader<T>,
    matched: Matched,
    states: BTreeMap<String, InstanceState>,
    received: u32,
}

impl<T: Value> Subscriber<T> {
    /// Waits a moment for samples and prints what is new.
    fn step(&mut self, take_ms: Option<u32>) -> Result<(), End> {
        let most = if take_ms.is_some() { 1 } else { TAKEN_MAX };
        let samples = match self.reader.take_timeout(most, POLL) {
            Ok(samples) => samples,
            Err(Error::Timeout) => SampleSeq::default(),
            Err(other) => return Err(other.into()),
        };
        self.matched.note(self.reader.matched_publications().len());
        for value in samples.iter().filter_map(Sample::data) {
            let facts = value.facts();
            let (crc, length) = (facts.crc, facts.length);
            println!("received {} {} {crc:08x} {length}", facts.seq, facts.key);
            self.received += 1;
        }
        if T::KEYED {
            samples.iter().for_each(|sample| self.note_state(sample));
        }
        if !samples.is_empty() {
            thread::sleep(Duration::from_millis(take_ms.unwrap_or(0).into()));
        }
        Ok(())
    }

    fn note_state(&mut self, sample: &Sample<T>) {
        let state = sample.info().instance_state;
        let key = match sample.key() {
            Some(value) => value.key(),
            None => self
                .reader
                .key_value(sample.info().instance_handle)
                .map_or_else(|_| "?".into(), |value| value.key()),
        };
        let before = self.states.insert(key.clone(), state);
        if before.unwrap_or(InstanceState::Alive) != state {
            let word = match state {
                InstanceState::Alive => "alive",
                InstanceState::NotAliveDisposed => "disposed",
                InstanceState::NotAliveNoWriters => "no_writers",
            };
            println!("state {key} {word}");
        }
    }

    fn progress(&self, wanted: u32) -> String {
        let statistics = self.reader.statistics();
        let refused = self.reader.undecodable_samples();
        let received = self.received;
        format!("received {received} of {wanted}, {refused} not decodable, {statistics:?}")
    }
}
