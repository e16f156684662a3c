//! The participant of a test, its topics, and the QoS that the original gives them.

use std::time::Duration;

use whimbrel::qos::{Batch, Bundling, Durability, ResourceLimits};
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Error, base::time,
};

use crate::failure::Failure;
use crate::message::Message;
use crate::settings::Settings;
use crate::stop;

/// Pings and data.
pub(crate) const THROUGHPUT: &str = "Throughput";
/// Answers.
pub(crate) const LATENCY: &str = "Latency";
/// What subscribers say about themselves.
pub(crate) const ANNOUNCEMENT: &str = "Announcement";

/// How long a wait lasts before somebody looks whether it still makes sense.
pub(crate) const SLICE: Duration = Duration::from_millis(100);
/// Samples that a reader holds.
const READER_SAMPLES: u32 = 10_000;

/// The participant of a test.
pub(crate) struct Bus<'a> {
    participant: DomainParticipant,
    settings: &'a Settings,
}

impl<'a> Bus<'a> {
    /// Joins the domain.
    ///
    /// # Errors
    /// What the bus says.
    pub(crate) fn join(settings: &'a Settings) -> Result<Self, Failure> {
        let builder = DomainParticipant::builder(settings.domain).ip(settings.ip);
        let mut builder = match settings.group {
            Some(group) => builder.multicast_data_group(group),
            None => builder.multicast_data(settings.multicast),
        };
        if let Some(filter) = &settings.interfaces {
            builder = builder.interfaces(filter);
        }
        if let Some(bytes) = settings.message_bytes_max {
            builder = builder.message_bytes_max(bytes);
        }
        if !settings.peers.is_empty() {
            builder = builder.peers(&settings.peers);
        }
        let participant = builder
            .build()
            .map_err(Failure::run("joining the domain"))?;
        if settings.multicast && participant.diagnostics().multicast_interfaces.is_empty() {
            return Err(Failure::Run(
                "-multicast: no interface in use carries multicast".into(),
            ));
        }
        Ok(Self {
            participant,
            settings,
        })
    }

    /// A writer of `topic`.
    ///
    /// # Errors
    /// What the bus says.
    pub(crate) fn writer<M: Message>(&self, topic: &str) -> Result<DataWriter<M>, Failure> {
        let create = || -> Result<DataWriter<M>, Error> {
            let named = self.participant.create_topic::<M>(topic)?;
            self.participant
                .create_datawriter(&named, self.writer_qos(topic))
        };
        create().map_err(Failure::run(topic))
    }

    /// A reader of `topic`.
    ///
    /// # Errors
    /// What the bus says.
    pub(crate) fn reader<M: Message>(&self, topic: &str) -> Result<DataReader<M>, Failure> {
        let create = || -> Result<DataReader<M>, Error> {
            let named = self.participant.create_topic::<M>(topic)?;
            self.participant
                .create_datareader(&named, self.reader_qos(topic))
        };
        create().map_err(Failure::run(topic))
    }

    fn writer_qos(&self, topic: &str) -> DataWriterQos {
        let mut qos = DataWriterQos::default();
        if topic == ANNOUNCEMENT {
            return qos.reliable().keep_last(1).transient_local();
        }
        qos.reliability.max_blocking_time = time::Duration::from_nanos(SLICE.as_nanos() as i64);
        qos.durability = self.durability();
        qos.bundling = Some(Bundling::Off);
        let mut queue = self.settings.send_queue;
        if topic == THROUGHPUT {
            qos.publish_mode = self.settings.publish_mode;
            qos.batch = self.settings.batch.map(|bytes| Batch {
                max_data_bytes: bytes,
                ..Batch::default()
            });
            let per_batch = u32::try_from(self.settings.per_batch).unwrap_or(u32::MAX);
            queue = queue.saturating_mul(per_batch);
        }
        qos.data_representation.compression = self.settings.compression;
        let limits = ResourceLimits::UNLIMITED.max_samples(queue);
        if self.settings.best_effort {
            qos = qos.best_effort();
        }
        if self.settings.transient_local {
            // With KEEP_ALL what stays for late joiners would fill the queue for good.
            return qos.keep_last(queue);
        }
        qos.keep_all().resource_limits(limits)
    }

    fn reader_qos(&self, topic: &str) -> DataReaderQos {
        let qos = DataReaderQos::default();
        if topic == ANNOUNCEMENT {
            return qos.reliable().keep_all().transient_local();
        }
        let limits = ResourceLimits::UNLIMITED.max_samples(READER_SAMPLES);
        let mut qos = qos.keep_all().resource_limits(limits);
        qos.durability = self.durability();
        if self.settings.best_effort {
            qos.best_effort()
        } else {
            qos.reliable()
        }
    }

    fn durability(&self) -> Durability {
        if self.settings.transient_local {
            Durability::TransientLocal
        } else {
            Durability::Volatile
        }
    }
}

/// Calls `wait` with short times until it succeeds.
///
/// # Errors
/// Anything but its time being over, or a signal.
pub(crate) fn wait_for(wait: impl Fn(Duration) -> Result<(), Error>) -> Result<(), Failure> {
    loop {
        match wait(SLICE) {
            Err(Error::Timeout) => {}
            done => return done.map_err(Failure::run("waiting for the other side")),
        }
        if let Some(signal) = stop::signal() {
            return Err(Failure::Signal(signal));
        }
    }
}
