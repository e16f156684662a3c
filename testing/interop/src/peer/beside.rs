//! A second participant of the publisher's process that reads what it writes, beside the readers of
//! others.

use std::time::Instant;

use whimbrel::domain::InProcess;
use whimbrel::{DataReader, DomainParticipant, Error, Sample};

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
    /// It has to be alive for the reader to be.
    _participant: DomainParticipant,
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
            _participant: participant,
        })
    }

    /// Every sample arrives, in order and as it was written, and compressed where that was wanted.
    pub(super) fn check(self, options: &Options) -> Result<(), End> {
        let mut next = 1;
        while next <= options.count {
            let samples = match self.reader.take_timeout(TAKEN_MAX, POLL) {
                Ok(samples) => samples,
                Err(Error::Timeout) => Vec::new(),
                Err(other) => return Err(other.into()),
            };
            for value in samples.iter().filter_map(Sample::data) {
                let wanted = make::<T>(options, next, options.key_of(next))?;
                if value.facts().crc != wanted.facts().crc {
                    return Err(End::Failure(format!("beside: sample {next} is another")));
                }
                next += 1;
            }
            if Instant::now() > options.deadline {
                let got = next - 1;
                return Err(End::Timeout(format!("beside: {got} of {}", options.count)));
            }
        }
        let inflated = self.reader.compression_statistics();
        if options.codec.is_some() && inflated.samples < u64::from(options.count) {
            return Err(End::Failure(format!("beside: {inflated:?}")));
        }
        Ok(())
    }
}
