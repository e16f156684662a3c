//! Settings of the built-in endpoints.

use whimbrel_base::guid::{EntityId, Guid};
use whimbrel_base::limits::Limits;
use whimbrel_base::qos::{History, ResourceLimits};
use whimbrel_base::time::Duration;

use super::config::ParticipantConfig;
use crate::cache::CacheConfig;
use crate::reader::ReaderConfig;
use crate::writer::WriterConfig;

/// Endpoints that are made within this time are announced together.
const PUSH_PERIOD: Duration = Duration::from_millis(5);

/// What each other participant adds to that.
const PUSH_PERIOD_PER_PEER: Duration = Duration::from_micros(250);

/// What each other participant adds to how long answers are waited for before somebody is asked.
const ANSWER_PER_PEER: Duration = Duration::from_millis(1);

pub(super) fn writer_config(guid: Guid, participant: &ParticipantConfig) -> WriterConfig {
    WriterConfig {
        reliable: true,
        durable: true,
        depth: Some(1),
        sample_bytes_max: participant.limits.discovery_sample_bytes_max,
        message_bytes_max: participant.message_bytes_max,
        heartbeat_period: Duration::from_millis(50),
        heartbeat_period_max: Duration::from_secs(2),
        // Participant messages are rare, and nobody waits for them.
        quiet_until_written: guid.entity == EntityId::PARTICIPANT_MESSAGE_WRITER,
        push_period: PUSH_PERIOD,
        // Until it is answered nobody knows that an endpoint is matched in both directions.
        asks_along: true,
        push_period_per_reader: PUSH_PERIOD_PER_PEER,
        heartbeat_period_per_reader: ANSWER_PER_PEER,
        ..WriterConfig::new(guid)
    }
}

/// Each arrival is taken at once, so the cache has no need of instances, nor of limits.
pub(super) fn reader_config(guid: Guid, limits: &Limits) -> ReaderConfig {
    let cache = CacheConfig {
        keyed: false,
        history: History::KeepAll,
        limits: ResourceLimits::UNLIMITED,
        ..CacheConfig::default()
    };
    let first_ask_delay = if guid.entity == EntityId::PARTICIPANT_MESSAGE_READER {
        // As long as nothing was written, nothing is said.
        Duration::INFINITE
    } else {
        Duration::from_millis(50)
    };
    ReaderConfig {
        reliable: true,
        durable: true,
        first_ask_delay,
        ask_delay_per_writer: ANSWER_PER_PEER,
        sample_bytes_max: limits.discovery_sample_bytes_max,
        reassembly_bytes_max: limits.reassembly_bytes_max,
        reassembly_samples_max: limits.reassembly_samples_max,
        reorder_samples_max: limits.reorder_samples_max,
        ..ReaderConfig::new(guid, cache)
    }
}
