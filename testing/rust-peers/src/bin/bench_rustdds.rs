//! RustDDS as a contestant, receiving by its stream of samples.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use futures_lite::StreamExt;
use futures_lite::future::block_on;
use rust_peers::Link;
use rustdds::no_key::{DataReaderStream, DataWriter};
use rustdds::policy::{Durability, History, Reliability};
use rustdds::{
    CDRDeserializerAdapter, CDRSerializerAdapter, DomainParticipant, Duration, QosPolicyBuilder,
    StatusEvented, TopicKind,
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Msg {
    seq: u32,
    payload: Vec<u8>,
}

struct Ends {
    writer: DataWriter<Msg, CDRSerializerAdapter<Msg>>,
    stream: DataReaderStream<Msg, CDRDeserializerAdapter<Msg>>,
    matched: bool,
    _participant: DomainParticipant,
}

impl Link for Ends {
    type Msg = Msg;

    fn open(domain: u16, written: &str, read: &str) -> Result<Self, String> {
        let said = |error: &dyn std::fmt::Debug| format!("{error:?}");
        let participant = DomainParticipant::new(domain).map_err(|it| said(&it))?;
        let qos = QosPolicyBuilder::new()
            .reliability(Reliability::Reliable {
                max_blocking_time: Duration::from_secs(1),
            })
            .history(History::KeepLast { depth: 1 })
            .durability(Durability::Volatile)
            .build();
        let topic = |name: &str| {
            participant.create_topic(name.to_owned(), "Msg".to_owned(), &qos, TopicKind::NoKey)
        };
        let written = topic(written).map_err(|it| said(&it))?;
        let read = topic(read).map_err(|it| said(&it))?;
        let publisher = participant.create_publisher(&qos).map_err(|it| said(&it))?;
        let subscriber = participant
            .create_subscriber(&qos)
            .map_err(|it| said(&it))?;
        let writer = publisher
            .create_datawriter_no_key_cdr::<Msg>(&written, None)
            .map_err(|it| said(&it))?;
        let reader = subscriber
            .create_datareader_no_key_cdr::<Msg>(&read, None)
            .map_err(|it| said(&it))?;
        Ok(Self {
            writer,
            stream: reader.async_sample_stream(),
            matched: false,
            _participant: participant,
        })
    }

    fn is_matched(&mut self) -> Result<bool, String> {
        self.matched |= self.writer.try_recv_status().is_some();
        Ok(self.matched)
    }

    fn sample(seq: u32, payload: Vec<u8>) -> Msg {
        Msg { seq, payload }
    }

    fn head(sample: &Msg) -> (u32, usize) {
        (sample.seq, sample.payload.len())
    }

    fn send(&mut self, sample: Msg) -> Result<(), String> {
        let written = self.writer.write(sample, None);
        written.map_err(|error| format!("write: {error}"))
    }

    fn receive(&mut self) -> Result<Msg, String> {
        match block_on(self.stream.next()) {
            Some(Ok(sample)) => Ok(sample.into_value()),
            Some(Err(error)) => Err(format!("read: {error:?}")),
            None => Err("the stream has ended".into()),
        }
    }
}

fn main() -> ExitCode {
    rust_peers::main::<Ends>("RustDDS 0.15 (samples by its stream)")
}
