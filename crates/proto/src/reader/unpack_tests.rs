//! Compressed changes: inflated, refused, or never taken for compressed.

use alloc::boxed::Box;
use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_wire::compressed::Compressed;

use super::tests::{NOW, data, heartbeat, matched, reader, taken};
use super::{Incoming, Reader, Unpacker};
use crate::change::ChangeKind;

/// Takes what it gets for the data itself, unless it begins with 0xff.
#[derive(Debug)]
struct Copies;

impl Unpacker for Copies {
    fn unpack(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject> {
        if compressed.packed.first() == Some(&0xff) {
            return Err(Reject::new(RejectKind::Compression, 0));
        }
        Ok(SharedBytes::copy_from(compressed.packed))
    }
}

fn packing(unpacker: Option<Box<dyn Unpacker>>) -> Reader {
    let mut reader = reader(|config| config.unpacker = unpacker);
    let mut writer = matched(true);
    writer.packs = true;
    reader.handle_matched(NOW, writer);
    reader
        .handle_heartbeat(NOW, super::tests::WRITER, &heartbeat(1, 9, 1, true))
        .unwrap();
    reader
}

/// A change of which the payload says that it is by ZLIB and had so many octets.
fn compressed(number: i64, plain_bytes: u32, packed: &[u8]) -> Incoming {
    let head = [0, 1, 0, 4].into_iter().chain(plain_bytes.to_be_bytes());
    let payload: Vec<u8> = head.chain(packed.iter().copied()).collect();
    Incoming {
        payload: SharedBytes::from_vec(payload),
        ..data(number)
    }
}

#[test]
fn what_inflates_is_delivered_and_counted() {
    let mut reader = packing(Some(Box::new(Copies)));
    let inner = 1i64.to_le_bytes();
    reader.handle_data(NOW, compressed(1, 8, &inner)).unwrap();
    reader.handle_data(NOW, data(2)).unwrap();
    assert_eq!(taken(&mut reader), [1, 2]);
    let statistics = reader.statistics();
    assert_eq!((statistics.inflated, statistics.inflated_bytes), (1, 8));
    assert_eq!(statistics.compressed_bytes, 16);
}

#[test]
fn what_does_not_inflate_is_refused_and_holds_nobody_up() {
    let mut reader = packing(Some(Box::new(Copies)));
    let mut check = |incoming: Incoming, kind| {
        let refused = reader.handle_data(NOW, incoming).map_err(|it| it.kind);
        assert_eq!(refused, Err(kind));
    };
    check(compressed(1, 8, &[0xff]), RejectKind::Compression);
    check(compressed(2, u32::MAX, &[1]), RejectKind::Limit);
    let mut unknown = compressed(3, 8, &[1]);
    unknown.payload = SharedBytes::copy_from(&[0, 1, 0, 12, 0, 0, 0, 8]);
    check(unknown, RejectKind::Codec);
    check(compressed(1, 8, &[1]), RejectKind::Duplicate);
    reader.handle_data(NOW, data(4)).unwrap();
    assert_eq!(taken(&mut reader), [4]);
    let mut reader = packing(None);
    let refused = reader.handle_data(NOW, compressed(1, 8, &[1]));
    assert_eq!(refused.map_err(|it| it.kind), Err(RejectKind::Codec));
}

#[test]
fn keys_and_writers_that_do_not_compress_are_taken_as_they_are() {
    let mut reader = reader(|config| config.unpacker = Some(Box::new(Copies)));
    reader.handle_matched(NOW, matched(true));
    let mut plain = compressed(1, 8, &[0xff]);
    reader.handle_data(NOW, plain.clone()).unwrap();
    let mut reader = packing(Some(Box::new(Copies)));
    plain.kind = ChangeKind::Disposed;
    plain.is_key = true;
    reader.handle_data(NOW, plain).unwrap();
    assert_eq!(reader.statistics().inflated, 0);
}
