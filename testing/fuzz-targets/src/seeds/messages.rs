//! Whole datagrams: the header, submessages one after another, lengths that lie.

use super::seed::Seed;
use crate::raw::Raw;

/// The header of a message from a vendor. RTPS 2.5 §9.4.4.
pub(super) fn header() -> Vec<u8> {
    let mut bytes = b"RTPS\x02\x05\x01\x10".to_vec();
    bytes.extend(1..=12u8);
    bytes
}

/// A submessage with its header; `len` is what its header claims. RTPS 2.5 §9.4.5.1.
fn submessage(kind: u8, little: bool, len: u16, body: &[u8]) -> Vec<u8> {
    let raw = if little { Raw::little() } else { Raw::big() };
    raw.u8(kind)
        .u8(u8::from(little))
        .u16(len)
        .bytes(body)
        .done()
}

fn info_ts(little: bool) -> Vec<u8> {
    submessage(9, little, 8, &[0; 8])
}

fn heartbeat(little: bool) -> Vec<u8> {
    let raw = if little { Raw::little() } else { Raw::big() };
    let body = raw
        .u32(0)
        .bytes(&[0, 0, 1, 3])
        .number(1)
        .number(9)
        .u32(1)
        .done();
    submessage(7, little, 28, &body)
}

fn data(len: u16) -> Vec<u8> {
    let head = Raw::little()
        .u16(0)
        .u16(16)
        .u32(0)
        .bytes(&[0, 0, 1, 3])
        .number(1);
    let mut bytes = submessage(
        0x15,
        true,
        len,
        &head.bytes(&[0, 1, 0, 0, 7, 0, 0, 0]).done(),
    );
    if let Some(flags) = bytes.get_mut(1) {
        *flags |= 4;
    }
    bytes
}

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = headers();
    let unknown = submessage(0x7f, true, 4, &[1, 2, 3, 4]);
    let vendor = submessage(0x80, false, 8, &[0; 8]);
    let pad = submessage(1, true, 0, &[]);
    let messages: [(&str, Vec<Vec<u8>>); 14] = [
        ("data", vec![info_ts(true), data(28)]),
        (
            "data-heartbeat",
            vec![info_ts(true), data(28), heartbeat(true)],
        ),
        (
            "orders-mixed",
            vec![info_ts(false), heartbeat(true), heartbeat(false)],
        ),
        (
            "unknown-skipped",
            vec![unknown.clone(), vendor, heartbeat(true)],
        ),
        ("last-length-zero", vec![info_ts(true), data(0)]),
        ("zero-in-the-middle", vec![data(0), heartbeat(true)]),
        ("pad-zero-in-the-middle", vec![pad, heartbeat(true)]),
        (
            "ts-zero-invalidate",
            vec![vec![9, 3, 0, 0], heartbeat(true)],
        ),
        ("length-past-end", vec![info_ts(true), data(29), vec![]]),
        ("length-max", vec![data(0xffff)]),
        (
            "length-odd",
            vec![submessage(0x7f, true, 3, &[1, 2, 3]), heartbeat(true)],
        ),
        (
            "length-short",
            vec![submessage(7, true, 4, &[0; 4]), heartbeat(true)],
        ),
        ("half-a-header", vec![heartbeat(true), vec![7, 1]]),
        ("thousands", vec![unknown; 1000]),
    ];
    for (name, parts) in messages {
        let mut bytes = header();
        bytes.extend(parts.concat());
        for target in ["message", "dissection"] {
            all.push(Seed::new(target, name, bytes.clone()));
        }
    }
    all
}

fn headers() -> Vec<Seed> {
    let mut all = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| {
        for target in ["message", "dissection"] {
            all.push(Seed::new(target, name, bytes.clone()));
        }
    };
    add("empty", Vec::new());
    add("header", header());
    add("header-short", header()[..19].to_vec());
    let changed = |at: usize, byte: u8| {
        let mut bytes = header();
        if let Some(slot) = bytes.get_mut(at) {
            *slot = byte;
        }
        bytes.extend(heartbeat(true));
        bytes
    };
    add("magic", changed(3, b'X'));
    add("version-1", changed(4, 1));
    add("version-3", changed(4, 3));
    add("version-2-255", changed(5, 255));
    add("vendor-unknown", changed(6, 0xff));
    all
}
