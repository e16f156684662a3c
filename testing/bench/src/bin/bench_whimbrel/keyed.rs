//! Ping-pong of samples with a key, some instances in turn: a thread takes and waits in one call.

use std::thread;

use whimbrel::domain::Waiting;
use whimbrel::{DataReader, DataWriter, DdsType, DomainParticipant, Error, Sample, SharedBytes};
use whimbrel_bench::clock::now_ns;
use whimbrel_bench::exchange::{PATIENCE, Qos};
use whimbrel_bench::protocol::{Order, stand_by};

/// So many instances, one after the other.
const INSTANCES: u32 = 8;

#[derive(DdsType, Debug, Default)]
struct Keyed {
    #[dds(key)]
    instance: u32,
    /// Counts from 1.
    seq: u32,
    payload: SharedBytes,
}

/// A writer and a reader of one participant.
pub(crate) struct Ends {
    writer: DataWriter<Keyed>,
    reader: DataReader<Keyed>,
}

impl Ends {
    fn new(domain: u32, [written, read]: [&str; 2]) -> Result<Self, Error> {
        let participant = DomainParticipant::builder(domain)
            .waiting(Waiting::Receive)
            .build()?;
        let written = participant.create_topic::<Keyed>(written)?;
        let read = participant.create_topic::<Keyed>(read)?;
        let Qos { writer, reader } = Qos::default();
        Ok(Self {
            writer: participant.create_datawriter(&written, writer)?,
            reader: participant.create_datareader(&read, reader)?,
        })
    }

    /// Of the process that measures, once both have met.
    pub(crate) fn asking(domain: u32) -> Result<Self, String> {
        let ends = Self::new(domain, ["ping", "pong"]).map_err(|error| error.to_string())?;
        let met = ends.writer.wait_for_matched(1, PATIENCE);
        let met = met.and_then(|()| ends.reader.wait_for_matched(1, PATIENCE));
        met.map_err(|error| format!("nobody answers: {error}"))?;
        Ok(ends)
    }

    /// What comes next; none where nothing comes.
    fn take(&self) -> Result<Option<Keyed>, Error> {
        match self.reader.take_timeout(1, PATIENCE) {
            Ok(taken) => Ok(taken.into_iter().find_map(Sample::into_data)),
            Err(Error::Timeout) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The round trips of one block, in nanoseconds.
    pub(crate) fn block(&self, order: Order) -> Result<Vec<u64>, String> {
        let mut sample = Keyed {
            payload: vec![0x55; order.size].into(),
            ..Keyed::default()
        };
        let mut ns = Vec::with_capacity(order.count);
        while ns.len() < order.count {
            sample.seq += 1;
            sample.instance = sample.seq % INSTANCES;
            let begun_ns = now_ns();
            let written = self.writer.write(&sample);
            written.map_err(|error| format!("write: {error}"))?;
            let answer = self.take().map_err(|error| format!("take: {error}"))?;
            let at_ns = now_ns();
            let answer = answer.ok_or_else(|| format!("no answer to {}", sample.seq))?;
            if (answer.instance, answer.seq) != (sample.instance, sample.seq) {
                return Err(format!("{answer:?} is no answer to {}", sample.seq));
            }
            if sample.seq as usize > order.warm {
                ns.push(at_ns.saturating_sub(begun_ns));
            }
        }
        Ok(ns)
    }
}

/// The process that answers every sample with itself.
pub(crate) fn answer(domain: u32) -> Result<(), String> {
    let ends = Ends::new(domain, ["pong", "ping"]).map_err(|error| error.to_string())?;
    thread::spawn(move || {
        loop {
            let answered = match ends.take() {
                Ok(Some(sample)) => ends.writer.write(&sample),
                // Nothing comes between two blocks.
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = answered {
                return eprintln!("answer: {error}");
            }
        }
    });
    stand_by()
}
