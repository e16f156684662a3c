//! Changes that wait for others.

mod automatic;
mod joined;
mod limits;
mod packed;
mod shared;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;

use whimbrel_base::guid::{EntityId, EntityKind};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_wire::message::Submessage;
use whimbrel_wire::submessage::AckNack;

use super::super::{Bundling, BundlingStatistics, SharedRate, Writer, WriterConfig};
use super::{READER, Sent, acknack, change, matched, up_to, writer};
use crate::outbox::{Outbox, PartOf};
use crate::receive::MessageReceiver;

const NOW: Instant = Instant(1_000_000_000);

const fn at(micros: u64) -> Instant {
    Instant(NOW.0 + micros * 1000)
}

/// What was sent since it was last looked at.
#[derive(Default)]
struct Wire {
    messages: Vec<Vec<&'static str>>,
    bytes_max: usize,
    announced: Option<SequenceNumber>,
    /// Messages that may leave compressed.
    packed: usize,
    /// Of the changes, in the order in which they left.
    numbers: Vec<i64>,
    /// Octets of each message that may leave with others by one call.
    bulk: Vec<usize>,
}

impl Outbox for Wire {
    fn send_bundle(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.packed += 1;
        self.send(to, parts);
    }

    fn send_bulk(&mut self, to: &[Locator], parts: &[&[u8]], _bulk: PartOf) {
        self.bulk.push(parts.iter().map(|it| it.len()).sum());
        self.send(to, parts);
    }

    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        let message = parts.concat();
        self.bytes_max = self.bytes_max.max(message.len());
        for inbound in MessageReceiver::new(&message, READER.prefix).unwrap() {
            match inbound.unwrap().submessage {
                Submessage::Heartbeat(it) => self.announced = Some(it.last),
                Submessage::Data(it) => self.numbers.push(it.number.0),
                _ => {}
            }
        }
        let mut sent = Sent::default();
        sent.send(to, parts);
        self.messages.push(sent.words());
    }
}

impl Wire {
    fn messages(&mut self) -> Vec<Vec<&'static str>> {
        core::mem::take(&mut self.messages)
    }

    fn words(&mut self) -> Vec<&'static str> {
        self.messages().concat()
    }

    /// The newest change of which anybody was told.
    fn announced(&mut self) -> Option<SequenceNumber> {
        self.messages.clear();
        self.announced.take()
    }
}

/// A writer with a reader that knows it.
fn bundling(bundling: Bundling, adapt: impl FnOnce(&mut WriterConfig)) -> (Writer, Wire) {
    let mut writer = writer(|config| {
        config.depth = None;
        config.bundling = bundling;
        adapt(config);
    });
    let reader = matched(true, false);
    let guid = reader.guid;
    writer.handle_matched(NOW, reader);
    let mut sent = Wire::default();
    writer.poll_transmit(NOW, &mut sent);
    writer
        .handle_acknack(NOW, guid, &acknack(1, &[], 1))
        .unwrap();
    writer.poll_transmit(NOW, &mut sent);
    sent.words();
    (writer, sent)
}

/// Writes `count` changes at `now`; what left with each.
fn put(writer: &mut Writer, sent: &mut Wire, now: Instant, count: usize) -> Vec<usize> {
    let put = |number| {
        let mut change = change(16);
        change.timestamp = Timestamp(1_000_000_000 * number as i64);
        writer.write(now, change).unwrap();
        writer.poll_transmit(now, sent);
        let data = |it: &&&str| **it == "data";
        sent.words().iter().filter(data).count()
    };
    (0..count).map(put).collect()
}

/// Writes a change `pause` after `now`, and goes on 6 µs later where it leaves; whether it does.
fn put_next(writer: &mut Writer, sent: &mut Wire, now: &mut Instant, pause: Duration) -> bool {
    *now = now.after(pause);
    let left = put(writer, sent, *now, 1) != [0];
    if left {
        let began = *now;
        *now = now.after(Duration::from_micros(6));
        depart(writer, began, *now);
    }
    left
}

/// Not final: whoever asks so wants to know.
fn question() -> AckNack {
    AckNack {
        is_final: false,
        ..acknack(1, &[], 2)
    }
}

/// What was written left from `began` to `ended`.
fn depart(writer: &mut Writer, began: Instant, ended: Instant) {
    if writer.measures_departures() {
        writer.note_departure(began, ended);
    }
}

/// Writers of one participant, each with a reader at one of these ports.
fn crowd(ports: &[u16], adapt: impl Fn(&mut WriterConfig)) -> Vec<Writer> {
    let rate = Arc::new(SharedRate::default());
    let join = |(number, port): (usize, &u16)| {
        let mut writer = writer(|config| {
            config.guid.entity = EntityId::user(number as u32, EntityKind::WriterNoKey);
            config.depth = None;
            config.bundling = Bundling::Automatic;
            config.shared_rate = Some(Arc::clone(&rate));
            adapt(config);
        });
        let mut reader = matched(false, false);
        reader.locators = vec![SocketAddr::from(([127, 0, 0, 1], *port)).into()];
        reader.packed_messages = CompressionIds::LZ4;
        writer.handle_matched(NOW, reader);
        writer
    };
    ports.iter().enumerate().map(join).collect()
}

fn statistics(writer: &Writer) -> BundlingStatistics {
    writer.statistics().bundling
}

#[test]
fn samples_wait_for_the_latency_budget() {
    let (mut writer, mut sent) = bundling(up_to(1400), |_| {});
    assert_eq!(put(&mut writer, &mut sent, at(0), 2), [0, 0]);
    assert!(writer.is_waiting());
    assert_eq!(put(&mut writer, &mut sent, at(4000), 1), [0]);
    assert_eq!(writer.poll_timeout().unwrap().0, at(5000));
    writer.handle_timeout(at(4999));
    writer.poll_transmit(at(4999), &mut sent);
    assert!(sent.words().is_empty());
    writer.handle_timeout(at(5000));
    writer.poll_transmit(at(5000), &mut sent);
    assert_eq!(sent.messages(), [["data", "data", "data", "heartbeat"]]);
    let wanted = BundlingStatistics {
        bundles: 1,
        samples: 3,
        time: 1,
        ..BundlingStatistics::default()
    };
    assert_eq!(statistics(&writer), wanted);
    assert_eq!(wanted.samples_per_bundle(), 3.0);
    assert!(!writer.is_waiting());
}

#[test]
fn nobody_hears_of_what_waits() {
    let (mut writer, mut sent) = bundling(up_to(1400), |_| {});
    let reader = matched(true, false).guid;
    put(&mut writer, &mut sent, NOW, 3);
    writer.handle_acknack(NOW, reader, &question()).unwrap();
    writer.poll_transmit(NOW, &mut sent);
    assert_eq!(sent.announced(), Some(SequenceNumber(0)));
    writer.flush();
    writer.poll_transmit(at(2000), &mut sent);
    assert_eq!(sent.announced(), Some(SequenceNumber(3)));
    writer
        .handle_acknack(NOW, reader, &acknack(1, &[2], 3))
        .unwrap();
    writer.poll_transmit(at(2010), &mut sent);
    assert_eq!(
        sent.words(),
        ["data", "heartbeat?"],
        "one sample is repaired"
    );
}

#[test]
fn a_suspension_ends_with_everything_in_few_messages() {
    for kind in [Bundling::Off, Bundling::Automatic, up_to(1400)] {
        let (mut writer, mut sent) = bundling(kind, |_| {});
        writer.suspend();
        writer.suspend();
        assert_eq!(
            put(&mut writer, &mut sent, at(100), 10),
            [0; 10],
            "{kind:?}"
        );
        assert_eq!(writer.poll_timeout(), None);
        writer.resume();
        writer.poll_transmit(at(100), &mut sent);
        assert!(sent.words().is_empty());
        writer.resume();
        writer.poll_transmit(at(100), &mut sent);
        assert_eq!(sent.messages().len(), 1);
        assert_eq!(statistics(&writer).flush, 1);
        // It ends where a message is full: memory is bounded.
        writer.suspend();
        let left = put(&mut writer, &mut sent, at(200), 100);
        assert!(left.iter().sum::<usize>() > 70);
        writer.resume();
    }
}

#[test]
fn nothing_waits_where_nobody_listens() {
    let mut writer = writer(|config| config.bundling = up_to(1400));
    let mut sent = Wire::default();
    for _ in 0..10 {
        writer.write(NOW, change(16)).unwrap();
        writer.poll_transmit(NOW, &mut sent);
    }
    assert!(sent.words().is_empty() && !writer.is_waiting());
    assert_eq!(writer.history_len(), 0);
    assert_eq!(writer.poll_timeout(), None);
}

#[test]
fn another_setting_lets_what_waits_leave() {
    let (mut writer, mut sent) = bundling(up_to(1400), |_| {});
    put(&mut writer, &mut sent, NOW, 2);
    writer.set_bundling(up_to(1400));
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().is_empty());
    writer.set_bundling(Bundling::Off);
    writer.poll_transmit(NOW, &mut sent);
    assert!(sent.words().contains(&"data"));
    assert!(put(&mut writer, &mut sent, NOW, 1)[0] > 0);
}
