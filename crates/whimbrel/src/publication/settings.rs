//! What the QoS of a writer and its publisher comes to.

use whimbrel_base::guid::Guid;
use whimbrel_base::qos::{Batch, Bundling, DataWriterQos, History, PublisherQos, ReliabilityKind};
use whimbrel_base::time::Duration;
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
    qos.bundling.map_or(Ok(()), check_bundling)
}

/// Settings of a writer's machine.
pub(super) fn machine_config(
    guid: Guid,
    qos: &DataWriterQos,
    publisher: &PublisherQos,
) -> WriterConfig {
    let mut config = WriterConfig::new(guid);
    config.bundling = bundling_of(qos, publisher);
    if qos.batch.is_none() {
        // Batches are compressed by themselves.
        config.packed_messages = qos.data_representation.compression.offered();
    }
    config.batch = qos.batch.map(|batch| writer::BatchLimits {
        samples_max: batch.max_samples.unwrap_or(u32::MAX),
        bytes_max: batch.max_data_bytes,
    });
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

/// How a writer's samples leave.
pub(super) fn bundling_of(writer: &DataWriterQos, publisher: &PublisherQos) -> writer::Bundling {
    if let Some(batch) = writer.batch {
        return writer::Bundling::UpTo {
            message_bytes_max: Bundling::MESSAGE_BYTES_MAX,
            wait: batch.max_flush_delay,
        };
    }
    match writer.bundling.unwrap_or(publisher.bundling) {
        Bundling::Automatic => writer::Bundling::Automatic,
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

/// The largest sample of a writer: one of batches must fit a datagram.
pub(super) fn sample_bytes_max(qos: &DataWriterQos, limit: usize) -> usize {
    match qos.batch {
        Some(_) => limit.min(Batch::DATA_BYTES_MAX),
        None => limit,
    }
}

/// Whether samples pass readers of the process by hand: batches are for the network.
pub(super) fn in_process(qos: &DataWriterQos, usual: InProcess) -> InProcess {
    match qos.batch {
        Some(_) => InProcess::Off,
        None => usual,
    }
}

/// Batches are part of what readers were told when the writer was announced.
pub(super) fn check_batch_change(old: &DataWriterQos, new: &DataWriterQos) -> Result<(), Error> {
    if old.batch == new.batch {
        return Ok(());
    }
    let why = "the limits of batches cannot change: make another writer";
    Err(Error::PreconditionNotMet(why.into()))
}

/// Gives the writer what compresses: whole bundles, or whole batches, or each sample by what is
/// given back.
pub(super) fn set_packers(core: &WriterCore, qos: &DataWriterQos) -> Option<Arc<Mutex<Packer>>> {
    let compression = &qos.data_representation.compression;
    let mut state = core.lock();
    if qos.batch.is_none() {
        state.packer = BundlePacker::new(compression);
    }
    let packer = Arc::new(Mutex::new(Packer::new(compression)?));
    let blocks = BlockPack(Arc::clone(&packer));
    state.machine.set_block_packer(Some(Box::new(blocks)));
    Some(packer)
}
