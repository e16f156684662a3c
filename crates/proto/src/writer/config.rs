//! What a writer is told when it is made.

use alloc::sync::Arc;

use whimbrel_base::bucket::FlowLimits;
use whimbrel_base::budget::Budget;
use whimbrel_base::guid::Guid;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::rate::SharedRate;
use whimbrel_base::time::Duration;

use super::batch::BatchLimits;
use super::bundle::Bundling;

/// Settings of a [`super::Writer`].
#[derive(Clone, Debug)]
pub struct WriterConfig {
    /// Who it is.
    pub guid: Guid,
    /// It repairs what reliable readers miss (RELIABILITY kind RELIABLE).
    pub reliable: bool,
    /// It keeps changes for late joiners (DURABILITY kind TRANSIENT_LOCAL).
    pub durable: bool,
    /// Changes kept per instance (HISTORY KEEP_LAST), or `None` for KEEP_ALL.
    pub depth: Option<usize>,
    /// Changes kept in all (RESOURCE_LIMITS).
    pub samples_max: usize,
    /// Instances known at a time (RESOURCE_LIMITS).
    pub instances_max: usize,
    /// Changes kept per instance (RESOURCE_LIMITS).
    pub samples_per_instance_max: usize,
    /// Disposed instances that are remembered although they were not unregistered, once every
    /// reader knows of the disposal; the longest disposed go first. 1,024 by default.
    pub disposed_instances_max: usize,
    /// Where what history holds is counted, and how much may be; no limit by default.
    pub budget: Option<Arc<Budget>>,
    /// Largest payload, encapsulation included, in octets.
    pub sample_bytes_max: usize,
    /// Octets that may be unacknowledged before a KEEP_ALL writer blocks.
    pub unacknowledged_bytes_max: u64,
    /// Largest message sent, in octets of UDP payload.
    pub message_bytes_max: usize,
    /// First wait for an acknowledgement before a heartbeat asks for it; doubles while nobody
    /// answers.
    pub heartbeat_period: Duration,
    /// The doubling of the heartbeat period stops here.
    pub heartbeat_period_max: Duration,
    /// Readers are not asked for an answer, nor told that there is nothing, before something was
    /// written.
    pub quiet_until_written: bool,
    /// Shortest time between two departures of new changes; what is written meanwhile leaves
    /// together. Zero by default.
    pub push_period: Duration,
    /// What each matched reader adds to `push_period`: many take time.
    pub push_period_per_reader: Duration,
    /// Readers are asked for an answer along with what is new, not only a `heartbeat_period` later:
    /// somebody waits for it. Only where all of them know where their data starts.
    pub asks_along: bool,
    /// What each matched reader adds to `heartbeat_period`, unless that is zero; then it is also
    /// at least twice as long as readers have been taking to answer.
    pub heartbeat_period_per_reader: Duration,
    /// How long requests are collected before they are served. RTPS 2.5 §8.4.7.1.
    pub nack_response_delay: Duration,
    /// How long a request for something just repaired is ignored. RTPS 2.5 §8.4.7.1.
    pub nack_suppression: Duration,
    /// A reader that does not answer at all for this long while it blocks the writer is given up.
    pub silent_reader_patience: Duration,
    /// A reader that answers but takes nothing for this long while it blocks the writer is given
    /// up.
    pub stuck_reader_patience: Duration,
    /// Octets per second at which fragments leave at most beyond what readers have taken in.
    pub bytes_per_second_max: u64,
    /// Octets of fragments that may leave at once.
    pub burst_bytes: u64,
    /// As `burst_bytes`, at first, for readers that answer and are not known to have sockets that
    /// hold twice as much. By default what a socket holds whose receive buffer nobody has raised:
    /// 212,992 octets on Linux, in which it counts what datagrams take of memory, 2,304 for each
    /// of 1,472.
    pub first_burst_bytes: u64,
    /// As `burst_bytes`, for readers on this host whose sockets hold at least twice as much.
    pub local_burst_bytes_max: u64,
    /// How new changes leave; each at once by default.
    pub bundling: Bundling,
    /// Octets of bundles, where `bundling` allows so many, that may wait to leave as several
    /// messages by [`Outbox::send_bulk`](crate::outbox::Outbox::send_bulk), where the path carries
    /// less in one. None by default: they leave once one message is full.
    pub joined_bytes_max: usize,
    /// How fast the writers of the participant write together; those that go to the same
    /// addresses leave together by [`Bundling::Automatic`]. None by default.
    pub shared_rate: Option<Arc<SharedRate>>,
    /// The codec by which whole messages may leave; none by default.
    pub packed_messages: CompressionIds,
    /// What leaves together is a batch to those who understand that; off by default. Samples that
    /// wait for others do so by `bundling`.
    pub batch: Option<BatchLimits>,
    /// Another thread than the one that writes sends new changes; off by default.
    pub asynchronous: bool,
    /// What may leave in which time, heartbeats not counted; no limit by default.
    pub flow: Option<FlowLimits>,
}

impl WriterConfig {
    /// A reliable, volatile, KEEP_LAST 1 writer with the default limits.
    pub fn new(guid: Guid) -> Self {
        Self {
            guid,
            reliable: true,
            durable: false,
            depth: Some(1),
            samples_max: usize::MAX,
            instances_max: usize::MAX,
            samples_per_instance_max: usize::MAX,
            disposed_instances_max: 1024,
            budget: None,
            sample_bytes_max: 1 << 30,
            unacknowledged_bytes_max: 1 << 20,
            message_bytes_max: 65_507,
            heartbeat_period: Duration::from_millis(10),
            heartbeat_period_max: Duration::from_secs(1),
            quiet_until_written: false,
            push_period: Duration::ZERO,
            asks_along: false,
            push_period_per_reader: Duration::ZERO,
            heartbeat_period_per_reader: Duration::ZERO,
            nack_response_delay: Duration::ZERO,
            nack_suppression: Duration::from_millis(3),
            silent_reader_patience: Duration::from_secs(10),
            stuck_reader_patience: Duration::from_secs(60),
            bytes_per_second_max: 100_000_000,
            burst_bytes: 256 * 1024,
            first_burst_bytes: 96 * 1024,
            local_burst_bytes_max: 1536 * 1024,
            bundling: Bundling::Off,
            joined_bytes_max: 0,
            shared_rate: None,
            packed_messages: CompressionIds::NONE,
            batch: None,
            asynchronous: false,
            flow: None,
        }
    }
}
