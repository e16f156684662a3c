//! Dust DDS as a contestant, receiving by a wait set.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use dust_dds::domain::domain_participant::DomainParticipant;
use dust_dds::domain::domain_participant_factory::DomainParticipantFactory;
use dust_dds::infrastructure::error::DdsError;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::{DataReaderQos, DataWriterQos, QosKind};
use dust_dds::infrastructure::qos_policy::{
    HistoryQosPolicy, HistoryQosPolicyKind, ReliabilityQosPolicy, ReliabilityQosPolicyKind,
};
use dust_dds::infrastructure::sample_info::{ANY_INSTANCE_STATE, ANY_SAMPLE_STATE, ANY_VIEW_STATE};
use dust_dds::infrastructure::status::{NO_STATUS, StatusKind};
use dust_dds::infrastructure::time::{Duration, DurationKind};
use dust_dds::infrastructure::type_support::DdsType;
use dust_dds::publication::data_writer::DataWriter;
use dust_dds::subscription::data_reader::DataReader;
use dust_dds::wait_set::{Condition, WaitSet};
use rust_peers::Link;

#[derive(DdsType, Debug)]
struct Msg {
    seq: u32,
    payload: Vec<u8>,
}

struct Ends {
    writer: DataWriter<Msg>,
    reader: DataReader<Msg>,
    wait_set: WaitSet,
    _participant: DomainParticipant,
}

fn reliable() -> (ReliabilityQosPolicy, HistoryQosPolicy) {
    let reliability = ReliabilityQosPolicy {
        kind: ReliabilityQosPolicyKind::Reliable,
        max_blocking_time: DurationKind::Finite(Duration::new(1, 0)),
    };
    let history = HistoryQosPolicy {
        kind: HistoryQosPolicyKind::KeepLast(1),
    };
    (reliability, history)
}

impl Ends {
    fn opened(domain: u16, written: &str, read: &str) -> Result<Self, DdsError> {
        let participant = DomainParticipantFactory::get_instance().create_participant(
            i32::from(domain),
            QosKind::Default,
            NO_LISTENER,
            NO_STATUS,
        )?;
        let topic = |name| {
            participant.create_topic::<Msg>(name, "Msg", QosKind::Default, NO_LISTENER, NO_STATUS)
        };
        let (written, read) = (topic(written)?, topic(read)?);
        let publisher = participant.create_publisher(QosKind::Default, NO_LISTENER, NO_STATUS)?;
        let subscriber = participant.create_subscriber(QosKind::Default, NO_LISTENER, NO_STATUS)?;
        let (reliability, history) = reliable();
        let qos = DataWriterQos {
            reliability,
            history,
            ..Default::default()
        };
        let qos = QosKind::Specific(qos);
        let writer = publisher.create_datawriter(&written, qos, NO_LISTENER, NO_STATUS)?;
        let (reliability, history) = reliable();
        let qos = DataReaderQos {
            reliability,
            history,
            ..Default::default()
        };
        let qos = QosKind::Specific(qos);
        let reader = subscriber.create_datareader(&read, qos, NO_LISTENER, NO_STATUS)?;
        let condition = reader.get_statuscondition();
        condition.set_enabled_statuses(&[StatusKind::DataAvailable])?;
        let mut wait_set = WaitSet::new();
        wait_set.attach_condition(Condition::StatusCondition(condition))?;
        Ok(Self {
            writer,
            reader,
            wait_set,
            _participant: participant,
        })
    }
}

impl Link for Ends {
    type Msg = Msg;

    fn open(domain: u16, written: &str, read: &str) -> Result<Self, String> {
        Self::opened(domain, written, read).map_err(|error| format!("{error:?}"))
    }

    fn is_matched(&mut self) -> Result<bool, String> {
        let status = self.writer.get_publication_matched_status();
        let status = status.map_err(|error| format!("{error:?}"))?;
        Ok(status.current_count > 0)
    }

    fn sample(seq: u32, payload: Vec<u8>) -> Msg {
        Msg { seq, payload }
    }

    fn head(sample: &Msg) -> (u32, usize) {
        (sample.seq, sample.payload.len())
    }

    fn send(&mut self, sample: Msg) -> Result<(), String> {
        let written = self.writer.write(sample, None);
        written.map_err(|error| format!("write: {error:?}"))
    }

    fn receive(&mut self) -> Result<Msg, String> {
        loop {
            let all = (ANY_SAMPLE_STATE, ANY_VIEW_STATE, ANY_INSTANCE_STATE);
            match self.reader.take(1, all.0, all.1, all.2) {
                Ok(taken) => {
                    if let Some(data) = taken.into_iter().find_map(|it| it.data) {
                        return Ok(data);
                    }
                }
                Err(DdsError::NoData) => {}
                Err(error) => return Err(format!("take: {error:?}")),
            }
            match self.wait_set.wait(Duration::new(10, 0)) {
                Ok(_) | Err(DdsError::Timeout) => {}
                Err(error) => return Err(format!("wait: {error:?}")),
            }
        }
    }
}

fn main() -> ExitCode {
    rust_peers::main::<Ends>("Dust DDS 0.16 (samples by a wait set)")
}
