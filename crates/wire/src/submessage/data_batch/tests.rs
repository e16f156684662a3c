use alloc::vec;

use super::*;
use crate::message::Submessage;
use crate::parameter::{ParameterId, ParameterListWriter};
use crate::testing::{only, refused, round_trip};

/// What Connext 5.1 sent: ten samples of four octets.
fn connext() -> Vec<u8> {
    let mut bytes = vec![
        0x18, 0x01, 0xa4, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0x80, 0, 0, 3,
    ];
    bytes.extend([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    bytes.extend([9, 0, 0, 0, 10, 0, 0, 0, 0x50, 0, 0, 0]);
    for _ in 0..10 {
        bytes.extend([0, 8, 4, 0, 4, 0, 0, 0]);
    }
    bytes.extend([0, 1, 0, 0]);
    for number in 0u32..10 {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

fn sample(number: i64, data_len: u32) -> BatchedSample<'static> {
    BatchedSample {
        number: SequenceNumber(number),
        content: Content::Data,
        is_invalid: false,
        timestamp: None,
        inline_qos: None,
        data_len,
    }
}

#[test]
fn golden_bytes() {
    let bytes = connext();
    let Ok(Submessage::DataBatch(batch)) = only(&bytes) else {
        panic!("not a batch");
    };
    assert_eq!(batch.batch, SequenceNumber(1));
    assert_eq!(batch.last, SequenceNumber(10));
    let found: Vec<_> = batch
        .samples
        .with_data(&batch.payload[4..])
        .unwrap()
        .collect();
    assert_eq!(found.len(), 10);
    for (index, (found, data)) in (0i64..).zip(found) {
        assert_eq!(found, sample(index + 1, 4));
        assert_eq!(data, (index as u32).to_le_bytes());
    }
    let mut out = Vec::new();
    batch.compose(&mut out, Endian::Little);
    assert_eq!(out, bytes);
    let mut writer = BatchedSamplesWriter::new(Endian::Little);
    (1..11).for_each(|number| writer.push(&sample(number, 4)));
    assert_eq!(writer.list(), batch.samples);
    assert_eq!(writer.last(), batch.last);
}

#[test]
fn every_field_of_a_sample_round_trips() {
    for endian in [Endian::Big, Endian::Little] {
        let mut qos = Vec::new();
        let mut list = ParameterListWriter::new(&mut qos, endian);
        list.put(ParameterId::STATUS_INFO, |out| out.bytes(&[0, 0, 0, 1]));
        list.finish().unwrap();
        let inline_qos = Some(ParameterList::parse(&qos, endian).unwrap());
        let samples = [
            BatchedSample {
                timestamp: Some(Timestamp(1_500_000_000)),
                ..sample(7, 3)
            },
            BatchedSample {
                inline_qos,
                content: Content::Key,
                ..sample(9, 2)
            },
            BatchedSample {
                is_invalid: true,
                content: Content::None,
                ..sample(10, 0)
            },
            BatchedSample {
                timestamp: Some(Timestamp(0)),
                inline_qos,
                ..sample(400, 1)
            },
        ];
        let mut writer = BatchedSamplesWriter::new(endian);
        samples.iter().for_each(|sample| writer.push(sample));
        assert!(writer.list().iter().eq(samples));
        let batch = DataBatch {
            reader: EntityId::UNKNOWN,
            writer: EntityId([0x80, 0, 0, 3]),
            batch: SequenceNumber(0x1_0000_0002),
            last: SequenceNumber(401),
            inline_qos,
            samples: writer.list(),
            payload: &[0, 1, 0, 2, 1, 2, 3, 4, 5, 6, 0, 0],
        };
        let compose = |out: &mut Vec<u8>, endian| batch.compose(out, endian);
        round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
            *parsed == Submessage::DataBatch(batch)
        });
        let data: Vec<_> = batch
            .samples
            .with_data(&batch.payload[4..])
            .unwrap()
            .collect();
        let data: Vec<_> = data.into_iter().map(|(_, data)| data).collect();
        assert_eq!(data, [&[1, 2, 3][..], &[4, 5], &[], &[6]]);
    }
}

#[test]
fn batches_that_lie_are_refused() {
    let with = |at: usize, value: u8| {
        let mut bytes = connext();
        bytes[at] = value;
        bytes
    };
    // Nine or eleven samples stated, ten listed.
    refused(&with(36, 9), RejectKind::Integrity);
    refused(&with(36, 11), RejectKind::Integrity);
    refused(&with(39, 0xff), RejectKind::Integrity);
    // The last number is one that the tenth passes.
    refused(&with(32, 8), RejectKind::SequenceNumber);
    // A list longer than the submessage, one that ends within a sample.
    refused(&with(42, 1), RejectKind::Truncated);
    refused(&with(40, 0x4c), RejectKind::Truncated);
    // A sample that is data and key; fields in front of the fields.
    refused(&with(45, 0x28), RejectKind::EnumValue);
    refused(&with(46, 3), RejectKind::Length);
    refused(&with(45, 0x00), RejectKind::Length);
    refused(&with(6, 0x1c), RejectKind::Length);
    // Numbers below 1, and past the last there is.
    refused(&with(20, 0), RejectKind::SequenceNumber);
    refused(&with(28, 0), RejectKind::SequenceNumber);
    let mut end = connext();
    end[24..32].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f, 0xfe, 0xff, 0xff, 0xff]);
    refused(&end, RejectKind::SequenceNumber);
    // Numbers that go back.
    let mut back = BatchedSamplesWriter::new(Endian::Little);
    back.push(&sample(5, 0));
    back.push(&sample(9, 0));
    back.push(&sample(6, 0));
    assert_eq!(
        back.list().check(SequenceNumber(20)).map_err(|it| it.kind),
        Err(RejectKind::SequenceNumber)
    );
}

#[test]
fn data_that_does_not_fit_the_lengths_is_refused() {
    let mut writer = BatchedSamplesWriter::new(Endian::Little);
    writer.push(&sample(1, 5));
    let list = writer.list();
    let check = |len: usize, fits: bool| {
        assert_eq!(list.with_data(&vec![0; len]).is_ok(), fits, "{len}");
    };
    check(4, false);
    check(5, true);
    check(8, true);
    check(9, false);
    let mut writer = BatchedSamplesWriter::new(Endian::Little);
    (1..4).for_each(|number| writer.push(&sample(number, u32::MAX)));
    assert!(writer.list().with_data(&[0; 64]).is_err());
}
