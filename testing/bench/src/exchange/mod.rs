//! What our own processes exchange wherever they are measured: one sample, one echo, one wait for
//! answers, one stream.

mod block;
mod counters;
mod stream;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use whimbrel::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DdsType,
    DomainParticipant, Error, Sample, SharedBytes, StatusKind,
};

pub use block::Block;
pub use counters::{COUNTERS, Counters};
pub use stream::{Stream, bundled};

use crate::clock::now_ns;

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Of what the payload of [`Msg`] is, for reports.
pub const PAYLOAD: &str = "whimbrel: SharedBytes, which take does not copy, nor, above \
     4096 octets, a write within the process; peers: sequence<octet>, raw: octets";

/// The sample of all products: a number and octets.
#[derive(DdsType, Debug, Default)]
pub struct Msg {
    /// Counts from 1.
    pub seq: u32,
    /// As many octets as are measured.
    pub payload: SharedBytes,
}

/// The QoS of both directions.
#[derive(Clone, Debug)]
pub struct Qos {
    /// Of what is written.
    pub writer: DataWriterQos,
    /// Of what is read.
    pub reader: DataReaderQos,
}

impl Default for Qos {
    /// RELIABLE, KEEP_LAST 1, VOLATILE.
    fn default() -> Self {
        Self {
            writer: DataWriterQos::default().reliable().keep_last(1),
            reader: DataReaderQos::default().reliable().keep_last(1),
        }
    }
}

/// A writer and a reader of one participant.
#[derive(Debug)]
pub struct Ends {
    /// Of one topic.
    pub writer: DataWriter<Msg>,
    /// Of another.
    pub reader: DataReader<Msg>,
}

impl Ends {
    /// Writes the topic `written`, reads the topic `read`.
    ///
    /// # Errors
    /// What the bus says.
    pub fn new(
        participant: &DomainParticipant,
        [written, read]: [&str; 2],
        qos: &Qos,
    ) -> Result<Self, Error> {
        let written = participant.create_topic::<Msg>(written)?;
        let read = participant.create_topic::<Msg>(read)?;
        Ok(Self {
            writer: participant.create_datawriter(&written, qos.writer.clone())?,
            reader: participant.create_datareader(&read, qos.reader.clone())?,
        })
    }

    /// Waits until both are matched in both directions.
    ///
    /// # Errors
    /// They are not in time.
    pub fn meet(&self) -> Result<(), String> {
        let met = self
            .writer
            .wait_for_matched(1, PATIENCE)
            .and_then(|()| self.reader.wait_for_matched(1, PATIENCE));
        met.map_err(|error| format!("nobody answers: {error}"))
    }

    /// Answers every sample with itself by a callback from now on.
    pub fn echo(&self) {
        let echo = Echo(self.writer.clone());
        self.reader
            .set_listener(Some(Box::new(echo)), StatusKind::DataAvailable);
    }

    /// Notes by a callback when answers come, from now on.
    pub fn answers(&self) -> Answers {
        let (sender, answers) = channel();
        self.reader
            .set_listener(Some(Box::new(Note(sender))), StatusKind::DataAvailable);
        Answers(answers)
    }
}

/// Writes what `sample` holds.
pub fn answer(writer: &DataWriter<Msg>, sample: &Sample<Msg>) {
    if let Some(data) = sample.data()
        && let Err(error) = writer.write(data)
    {
        eprintln!("write: {error}");
    }
}

struct Echo(DataWriter<Msg>);

impl DataReaderListener<Msg> for Echo {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        if let Ok(Some(sample)) = reader.take_next_sample() {
            answer(&self.0, &sample);
        }
    }
}

/// Answers as they come.
#[derive(Debug)]
pub struct Answers(Receiver<Answer>);

#[derive(Debug)]
struct Answer {
    seq: u32,
    size: usize,
    at_ns: u64,
}

impl Answers {
    /// When the answer to `sample` came, by [`now_ns`]; others are passed over.
    ///
    /// # Errors
    /// It does not come in time.
    pub fn wait_ns(&self, sample: &Msg) -> Result<u64, String> {
        loop {
            let answer = self.0.recv_timeout(PATIENCE);
            let answer = answer.map_err(|error| format!("after {}: {error}", sample.seq))?;
            if answer.seq == sample.seq && answer.size == sample.payload.len() {
                return Ok(answer.at_ns);
            }
        }
    }
}

struct Note(Sender<Answer>);

impl DataReaderListener<Msg> for Note {
    fn on_data_available(&mut self, reader: &DataReader<Msg>) {
        if let Ok(Some(sample)) = reader.take_next_sample()
            && let Some(data) = sample.data()
        {
            let answer = Answer {
                seq: data.seq,
                size: data.payload.len(),
                at_ns: now_ns(),
            };
            // Nobody waits any more when the block was given up.
            let _ = self.0.send(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Order;

    #[test]
    fn both_ends_exchange_a_block_within_a_process() {
        let participant = DomainParticipant::new(83).unwrap();
        let open = |topics| Ends::new(&participant, topics, &Qos::default()).unwrap();
        let (answering, asking) = (open(["pong", "ping"]), open(["ping", "pong"]));
        answering.echo();
        let answers = asking.answers();
        asking.meet().unwrap();
        answering.meet().unwrap();
        let order = Order {
            size: 100,
            count: 20,
            warm: 5,
        };
        let sample = Msg {
            seq: 0,
            payload: vec![0x55; 100].into(),
        };
        let block = Block::new(order, sample);
        let trips = block.run(&asking.writer, &answers).unwrap();
        assert_eq!(trips.len(), 20);
        assert!(trips.iter().all(|it| *it > 0));
    }
}
