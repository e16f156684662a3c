//! The ways in which a thread of the program receives, and the participants of each mode.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;
use whimbrel::domain::Waiting;
use whimbrel::subscription::SampleStream;
use whimbrel::{
    Condition, DataReader, DomainParticipant, Error, InstanceStates, Sample, SampleState,
    ViewStates, WaitSet, block_on,
};
use whimbrel_bench::exchange::{Ends, Msg, PATIENCE, Qos};

/// Writes the topic `written`, reads the topic `read`, with all defaults.
pub(crate) fn usual(domain: u32, written: &str, read: &str) -> Result<Ends, Error> {
    let participant = DomainParticipant::new(domain)?;
    Ends::new(&participant, [written, read], &Qos::default())
}

/// The same for a mode of the ping-pong, which says whether it polls.
pub(crate) fn of_mode(mode: &str, domain: u32, written: &str, read: &str) -> Result<Ends, Error> {
    let waiting = match mode {
        _ if polls_endlessly(mode) => Waiting::Spin,
        _ if mode.starts_with("automatic") => Waiting::default(),
        _ => Waiting::Receive,
    };
    let mut participant = DomainParticipant::builder(domain).waiting(waiting);
    if mode == "large-system-buffers" {
        participant = participant
            .receive_buffer_bytes(None)
            .send_buffer_bytes(None);
    }
    let mut qos = Qos::default();
    if mode == "best-effort" {
        qos.writer = qos.writer.best_effort();
        qos.reader = qos.reader.best_effort();
    }
    Ends::new(&participant.build()?, [written, read], &qos)
}

/// Whether who waits in this mode never blocks.
pub(crate) fn polls_endlessly(mode: &str) -> bool {
    mode == "spinning"
}

/// Whether samples come by a callback in this mode.
pub(crate) fn has_listener(mode: &str) -> bool {
    matches!(
        mode,
        "listener" | "automatic-listener" | "large" | "large-system-buffers"
    )
}

/// A way in which a thread of the program waits for samples, by the calls that allocate nothing:
/// with the room that it keeps for what comes, as programs of the peers have it.
pub(crate) enum Way {
    WaitSet(DataReader<Msg>, WaitSet, Vec<Condition>),
    Take(DataReader<Msg>, Vec<Sample<Msg>>),
    Async(SampleStream<Msg>),
}

impl Way {
    pub(crate) fn named(name: &str, reader: &DataReader<Msg>) -> Result<Self, String> {
        Ok(match name {
            "waitset" | "automatic-waitset" => {
                let unread = SampleState::NotRead;
                let condition =
                    reader.create_readcondition(unread, ViewStates::ANY, InstanceStates::ANY);
                let wait_set = WaitSet::new();
                wait_set.attach(condition);
                Self::WaitSet(reader.clone(), wait_set, Vec::new())
            }
            "take" | "automatic" | "spinning" | "best-effort" => {
                Self::Take(reader.clone(), Vec::new())
            }
            "async" | "automatic-async" => Self::Async(reader.stream()),
            _ => return Err(format!("no mode {name}")),
        })
    }

    /// Waits for samples and takes one; none where something else happened.
    pub(crate) fn receive(&mut self) -> Result<Option<Sample<Msg>>, Error> {
        match self {
            Self::WaitSet(reader, wait_set, met) => {
                wait_set.wait_into(PATIENCE, met)?;
                reader.take_next_sample()
            }
            Self::Take(reader, taken) => {
                reader.take_timeout_into(1, PATIENCE, taken)?;
                Ok(taken.pop())
            }
            Self::Async(stream) => {
                let next = poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
                Ok(block_on(next))
            }
        }
    }
}
