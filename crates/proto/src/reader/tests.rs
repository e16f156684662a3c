//! A reader fed by hand.

mod alike;
mod back_pressure;
mod budget;
mod large;
mod lossy;
mod order;
mod parts;
mod pass;
mod requests;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use whimbrel_base::budget::{Account, Budget};
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{History, Limit, ResourceLimits};
use whimbrel_base::reject::RejectKind;
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::status::SampleRejectedKind;
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::message::Submessage;
use whimbrel_wire::number_set::SequenceNumberSet;
use whimbrel_wire::submessage::{Gap, Heartbeat};

use super::{
    FragmentRun, Incoming, IncomingFragments, KeyExtractor, Reader, ReaderConfig, ReaderEvent,
};
use crate::cache::{CacheConfig, CachedSample, Selector};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::peer::{MatchedReader, MatchedWriter};
use crate::receive::{MessageReceiver, Plain, Target};
use crate::writer::{NewChange, WriteError, Writer, WriterConfig};

pub(super) const WRITER: Guid = Guid::new(
    GuidPrefix([1; 12]),
    EntityId::user(1, EntityKind::WriterNoKey),
);
const READER: Guid = Guid::new(
    GuidPrefix([2; 12]),
    EntityId::user(1, EntityKind::ReaderNoKey),
);
pub(super) const NOW: Instant = Instant(1_000_000_000);

#[derive(Default, Debug)]
struct Sent(Vec<Vec<u8>>);

impl Outbox for Sent {
    fn send(&mut self, _to: &[Locator], parts: &[&[u8]]) {
        self.0.push(parts.concat());
    }
}

pub(super) fn keep_all(max_samples: u32) -> CacheConfig {
    CacheConfig {
        keyed: false,
        history: History::KeepAll,
        limits: ResourceLimits {
            max_samples: Limit::at_most(max_samples),
            ..ResourceLimits::UNLIMITED
        },
        ..CacheConfig::default()
    }
}

pub(super) fn reader(adapt: impl FnOnce(&mut ReaderConfig)) -> Reader {
    let mut config = ReaderConfig::new(READER, keep_all(10_000));
    config.reliable = true;
    adapt(&mut config);
    Reader::new(config)
}

pub(super) fn matched(reliable: bool) -> MatchedWriter {
    MatchedWriter {
        packs: false,
        batches: false,
        guid: WRITER,
        reliable,
        durable: false,
        locators: vec![],
        vendor: VendorId::WHIMBREL,
    }
}

pub(super) fn data(number: i64) -> Incoming {
    Incoming {
        writer: WRITER,
        sequence: SequenceNumber(number),
        kind: ChangeKind::Alive,
        key_hash: None,
        is_key: false,
        payload: SharedBytes::copy_from(&number.to_le_bytes()),
        source_timestamp: Timestamp(number),
        reception_timestamp: Timestamp(number),
    }
}

pub(super) fn heartbeat(first: i64, last: i64, count: i32, is_final: bool) -> Heartbeat {
    Heartbeat {
        reader: EntityId::UNKNOWN,
        writer: WRITER.entity,
        first: SequenceNumber(first),
        last: SequenceNumber(last),
        count: Count(count),
        is_final,
        liveliness: false,
        group: None,
    }
}

pub(super) fn taken(reader: &mut Reader) -> Vec<i64> {
    let mut samples = Vec::new();
    reader.cache_mut().take(&Selector::ALL, &mut samples);
    samples
        .iter()
        .map(|sample: &CachedSample| sample.sequence.0)
        .collect()
}

/// What the reader answers now: base and requested numbers of each ACKNACK.
pub(super) fn answers(reader: &mut Reader, now: Instant) -> Vec<(i64, Vec<i64>)> {
    let mut sent = Sent::default();
    reader.poll_transmit(now, &mut sent);
    let mut found = vec![];
    for message in &sent.0 {
        for inbound in MessageReceiver::new(message, WRITER.prefix).unwrap() {
            if let Submessage::AckNack(acknack) = inbound.unwrap().submessage {
                let numbers = acknack.state.iter().map(|number| number.0).collect();
                found.push((acknack.state.base().0, numbers));
            }
        }
    }
    found
}
