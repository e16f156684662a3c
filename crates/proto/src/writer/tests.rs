//! A writer and a reader joined by hand, without network or clock.

mod alone;
mod asking;
mod bundles;
mod controlled;
mod instances;
mod large;
mod room;
mod sending;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use whimbrel_base::budget::Budget;
use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::reject::RejectKind;
use whimbrel_base::sequence::{FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::message::Submessage;

use super::{Bundling, NewChange, WriteError, Writer, WriterConfig, WriterEvent};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::peer::MatchedReader;
use crate::receive::MessageReceiver;

const READER: Guid = Guid::new(
    GuidPrefix([2; 12]),
    EntityId::user(1, EntityKind::ReaderNoKey),
);

#[derive(Default)]
pub(super) struct Sent(Vec<Vec<u8>>);

impl Outbox for Sent {
    fn send(&mut self, _to: &[Locator], parts: &[&[u8]]) {
        self.0.push(parts.concat());
    }
}

impl Sent {
    /// One word for each submessage sent since the last call.
    pub(super) fn words(&mut self) -> Vec<&'static str> {
        let mut words = vec![];
        for message in core::mem::take(&mut self.0) {
            for inbound in MessageReceiver::new(&message, READER.prefix).unwrap() {
                words.push(match inbound.unwrap().submessage {
                    Submessage::Data(_) => "data",
                    Submessage::DataFrag(_) => "frag",
                    Submessage::Heartbeat(it) if it.is_final => "heartbeat",
                    Submessage::Heartbeat(_) => "heartbeat?",
                    Submessage::HeartbeatFrag(_) => "heartbeatfrag",
                    Submessage::Gap(_) => "gap",
                    _ => "other",
                });
            }
        }
        words
    }
}

pub(super) fn writer(adapt: impl FnOnce(&mut WriterConfig)) -> Writer {
    let guid = Guid::new(
        GuidPrefix([1; 12]),
        EntityId::user(1, EntityKind::WriterNoKey),
    );
    let mut config = WriterConfig::new(guid);
    // In which these tests count, from the first on.
    config.first_burst_bytes = config.burst_bytes;
    adapt(&mut config);
    Writer::new(config)
}

/// Bundles of so many octets, which wait for 5 ms.
pub(super) fn up_to(message_bytes_max: usize) -> Bundling {
    Bundling::UpTo {
        message_bytes_max,
        wait: Duration::from_millis(5),
    }
}

pub(super) fn matched(reliable: bool, durable: bool) -> MatchedReader {
    let addr: core::net::SocketAddr = "127.0.0.1:7411".parse().unwrap();
    MatchedReader {
        group: None,
        receive_buffer_bytes: 0,
        packed_messages: whimbrel_base::qos::CompressionIds::NONE,
        packed: false,
        batches: false,
        guid: READER,
        reliable,
        durable,
        expects_inline_qos: false,
        locators: vec![addr.into()],
        message_bytes_max: 1472,
        vendor: VendorId::WHIMBREL,
    }
}

pub(super) fn change(bytes: usize) -> NewChange {
    NewChange {
        packed: crate::writer::Packed::Untried,
        kind: ChangeKind::Alive,
        instance: InstanceHandle::NIL,
        timestamp: Timestamp(1),
        payload: SharedBytes::from_vec(vec![7; bytes]).into(),
    }
}

/// A writer that has asked its only reader, a reliable one, for a first answer.
#[track_caller]
fn greeting(adapt: impl FnOnce(&mut WriterConfig)) -> (Writer, Sent) {
    let mut writer = writer(adapt);
    let mut sent = Sent::default();
    writer.handle_matched(NOW, matched(true, false));
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.words(), ["heartbeat?"]);
    (writer, sent)
}

pub(super) fn acknack(
    base: i64,
    missing: &[i64],
    count: i32,
) -> whimbrel_wire::submessage::AckNack {
    let mut state = whimbrel_wire::number_set::NumberSet::new(SequenceNumber(base));
    for number in missing {
        assert!(state.insert(SequenceNumber(*number)));
    }
    whimbrel_wire::submessage::AckNack {
        reader: READER.entity,
        writer: EntityId::user(1, EntityKind::WriterNoKey),
        state,
        count: whimbrel_base::sequence::Count(count),
        is_final: true,
    }
}

/// Asks for fragment `missing` of the first change, in a set that begins at `base`.
fn nack_frag(base: u32, missing: u32, count: i32) -> whimbrel_wire::submessage::NackFrag {
    let mut state = whimbrel_wire::number_set::NumberSet::new(FragmentNumber(base));
    assert!(state.insert(FragmentNumber(missing)));
    whimbrel_wire::submessage::NackFrag {
        reader: READER.entity,
        writer: EntityId::user(1, EntityKind::WriterNoKey),
        number: SequenceNumber(1),
        state,
        count: whimbrel_base::sequence::Count(count),
    }
}

const NOW: Instant = Instant(1_000_000_000);

fn keyed(kind: ChangeKind, number: u32) -> NewChange {
    let mut instance = [0; 16];
    instance[..4].copy_from_slice(&number.to_be_bytes());
    NewChange {
        packed: crate::writer::Packed::Untried,
        kind,
        instance: InstanceHandle(instance),
        ..change(4)
    }
}
