//! Batches: fed by hand, as Connext sends them, and by their bytes.

use alloc::vec;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::EntityId;
use whimbrel_base::instance::InstanceHandle;
use whimbrel_base::qos::{History, Limit, ResourceLimits};
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::sample::InstanceState;
use whimbrel_base::sequence::SequenceNumber;
use whimbrel_base::time::Timestamp;
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::compressed::Compressed;
use whimbrel_wire::inline_qos::StatusInfo;
use whimbrel_wire::message::Submessage;
use whimbrel_wire::number_set::SequenceNumberSet;
use whimbrel_wire::parameter::{ParameterId, ParameterList, ParameterListWriter};
use whimbrel_wire::submessage::{
    BatchedSample, BatchedSamplesWriter, Content, DataBatch, Gap, HeartbeatBatch,
};

use super::tests::{NOW, WRITER, answers, data, heartbeat, keep_all, matched, reader, taken};
use super::{IncomingBatch, KeyExtractor, Reader, ReaderEvent, Unpacker};
use crate::cache::{CacheConfig, CachedSample, Selector};
use crate::receive::MessageReceiver;

fn sample(number: i64) -> BatchedSample<'static> {
    BatchedSample {
        number: SequenceNumber(number),
        content: Content::Data,
        is_invalid: false,
        timestamp: None,
        inline_qos: None,
        data_len: 8,
    }
}

/// The batch `number` of these samples; each holds its number as data.
fn give(reader: &mut Reader, number: i64, samples: &[BatchedSample<'_>]) -> Result<(), Reject> {
    let mut payload = vec![0, 1, 0, 0];
    for sample in samples.iter().filter(|it| it.data_len > 0) {
        payload.extend(sample.number.0.to_le_bytes());
    }
    give_payload(reader, number, samples, &payload)
}

fn give_payload(
    reader: &mut Reader,
    number: i64,
    samples: &[BatchedSample<'_>],
    payload: &[u8],
) -> Result<(), Reject> {
    let mut list = BatchedSamplesWriter::new(Endian::Little);
    samples.iter().for_each(|sample| list.push(sample));
    let batch = DataBatch {
        reader: EntityId::UNKNOWN,
        writer: WRITER.entity,
        batch: SequenceNumber(number),
        last: list.last(),
        inline_qos: None,
        samples: list.list(),
        payload,
    };
    let incoming = IncomingBatch {
        writer: WRITER,
        batch,
        source_timestamp: Timestamp(7),
        reception_timestamp: Timestamp(8),
    };
    reader.handle_data_batch(NOW, &incoming)
}

/// The batch `number` of so many samples from `first` on.
fn batch(reader: &mut Reader, number: i64, first: i64, count: i64) -> Result<(), Reject> {
    let samples: Vec<_> = (first..first + count).map(sample).collect();
    give(reader, number, &samples)
}

fn beat(reader: &mut Reader, batches: (i64, i64), changes: (i64, i64), count: i32) {
    let heartbeat = HeartbeatBatch {
        batches: heartbeat(batches.0, batches.1, count, false),
        first: SequenceNumber(changes.0),
        last: SequenceNumber(changes.1),
    };
    reader
        .handle_heartbeat_batch(NOW, WRITER, &heartbeat)
        .unwrap();
}

fn matched_reader() -> Reader {
    let mut reader = reader(|_| {});
    reader.handle_matched(NOW, matched(true));
    reader
}

fn losses(reader: &mut Reader) -> Vec<u64> {
    let mut losses = vec![];
    while let Some(event) = reader.poll_event() {
        if let ReaderEvent::SampleLost { count } = event {
            losses.push(count);
        }
    }
    losses
}

#[test]
fn batches_are_acknowledged_by_their_numbers() {
    let mut reader = matched_reader();
    answers(&mut reader, NOW);
    batch(&mut reader, 1, 1, 10).unwrap();
    beat(&mut reader, (1, 1), (1, 10), 6);
    assert_eq!(answers(&mut reader, NOW), [(2, vec![])]);
    assert_eq!(taken(&mut reader), (1..11).collect::<Vec<_>>());
    assert_eq!(reader.statistics().batches, 1);
    let again = batch(&mut reader, 1, 1, 10).map_err(|it| it.kind);
    assert_eq!(again, Err(RejectKind::Duplicate));
}

#[test]
fn order_is_kept_and_missing_batches_are_asked_for() {
    let mut reader = matched_reader();
    answers(&mut reader, NOW);
    beat(&mut reader, (1, 4), (1, 8), 1);
    batch(&mut reader, 3, 5, 2).unwrap();
    batch(&mut reader, 1, 1, 3).unwrap();
    assert_eq!(answers(&mut reader, NOW), [(2, vec![2, 4])]);
    assert_eq!(taken(&mut reader), [1, 2, 3]);
    batch(&mut reader, 2, 4, 1).unwrap();
    batch(&mut reader, 4, 7, 2).unwrap();
    assert_eq!(taken(&mut reader), [4, 5, 6, 7, 8]);
    assert_eq!(losses(&mut reader), []);
}

#[test]
fn a_late_joiner_starts_where_connext_says() {
    let mut reader = matched_reader();
    let gap = Gap {
        reader: EntityId::UNKNOWN,
        writer: WRITER.entity,
        start: SequenceNumber::FIRST,
        list: SequenceNumberSet::new(SequenceNumber(153)),
        group: None,
        filtered_count: None,
    };
    reader.handle_gap(NOW, WRITER, &gap).unwrap();
    beat(&mut reader, (153, 152), (2024, 2023), 1);
    assert_eq!(answers(&mut reader, NOW), [(153, vec![])]);
    batch(&mut reader, 153, 2024, 2).unwrap();
    assert_eq!(taken(&mut reader), [2024, 2025]);
    assert_eq!(losses(&mut reader), []);
}

#[test]
fn losses_are_counted_in_changes() {
    let mut reader = matched_reader();
    beat(&mut reader, (1, 1), (1, 3), 1);
    batch(&mut reader, 1, 1, 3).unwrap();
    // The batches 2 and 3 with the changes 4 to 20 are gone; 5 with 24 to 30 goes later.
    batch(&mut reader, 4, 21, 3).unwrap();
    beat(&mut reader, (4, 5), (21, 30), 2);
    assert_eq!(losses(&mut reader), [17]);
    beat(&mut reader, (6, 5), (31, 30), 3);
    assert_eq!(losses(&mut reader), [7]);
    assert_eq!(taken(&mut reader), [1, 2, 3, 21, 22, 23]);
    // What is left out in agreement is not lost.
    batch(&mut reader, 6, 40, 1).unwrap();
    assert_eq!(losses(&mut reader), []);
}

#[test]
fn a_best_effort_reader_takes_what_comes_never_backwards() {
    let mut reader = reader(|config| config.reliable = false);
    reader.handle_matched(NOW, matched(true));
    batch(&mut reader, 2, 5, 2).unwrap();
    batch(&mut reader, 4, 9, 2).unwrap();
    assert!(batch(&mut reader, 3, 7, 2).is_err());
    assert_eq!(taken(&mut reader), [5, 6, 9, 10]);
    assert_eq!(losses(&mut reader), [2]);
}

#[test]
fn a_best_effort_reader_answers_a_heartbeat_of_batches_that_names_it() {
    let mut reader = reader(|config| config.reliable = false);
    reader.handle_matched(NOW, matched(false));
    let mut question = HeartbeatBatch {
        batches: heartbeat(1, 2, 7, false),
        first: SequenceNumber(1),
        last: SequenceNumber(4),
    };
    reader
        .handle_heartbeat_batch(NOW, WRITER, &question)
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [], "it is for all");
    question.batches.reader = reader.guid().entity;
    reader
        .handle_heartbeat_batch(NOW, WRITER, &question)
        .unwrap();
    assert_eq!(answers(&mut reader, NOW), [(3, vec![])]);
}

#[test]
fn a_batch_waits_in_part_while_a_reader_that_keeps_all_is_full() {
    let mut reader = reader(|config| config.cache = keep_all(4));
    reader.handle_matched(NOW, matched(true));
    beat(&mut reader, (1, 2), (1, 9), 1);
    batch(&mut reader, 1, 1, 6).unwrap();
    batch(&mut reader, 2, 7, 3).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3, 4]);
    assert_eq!(answers(&mut reader, NOW), [(1, vec![])]);
    reader.handle_room(NOW);
    assert_eq!(taken(&mut reader), [5, 6, 7, 8]);
    assert_eq!(answers(&mut reader, NOW), [(2, vec![])]);
    reader.handle_room(NOW);
    assert_eq!(taken(&mut reader), [9]);
    assert_eq!(answers(&mut reader, NOW), [(3, vec![])]);
    assert_eq!(reader.held_bytes(), reader.cache().held_bytes());
}

#[test]
fn keep_last_leaves_the_last_of_a_batch() {
    let mut reader = reader(|config| {
        config.cache = CacheConfig {
            history: History::KeepLast(2),
            ..keep_all(100)
        };
        config.cache.limits = ResourceLimits {
            max_samples: Limit::at_most(2),
            ..ResourceLimits::UNLIMITED
        };
    });
    reader.handle_matched(NOW, matched(true));
    beat(&mut reader, (1, 1), (1, 9), 1);
    batch(&mut reader, 1, 1, 9).unwrap();
    assert_eq!(taken(&mut reader), [8, 9]);
}

#[derive(Debug)]
struct FirstOctet;

impl KeyExtractor for FirstOctet {
    fn instance_of(&self, payload: &[u8], _is_key: bool) -> Option<InstanceHandle> {
        let key = *payload.get(4)?;
        (key < 100).then(|| InstanceHandle::from_key_hash([key; 16]))
    }
}

fn keyed() -> Reader {
    let mut reader = reader(|config| {
        config.cache.keyed = true;
        config.keys = Some(alloc::boxed::Box::new(FirstOctet));
    });
    reader.handle_matched(NOW, matched(true));
    beat(&mut reader, (1, 9), (1, 99), 1);
    reader
}

#[test]
fn disposals_times_and_left_out_changes_come_through() {
    let mut reader = keyed();
    let mut qos = Vec::new();
    let mut list = ParameterListWriter::new(&mut qos, Endian::Little);
    let disposed = StatusInfo::DISPOSED.to_bytes();
    list.put(ParameterId::STATUS_INFO, |out| out.bytes(&disposed));
    list.put(ParameterId::KEY_HASH, |out| out.bytes(&[5; 16]));
    list.finish().unwrap();
    let inline_qos = Some(ParameterList::parse(&qos, Endian::Little).unwrap());
    let none = BatchedSample {
        content: Content::None,
        data_len: 0,
        ..sample(0)
    };
    let number = |number| SequenceNumber(number);
    let samples = [
        BatchedSample {
            timestamp: Some(Timestamp(1_000_000_000)),
            ..sample(5)
        },
        sample(6),
        BatchedSample {
            number: number(9),
            inline_qos,
            ..none
        },
        BatchedSample {
            number: number(10),
            is_invalid: true,
            ..none
        },
        BatchedSample {
            number: number(11),
            content: Content::Key,
            inline_qos,
            ..sample(6)
        },
    ];
    // The numbers are the keys, as far as they are data.
    let payload: Vec<u8> = [0, 1, 0, 0]
        .into_iter()
        .chain([5i64, 6, 6].into_iter().flat_map(i64::to_le_bytes))
        .collect();
    give_payload(&mut reader, 1, &samples, &payload).unwrap();
    let mut samples: Vec<CachedSample> = vec![];
    reader.cache_mut().take(&Selector::ALL, &mut samples);
    let state = InstanceState::NotAliveDisposed;
    let (given, other) = (Timestamp(1_000_000_000), Timestamp(7));
    let found: Vec<_> = samples
        .iter()
        .map(|it| {
            (
                it.sequence.0,
                it.info.instance_state,
                it.info.source_timestamp,
            )
        })
        .collect();
    assert_eq!(found, [(5, state, given), (6, state, other)]);
    assert_eq!(answers(&mut reader, NOW)[0].0, 2);
}

#[test]
fn a_change_without_a_key_is_left_out_and_the_others_are_not() {
    let mut reader = keyed();
    let samples = [sample(1), sample(200), sample(201), sample(300)];
    let refused = give(&mut reader, 1, &samples).map_err(|it| it.kind);
    assert_eq!(refused, Err(RejectKind::Key));
    // 300 begins with the octet 44.
    assert_eq!(taken(&mut reader), [1, 300]);
}

#[derive(Debug)]
struct Doubles;

impl Unpacker for Doubles {
    fn unpack(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject> {
        let plain = [&[0, 1, 0, 0][..], compressed.packed, compressed.packed].concat();
        match plain.len() == compressed.plain_bytes as usize + 4 {
            true => Ok(SharedBytes::from_vec(plain)),
            false => Err(Reject::new(RejectKind::Compression, 0)),
        }
    }
}

#[test]
fn compressed_batches_are_inflated_as_one() {
    let mut reader = reader(|config| config.unpacker = Some(alloc::boxed::Box::new(Doubles)));
    let mut writer = matched(true);
    writer.packs = true;
    reader.handle_matched(NOW, writer);
    beat(&mut reader, (1, 9), (1, 99), 1);
    let packed = |plain: u8| [&[0, 1, 0, 4, 0, 0, 0, plain][..], &[3; 8]].concat();
    give_payload(&mut reader, 1, &[sample(1), sample(2)], &packed(16)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2]);
    assert_eq!(reader.statistics().inflated, 2);
    // Lies about the length, of the block and of the samples, hold nobody up.
    let mut check = |number, count, plain, kind| {
        let samples: Vec<_> = (0..count).map(|it| sample(number * 10 + it)).collect();
        let refused = give_payload(&mut reader, number, &samples, &packed(plain));
        assert_eq!(refused.map_err(|it| it.kind), Err(kind), "{number}");
    };
    check(2, 2, 17, RejectKind::Compression);
    check(3, 3, 16, RejectKind::Integrity);
    check(4, 1, 16, RejectKind::Integrity);
    batch(&mut reader, 5, 50, 1).unwrap();
    assert_eq!(taken(&mut reader), [50]);
}

#[test]
fn claims_of_data_that_is_not_there_are_refused_before_room_is_made() {
    let mut reader = matched_reader();
    beat(&mut reader, (1, 2), (1, 3), 1);
    let huge = BatchedSample {
        data_len: u32::MAX,
        ..sample(1)
    };
    let refused = give_payload(&mut reader, 1, &[huge], &[0, 1, 0, 0, 9]);
    assert_eq!(refused.map_err(|it| it.kind), Err(RejectKind::Integrity));
    batch(&mut reader, 2, 2, 2).unwrap();
    assert_eq!(taken(&mut reader), [2, 3]);
}

#[test]
fn changes_that_came_in_another_batch_are_not_told_twice() {
    let mut reader = matched_reader();
    beat(&mut reader, (1, 3), (1, 9), 1);
    batch(&mut reader, 1, 1, 4).unwrap();
    batch(&mut reader, 2, 3, 4).unwrap();
    batch(&mut reader, 3, 1, 2).unwrap();
    assert_eq!(taken(&mut reader), [1, 2, 3, 4, 5, 6]);
    assert_eq!(reader.statistics().duplicates, 4);
}

#[test]
fn a_writer_numbers_one_thing() {
    let mut reader = matched_reader();
    beat(&mut reader, (1, 1), (1, 3), 1);
    let refused = reader.handle_data(NOW, data(1)).map_err(|it| it.kind);
    assert_eq!(refused, Err(RejectKind::Unexpected));
    let refused = reader.handle_heartbeat(NOW, WRITER, &heartbeat(1, 9, 9, false));
    assert_eq!(refused.map_err(|it| it.kind), Err(RejectKind::Unexpected));
    let mut reader = matched_reader();
    reader.handle_data(NOW, data(1)).unwrap();
    let refused = batch(&mut reader, 1, 1, 3).map_err(|it| it.kind);
    assert_eq!(refused, Err(RejectKind::Unexpected));
}

#[test]
fn of_those_who_do_not_speak_of_batches_the_kinds_are_skipped() {
    let kinds = |vendor: VendorId| {
        let mut message = b"RTPS\x02\x05".to_vec();
        message.extend(vendor.0);
        message.extend(WRITER.prefix.0);
        message.extend([0x18, 1, 4, 0, 0, 0, 32, 0]);
        message.extend([0x06, 1, 28, 0, 0, 0, 0, 4, 0, 0, 0, 3]);
        message.extend([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let receiver = MessageReceiver::new(&message, WRITER.prefix).unwrap();
        let kinds: Vec<_> = receiver
            .map(|it| it.map(|it| matches!(it.submessage, Submessage::AckNack(_))))
            .collect();
        kinds
    };
    assert_eq!(kinds(VendorId::CYCLONE_DDS), [Ok(true)]);
    assert!(matches!(kinds(VendorId::CONNEXT)[..], [Err(_)]));
}
