//! Batches on their way from a writer to readers, over wires that lose.

use alloc::vec;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::guid::{EntityId, EntityKind, Guid, GuidPrefix};
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::locator::Locator;
use whimbrel_base::time::{Duration, Instant, Timestamp};
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::message::Submessage;

use super::{BatchLimits, Bundling, NewChange, Writer, WriterConfig};
use crate::cache::{CacheConfig, CachedSample, Selector};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::peer::{MatchedReader, MatchedWriter};
use crate::reader::{Reader, ReaderConfig};
use crate::receive::{MessageReceiver, Target};

const WRITER: Guid = Guid::new(
    GuidPrefix([1; 12]),
    EntityId::user(1, EntityKind::WriterNoKey),
);
const START: Instant = Instant(1_000_000_000);
const STEP: Duration = Duration::from_millis(2);

fn locator(host: u8) -> Locator {
    Locator::from(core::net::SocketAddr::from(([127, 0, 0, host], 7411)))
}

#[derive(Default)]
struct Sent(Vec<(Vec<Locator>, Vec<u8>)>);

impl Outbox for Sent {
    fn send(&mut self, to: &[Locator], parts: &[&[u8]]) {
        self.0.push((to.to_vec(), parts.concat()));
    }
}

/// What gets through to each reader in one piece.
const PATH_BYTES: usize = 1472;

/// A writer of batches and its readers, on a wire that loses some of the datagrams.
struct Net {
    now: Instant,
    writer: Writer,
    readers: Vec<Reader>,
    /// The readers have joined a group.
    group: Option<Locator>,
    lose_percent: u64,
    state: u64,
    /// Kinds of submessages that reached each reader.
    heard: Vec<Vec<&'static str>>,
}

fn reader_guid(at: usize) -> Guid {
    let prefix = GuidPrefix([10 + at as u8; 12]);
    Guid::new(prefix, EntityId::user(1, EntityKind::ReaderNoKey))
}

impl Net {
    fn new(limits: BatchLimits, adapt: impl FnOnce(&mut WriterConfig)) -> Self {
        let mut config = WriterConfig::new(WRITER);
        config.depth = None;
        config.batch = Some(limits);
        config.bundling = Bundling::UpTo {
            message_bytes_max: 65_507,
            wait: Duration::from_millis(20),
        };
        adapt(&mut config);
        Self {
            now: START,
            writer: Writer::new(config),
            readers: vec![],
            group: None,
            lose_percent: 0,
            state: 7,
            heard: vec![],
        }
    }

    fn join(&mut self, batches: bool, durable: bool) -> usize {
        let at = self.readers.len();
        let cache = CacheConfig {
            keyed: false,
            history: whimbrel_base::qos::History::KeepAll,
            ..CacheConfig::default()
        };
        let mut config = ReaderConfig::new(reader_guid(at), cache);
        (config.reliable, config.durable) = (true, durable);
        let mut reader = Reader::new(config);
        reader.handle_matched(
            self.now,
            MatchedWriter {
                guid: WRITER,
                reliable: true,
                durable: self.writer.config().durable,
                locators: vec![locator(1)],
                vendor: VendorId::WHIMBREL,
                packs: false,
                batches,
            },
        );
        self.readers.push(reader);
        self.heard.push(vec![]);
        self.writer.handle_matched(
            self.now,
            MatchedReader {
                group: self.group,
                guid: reader_guid(at),
                reliable: true,
                durable,
                expects_inline_qos: false,
                locators: vec![locator(10 + at as u8)],
                message_bytes_max: PATH_BYTES,
                vendor: VendorId::WHIMBREL,
                packed: false,
                receive_buffer_bytes: 0,
                packed_messages: whimbrel_base::qos::CompressionIds::NONE,
                batches,
            },
        );
        at
    }

    fn loses(&mut self) -> bool {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.state >> 33) % 100 < self.lose_percent
    }

    fn write(&mut self, number: i64) {
        self.write_large(number, number as usize % 30);
    }

    fn write_large(&mut self, number: i64, more: usize) {
        let new = NewChange {
            kind: ChangeKind::Alive,
            instance: InstanceHandle::NIL,
            timestamp: Timestamp(number),
            payload: SharedBytes::from_vec(
                [&[0, 1, 0, 0][..], &number.to_le_bytes(), &vec![7; more]].concat(),
            )
            .into(),
            packed: crate::writer::Packed::Untried,
        };
        self.writer.write(self.now, new).unwrap();
        self.drain();
    }

    fn drain(&mut self) {
        for _ in 0..50 {
            let mut sent = Sent::default();
            self.writer.handle_timeout(self.now);
            self.writer.poll_transmit(self.now, &mut sent);
            let mut answers = Sent::default();
            for (to, message) in sent.0 {
                check_length(&message);
                for at in 0..self.readers.len() {
                    let all = self.group.is_some_and(|group| to.contains(&group));
                    if (all || to.contains(&locator(10 + at as u8))) && !self.loses() {
                        self.give(at, &message);
                    }
                }
            }
            for reader in &mut self.readers {
                reader.handle_timeout(self.now);
                reader.poll_transmit(self.now, &mut answers);
            }
            if answers.0.is_empty() {
                break;
            }
            for (_, message) in answers.0 {
                if !self.loses() {
                    self.answer(&message);
                }
            }
        }
    }

    fn give(&mut self, at: usize, message: &[u8]) {
        let datagram = SharedBytes::copy_from(message);
        let reader = &mut self.readers[at];
        let now = self.now;
        for inbound in MessageReceiver::new(&datagram, reader_guid(at).prefix).unwrap() {
            let inbound = inbound.unwrap();
            let (kind, outcome) = match &inbound.submessage {
                Submessage::Data(it) => {
                    let change = inbound.change(it, &datagram, Timestamp(2)).unwrap();
                    ("data", reader.handle_data(now, change))
                }
                Submessage::DataBatch(it) => {
                    let batch = inbound.batch(it, Timestamp(2));
                    ("batch", reader.handle_data_batch(now, &batch))
                }
                Submessage::Heartbeat(it) => {
                    ("heartbeat", reader.handle_heartbeat(now, WRITER, it))
                }
                Submessage::HeartbeatBatch(it) => {
                    ("heartbeat", reader.handle_heartbeat_batch(now, WRITER, it))
                }
                Submessage::Gap(it) => ("gap", reader.handle_gap(now, WRITER, it)),
                other => panic!("{other}"),
            };
            if let Err(reject) = outcome {
                let kind = reject.kind;
                assert_eq!(
                    kind,
                    whimbrel_base::reject::RejectKind::Duplicate,
                    "{kind:?}"
                );
            }
            self.heard[at].push(kind);
        }
    }

    fn answer(&mut self, message: &[u8]) {
        for inbound in MessageReceiver::new(message, WRITER.prefix).unwrap() {
            let inbound = inbound.unwrap();
            if let (Submessage::AckNack(it), Target::Writer { reader, .. }) =
                (&inbound.submessage, inbound.target())
            {
                let _ = self.writer.handle_acknack(self.now, reader, it);
            }
        }
    }

    fn pass(&mut self, steps: usize) {
        for _ in 0..steps {
            self.now = self.now.after(STEP);
            self.drain();
        }
    }

    fn taken(&mut self, at: usize) -> Vec<i64> {
        let mut samples: Vec<CachedSample> = vec![];
        let cache = self.readers[at].cache_mut();
        cache.take(&Selector::ALL, &mut samples);
        let numbers = samples.iter().map(|it| {
            assert_eq!(it.info.source_timestamp, Timestamp(it.sequence.0));
            let octets = it.payload.get(4..12).unwrap();
            assert_eq!(
                i64::from_le_bytes(octets.try_into().unwrap()),
                it.sequence.0
            );
            it.sequence.0
        });
        numbers.collect()
    }

    fn kinds(&self, at: usize, kind: &str) -> usize {
        self.heard[at].iter().filter(|it| **it == kind).count()
    }
}

/// Only a batch that is alone may be larger than what gets through.
fn check_length(message: &[u8]) {
    let kinds = MessageReceiver::new(message, reader_guid(0).prefix).unwrap();
    let batches =
        kinds.filter(|it| matches!(it.as_ref().unwrap().submessage, Submessage::DataBatch(_)));
    let bytes_max = if batches.count() == 1 {
        65_507
    } else {
        PATH_BYTES
    };
    assert!(message.len() <= bytes_max, "{}", message.len());
}

fn limits(samples_max: u32) -> BatchLimits {
    BatchLimits {
        samples_max,
        bytes_max: 60_000,
    }
}

#[test]
fn those_who_understand_get_batches_and_the_others_data() {
    let mut net = Net::new(limits(10), |_| {});
    let (batched, plain) = (net.join(true, false), net.join(false, false));
    net.pass(3);
    (1..46).for_each(|number| net.write(number));
    net.pass(30);
    for at in [batched, plain] {
        assert_eq!(net.taken(at), (1..46).collect::<Vec<_>>());
    }
    assert_eq!(
        (net.kinds(batched, "batch"), net.kinds(batched, "data")),
        (5, 0)
    );
    assert_eq!(
        (net.kinds(plain, "batch"), net.kinds(plain, "data")),
        (0, 45)
    );
    assert!(net.writer.is_acknowledged(net.writer.last_sequence()));
    assert_eq!(net.writer.statistics().batches, 5);
}

#[test]
fn batches_go_to_no_group_in_which_some_may_take_none() {
    for (others, batches) in [(true, 5), (false, 0)] {
        let mut net = Net::new(limits(10), |_| {});
        net.group = Some(locator(99));
        let (batched, other) = (net.join(true, false), net.join(others, false));
        net.pass(3);
        (1..46).for_each(|number| net.write(number));
        net.pass(30);
        for at in [batched, other] {
            assert_eq!(net.taken(at), (1..46).collect::<Vec<_>>());
        }
        // What is for the other form would be refused by both.
        assert_eq!(net.kinds(batched, "batch"), 5);
        assert_eq!(net.kinds(other, "batch"), batches);
        assert_eq!(net.kinds(batched, "data"), 0);
    }
}

#[test]
fn everything_arrives_over_a_lossy_wire() {
    for (lose_percent, samples) in [(10, 5), (30, 1), (30, 7), (50, 20)] {
        let mut net = Net::new(limits(samples), |_| {});
        let (batched, plain) = (net.join(true, false), net.join(false, false));
        net.pass(3);
        net.lose_percent = lose_percent;
        let mut found = [vec![], vec![]];
        for number in 1..301 {
            net.write(number);
            if number % 10 == 0 {
                net.pass(1);
            }
        }
        net.writer.flush();
        net.pass(3000);
        for at in [batched, plain] {
            found[at].extend(net.taken(at));
            assert_eq!(
                found[at],
                (1..301).collect::<Vec<_>>(),
                "{lose_percent} {samples}"
            );
        }
        assert!(net.writer.is_acknowledged(net.writer.last_sequence()));
        assert_eq!(net.kinds(batched, "data"), 0);
    }
}

#[test]
fn late_joiners_get_what_history_has_in_batches() {
    let mut net = Net::new(limits(4), |config| {
        config.durable = true;
        config.depth = Some(9);
    });
    // Nobody is there for the first ones.
    (1..21).for_each(|number| net.write(number));
    net.pass(3);
    let first = net.join(true, true);
    net.pass(200);
    assert_eq!(net.taken(first), (12..21).collect::<Vec<_>>());
    (21..31).for_each(|number| net.write(number));
    net.writer.flush();
    net.pass(50);
    assert_eq!(net.taken(first), (21..31).collect::<Vec<_>>());
    let (second, volatile) = (net.join(true, true), net.join(true, false));
    net.pass(200);
    let late = net.taken(second);
    assert_eq!(late.last(), Some(&30));
    assert!(
        late.first().is_some_and(|it| (18..23).contains(it)),
        "{late:?}"
    );
    assert_eq!(net.taken(volatile), []);
    assert!(net.writer.is_acknowledged(net.writer.last_sequence()));
}

#[test]
fn who_keeps_only_the_last_still_sends_whole_batches() {
    let mut net = Net::new(limits(6), |config| config.depth = Some(1));
    let batched = net.join(true, false);
    net.pass(3);
    net.lose_percent = 20;
    (1..61).for_each(|number| net.write(number));
    net.writer.flush();
    net.pass(1000);
    let taken = net.taken(batched);
    assert_eq!(taken.last(), Some(&60));
    assert!(taken.windows(2).all(|it| it[0] < it[1]));
    assert!(net.writer.held_bytes() < 1000);
}

#[test]
fn a_lone_sample_waits_no_longer_than_it_may() {
    let mut net = Net::new(limits(100), |_| {});
    let batched = net.join(true, false);
    net.pass(3);
    net.write(1);
    net.pass(5);
    assert_eq!(net.taken(batched), []);
    net.pass(8);
    assert_eq!(net.taken(batched), [1]);
    net.write(2);
    net.writer.flush();
    net.drain();
    assert_eq!(net.taken(batched), [2]);
}

#[test]
fn history_of_large_samples_comes_in_batches_that_fit_a_datagram() {
    for bytes in [1000, 20_000, 59_000] {
        let mut net = Net::new(limits(100), |config| {
            config.durable = true;
            config.message_bytes_max = 65_507;
        });
        // Nobody is there, so none of them is in a batch yet.
        (1..41).for_each(|number| net.write_large(number, bytes));
        let late = net.join(true, true);
        net.pass(2000);
        assert_eq!(net.taken(late), (1..41).collect::<Vec<_>>(), "{bytes}");
    }
}
