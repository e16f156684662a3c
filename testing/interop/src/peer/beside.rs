//! A second participant of the publisher's process that reads what it writes, beside the readers of
//! others.

use std::collections::BTreeMap;
use std::time::Instant;

use whimbrel::domain::InProcess;
use whimbrel::{DataReader, DomainParticipant, Error, Sample, SampleSeq};

use super::end::End;
use super::options::Options;
use super::setup::{self, reader_qos};
use super::values::{Value, make};
use super::watch::POLL;

/// Samples taken at once.
const TAKEN_MAX: usize = 64;

/// The reader.
pub(super) struct Beside<T: Value> {
    reader: DataReader<T>,
    participant: DomainParticipant,
}

impl<T: Value> Beside<T> {
    /// Joins as the options say, past no network.
    pub(super) fn start(options: &Options) -> Result<Self, End> {
        let builder = setup::builder(options).in_process(InProcess::Off);
        let participant = builder.build()?;
        let topic = participant.create_topic::<T>(&options.topic)?;
        let reader = participant.create_datareader(&topic, reader_qos(options))?;
        Ok(Self {
            reader,
            participant,
        })
    }

    /// Every sample arrives, in order within its key and as it was written, and compressed where
    /// that was wanted: with its bundle, or alone where there are no bundles.
    pub(super) fn check(self, options: &Options) -> Result<(), End> {
        let mut last: BTreeMap<String, u32> = BTreeMap::new();
        let mut got = 0;
        while got < options.count {
            let samples = match self.reader.take_timeout(TAKEN_MAX, POLL) {
                Ok(samples) => samples,
                Err(Error::Timeout) => SampleSeq::default(),
                Err(other) => return Err(other.into()),
            };
            for value in samples.iter().filter_map(Sample::data) {
                let facts = value.facts();
                let wanted = make::<T>(options, facts.seq, options.key_of(facts.seq))?;
                let before = last.insert(facts.key.clone(), facts.seq);
                if facts.crc != wanted.facts().crc || before >= Some(facts.seq) {
                    let (seq, key) = (facts.seq, facts.key);
                    return Err(End::Failure(format!(
                        "beside: sample {seq} of {key} after {before:?} is another"
                    )));
                }
                got += 1;
            }
            if Instant::now() > options.deadline {
                return Err(End::Timeout(format!("beside: {got} of {}", options.count)));
            }
        }
        let samples = self.reader.compression_statistics().samples;
        let bundles = self.participant.diagnostics().inflated.0;
        let missing = match (options.codec, options.bundle_bytes) {
            (Some(_), Some(_)) if bundles == 0 => "no bundle",
            (Some(_), None) if samples == 0 => "no sample",
            _ => return Ok(()),
        };
        Err(End::Failure(format!(
            "beside: {missing} came compressed, of {samples} samples and {bundles} bundles"
        )))
    }
}
