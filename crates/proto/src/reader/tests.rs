//! A reader fed by hand, and a writer and a reader joined by a lossy in-memory wire.

mod back_pressure;
mod pass;

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
use crate::receive::{MessageReceiver, Target};
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

#[derive(Default)]
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
fn answers(reader: &mut Reader, now: Instant) -> Vec<(i64, Vec<i64>)> {
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

#[test]
fn order_is_kept_and_holes_are_asked_for() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    reader.handle_data(NOW, data(1)).unwrap();
    reader.handle_data(NOW, data(4)).unwrap();
    assert_eq!(taken(&mut reader), [1]);
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 2, true))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(2, vec![2, 3, 5])]);
    reader.handle_data(NOW, data(3)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [2, 3, 4]);
    assert!(reader.handle_data(NOW, data(2)).is_err());
    reader.handle_data(NOW, data(5)).unwrap();
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 3, true))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), []);
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 4, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(6, vec![])]);
    assert!(
        reader
            .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 4, false))
            .is_err()
    );
}

#[test]
fn gaps_of_any_size_are_passed_over() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, i64::MAX - 1, 1, false))
        .unwrap();
    let gap = Gap {
        reader: EntityId::UNKNOWN,
        writer: WRITER.entity,
        start: SequenceNumber(1),
        list: SequenceNumberSet::new(SequenceNumber(i64::MAX - 1)),
        group: None,
        filtered_count: None,
    };
    reader.handle_gap(NOW, WRITER, &gap).unwrap();
    assert_eq!(
        answers(&mut reader, NOW),
        [(i64::MAX - 1, vec![i64::MAX - 1])]
    );
    reader.handle_data(NOW, data(i64::MAX - 1)).unwrap();
    assert_eq!(taken(&mut reader), [i64::MAX - 1]);
}

#[test]
fn what_the_writer_gave_up_is_lost_but_the_rest_arrives() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 9, 1, true))
        .unwrap();
    reader.handle_data(NOW, data(3)).unwrap();
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(6, 9, 2, true))
        .unwrap();
    assert_eq!(taken(&mut reader), [3]);
    let events: Vec<_> = core::iter::from_fn(|| reader.poll_event()).collect();
    assert!(
        events.contains(&ReaderEvent::SampleLost { count: 4 }),
        "{events:?}"
    );
    assert_eq!(reader.statistics().lost, 4);
}

#[test]
fn a_claimed_range_costs_nothing() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 1, true))
        .unwrap();
    let huge = heartbeat(i64::MAX - 5, i64::MAX - 1, 2, true);
    reader.handle_heartbeat(NOW, WRITER, &huge).unwrap();
    assert_eq!(answers(&mut reader, NOW)[0].0, i64::MAX - 5);
}

#[test]
fn best_effort_never_goes_back_and_counts_losses() {
    let mut reader = reader(|config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    for number in [7, 8, 11, 9, 11, 12] {
        let _ = reader.handle_data(NOW, data(number));
    }
    assert_eq!(taken(&mut reader), [7, 8, 11, 12]);
    assert_eq!(reader.statistics().lost, 2);
    assert_eq!(reader.poll_timeout(), None);
}

#[test]
fn a_full_cache_holds_back_and_goes_on_after_a_take() {
    let mut reader = reader(|config| config.cache = keep_all(2));
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    for number in 1..=4 {
        reader.handle_data(NOW, data(number)).unwrap();
    }
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 6, 2, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(3, vec![])]);
    assert_eq!(taken(&mut reader), [1, 2]);
    reader.handle_room(NOW);
    assert_eq!(answers(&mut reader, NOW), [(5, vec![5, 6])]);
    assert_eq!(taken(&mut reader), [3, 4]);
}

#[test]
fn strangers_are_refused() {
    let mut reader = reader(|_| {});
    assert!(reader.handle_data(NOW, data(1)).is_err());
    assert!(
        reader
            .handle_heartbeat(NOW, WRITER, &heartbeat(1, 1, 1, false))
            .is_err()
    );
    assert!(
        reader
            .handle_heartbeat_frag(NOW, WRITER, SequenceNumber(1), FragmentNumber(1), Count(1))
            .is_err()
    );
}

#[derive(Debug)]
struct FirstOctet;

impl KeyExtractor for FirstOctet {
    fn instance_of(&self, payload: &[u8], _is_key: bool) -> Option<InstanceHandle> {
        payload
            .first()
            .filter(|octet| **octet < 200)
            .map(|octet| InstanceHandle([*octet; 16]))
    }
}

#[test]
fn a_payload_without_key_is_refused_and_holds_nobody_up() {
    let mut reader = reader(|config| {
        config.keys = Some(Box::new(FirstOctet));
        config.cache = CacheConfig {
            keyed: true,
            ..keep_all(100)
        };
    });
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    assert!(reader.handle_data(NOW, data(255)).is_err());
    let bad = Incoming {
        sequence: SequenceNumber(1),
        ..data(255)
    };
    assert!(reader.handle_data(NOW, bad).is_err());
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [2]);
}

#[test]
fn an_unheard_writer_is_asked_again_and_again_but_ever_less() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    let mut now = NOW;
    let mut asked = 0;
    while now < NOW.after(Duration::from_secs(10)) {
        asked += answers(&mut reader, now).len();
        now = reader.poll_timeout().unwrap().0;
    }
    assert!((5..15).contains(&asked), "{asked}");
    reader
        .handle_heartbeat(now, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    assert_eq!(reader.poll_timeout(), None);
}

/// Has a volatile writer and a reader know each other.
fn join(writer: &mut Writer, reader: &mut Reader) {
    let addr: core::net::SocketAddr = "127.0.0.1:7411".parse().unwrap();
    writer.handle_matched(
        NOW,
        MatchedReader {
            packed: false,
            guid: READER,
            reliable: true,
            durable: false,
            expects_inline_qos: false,
            locators: vec![addr.into()],
            message_bytes_max: 1400,
            vendor: VendorId::WHIMBREL,
        },
    );
    reader.handle_matched(
        NOW,
        MatchedWriter {
            locators: vec![addr.into()],
            ..matched(true)
        },
    );
}

/// Carries messages to and fro, but those that are `lost`, until nobody has more to say at `now`.
fn carry(now: Instant, writer: &mut Writer, reader: &mut Reader, mut lost: impl FnMut() -> bool) {
    loop {
        let mut sent = Sent::default();
        writer.poll_transmit(now, &mut sent);
        reader.poll_transmit(now, &mut sent);
        if sent.0.is_empty() {
            break;
        }
        for message in sent.0 {
            if !lost() {
                deliver(now, writer, reader, message);
            }
        }
    }
}

/// Joins a writer and a reader by a wire that loses `lose_percent` of the messages.
fn exchange(sizes: &[usize], lose_percent: u64, config: impl Fn(&mut WriterConfig)) {
    let mut writer_config = WriterConfig::new(WRITER);
    writer_config.depth = None;
    config(&mut writer_config);
    let mut writer = Writer::new(writer_config);
    let mut reader = reader(|_| {});
    join(&mut writer, &mut reader);
    let payload = |index: usize| {
        let byte = |at: usize| (at * 7 + index) as u8;
        SharedBytes::from_vec((0..sizes[index]).map(byte).collect())
    };
    let (mut now, mut next, mut seed) = (NOW, 0, 1u64);
    let mut samples: Vec<CachedSample> = vec![];
    let mut steps = 0;
    while samples.len() < sizes.len() {
        steps += 1;
        assert!(
            now < NOW.after(Duration::from_secs(60)) && steps < 100_000,
            "{} of {}",
            samples.len(),
            sizes.len()
        );
        while next < sizes.len() {
            let change = NewChange {
                packed: None,
                kind: ChangeKind::Alive,
                instance: InstanceHandle::NIL,
                timestamp: Timestamp(1),
                payload: payload(next),
            };
            match writer.write(now, change) {
                Ok(_) => next += 1,
                Err(WriteError::WouldBlock) => break,
                Err(other) => panic!("{other:?}"),
            }
        }
        writer.handle_timeout(now);
        reader.handle_timeout(now);
        carry(now, &mut writer, &mut reader, || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % 100 < lose_percent
        });
        reader.cache_mut().take(&Selector::ALL, &mut samples);
        reader.handle_room(now);
        let next_at = [writer.poll_timeout(), reader.poll_timeout()]
            .into_iter()
            .flatten()
            .min();
        now = next_at.map_or(now.after(Duration::from_millis(1)), |(at, _)| at.max(now));
    }
    for (index, sample) in samples.iter().enumerate() {
        assert!(sample.payload == payload(index), "sample {index}");
        assert_eq!(sample.sequence.0, index as i64 + 1);
    }
}

fn deliver(now: Instant, writer: &mut Writer, reader: &mut Reader, message: Vec<u8>) {
    let datagram = SharedBytes::from_vec(message);
    let own = if datagram.get(8..20) == Some(&WRITER.prefix.0[..]) {
        READER
    } else {
        WRITER
    };
    for inbound in MessageReceiver::new(&datagram, own.prefix).unwrap() {
        let inbound = inbound.unwrap();
        let _ = match (&inbound.submessage, inbound.target()) {
            (Submessage::Data(it), _) => {
                reader.handle_data(now, inbound.change(it, &datagram, Timestamp(2)).unwrap())
            }
            (Submessage::DataFrag(it), _) => {
                reader.handle_data_frag(now, inbound.fragments(it, Timestamp(2)).unwrap())
            }
            (Submessage::Heartbeat(it), _) => reader.handle_heartbeat(now, WRITER, it),
            (Submessage::HeartbeatFrag(it), _) => {
                reader.handle_heartbeat_frag(now, WRITER, it.number, it.last, it.count)
            }
            (Submessage::Gap(it), _) => reader.handle_gap(now, WRITER, it),
            (Submessage::AckNack(it), Target::Writer { reader, .. }) => {
                writer.handle_acknack(now, reader, it)
            }
            (Submessage::NackFrag(it), Target::Writer { reader, .. }) => {
                writer.handle_nack_frag(now, reader, it)
            }
            other => panic!("{other:?}"),
        };
    }
}

#[test]
fn everything_arrives_over_a_lossy_wire() {
    let sizes: Vec<usize> = (0..300).map(|index| 4 + index % 50 * 4).collect();
    for lose in [0, 10, 30, 50] {
        exchange(&sizes, lose, |_| {});
        exchange(&sizes, lose, |config| config.samples_max = 3);
    }
}

#[test]
fn large_samples_arrive_over_a_lossy_wire() {
    for lose in [0, 10, 30] {
        exchange(&[300_000, 8, 1_000_000, 1208, 5000], lose, |_| {});
        exchange(&[300_000, 8, 70_000], lose, |config| {
            config.burst_bytes = 5000
        });
    }
}

#[test]
fn the_next_in_order_is_asked_for_even_when_no_more_may_wait() {
    let mut reader = reader(|config| config.reorder_samples_max = 2);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, false))
        .unwrap();
    answers(&mut reader, NOW);
    reader.handle_data(NOW, data(3)).unwrap();
    reader.handle_data(NOW, data(4)).unwrap();
    assert!(reader.handle_data(NOW, data(5)).is_err());
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 5, 2, true))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![1])]);
    reader.handle_data(NOW, data(1)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3, 4]);
}

#[test]
fn a_large_sample_that_could_not_wait_is_not_taken_in_to_be_thrown_away() {
    let mut reader = reader(|config| config.reorder_samples_max = 2);
    reader.handle_matched(NOW, matched(true));
    let all = heartbeat(1, 4, 1, false);
    reader.handle_heartbeat(NOW, WRITER, &all).unwrap();
    answers(&mut reader, NOW);
    let part = |number| IncomingFragments {
        change: Incoming {
            payload: SharedBytes::default(),
            ..data(4)
        },
        ..fragment(WRITER, number, 2000, &[7; 1000])
    };
    reader.handle_data_frag(NOW, part(1)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    reader.handle_data(NOW, data(3)).unwrap();
    // Nothing of it is asked for, and its end is not taken in, while it would find no place.
    assert!(reader.handle_data_frag(NOW, part(2)).is_err());
    let later = NOW.after(Duration::from_millis(100));
    let again = heartbeat(1, 4, 2, false);
    reader.handle_heartbeat(later, WRITER, &again).unwrap();
    assert_eq!(answers(&mut reader, later), [(1, vec![1])]);
    assert_eq!(reader.statistics().nack_frags, 0);
    // What everything waits for comes: now the other half is all that is missing.
    reader.handle_data(later, data(1)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3]);
    let later = later.after(Duration::from_millis(100));
    let again = heartbeat(1, 4, 3, false);
    reader.handle_heartbeat(later, WRITER, &again).unwrap();
    answers(&mut reader, later);
    assert_eq!(reader.statistics().nack_frags, 1);
    reader.handle_data_frag(later, part(2)).unwrap();
    assert_eq!(taken(&mut reader), [4]);
}

#[test]
fn no_more_is_asked_for_than_finds_a_place() {
    let mut reader = reader(|config| config.reorder_samples_max = 3);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 9, 1, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![1, 2, 3, 4])]);
    reader.handle_data(NOW, data(3)).unwrap();
    let later = NOW.after(Duration::from_secs(1));
    reader
        .handle_heartbeat(later, WRITER, &heartbeat(1, 9, 2, false))
        .unwrap();
    assert_eq!(answers(&mut reader, later), [(1, vec![1, 2, 4])]);
}

#[test]
fn a_best_effort_reader_waits_for_no_history() {
    let mut reader = reader(|config| {
        config.reliable = false;
        config.durable = true;
    });
    reader.handle_matched(
        NOW,
        MatchedWriter {
            durable: true,
            ..matched(true)
        },
    );
    assert!(reader.has_history());
}

#[test]
fn the_last_number_there_is_does_not_come_again_and_again() {
    for reliable in [false, true] {
        let mut reader = reader(|config| config.reliable = reliable);
        reader.handle_matched(NOW, matched(reliable));
        for _ in 0..3 {
            let refused = reader.handle_data(NOW, data(i64::MAX)).unwrap_err();
            assert_eq!(refused.kind, RejectKind::SequenceNumber);
        }
        reader.handle_data(NOW, data(i64::MAX - 1)).unwrap();
        assert!(reader.handle_data(NOW, data(i64::MAX - 1)).is_err());
        assert!(taken(&mut reader).len() <= 1);
    }
}

#[test]
fn what_waits_for_an_earlier_sample_is_bounded_in_octets() {
    let mut reader = reader(|config| config.reorder_bytes_max = 20);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 0, 1, true))
        .unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    reader.handle_data(NOW, data(3)).unwrap();
    assert!(reader.handle_data(NOW, data(4)).is_err());
    reader.handle_data(NOW, data(1)).unwrap();
    reader.handle_data(NOW, data(4)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3, 4]);
}

#[test]
fn counts_go_on_when_a_writer_comes_back() {
    let mut reader = reader(|_| {});
    let mut counts = vec![];
    for _ in 0..3 {
        reader.handle_matched(NOW, matched(true));
        let mut sent = Sent::default();
        reader.poll_transmit(NOW, &mut sent);
        for inbound in MessageReceiver::new(&sent.0[0], WRITER.prefix).unwrap() {
            if let Submessage::AckNack(acknack) = inbound.unwrap().submessage {
                counts.push(acknack.count.0);
            }
        }
        reader.handle_unmatched(NOW, Timestamp(1), WRITER);
    }
    assert_eq!(counts, [1, 2, 3]);
}

fn fragment(writer: Guid, number: u32, sample_bytes: u32, bytes: &[u8]) -> IncomingFragments<'_> {
    IncomingFragments {
        change: Incoming {
            writer,
            payload: SharedBytes::default(),
            ..data(1)
        },
        run: FragmentRun {
            first: FragmentNumber(number),
            fragment_bytes: 1000,
            sample_bytes,
            bytes,
        },
    }
}

#[test]
fn large_samples_of_several_writers_do_not_lock_each_other_out() {
    let mut reader = reader(|config| config.reassembly_bytes_max = 30_000);
    let writers: Vec<Guid> = (3..6)
        .map(|byte| Guid::new(GuidPrefix([byte; 12]), WRITER.entity))
        .collect();
    for guid in &writers {
        let info = MatchedWriter {
            packs: false,
            guid: *guid,
            ..matched(true)
        };
        reader.handle_matched(NOW, info);
        let all = Heartbeat {
            first: SequenceNumber(1),
            ..heartbeat(1, 1, 1, true)
        };
        reader.handle_heartbeat(NOW, *guid, &all).unwrap();
    }
    let bytes = [7; 1000];
    let mut done = 0;
    // As if each writer repaired everything again and again, interleaved with the others.
    for _ in 0..4 {
        for number in 1..=20 {
            for guid in &writers {
                let _ = reader.handle_data_frag(NOW, fragment(*guid, number, 20_000, &bytes));
            }
        }
        done += taken(&mut reader).len();
    }
    assert_eq!(done, 3);
    assert!(reader.reassembly_bytes() == 0);
}

#[test]
fn half_received_samples_hold_no_more_than_the_limit_beside_the_first() {
    let mut reader = reader(|config| config.reassembly_bytes_max = 30_000);
    reader.handle_matched(NOW, matched(true));
    let all = heartbeat(1, 40, 1, false);
    reader.handle_heartbeat(NOW, WRITER, &all).unwrap();
    let part = |sequence: i64, number| {
        let mut part = fragment(WRITER, number, 20_000, &[7; 1000]);
        part.change.sequence = SequenceNumber(sequence);
        part
    };
    // Half of each; of what comes later less and less finds room.
    for sequence in 1..=40 {
        for number in 1..=10 {
            let _ = reader.handle_data_frag(NOW, part(sequence, number));
            assert!(reader.reassembly_bytes() <= 30_000 + 20_000);
        }
    }
    for number in 11..=20 {
        reader.handle_data_frag(NOW, part(1, number)).unwrap();
    }
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn a_writer_that_never_completes_anything_keeps_no_other_out() {
    let mut reader = reader(|config| config.reassembly_bytes_max = 30_000);
    let [endless, modest] = [3, 4].map(|byte| Guid::new(GuidPrefix([byte; 12]), WRITER.entity));
    for guid in [endless, modest] {
        let info = MatchedWriter {
            packs: false,
            guid,
            ..matched(true)
        };
        reader.handle_matched(NOW, info);
        reader
            .handle_heartbeat(NOW, guid, &heartbeat(1, 1, 1, true))
            .unwrap();
    }
    let bytes = [7; 1000];
    for number in 1..30 {
        let _ = reader.handle_data_frag(NOW, fragment(endless, number, 200_000, &bytes));
        let mut later = fragment(endless, number, 200_000, &bytes);
        later.change.sequence = SequenceNumber(2);
        let _ = reader.handle_data_frag(NOW, later);
    }
    for number in 1..=10 {
        let _ = reader.handle_data_frag(NOW, fragment(endless, 30 + number, 200_000, &bytes));
        reader
            .handle_data_frag(NOW, fragment(modest, number, 10_000, &bytes))
            .unwrap();
    }
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn a_best_effort_reader_that_joins_late_has_lost_nothing() {
    let mut reader = reader(|config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    let bytes = [7; 1000];
    for number in 1..=2 {
        let mut late = fragment(WRITER, number, 2000, &bytes);
        late.change.sequence = SequenceNumber(1000);
        reader.handle_data_frag(NOW, late).unwrap();
    }
    assert_eq!(taken(&mut reader), [1000]);
    assert_eq!(reader.statistics().lost, 0);
}

#[test]
fn the_first_question_is_put_as_each_vendor_answers_it_at_once() {
    for (vendor, base) in [(VendorId::WHIMBREL, 1), (VendorId::FAST_DDS, 0)] {
        let mut reader = reader(|_| {});
        let writer = MatchedWriter {
            vendor,
            ..matched(true)
        };
        reader.handle_matched(NOW, writer);
        let mut sent = Sent::default();
        reader.poll_transmit(NOW, &mut sent);
        let asked = MessageReceiver::new(&sent.0[0], WRITER.prefix)
            .unwrap()
            .find_map(|inbound| match inbound.unwrap().submessage {
                Submessage::AckNack(acknack) => Some(acknack),
                _ => None,
            });
        let asked = asked.unwrap();
        assert_eq!(asked.state.base(), SequenceNumber(base), "{vendor:?}");
        assert!(asked.state.is_empty() && !asked.is_final, "{vendor:?}");
    }
}

#[test]
fn a_writer_that_is_reliable_no_more_is_not_asked_for_ever() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader.handle_matched(NOW, matched(false));
    reader.handle_data(NOW, data(1)).unwrap();
    let mut sent = Sent::default();
    reader.poll_transmit(NOW, &mut sent);
    assert_eq!(reader.poll_timeout(), None);
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn a_writer_that_insists_does_not_get_the_same_request_again_at_once() {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    let hear = |reader: &mut Reader, now: Instant, count: i32| {
        let heartbeat = heartbeat(1, 2, count, false);
        reader.handle_heartbeat(now, WRITER, &heartbeat).unwrap();
        answers(reader, now)
    };
    answers(&mut reader, NOW);
    assert_eq!(hear(&mut reader, NOW, 1), [(1, vec![1, 2])]);
    let soon = NOW.after(Duration::from_millis(1));
    assert_eq!(hear(&mut reader, soon, 2), [(1, vec![])]);
    let (again, _) = reader.poll_timeout().unwrap();
    assert_eq!(again, NOW.after(Duration::from_millis(5)));
    assert_eq!(answers(&mut reader, again), [(1, vec![1, 2])]);
    reader.handle_data(again, data(1)).unwrap();
    assert_eq!(hear(&mut reader, again, 3), [(2, vec![2])]);
}

#[test]
fn a_request_that_was_lost_is_repeated_though_the_writer_is_silent() {
    let mut reader = reader(|config| config.durable = true);
    reader.handle_matched(NOW, matched(true));
    reader.poll_transmit(NOW, &mut Sent::default());
    let heartbeat = heartbeat(1, 2, 1, true);
    reader.handle_heartbeat(NOW, WRITER, &heartbeat).unwrap();
    for _ in 0..3 {
        let (at, _) = reader.poll_timeout().unwrap();
        let mut sent = Sent::default();
        reader.poll_transmit(at, &mut sent);
        assert_eq!(sent.0.len(), 1);
    }
    for number in [1, 2] {
        reader.handle_data(NOW, data(number)).unwrap();
    }
    let (at, _) = reader.poll_timeout().unwrap();
    let mut sent = Sent::default();
    reader.poll_transmit(at, &mut sent);
    assert_eq!(sent.0.concat().len(), 0);
    assert_eq!(reader.poll_timeout(), None);
}

/// A reader with so many octets to hold, and its budget.
fn thrifty(max: usize, adapt: impl FnOnce(&mut ReaderConfig)) -> (Reader, Arc<Budget>) {
    let budget = Arc::new(Budget::new(max));
    let reader = reader(|config| {
        config.budget = Some(Arc::clone(&budget));
        adapt(config);
    });
    (reader, budget)
}

fn rejections(reader: &mut Reader) -> Vec<SampleRejectedKind> {
    let events = core::iter::from_fn(|| reader.poll_event());
    let reasons = events.filter_map(|event| match event {
        ReaderEvent::SampleRejected { reason, .. } => Some(reason),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn a_budget_holds_back_the_writer_and_everything_arrives_after_takes() {
    let (mut reader, budget) = thrifty(4096, |_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 100, 1, false))
        .unwrap();
    let mut count = 1;
    let mut all = vec![];
    let mut rejected = 0;
    let mut next = 1;
    while all.len() < 100 {
        let before = next;
        while next <= 100 && reader.handle_data(NOW, data(next)).is_ok() {
            next += 1;
        }
        assert!(next > before, "nothing fits after a take");
        assert!(budget.held() <= budget.max(), "{}", budget.held());
        assert_eq!(budget.held(), reader.held_bytes());
        let reasons = rejections(&mut reader);
        if next <= 100 {
            assert_eq!(reasons, [SampleRejectedKind::ByMemoryLimit]);
            assert!(reader.handle_data(NOW, data(next)).is_err());
            assert!(rejections(&mut reader).is_empty(), "told once in a row");
            // What would be refused is not asked for.
            count += 1;
            let more = heartbeat(1, 100, count, false);
            reader.handle_heartbeat(NOW, WRITER, &more).unwrap();
            assert_eq!(answers(&mut reader, NOW), [(next, vec![])]);
            rejected += 1;
        }
        all.extend(taken(&mut reader));
        reader.handle_room(NOW);
        if next <= 100 {
            let asked = answers(&mut reader, NOW);
            assert_eq!((asked[0].0, asked[0].1[0]), (next, next));
        }
    }
    assert_eq!(all, (1..=100).collect::<Vec<_>>());
    assert!(rejected >= 3, "{rejected}");
}

#[test]
fn a_budget_that_others_use_up_is_asked_again_when_they_give_back() {
    let (mut reader, budget) = thrifty(4096, |_| {});
    let mut others = Account::new(Some(Arc::clone(&budget)));
    others.set(4000);
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 1, 1, false))
        .unwrap();
    assert!(reader.handle_data(NOW, data(1)).is_err());
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    others.set(0);
    // Nothing was taken from this reader, so only the writer's next heartbeat wakes it.
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 1, 2, false))
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(1, vec![1])]);
    reader.handle_data(NOW, data(1)).unwrap();
    assert_eq!(taken(&mut reader), [1]);
}

#[test]
fn fragments_and_samples_out_of_order_are_in_the_budget() {
    let (mut reader, budget) = thrifty(20_000, |_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 90, 1, false))
        .unwrap();
    for number in (2..90).rev() {
        let _ = reader.handle_data(NOW, data(number));
    }
    assert!(budget.held() > 10_000 && budget.held() <= 20_000);
    let bytes = vec![7; 1000];
    let mut refused = 0;
    for first in (1..200).step_by(2) {
        let run = FragmentRun {
            first: FragmentNumber(first),
            fragment_bytes: 1000,
            sample_bytes: 1_000_000,
            bytes: &bytes,
        };
        let mut change = data(1);
        change.payload = SharedBytes::default();
        let fragments = IncomingFragments { change, run };
        refused += usize::from(reader.handle_data_frag(NOW, fragments).is_err());
    }
    assert!(refused > 80, "{refused}");
    // One piece may go over by what the stash takes beside its octets.
    assert!(budget.held() <= 20_000 + 1024, "{}", budget.held());
    reader.handle_unmatched(NOW, Timestamp(0), WRITER);
    assert_eq!(budget.held(), 0);
}

#[test]
fn a_best_effort_reader_without_room_drops_and_says_so() {
    let (mut reader, budget) = thrifty(2048, |config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    let accepted = (1..100).filter(|number| reader.handle_data(NOW, data(*number)).is_ok());
    let accepted = accepted.count();
    assert!((2..20).contains(&accepted), "{accepted}");
    assert_eq!(reader.statistics().rejected, 99 - accepted as u64);
    assert!(budget.held() <= 2048);
}

#[test]
fn what_came_early_gives_way_to_what_everything_waits_for() {
    let (mut reader, budget) = thrifty(4096, |_| {});
    reader.handle_matched(NOW, matched(true));
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 100, 1, false))
        .unwrap();
    answers(&mut reader, NOW);
    // The first is refused for others' sake, the rest fills what they give back.
    let mut others = Account::new(Some(Arc::clone(&budget)));
    others.set(4000);
    assert!(reader.handle_data(NOW, data(1)).is_err());
    others.set(0);
    let early = (2..100).filter(|number| reader.handle_data(NOW, data(*number)).is_ok());
    assert!(early.count() > 10);
    others.set(budget.max() - budget.held());
    reader
        .handle_heartbeat(NOW, WRITER, &heartbeat(1, 100, 2, false))
        .unwrap();
    let later = NOW.after(Duration::from_secs(1));
    assert_eq!(answers(&mut reader, later), [(1, vec![1])]);
    reader.handle_data(NOW, data(1)).unwrap();
    let taken = taken(&mut reader);
    assert_eq!(taken[..3], [1, 2, 3]);
    assert!(budget.held() <= budget.max());
}
