//! A writer and a reader, and the ways in which a thread of the program receives.

use std::time::Duration;

use whimbrel::domain::Waiting;
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Error,
    InstanceStates, ReadCondition, Sample, SampleState, ViewStates, WaitSet,
};

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The sample of all products: a number and octets.
#[derive(DdsType, Debug, Default)]
pub(crate) struct Msg {
    pub(crate) seq: u32,
    pub(crate) payload: Vec<u8>,
}

pub(crate) struct Ends {
    pub(crate) writer: DataWriter<Msg>,
    pub(crate) reader: DataReader<Msg>,
}

impl Ends {
    /// Writes the topic `written`, reads the topic `read`, with all defaults.
    pub(crate) fn new(domain: u32, written: &str, read: &str) -> Result<Self, Error> {
        Self::within(&DomainParticipant::new(domain)?, written, read)
    }

    /// The same for a mode of the ping-pong, where only one polls.
    pub(crate) fn of_mode(
        mode: &str,
        domain: u32,
        written: &str,
        read: &str,
    ) -> Result<Self, Error> {
        let waiting = match mode {
            "automatic" => Waiting::default(),
            _ => Waiting::Receive,
        };
        let participant = DomainParticipant::builder(domain).waiting(waiting);
        Self::within(&participant.build()?, written, read)
    }

    fn within(participant: &DomainParticipant, written: &str, read: &str) -> Result<Self, Error> {
        let written = participant.create_topic::<Msg>(written)?;
        let read = participant.create_topic::<Msg>(read)?;
        Ok(Self {
            writer: participant
                .create_datawriter(&written, DataWriterQos::default().reliable().keep_last(1))?,
            reader: participant
                .create_datareader(&read, DataReaderQos::default().reliable().keep_last(1))?,
        })
    }

    /// Waits until both are matched in both directions.
    pub(crate) fn meet(&self) -> Result<(), Error> {
        self.writer.wait_for_matched(1, PATIENCE)?;
        self.reader.wait_for_matched(1, PATIENCE)
    }
}

/// A way in which a thread of the program waits for samples.
pub(crate) enum Way {
    WaitSet(WaitSet, ReadCondition),
    Take,
    Async,
}

impl Way {
    pub(crate) fn named(name: &str, reader: &DataReader<Msg>) -> Result<Self, String> {
        Ok(match name {
            "waitset" => {
                let unread = SampleState::NotRead;
                let condition =
                    reader.create_readcondition(unread, ViewStates::ANY, InstanceStates::ANY);
                let wait_set = WaitSet::new();
                wait_set.attach(condition.clone());
                Self::WaitSet(wait_set, condition)
            }
            "take" | "automatic" => Self::Take,
            "async" => Self::Async,
            _ => return Err(format!("no mode {name}")),
        })
    }

    /// Waits for samples and takes one; none where something else happened.
    pub(crate) fn receive(&self, reader: &DataReader<Msg>) -> Result<Option<Sample<Msg>>, Error> {
        let taken = match self {
            Self::WaitSet(wait_set, condition) => {
                wait_set.wait(PATIENCE)?;
                reader.take_w_condition(condition, 1)?
            }
            Self::Take => reader.take_timeout(1, PATIENCE)?,
            Self::Async => whimbrel::block_on(reader.take_async(1))?,
        };
        Ok(taken.into_iter().next())
    }
}
