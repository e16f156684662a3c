//! Who the stations are and how little they may hold.

use std::net::{Ipv4Addr, SocketAddr};

use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::limits::Limits;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{
    CompressionIds, DataReaderQos, DataWriterQos, Durability, History, PublisherQos, Reliability,
    ResourceLimits, SubscriberQos, TopicQos,
};
use whimbrel_base::time::Duration;
use whimbrel_proto::cache::CacheConfig;
use whimbrel_proto::reader::KeyExtractor;
use whimbrel_proto::writer::{BatchLimits, Bundling};
use whimbrel_proto::{
    InterfaceAddress, LocalReader, LocalWriter, ParticipantConfig, ReaderConfig, WriterConfig,
};

use super::inflate::Inflater;

/// Samples kept by each endpoint.
pub(super) const HISTORY_MAX: usize = 8;

/// Instances known to each endpoint.
pub(super) const INSTANCES_MAX: usize = 4;

/// The largest sample.
pub(super) const SAMPLE_BYTES_MAX: usize = 8 * 1024;

/// Octets that half-received samples may hold.
pub(super) const REASSEMBLY_BYTES_MAX: usize = 16 * 1024;

/// Limits that an input can reach.
pub(super) const LIMITS: Limits = Limits {
    remote_participants_max: 4,
    remote_endpoints_per_participant_max: 6,
    remote_endpoints_max: 10,
    matches_per_endpoint_max: 3,
    discovery_sample_bytes_max: SAMPLE_BYTES_MAX,
    reassembly_bytes_max: REASSEMBLY_BYTES_MAX,
    reassembly_samples_max: 2,
    reorder_samples_max: 8,
    ..Limits::DEFAULT
};

/// Octets that a station may hold when every one of these limits is met, tables included.
pub const MEMORY_BYTES_MAX: usize = {
    const ENDPOINTS: usize = 5;
    let waiting = LIMITS.matches_per_endpoint_max * LIMITS.reorder_samples_max * SAMPLE_BYTES_MAX;
    let reader = REASSEMBLY_BYTES_MAX + 2 * SAMPLE_BYTES_MAX + waiting;
    let history = HISTORY_MAX * SAMPLE_BYTES_MAX;
    let known = LIMITS.remote_participants_max + LIMITS.remote_endpoints_max;
    ENDPOINTS * (reader + 2 * history) + known * SAMPLE_BYTES_MAX
};

/// The writers: the first is of a topic with key.
pub const WRITERS: [EntityId; 2] = [EntityId([0, 0, 1, 2]), EntityId([0, 0, 2, 3])];

/// The readers: the first is of a topic with key.
pub const READERS: [EntityId; 2] = [EntityId([0, 0, 3, 7]), EntityId([0, 0, 4, 4])];

/// What a station writes and reads.
#[derive(Clone, Copy)]
pub struct Topics {
    pub(super) writes: [&'static str; 2],
    pub(super) reads: [&'static str; 2],
}

/// The topics of station `number`: what odd ones write, even ones read.
pub fn topics(number: u8) -> Topics {
    let (odd, even) = (["Square", "Circle"], ["Triangle", "Star"]);
    match number % 2 {
        1 => Topics {
            writes: odd,
            reads: even,
        },
        _ => Topics {
            writes: even,
            reads: odd,
        },
    }
}

/// The GUID prefix of station `number`.
pub fn prefix(number: u8) -> GuidPrefix {
    GuidPrefix([1, 16, number, number, 0, 0, 0, 0, 0, 0, 0, number])
}

/// An address that no interface of a station is near.
pub fn far_away() -> Locator {
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, 9), 7400)).into()
}

fn at(number: u8, port: u16) -> Locator {
    SocketAddr::from((Ipv4Addr::new(10, 0, 0, number), port)).into()
}

/// Where station `number` listens for discovery.
pub fn metatraffic(number: u8) -> Locator {
    at(number, 7410)
}

/// Where station `number` listens for user data.
pub fn user(number: u8) -> Locator {
    at(number, 7411)
}

/// The group that all stations have joined.
pub fn group() -> Locator {
    SocketAddr::from((Ipv4Addr::new(239, 255, 0, 1), 7400)).into()
}

/// True for addresses that no stranger has named.
pub(super) fn is_trusted(locator: Locator) -> bool {
    locator == group() || locator == user(TRUSTED)
}

/// The host whose endpoints are matched without discovery.
pub const TRUSTED: u8 = 50;

pub(super) fn participant(number: u8) -> ParticipantConfig {
    let interface = InterfaceAddress {
        ip: Ipv4Addr::new(10, 0, 0, number).into(),
        prefix_len: 24,
        // Small, so that small samples travel in fragments.
        mtu: 600,
        loopback: false,
    };
    ParticipantConfig {
        metatraffic_unicast: vec![metatraffic(number)],
        default_unicast: vec![user(number)],
        metatraffic_multicast: vec![group()],
        announce_to: vec![group()],
        interfaces: vec![interface],
        limits: LIMITS,
        packed_messages: CompressionIds::ALL,
        seed: u64::from(number),
        ..ParticipantConfig::new(prefix(number), 0)
    }
}

pub(super) fn writer(number: u8, index: usize) -> WriterConfig {
    let keyed = index == 0;
    WriterConfig {
        reliable: keyed,
        durable: keyed,
        depth: Some(2),
        samples_max: HISTORY_MAX,
        instances_max: INSTANCES_MAX,
        sample_bytes_max: SAMPLE_BYTES_MAX,
        message_bytes_max: 1024,
        burst_bytes: 4096,
        bytes_per_second_max: 8_000_000,
        ..WriterConfig::new(Guid::new(prefix(number), WRITERS[index]))
    }
}

/// The same writer, but one of batches.
pub(super) fn batch_writer(number: u8, index: usize) -> WriterConfig {
    let limits = BatchLimits {
        samples_max: 3,
        bytes_max: 900,
    };
    WriterConfig {
        batch: Some(limits),
        bundling: Bundling::UpTo {
            message_bytes_max: 65_507,
            wait: Duration::from_millis(5),
        },
        ..writer(number, index)
    }
}

pub(super) fn reader(number: u8, index: usize) -> ReaderConfig {
    let keyed = index == 0;
    let limits = ResourceLimits::UNLIMITED
        .max_samples(HISTORY_MAX as u32)
        .max_instances(INSTANCES_MAX as u32);
    let cache = CacheConfig {
        keyed,
        history: History::KeepLast(2),
        limits,
        instances_max: INSTANCES_MAX,
        retired_instances_max: 2,
        ..CacheConfig::default()
    };
    ReaderConfig {
        reliable: keyed,
        durable: keyed,
        keys: keyed.then(|| Box::new(FirstOctet) as Box<dyn KeyExtractor>),
        unpacker: Some(Box::new(Inflater)),
        sample_bytes_max: SAMPLE_BYTES_MAX,
        reassembly_bytes_max: REASSEMBLY_BYTES_MAX,
        reassembly_samples_max: LIMITS.reassembly_samples_max,
        reorder_samples_max: LIMITS.reorder_samples_max,
        ..ReaderConfig::new(Guid::new(prefix(number), READERS[index]), cache)
    }
}

pub(super) fn local_writer(index: usize, topic: &str) -> LocalWriter {
    let mut qos = DataWriterQos::default();
    if index == 0 {
        qos.reliability = Reliability::RELIABLE;
        qos.durability = Durability::TransientLocal;
        // What it announces is taken from others too: none of its samples is so large.
        qos.data_representation.compression.compression_ids = Some(CompressionIds::ZLIB);
    } else {
        qos.reliability = Reliability::BEST_EFFORT;
    }
    LocalWriter {
        entity: WRITERS[index],
        topic_name: topic.into(),
        type_name: "ShapeType".into(),
        qos,
        publisher: PublisherQos::default(),
        topic: TopicQos::default(),
    }
}

pub(super) fn local_reader(index: usize, topic: &str) -> LocalReader {
    let mut qos = DataReaderQos::default();
    if index == 0 {
        qos.reliability = Reliability::RELIABLE;
        qos.durability = Durability::TransientLocal;
        qos.data_representation.compression.compression_ids = Some(CompressionIds::ALL);
    }
    LocalReader {
        entity: READERS[index],
        topic_name: topic.into(),
        type_name: "ShapeType".into(),
        qos,
        subscriber: SubscriberQos::default(),
        topic: TopicQos::default(),
    }
}

/// The instance of the key `octet`.
pub(super) fn instance(octet: u8) -> InstanceHandle {
    let mut hash = [0; 16];
    hash[0] = octet;
    InstanceHandle::from_key_hash(hash)
}

/// The key is the first octet after the encapsulation.
#[derive(Debug)]
struct FirstOctet;

impl KeyExtractor for FirstOctet {
    fn instance_of(&self, payload: &[u8], _is_key: bool) -> Option<InstanceHandle> {
        payload.get(4).map(|octet| instance(*octet))
    }
}
