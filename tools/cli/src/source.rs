//! Samples of any topic: typed where this program knows the type, octets otherwise.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use whimbrel::base::guid::Guid;
use whimbrel::domain::DiscoveredWriter;
use whimbrel::qos::{DataRepresentationId, Durability, Ownership};
use whimbrel::types::DdsType;
use whimbrel::{
    DataReader, DataReaderQos, DomainParticipant, RawDataReader, SampleInfo, Selector,
    SubscriberQos,
};

use crate::failure::Failure;
use crate::known::{LogLine, ShapeType};

/// Samples kept of each instance while the terminal is slow.
const DEPTH: u32 = 1000;

/// What is known of a sample's content.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Content {
    /// Its members, or of a sample without data its key members.
    Known(Value),
    /// Its octets.
    Octets(Vec<u8>),
}

/// A sample of any type.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) info: SampleInfo,
    pub(crate) content: Content,
}

impl Received {
    /// The writer, where there is one.
    pub(crate) fn writer(&self) -> Guid {
        Guid::from_bytes(self.info.publication_handle.0)
    }
}

/// Samples of one topic.
pub(crate) trait Source {
    /// Waits until there is something to take; false when the time is over.
    fn wait(&self, timeout: Duration) -> bool;

    /// Takes what there is.
    fn take(&self) -> Result<Vec<Received>, Failure>;
}

/// Reads the topic of `writer` with QoS that match it. With `hex`, octets only.
pub(crate) fn open(
    participant: &DomainParticipant,
    writer: &DiscoveredWriter,
    hex: bool,
) -> Result<Box<dyn Source>, Failure> {
    match writer.type_name.as_str() {
        ShapeType::TYPE_NAME if !hex => typed::<ShapeType>(participant, writer),
        LogLine::TYPE_NAME if !hex => typed::<LogLine>(participant, writer),
        _ => raw(participant, writer),
    }
}

/// Why samples of the type are printed as octets; `None` where they are not.
pub(crate) fn reason_for_octets(type_name: &str, hex: bool) -> Option<String> {
    match type_name {
        _ if hex => Some("--hex asks for them".into()),
        ShapeType::TYPE_NAME | LogLine::TYPE_NAME => None,
        other => Some(format!("type {other} is not known to this program")),
    }
}

fn typed<T: DdsType + Serialize>(
    participant: &DomainParticipant,
    writer: &DiscoveredWriter,
) -> Result<Box<dyn Source>, Failure> {
    let topic = participant.create_topic::<T>(&writer.topic_name)?;
    let subscriber = participant.create_subscriber(subscriber_qos(writer))?;
    let reader = subscriber.create_datareader(&topic, reader_qos(writer))?;
    Ok(Box::new(reader))
}

fn raw(
    participant: &DomainParticipant,
    writer: &DiscoveredWriter,
) -> Result<Box<dyn Source>, Failure> {
    let keyed = writer.guid.entity.has_key();
    let topic = participant.create_raw_topic(&writer.topic_name, &writer.type_name, keyed)?;
    let reader =
        participant.create_raw_datareader(&topic, subscriber_qos(writer), reader_qos(writer))?;
    Ok(Box::new(reader))
}

/// QoS of a reader that matches `writer` and loses nothing it offers.
fn reader_qos(writer: &DiscoveredWriter) -> DataReaderQos {
    let offered = &writer.qos;
    let ids = [DataRepresentationId::XCDR1, DataRepresentationId::XCDR2];
    let mut qos = DataReaderQos::default()
        .keep_last(DEPTH)
        .data_representation(&ids);
    if offered.reliability.is_reliable() {
        qos = qos.reliable();
    }
    if offered.durability >= Durability::TransientLocal {
        qos = qos.transient_local();
    }
    if offered.ownership != Ownership::default() {
        qos = qos.ownership(offered.ownership);
    }
    qos
}

fn subscriber_qos(writer: &DiscoveredWriter) -> SubscriberQos {
    let names = writer.partition.names.iter();
    names.fold(SubscriberQos::default(), |qos, name| qos.partition(name))
}

impl<T: DdsType + Serialize> Source for DataReader<T> {
    fn wait(&self, timeout: Duration) -> bool {
        self.wait_for_data(timeout).is_ok()
    }

    fn take(&self) -> Result<Vec<Received>, Failure> {
        let loans = self.take_loaned(&Selector::ALL)?;
        let convert = |loan: whimbrel::subscription::LoanedSample<T>| {
            let content = match loan.decode() {
                Ok(sample) => Content::Known(match (sample.data(), sample.key()) {
                    (Some(data), _) => to_json(data),
                    (None, Some(key)) => key_members::<T>(key),
                    (None, None) => json!({}),
                }),
                Err(_) => Content::Octets(loan.payload().to_vec()),
            };
            Received {
                info: *loan.info(),
                content,
            }
        };
        Ok(loans.into_iter().map(convert).collect())
    }
}

impl Source for RawDataReader {
    fn wait(&self, timeout: Duration) -> bool {
        self.wait_for_data(timeout).is_ok()
    }

    fn take(&self) -> Result<Vec<Received>, Failure> {
        let convert = |sample: whimbrel::RawSample| Received {
            info: *sample.info(),
            content: Content::Octets(sample.payload().to_vec()),
        };
        Ok(Self::take(self, usize::MAX)
            .into_iter()
            .map(convert)
            .collect())
    }
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn key_members<T: DdsType + Serialize>(value: &T) -> Value {
    let Value::Object(members) = to_json(value) else {
        return Value::Null;
    };
    let is_key = |name: &str| {
        T::describe()
            .members()
            .iter()
            .any(|member| member.key && member.name == name)
    };
    Value::Object(
        members
            .into_iter()
            .filter(|(name, _)| is_key(name))
            .collect(),
    )
}
