//! A writer and a reader of the sample that all products exchange.

use std::time::Duration;

use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Error,
};
use whimbrel_bench::protocol::option;
use whimbrel_payload::{Payload, SEED};

/// How long anything may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The sample of all products: a number and octets.
#[derive(DdsType, Debug, Default)]
pub(super) struct Msg {
    pub(super) seq: u32,
    pub(super) payload: Vec<u8>,
}

pub(super) struct Ends {
    pub(super) writer: DataWriter<Msg>,
    pub(super) reader: DataReader<Msg>,
}

impl Ends {
    /// Writes the topic `written`, reads the topic `read`; QoS as in the comparison of 2019:
    /// RELIABLE, KEEP_LAST 1, VOLATILE.
    pub(super) fn new(domain: u32, written: &str, read: &str) -> Result<Self, String> {
        let open = || -> Result<Self, Error> {
            let participant = DomainParticipant::new(domain)?;
            let written = participant.create_topic::<Msg>(written)?;
            let read = participant.create_topic::<Msg>(read)?;
            let out = DataWriterQos::default().reliable().keep_last(1);
            let back = DataReaderQos::default().reliable().keep_last(1);
            Ok(Self {
                writer: participant.create_datawriter(&written, out)?,
                reader: participant.create_datareader(&read, back)?,
            })
        };
        open().map_err(|error| error.to_string())
    }

    /// Waits until both are matched in both directions.
    pub(super) fn meet(&self) -> Result<(), String> {
        let met = self
            .writer
            .wait_for_matched(1, PATIENCE)
            .and_then(|()| self.reader.wait_for_matched(1, PATIENCE));
        met.map_err(|error| format!("nobody answers: {error}"))
    }
}

/// What samples hold.
#[derive(Clone, Debug)]
pub(super) struct Sample(Payload);

impl Sample {
    /// That of `--payload`, or a constant octet as with the peers.
    pub(super) fn new(words: &[String]) -> Result<Self, String> {
        let name = option(words, "--payload").unwrap_or("zeros");
        let payload = name.parse();
        payload.map(Self).map_err(|error| format!("{error}"))
    }

    /// One of `size` octets.
    pub(super) fn of(&self, size: usize) -> Result<Msg, String> {
        let payload = self.0.octets(SEED, size);
        let payload = payload.map_err(|error| error.to_string())?;
        Ok(Msg { seq: 0, payload })
    }
}
