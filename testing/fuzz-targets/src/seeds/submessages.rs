//! One corpus per kind of submessage: the flags octet, then the body.

use super::seed::{Seed, seed};
use crate::raw::Raw;

const READER: [u8; 4] = [0, 0, 1, 4];
const WRITER: [u8; 4] = [0, 0, 1, 3];
const MAX: i64 = i64::MAX;

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for raw in [Raw::little(), Raw::big()] {
        all.extend(data(&raw));
        all.extend(data_frag(&raw));
        all.extend(heartbeat(&raw));
        all.extend(acknack(&raw));
        all.extend(gap(&raw));
        all.extend(info(&raw));
        all.extend(reply(&raw));
        all.extend(extension(&raw));
    }
    all
}

fn ids(raw: &Raw) -> Raw {
    raw.clone().bytes(&READER).bytes(&WRITER)
}

fn data(raw: &Raw) -> Vec<Seed> {
    let head = |to_qos: u16, number| {
        raw.clone()
            .u16(0)
            .u16(to_qos)
            .bytes(&READER)
            .bytes(&WRITER)
            .number(number)
    };
    let payload = |raw: Raw| raw.bytes(&[0, 1, 0, 0, 1, 2, 3, 4]);
    let status = |raw: Raw| raw.u16(0x71).u16(4).bytes(&[0, 0, 0, 1]).u16(1).u16(0);
    let key = |raw: Raw| raw.u16(0x70).u16(16).bytes(&[7; 16]);
    let seed = |name, flags, raw| seed("data", name, flags, raw);
    vec![
        seed("plain", 4, payload(head(16, 1))),
        seed("empty", 0, head(16, 1)),
        seed("dispose", 2 | 8, payload(status(key(head(16, 2))))),
        seed("qos-and-data", 2 | 4, payload(status(key(head(16, 2))))),
        seed("qos-far", 2 | 4, payload(status(head(20, 2).u32(0)))),
        seed("qos-past-end", 2 | 4, payload(head(0xfff0, 2))),
        seed("qos-without-end", 2 | 4, key(head(16, 2))),
        seed("qos-inside-ids", 2 | 4, payload(status(head(0, 2)))),
        seed("both-data-and-key", 4 | 8, payload(head(16, 1))),
        seed("number-zero", 4, payload(head(16, 0))),
        seed("number-negative", 4, payload(head(16, -5))),
        seed("number-max", 4, payload(head(16, MAX))),
        seed("number-unknown", 4, payload(head(16, -0x1_0000_0000))),
        seed("flags-all", 0xfe, payload(status(head(16, 1)))),
    ]
}

fn data_frag(raw: &Raw) -> Vec<Seed> {
    let frag = |first: u32, count: u16, size: u16, total: u32, len: usize| {
        let head = raw
            .clone()
            .u16(0)
            .u16(28)
            .bytes(&READER)
            .bytes(&WRITER)
            .number(1);
        head.u32(first)
            .u16(count)
            .u16(size)
            .u32(total)
            .bytes(&vec![0xab; len])
    };
    let seed = |name, raw| seed("data_frag", name, 0, raw);
    vec![
        seed("first-of-three", frag(1, 1, 32, 80, 32)),
        seed("last-of-three", frag(3, 1, 32, 80, 16)),
        seed("two-at-once", frag(1, 2, 32, 80, 64)),
        seed("size-zero", frag(1, 1, 0, 80, 16)),
        seed("size-over-total", frag(1, 1, 0xffff, 80, 80)),
        seed("start-zero", frag(0, 1, 32, 80, 32)),
        seed("start-past-end", frag(4, 1, 32, 80, 32)),
        seed("start-max", frag(u32::MAX, 1, 32, 80, 32)),
        seed("count-zero", frag(1, 0, 32, 80, 32)),
        seed("count-max", frag(1, 0xffff, 32, 80, 32)),
        seed("total-zero", frag(1, 1, 32, 0, 32)),
        seed("total-4-gib", frag(1, 1, 1, u32::MAX, 1)),
        seed("too-short", frag(1, 2, 32, 80, 5)),
    ]
}

fn heartbeat(raw: &Raw) -> Vec<Seed> {
    let beat = |first, last, count| ids(raw).number(first).number(last).u32(count);
    let frag = |number, last, count| ids(raw).number(number).u32(last).u32(count);
    let seed1 = |name, flags, raw| seed("heartbeat", name, flags, raw);
    let seed2 = |name, raw| seed("heartbeat_frag", name, 0, raw);
    vec![
        seed1("ten", 0, beat(1, 10, 1)),
        seed1("final", 2, beat(1, 10, 2)),
        seed1("liveliness", 4, beat(1, 0, 3)),
        seed1(
            "group",
            8,
            beat(1, 10, 1)
                .number(10)
                .number(1)
                .number(10)
                .bytes(&[0; 12]),
        ),
        seed1("empty", 0, beat(11, 10, 1)),
        seed1("last-below-first", 0, beat(10, 5, 1)),
        seed1("first-zero", 0, beat(0, 5, 1)),
        seed1("first-negative", 0, beat(-1, 5, 1)),
        seed1("first-max", 0, beat(MAX, MAX, 1)),
        seed1("huge-range", 0, beat(1, MAX, u32::MAX)),
        seed2("eight", frag(1, 8, 1)),
        seed2("last-zero", frag(1, 0, 1)),
        seed2("last-max", frag(MAX, u32::MAX, u32::MAX)),
        seed2("number-negative", frag(-1, 8, 1)),
    ]
}

fn acknack(raw: &Raw) -> Vec<Seed> {
    let ack = |base, bits, words: &[u32]| ids(raw).numbers(base, bits, words).u32(7);
    let nack = |base, bits, words: &[u32]| ids(raw).number(5).fragments(base, bits, words).u32(7);
    let seed1 = |name, raw| seed("acknack", name, 0, raw);
    let seed2 = |name, raw| seed("nack_frag", name, 0, raw);
    let words = |n| vec![u32::MAX; n];
    vec![
        seed("acknack", "final", 2, ack(1, 0, &[])),
        seed1("three", ack(5, 3, &[0xe000_0000])),
        seed1("full", ack(5, 256, &words(8))),
        seed1("bits-257", ack(5, 257, &words(9))),
        seed1("bits-max", ack(5, u32::MAX, &words(8))),
        seed1("words-missing", ack(5, 256, &words(1))),
        seed1("base-zero", ack(0, 0, &[])),
        seed1("base-zero-with-bits", ack(0, 1, &[0x8000_0000])),
        seed1("base-negative", ack(-1, 32, &words(1))),
        seed1("base-max", ack(MAX, 256, &words(8))),
        seed2("three", nack(1, 3, &[0xe000_0000])),
        seed2("full", nack(1, 256, &words(8))),
        seed2("bits-257", nack(1, 257, &words(9))),
        seed2("base-zero", nack(0, 32, &words(1))),
        seed2("base-max", nack(u32::MAX, 256, &words(8))),
    ]
}

fn gap(raw: &Raw) -> Vec<Seed> {
    let gap = |start, base, bits, words: &[u32]| ids(raw).number(start).numbers(base, bits, words);
    let seed = |name, flags, raw| seed("gap", name, flags, raw);
    vec![
        seed("three", 0, gap(3, 6, 0, &[])),
        seed("with-bits", 0, gap(3, 6, 8, &[0xaa00_0000])),
        seed("group", 2, gap(3, 6, 0, &[]).number(1).number(9)),
        seed("filtered-count", 4, gap(3, 6, 0, &[]).number(3)),
        seed("filtered-count-short", 4, gap(3, 6, 0, &[]).u32(3)),
        seed("group-missing", 2, gap(3, 6, 0, &[])),
        seed("start-over-base", 0, gap(9, 6, 0, &[])),
        seed("start-zero", 0, gap(0, 6, 0, &[])),
        seed("range-2-63", 0, gap(1, MAX, 0, &[])),
        seed("base-max", 0, gap(1, MAX, 256, &[u32::MAX; 8])),
        seed("bits-max", 0, gap(1, 2, u32::MAX, &[])),
    ]
}

fn info(raw: &Raw) -> Vec<Seed> {
    let raw = || raw.clone();
    let one = |target, name, raw| seed(target, name, 0, raw);
    vec![
        one("info_ts", "time", raw().u32(1_700_000_000).u32(0x8000_0000)),
        seed("info_ts", "invalidate", 2, raw()),
        one("info_ts", "infinite", raw().u64(u64::MAX)),
        one("info_ts", "negative", raw().u32(0x8000_0000).u32(0)),
        one("info_dst", "prefix", raw().bytes(&[9; 12])),
        one("info_dst", "unknown", raw().bytes(&[0; 12])),
        one("info_src", "prefix", source(raw(), 2)),
        one("info_src", "version-9", source(raw(), 9)),
        one("pad", "empty", raw()),
        one("pad", "some", raw().u64(0)),
    ]
}

fn source(raw: Raw, major: u8) -> Raw {
    raw.u32(0).bytes(&[major, 5, 1, 16]).bytes(&[9; 12])
}

fn reply(raw: &Raw) -> Vec<Seed> {
    let raw = || raw.clone();
    let locator = |raw: Raw, kind| {
        let head = raw.u32(kind).u32(7410).bytes(&[0; 12]);
        head.bytes(&[127, 0, 0, 1])
    };
    let both = locator(locator(raw().u32(1), 1).u32(1), 2);
    let address = |raw: Raw| raw.u32(0x7f00_0001).u32(7410);
    let one = |name, raw| seed("info_reply", name, 0, raw);
    vec![
        one("one", locator(raw().u32(1), 1)),
        seed("info_reply", "multicast", 2, both),
        one("none", raw().u32(0)),
        one("count-max", locator(raw().u32(u32::MAX), 1)),
        one("count-wraps", locator(raw().u32(0x0aaa_aaab), 1)),
        seed("info_reply_ip4", "one", 0, address(raw())),
        seed("info_reply_ip4", "multicast", 2, address(address(raw()))),
    ]
}

fn extension(raw: &Raw) -> Vec<Seed> {
    let raw = || raw.clone();
    let all = raw().u32(64).u64(1).u32(2).u64(3).u64(4).u64(5);
    let seed = |name, flags, raw| seed("header_extension", name, flags, raw);
    vec![
        seed("length", 2, raw().u32(44)),
        seed("all", 0x7e, all),
        seed("empty", 0, raw()),
        seed("checksum", 0x10, raw().u32(0xdead_beef)),
    ]
}
