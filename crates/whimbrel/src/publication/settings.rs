//! What the QoS of a writer and its publisher comes to.

use whimbrel_base::guid::Guid;
use whimbrel_base::qos::{
    Batch, Bundling, DataWriterQos, History, PublishMode, PublisherQos, ReliabilityKind,
};
use whimbrel_base::time::Duration;
use whimbrel_proto::ParticipantConfig;
use whimbrel_proto::writer::{self, WriterConfig};

use crate::domain::InProcess;
use crate::driver::compression::{BlockPack, Packer};
use crate::driver::packing::BundlePacker;
use crate::driver::sync::{Arc, Mutex};
use crate::driver::writer::WriterCore;
use crate::error::Error;

/// Refuses QoS that contradicts itself or does not exist here.
pub(super) fn check(qos: &DataWriterQos) -> Result<(), Error> {
    qos.check()?;
    qos.check_supported()?;
    if let Some(batch) = qos.batch.filter(|it| !it.is_valid()) {
        return Err(Error::BadParameter(format!(
            "{batch:?}: at least one sample and one octet, at most {} octets",
            Batch::DATA_BYTES_MAX
        )));
    }
    let controller = qos.publish_mode.controller();
    if let Some(controller) = controller.filter(|it| !it.is_valid()) {
        return Err(Error::BadParameter(format!(
            "{controller:?}: some octets in some finite time"
        )));
    }
    qos.bundling.map_or(Ok(()), check_bundling)
}

/// Settings of a writer's machine.
pub(super) fn machine_config(
    guid: Guid,
    qos: &DataWriterQos,
    bundling: writer::Bundling,
) -> WriterConfig {
    let mut config = WriterConfig::new(guid);
    config.bundling = bundling;
    if qos.batch.is_none() {
        // Batches are compressed by themselves.
        config.packed_messages = qos.data_representation.compression.offered();
    }
    config.batch = qos.batch.map(|batch| writer::BatchLimits {
        samples_max: batch.max_samples.unwrap_or(u32::MAX),
        bytes_max: batch.max_data_bytes,
    });
    if let Some(controller) = qos.publish_mode.controller() {
        config.asynchronous = true;
        config.flow = (!controller.is_unlimited()).then_some(writer::FlowLimits {
            bytes_per_period: controller.bytes_per_period,
            period: controller.period,
            burst_bytes_max: controller.burst_bytes_max,
        });
    }
    config.reliable = qos.reliability.kind == ReliabilityKind::Reliable;
    config.durable = qos.durability != Default::default();
    config.depth = match qos.history {
        History::KeepLast(depth) => Some(usize::try_from(depth).unwrap_or(usize::MAX)),
        History::KeepAll => None,
    };
    let limits = &qos.resource_limits;
    config.samples_max = limits.max_samples.max();
    config.instances_max = limits.max_instances.max();
    config.samples_per_instance_max = limits.max_samples_per_instance.max();
    if !limits.max_samples.is_unlimited() {
        // The user has said how much may be under way.
        config.unacknowledged_bytes_max = u64::MAX;
    }
    config
}

/// Refuses limits that make no sense.
pub(super) fn check_bundling(bundling: Bundling) -> Result<(), Error> {
    if bundling.is_valid() {
        return Ok(());
    }
    let (min, max) = (Bundling::MESSAGE_BYTES_MIN, Bundling::MESSAGE_BYTES_MAX);
    Err(Error::BadParameter(format!(
        "bundles of {bundling} octets: their limit is from {min} to {max}"
    )))
}

/// How a writer's samples leave; as `automatic` says where that is left to us.
pub(super) fn bundling_of(
    writer: &DataWriterQos,
    publisher: &PublisherQos,
    automatic: writer::Bundling,
) -> writer::Bundling {
    if let Some(batch) = writer.batch {
        return writer::Bundling::UpTo {
            message_bytes_max: Bundling::MESSAGE_BYTES_MAX,
            wait: batch.max_flush_delay,
        };
    }
    match writer.bundling.unwrap_or(publisher.bundling) {
        // What is there when another thread comes to send leaves together anyway.
        Bundling::Automatic if writer.publish_mode != PublishMode::Synchronous => {
            writer::Bundling::Off
        }
        Bundling::Automatic => automatic,
        Bundling::Off => writer::Bundling::Off,
        Bundling::UpTo { message_bytes_max } => {
            let budget = writer.latency_budget.duration;
            writer::Bundling::UpTo {
                message_bytes_max,
                wait: if budget.is_zero() {
                    Duration::from_millis(i64::from(Bundling::WAIT_MS))
                } else {
                    budget
                },
            }
        }
    }
}

/// What the participant allows its writers; a sample of batches must fit a datagram.
pub(super) fn limit(config: &mut WriterConfig, participant: &ParticipantConfig) {
    let limits = &participant.limits;
    config.sample_bytes_max = match config.batch {
        Some(_) => limits.sample_bytes_max.min(Batch::DATA_BYTES_MAX),
        None => limits.sample_bytes_max,
    };
    config.instances_max = config.instances_max.min(limits.instances_max);
    config.message_bytes_max = participant.message_bytes_max;
}

/// Whether samples pass readers of the process by hand: batches are for the network, and where
/// another thread sends, the one that writes calls nobody.
pub(super) fn in_process(qos: &DataWriterQos, usual: InProcess) -> InProcess {
    match (qos.batch, qos.publish_mode, usual) {
        (Some(_), _, _) => InProcess::Off,
        (None, PublishMode::Asynchronous(_), InProcess::Direct) => InProcess::Queued,
        (None, _, usual) => usual,
    }
}

/// Refuses changes of what is decided when a writer is made; readers were told of batches then.
pub(super) fn check_way_change(old: &DataWriterQos, new: &DataWriterQos) -> Result<(), Error> {
    let what = if old.batch != new.batch {
        "the limits of batches"
    } else if old.publish_mode != new.publish_mode {
        "who sends, and how fast,"
    } else {
        return Ok(());
    };
    let why = format!("{what} cannot change: make another writer");
    Err(Error::PreconditionNotMet(why))
}

/// What compresses the samples of a writer one by one.
pub(super) struct WriterPacker {
    pub(super) packer: Arc<Mutex<Packer>>,
    /// Samples of so many octets and fewer stay as they are.
    pub(super) threshold: usize,
}

/// Gives the writer what compresses: whole bundles, or whole batches, or each sample by what is
/// given back.
pub(super) fn set_packers(core: &WriterCore, qos: &DataWriterQos) -> Option<WriterPacker> {
    let compression = &qos.data_representation.compression;
    let mut state = core.lock();
    if qos.batch.is_none() {
        state.packer = BundlePacker::new(compression);
    }
    let packer = Packer::new(compression)?;
    let threshold = packer.threshold();
    let packer = Arc::new(Mutex::new(packer));
    let blocks = BlockPack(Arc::clone(&packer));
    state.machine.set_block_packer(Some(Box::new(blocks)));
    state.sample_packer = Some(Arc::clone(&packer));
    Some(WriterPacker { packer, threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_left_to_us_is_bundled_as_the_participant_says() {
        let publisher = PublisherQos::default();
        let of = |bundling, automatic| {
            let qos = DataWriterQos::default().bundling(bundling);
            bundling_of(&qos, &publisher, automatic)
        };
        let (on, off) = (writer::Bundling::Automatic, writer::Bundling::Off);
        for automatic in [on, off] {
            assert_eq!(of(Bundling::Automatic, automatic), automatic);
            assert_eq!(of(Bundling::Off, automatic), off);
            assert!(matches!(
                of(Bundling::ON, automatic),
                writer::Bundling::UpTo { .. }
            ));
        }
        assert_eq!(bundling_of(&DataWriterQos::default(), &publisher, off), off);
    }
}
