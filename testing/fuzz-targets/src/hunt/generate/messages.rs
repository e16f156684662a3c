//! Submessages with numbers at the edges, alone and in messages.

use crate::random::Random;
use crate::raw::Raw;

use super::lists;

/// Kinds of submessages by the names of their targets. RTPS 2.5 §9.4.5.1.1.
const KINDS: &[(&str, u8)] = &[
    ("header_extension", 0x00),
    ("pad", 0x01),
    ("acknack", 0x06),
    ("heartbeat", 0x07),
    ("gap", 0x08),
    ("info_ts", 0x09),
    ("info_src", 0x0c),
    ("info_reply_ip4", 0x0d),
    ("info_dst", 0x0e),
    ("info_reply", 0x0f),
    ("nack_frag", 0x12),
    ("heartbeat_frag", 0x13),
    ("data", 0x15),
    ("data_frag", 0x16),
    ("data_batch", 0x18),
    ("heartbeat_batch", 0x19),
];

/// The flags octet and the body of one kind; `None` for names of other targets.
pub(super) fn flags_and_body(name: &str, random: &mut Random) -> Option<Vec<u8>> {
    let (_, kind) = KINDS.iter().find(|(other, _)| *other == name)?;
    let start = Raw::either(random);
    let flags = flags(random, &start);
    let body = body(random, start, *kind, flags, None);
    Some([vec![flags], body.done()].concat())
}

/// A whole datagram.
pub(super) fn message(random: &mut Random) -> Vec<u8> {
    let prefix = random.octets(12);
    let count = 1 + random.below(8);
    let mut bytes = b"RTPS\x02\x05\x01\x10".to_vec();
    bytes.extend(prefix);
    for _ in 0..count {
        bytes.extend(submessage(random, None));
    }
    bytes
}

/// Whom a submessage is for: our endpoint, theirs.
pub(super) type Ends = ([u8; 4], [u8; 4]);

/// A submessage with its header.
pub(super) fn submessage(random: &mut Random, ends: Option<Ends>) -> Vec<u8> {
    let (_, kind) = *random.one_of(KINDS);
    let kind = random.mostly(kind.into()) as u8;
    let start = Raw::either(random);
    let flags = flags(random, &start);
    let body = body(random, start.clone(), kind, flags, ends).done();
    let len = random.mostly(body.len() as u64) as u16;
    start.u8(kind).u8(flags).u16(len).bytes(&body).pad().done()
}

fn flags(random: &mut Random, start: &Raw) -> u8 {
    let rare = if random.once_in(3) { 0xfe } else { 0x0e };
    random.next() as u8 & rare & !1 | u8::from(start.is_little())
}

fn sequence(random: &mut Random) -> i64 {
    match random.below(4) {
        0 => random.edge() as i64,
        _ => random.below(12) as i64,
    }
}

fn count(random: &mut Random) -> u32 {
    match random.below(6) {
        0 => random.edge() as u32,
        _ => random.below(1000) as u32,
    }
}

fn words(random: &mut Random, bits: u32) -> Vec<u32> {
    let count = random.mostly(u64::from(bits.min(256).div_ceil(32))) % 12;
    let fill = *random.one_of(&[0, u32::MAX, 0x5555_5555, 1 << 31, 1]);
    (0..count).map(|_| fill).collect()
}

fn body(random: &mut Random, raw: Raw, kind: u8, flags: u8, ends: Option<Ends>) -> Raw {
    let ends = ends.unwrap_or(([0, 0, 3, 7], [0, 0, 1, 2]));
    let addressed = |raw: Raw| raw.bytes(&ends.0).bytes(&ends.1);
    match kind {
        0x06 | 0x08 => {
            let raw = addressed(raw);
            let raw = if kind == 8 {
                raw.number(sequence(random))
            } else {
                raw
            };
            let bits = *random.one_of(&[0, 1, 5, 32, 33, 256, 257, u32::MAX]);
            let words = words(random, bits);
            raw.numbers(sequence(random), bits, &words)
                .u32(count(random))
        }
        0x07 => {
            let (first, more) = (sequence(random), random.below(6) as i64);
            let last = random.mostly(first.wrapping_add(more - 1) as u64) as i64;
            let raw = addressed(raw).number(first).number(last);
            let raw = raw.u32(count(random));
            if flags & 8 != 0 {
                raw.bytes(&random.octets(36))
            } else {
                raw
            }
        }
        0x12 => {
            let bits = *random.one_of(&[0, 1, 5, 32, 256, 257]);
            let words = words(random, bits);
            let raw = addressed(raw).number(sequence(random));
            let base = random.mostly(1) as u32;
            raw.fragments(base, bits, &words).u32(count(random))
        }
        0x13 => {
            let raw = addressed(raw).number(sequence(random));
            raw.u32(random.edge() as u32).u32(count(random))
        }
        0x15 => data(random, addressed(raw.u16(0).u16(16)), flags),
        0x16 => data_frag(random, addressed(raw.u16(0).u16(28)), flags),
        0x18 => data_batch(random, addressed(raw.u16(0).u16(32)), flags),
        0x19 => {
            let first = sequence(random);
            let last = first.wrapping_add(random.below(4) as i64);
            let raw = addressed(raw).number(first).number(last);
            raw.number(first).number(last).u32(count(random))
        }
        0x09 => raw.u32(random.edge() as u32).u32(random.edge() as u32),
        0x0c => raw.u32(0).bytes(&[2, 5, 1, 16]).bytes(&random.octets(12)),
        0x0e => raw.bytes(&random.octets(12)),
        0x0f | 0x0d => {
            let count = random.below(4);
            let raw = raw.u32(random.mostly(count as u64) as u32);
            raw.bytes(&random.octets(24 * count))
        }
        _ => {
            let len = random.below(40);
            raw.bytes(&random.octets(len))
        }
    }
}

fn data(random: &mut Random, head: Raw, flags: u8) -> Raw {
    let raw = head.number(sequence(random));
    let raw = if flags & 2 != 0 {
        lists::list(random, raw)
    } else {
        raw
    };
    let key = random.below(5) as u8;
    let len = random.below(60);
    raw.bytes(&[0, 1, 0, 0, key])
        .bytes(&random.octets(len))
        .pad()
}

fn data_batch(random: &mut Random, head: Raw, flags: u8) -> Raw {
    let samples = random.below(6) as u64;
    let (listed, spanned) = (random.mostly(samples), random.mostly(samples));
    let raw = head.number(sequence(random)).number(sequence(random));
    let mut raw = raw.u32(spanned as u32).u32(listed as u32);
    if flags & 2 != 0 {
        raw = lists::list(random, raw);
    }
    let len = *random.one_of(&[0, 4, 5, 12]);
    raw = raw.u32(random.mostly(samples * 8) as u32);
    for _ in 0..samples {
        let kind = *random.one_of(&[8, 8, 8, 0x20, 0x10, 0]);
        raw = raw.bytes(&[0, kind]).u16(4).u32(random.mostly(len) as u32);
    }
    let packed = *random.one_of(&[0, 0, 4, 16]);
    let octets = random.octets((samples * len) as usize);
    raw.bytes(&[0, 1, 0, packed]).bytes(&octets).pad()
}

fn data_frag(random: &mut Random, head: Raw, flags: u8) -> Raw {
    let truth = *random.one_of(&[1, 16, 64, 500]);
    let size = random.mostly(truth) as u16;
    let fragments = 1 + random.below(12) as u64;
    let total = random.mostly(fragments * u64::from(size)) as u32;
    let (first, count) = (1 + random.below(12) as u64, 1 + random.below(3) as u64);
    let (first, count) = (random.mostly(first) as u32, random.mostly(count) as u16);
    let raw = head.number(sequence(random)).u32(first).u16(count);
    let raw = raw.u16(size).u32(total);
    let raw = if flags & 2 != 0 {
        lists::list(random, raw)
    } else {
        raw
    };
    let len = (usize::from(size) * usize::from(count)).min(2000);
    raw.bytes(&vec![random.next() as u8; len]).pad()
}
