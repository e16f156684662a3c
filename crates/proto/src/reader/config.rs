//! What a reader is told when it is made.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use whimbrel_base::budget::Budget;
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::Guid;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::limits::Limits;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::Duration;
use whimbrel_wire::compressed::Compressed;

use crate::cache::CacheConfig;

/// Finds the instance to which a payload belongs. RTPS 2.5 §9.6.4.8.
pub trait KeyExtractor: Send + fmt::Debug {
    /// The instance of `payload` (encapsulation included), which is whole data or, when `is_key`,
    /// only its key; `None` when the octets are not of the type.
    fn instance_of(&self, payload: &[u8], is_key: bool) -> Option<InstanceHandle>;

    /// The instance of what [`KeyExtractor::instance_of`] cannot tell, by the `key_hash` that came
    /// along, if any; `None` refuses the change, as a reader that knows its type should.
    fn instance_of_unreadable(&self, key_hash: Option<InstanceHandle>) -> Option<InstanceHandle> {
        let _ = key_hash;
        None
    }
}

/// Inflates compressed payloads.
pub trait Unpacker: Send + fmt::Debug {
    /// The plain payload: `representation`, two octets of zero and what `packed` inflates to,
    /// which must be exactly as long as said.
    ///
    /// # Errors
    /// `Codec` for one that was not built in, `Compression` where the octets are not that of so
    /// many, `Limit` for claims beyond what such octets may make.
    fn unpack(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject>;
}

/// Settings of a [`super::Reader`].
#[derive(Debug)]
pub struct ReaderConfig {
    /// Who it is.
    pub guid: Guid,
    /// It wants everything, in order (RELIABILITY kind RELIABLE).
    pub reliable: bool,
    /// It wants data from before the match (DURABILITY other than VOLATILE).
    pub durable: bool,
    /// How to find instances, for topics with key.
    pub keys: Option<Box<dyn KeyExtractor>>,
    /// How to inflate what writers compressed; without it such samples are refused.
    pub unpacker: Option<Box<dyn Unpacker>>,
    /// History and resource limits of its cache.
    pub cache: CacheConfig,
    /// Where what the reader holds is counted, and how much may be; no limit by default.
    pub budget: Option<Arc<Budget>>,
    /// Largest sample taken, in octets.
    pub sample_bytes_max: usize,
    /// Octets that half-received samples may hold, beside the one that is being received.
    pub reassembly_bytes_max: usize,
    /// Samples of one writer that may be half received.
    pub reassembly_samples_max: usize,
    /// Samples of one writer that may wait for an earlier one.
    pub reorder_samples_max: usize,
    /// Octets of samples of one writer that may wait for an earlier one.
    pub reorder_bytes_max: usize,
    /// How long an answer to a heartbeat is delayed. RTPS 2.5 §8.4.12.1.
    pub heartbeat_response_delay: Duration,
    /// How long writers of this implementation may take to say by themselves what they have,
    /// before they are asked.
    pub first_ask_delay: Duration,
    /// What each matched writer adds to that, unless it is zero; then it is also at least twice as
    /// long as writers have been taking to say it.
    pub ask_delay_per_writer: Duration,
    /// How soon the same request may be repeated.
    pub nack_period: Duration,
    /// Fragments that stopped arriving for this long are taken for lost.
    pub fragment_patience: Duration,
    /// Half-received samples of best-effort writers are forgotten after this.
    pub reassembly_patience: Duration,
}

impl ReaderConfig {
    /// A best-effort, volatile reader of a topic without key with the default limits.
    pub fn new(guid: Guid, cache: CacheConfig) -> Self {
        Self {
            guid,
            reliable: false,
            durable: false,
            keys: None,
            unpacker: None,
            cache,
            budget: None,
            sample_bytes_max: Limits::DEFAULT.sample_bytes_max,
            reassembly_bytes_max: Limits::DEFAULT.reassembly_bytes_max,
            reassembly_samples_max: Limits::DEFAULT.reassembly_samples_max,
            reorder_samples_max: Limits::DEFAULT.reorder_samples_max,
            reorder_bytes_max: Limits::DEFAULT.reorder_bytes_max,
            heartbeat_response_delay: Duration::ZERO,
            first_ask_delay: Duration::ZERO,
            ask_delay_per_writer: Duration::ZERO,
            nack_period: Duration::from_millis(5),
            fragment_patience: Duration::from_millis(10),
            reassembly_patience: Duration::from_secs(2),
        }
    }

    /// Takes its caps from `limits`.
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.sample_bytes_max = limits.sample_bytes_max;
        self.reassembly_bytes_max = limits.reassembly_bytes_max;
        self.reassembly_samples_max = limits.reassembly_samples_max;
        self.reorder_samples_max = limits.reorder_samples_max;
        self.reorder_bytes_max = limits.reorder_bytes_max;
        self.cache.instances_max = limits.instances_max;
        self.cache.key_source_bytes_max = limits.key_bytes_max;
        self
    }
}
