//! Batches of changes, honest and not.

use super::seed::{Seed, seed};
use crate::raw::Raw;

const WRITER: [u8; 4] = [0, 0, 1, 3];

/// What is said of a batch: its number, the first change, how far the last is, how many there are.
struct Head(i64, i64, u32, u32);

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for raw in [Raw::little(), Raw::big()] {
        all.extend(data(&raw));
        all.extend(heartbeat(&raw));
    }
    all
}

fn head(raw: &Raw, to_qos: u16, Head(batch, first, last, count): Head) -> Raw {
    let raw = raw.clone().u16(0).u16(to_qos);
    let raw = raw.bytes(&[0; 4]).bytes(&WRITER).number(batch);
    raw.number(first).u32(last).u32(count)
}

fn sample(raw: Raw, flags: u8, to_qos: u16, len: u32) -> Raw {
    raw.bytes(&[0, flags]).u16(to_qos).u32(len)
}

fn two(raw: Raw) -> Raw {
    sample(sample(raw.u32(16), 8, 4, 4), 8, 4, 4)
}

fn payload(raw: Raw) -> Raw {
    raw.bytes(&[0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
}

fn status(raw: Raw) -> Raw {
    let raw = raw.u16(0x71).u16(4).bytes(&[0, 0, 0, 1]);
    raw.u16(1).u16(0)
}

fn data(raw: &Raw) -> Vec<Seed> {
    let honest = || head(raw, 32, Head(1, 1, 1, 2));
    let later = head(raw, 36, Head(1, 1, 1, 2)).u32(7);
    let timed = head(raw, 32, Head(2, 5, 9, 1)).u32(36);
    let timed = sample(timed, 1 | 2 | 4 | 8, 16, 4).u32(9).u32(1 << 31);
    let packed = two(honest()).bytes(&[0, 1, 0, 4, 0, 0, 0, 8, 1, 2, 3, 4]);
    let one = || head(raw, 32, Head(1, 1, 0, 1)).u32(8);
    let seed = |name, flags, raw| seed("data_batch", name, flags, raw);
    vec![
        seed("two", 0, payload(two(honest()))),
        seed("compressed", 0, packed),
        seed("none", 0, head(raw, 32, Head(1, 1, 0, 0)).u32(0)),
        seed("qos", 2, payload(two(status(honest())))),
        seed("fields-of-later", 0, payload(two(later))),
        seed("every-flag", 0, payload(status(timed.u32(9)))),
        seed("key", 0, payload(sample(one(), 0x20, 4, 8))),
        seed("invalid", 0, sample(one(), 0x10, 4, 0)),
        seed("data-and-key", 0, sample(one(), 0x28, 4, 0)),
        seed("length-4-gib", 0, sample(one(), 8, 4, u32::MAX)),
        seed("to-qos-inside", 0, sample(one(), 1, 4, 4)),
    ]
    .into_iter()
    .chain(lies(raw))
    .collect()
}

/// Numbers that contradict each other.
fn lies(raw: &Raw) -> Vec<Seed> {
    let of = |head_of: Head| payload(two(head(raw, 32, head_of)));
    let honest = || head(raw, 32, Head(1, 1, 1, 2));
    let back = sample(sample(honest().u32(24), 4, 8, 0).u32(1), 4, 8, 0).u32(0);
    let seed = |name, raw| seed("data_batch", name, 0, raw);
    vec![
        seed("count-too-high", of(Head(1, 1, 1, u32::MAX))),
        seed("count-too-low", of(Head(1, 1, 1, 1))),
        seed("last-too-low", of(Head(1, 1, 0, 2))),
        seed("last-max", of(Head(1, i64::MAX - 1, 1, 2))),
        seed("number-zero", of(Head(0, 1, 1, 2))),
        seed("list-past-end", sample(honest().u32(u32::MAX), 8, 4, 4)),
        seed("offset-back", back),
    ]
}

fn heartbeat(raw: &Raw) -> Vec<Seed> {
    let beat = |batches: (i64, i64), changes: (i64, i64)| {
        let raw = raw.clone().bytes(&[0; 4]).bytes(&WRITER);
        let raw = raw.number(batches.0).number(batches.1);
        raw.number(changes.0).number(changes.1).u32(6)
    };
    let seed = |name, flags, raw| seed("heartbeat_batch", name, flags, raw);
    vec![
        seed("one", 0, beat((1, 1), (1, 10))),
        seed("empty", 2 | 4, beat((153, 152), (2024, 2023))),
        seed("batches-back", 0, beat((9, 2), (1, 10))),
        seed("changes-back", 0, beat((1, 1), (10, 1))),
        seed("zero", 0, beat((0, 0), (1, 10))),
        seed("huge", 0, beat((1, i64::MAX), (1, i64::MAX))),
    ]
}
