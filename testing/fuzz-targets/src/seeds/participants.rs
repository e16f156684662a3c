//! Sequences of actions for a whole participant: the known attacks, each after a match.

use super::seed::Seed;
use crate::raw::Raw;
use crate::targets::participant::{action, flag, kind};

/// Submessages of participant 2 for us alone.
fn attack(body: &[u8]) -> Vec<u8> {
    action(kind::SUBMESSAGES, 4, body)
}

fn wait_ms(ms: u32) -> Vec<u8> {
    action(kind::TIME, 0, &(ms * 1000).to_le_bytes())
}

/// Matches the keyed endpoints with those of participant 2, and writes some samples.
fn matched(flags: u8) -> Vec<u8> {
    let mut bytes = action(kind::MATCH, 0, &[0, flags]);
    bytes.extend(action(kind::MATCH, 2, &[0, flags]));
    for key in 0..3 {
        bytes.extend(action(kind::WRITE, 0, &[key, 0, 0, 0, 7, 7, 7, 7]));
    }
    bytes.extend(action(kind::WRITE_LARGE, 0, &2000u16.to_le_bytes()));
    bytes
}

pub(super) fn submessage(kind: u8, flags: u8, body: Raw) -> Vec<u8> {
    let body = body.done();
    let head = Raw::little().u8(kind).u8(flags | 1).u16(body.len() as u16);
    head.bytes(&body).done()
}

/// The endpoints that [`matched`] made ours talk to: our reader and their writer.
pub(super) fn to_reader() -> Raw {
    Raw::little().bytes(&[0, 0, 3, 7]).bytes(&[0, 0, 1, 2])
}

/// Their reader and our writer.
fn to_writer() -> Raw {
    Raw::little().bytes(&[0, 0, 3, 7]).bytes(&[0, 0, 1, 2])
}

pub(super) fn heartbeat(first: i64, last: i64, count: u32) -> Vec<u8> {
    submessage(7, 0, to_reader().number(first).number(last).u32(count))
}

pub(super) fn data(number: i64, payload: &[u8]) -> Vec<u8> {
    let head = Raw::little().u16(0).u16(16).bytes(&to_reader().done());
    submessage(0x15, 4, head.number(number).bytes(payload))
}

/// A fragment of a sample that claims to be of so many octets.
fn data_frag(number: i64, first: u32, size: u16, claimed: u32, octets: &[u8]) -> Vec<u8> {
    let head = Raw::little().u16(0).u16(28).bytes(&to_reader().done());
    let head = head.number(number).u32(first).u16(1).u16(size).u32(claimed);
    submessage(0x16, 0, head.bytes(octets))
}

fn gap(start: i64, base: i64, bits: u32, words: &[u32]) -> Vec<u8> {
    submessage(8, 0, to_reader().number(start).numbers(base, bits, words))
}

pub(super) fn acknack(base: i64, bits: u32, words: &[u32], count: u32) -> Vec<u8> {
    submessage(6, 0, to_writer().numbers(base, bits, words).u32(count))
}

fn nack_frag(number: i64, base: u32, bits: u32, words: &[u32], count: u32) -> Vec<u8> {
    let body = to_writer().number(number).fragments(base, bits, words);
    submessage(0x12, 0, body.u32(count))
}

/// Builds an attack that follows a match, with a pause and a look at the samples after it.
pub(super) fn after_match(name: &str, messages: &[Vec<u8>]) -> Seed {
    after_match_as(0, name, messages)
}

/// The same, after a match of endpoints that are what the flags say.
pub(super) fn after_match_as(flags: u8, name: &str, messages: &[Vec<u8>]) -> Seed {
    let mut bytes = matched(flags);
    for message in messages {
        bytes.extend(attack(message));
        bytes.extend(wait_ms(5));
    }
    bytes.extend(action(kind::TAKE, 0, &[]));
    bytes.extend(wait_ms(3000));
    Seed::new("participant", name, bytes)
}

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = vec![headers()];
    all.extend(numbers());
    all.extend(batches());
    all.extend(fragments());
    all.extend(payloads());
    all.extend(announcements());
    all.extend(fates());
    all
}

/// Class 1: headers that lie.
fn headers() -> Seed {
    let mut bytes = matched(0);
    let good = b"RTPS\x02\x05\x01\x10aaaabbbbcccc";
    for len in 0..=good.len() {
        bytes.extend(action(kind::DATAGRAM, 0, &good[..len]));
    }
    bytes.extend(action(
        kind::DATAGRAM,
        1,
        b"RTPX\x02\x05\x01\x10aaaabbbbcccc",
    ));
    bytes.extend(action(
        kind::DATAGRAM,
        2,
        b"RTPS\x03\x00\x01\x10aaaabbbbcccc",
    ));
    let unknown = [0x7f, 1, 4, 0, 1, 2, 3, 4];
    let zero = [7, 1, 0, 0, 7, 0, 0, 0];
    let past = [7, 1, 0xff, 0xff, 0];
    for body in [&unknown[..], &zero, &past, &[9, 0, 0, 3, 1, 2, 3]] {
        bytes.extend(attack(body));
    }
    Seed::new("participant", "headers", bytes)
}

/// Class 2: sets of numbers, heartbeats, gaps and counts.
fn numbers() -> Vec<Seed> {
    let ones = [u32::MAX; 8];
    vec![
        after_match(
            "heartbeats",
            &[
                heartbeat(5, 3, 1),
                heartbeat(1, 10, 2),
                heartbeat(1, 10, 2),
                heartbeat(i64::MAX, i64::MAX, 3),
                heartbeat(1, i64::MAX, 0x7fff_ffff),
                heartbeat(1, 3, 0x8000_0000),
                heartbeat(0, 0, 0x8000_0001),
                heartbeat(-5, 2, 0x8000_0002),
            ],
        ),
        after_match(
            "gaps",
            &[
                heartbeat(1, 500, 1),
                gap(9, 3, 0, &[]),
                gap(1, i64::MAX, 0, &[]),
                gap(3, 4, 256, &[0x5555_5555; 8]),
                gap(300, 301, 256, &[0xaaaa_aaaa; 8]),
                gap(1, 2, 257, &ones),
                gap(2, 0, 32, &ones[..1]),
                data(2, &[0, 1, 0, 0, 1, 2, 3, 4]),
            ],
        ),
        after_match(
            "acknacks",
            &[
                acknack(1, 0, &[], 1),
                acknack(1, 256, &ones, 2),
                acknack(1, 256, &ones, 2),
                acknack(i64::MAX, 256, &ones, 3),
                acknack(0, 32, &ones[..1], 4),
                acknack(-1, 32, &ones[..1], 5),
                acknack(5, u32::MAX, &[], 6),
                acknack(4, 1, &[1 << 31], 0x7fff_ffff),
                acknack(2, 32, &ones[..1], 0x8000_0000),
                acknack(5, 0, &[], 0x8000_0001),
            ],
        ),
        after_match(
            "nack-frags",
            &[
                nack_frag(4, 1, 32, &ones[..1], 1),
                nack_frag(4, 1, 256, &ones, 2),
                nack_frag(4, u32::MAX, 256, &ones, 3),
                nack_frag(4, 0, 32, &ones[..1], 4),
                nack_frag(i64::MAX, 1, 32, &ones[..1], 5),
                nack_frag(1, 1, 32, &ones[..1], 6),
            ],
        ),
    ]
}

/// Batches: numbers that fit and ones that do not, and what mixes both rows of numbers.
fn batches() -> Vec<Seed> {
    let batch = |number: i64, first: i64, count: u32, listed: u32| {
        let head = Raw::little().u16(0).u16(32).bytes(&to_reader().done());
        let head = head.number(number).number(first).u32(count - 1).u32(count);
        let list = (0..listed).fold(head.u32(8 * listed), |raw, _| raw.u32(0x0004_0800).u32(4));
        let body = (0..listed).fold(list.bytes(&[0, 1, 0, 0]), |raw, key| raw.u32(key));
        submessage(0x18, 0, body)
    };
    let beat = |first: i64, last: i64, count: u32| {
        let body = to_reader().number(first).number(last);
        submessage(
            0x19,
            0,
            body.number(first).number(last.wrapping_mul(3)).u32(count),
        )
    };
    let many = batch(9, 60, 30, 30);
    let all = [
        batch(1, 1, 3, 3),
        batch(3, 7, 3, 3),
        beat(1, 3, 1),
        batch(2, 4, 3, 3),
        batch(2, 4, 3, 3),
        batch(4, 1, 3, 3),
        batch(5, 10, 3, 2),
        gap(6, 8, 0, &[]),
        many,
        beat(8, 9, 2),
        beat(i64::MAX, i64::MAX, 3),
    ];
    vec![
        after_match("batches", &all),
        after_match_as(flag::BATCHES, "batches-announced", &all),
        after_match(
            "batches-and-changes",
            &[
                batch(1, 1, 3, 3),
                data(1, &[0, 1, 0, 0, 1, 2, 3, 4]),
                heartbeat(1, 10, 1),
            ],
        ),
        after_match(
            "changes-and-batches",
            &[heartbeat(1, 10, 1), batch(1, 1, 3, 3), beat(1, 3, 2)],
        ),
    ]
}

/// Class 3: fragments.
fn fragments() -> Vec<Seed> {
    let octets = [5; 64];
    let halves = |start: i64| {
        (start..start + 12)
            .map(|n| data_frag(n, 2, 64, 8000, &octets))
            .collect::<Vec<_>>()
    };
    let mut half = vec![heartbeat(1, 40, 1)];
    half.extend(halves(2));
    vec![
        after_match(
            "fragments",
            &[
                heartbeat(1, 9, 1),
                data_frag(1, 1, 0, 128, &octets),
                data_frag(1, 1, 200, 128, &octets),
                data_frag(1, 0, 64, 128, &octets),
                data_frag(1, 1, 64, u32::MAX, &octets),
                data_frag(1, u32::MAX, 1, u32::MAX, &octets[..1]),
                data_frag(1, 2, 64, 128, &octets),
                data_frag(1, 2, 64, 128, &[6; 64]),
                data_frag(1, 1, 64, 192, &octets),
                data_frag(1, 1, 32, 128, &octets[..32]),
                data_frag(1, 1, 64, 128, &octets),
                submessage(0x13, 0, to_reader().number(3).u32(u32::MAX).u32(1)),
            ],
        ),
        after_match("half-samples", &half),
    ]
}

/// Classes 4 and 5: payloads and parameter lists inside a change.
fn payloads() -> Vec<Seed> {
    let with_qos = |parameters: &[u8]| {
        let head = Raw::little().u16(0).u16(16).bytes(&to_reader().done());
        submessage(0x15, 2 | 4, head.number(1).bytes(parameters))
    };
    vec![after_match(
        "payloads",
        &[
            heartbeat(1, 6, 1),
            with_qos(&[0x71, 0, 3, 0, 0, 0, 0, 3]),
            with_qos(&[0x71, 0, 0xff, 0xff, 0, 0, 0, 3]),
            with_qos(&[0xff, 0x7f, 4, 0, 0, 0, 0, 3, 1, 0, 0, 0]),
            with_qos(&[0x71, 0, 4, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0]),
            data(2, &[]),
            data(3, &[0xff, 0xff, 0, 0, 1, 2, 3, 4]),
            data(4, &[0, 1, 0, 3]),
            data(5, &[0, 1, 0, 0, 9]),
        ],
    )]
}

/// An announcement of participant `number` that gives `locators` (kind, port, IPv4 address).
fn announcement(number: u8, lease_s: u32, locators: &[(u32, u32, [u8; 4])]) -> Vec<u8> {
    let prefix = [1, 16, number, number, 0, 0, 0, 0, 0, 0, 0, number];
    let mut list = Raw::little()
        .bytes(&[0, 3, 0, 0])
        .bytes(&[0x50, 0, 16, 0])
        .bytes(&prefix)
        .bytes(&[0, 0, 1, 0xc1])
        .bytes(&[0x15, 0, 4, 0, 2, 5, 0, 0])
        .bytes(&[0x16, 0, 4, 0, 1, 16, 0, 0])
        .bytes(&[0x58, 0, 4, 0])
        .u32(0xc3f)
        .bytes(&[0x02, 0, 8, 0])
        .u32(lease_s)
        .u32(0);
    for (kind, port, address) in locators {
        for parameter in [0x31, 0x32] {
            list = list
                .bytes(&[parameter, 0, 24, 0])
                .u32(*kind)
                .u32(*port)
                .bytes(&[0; 12])
                .bytes(address);
        }
    }
    let list = list.bytes(&[1, 0, 0, 0]);
    let head = Raw::little().u16(0).u16(16).bytes(&[0; 4]);
    let head = head.bytes(&[0, 1, 0, 0xc2]).number(1);
    submessage(0x15, 4, head.bytes(&list.done()))
}

/// Class 7: announcements.
fn announcements() -> Vec<Seed> {
    let home = |number: u8| (1, 7410, [10, 0, 0, number]);
    let victim = (1, 7400, [192, 0, 2, 77]);
    let mut many = Vec::new();
    for way in 0..4 {
        let body = announcement(2 + way, 20, &[home(2 + way)]);
        many.extend(action(kind::SUBMESSAGES, way, &body));
    }
    many.extend(attack(&announcement(9, 20, &[home(9)])));
    many.extend(action(kind::DATAGRAM, 2, &own_claimed()));
    many.extend(wait_ms(500));
    many.extend(action(kind::TIME, 0, &30_000_000u32.to_le_bytes()));

    let mut third = Vec::new();
    for _ in 0..6 {
        let body = announcement(2, 20, &[victim, (1, 7400, [192, 0, 2, 78])]);
        third.extend(action(kind::SUBMESSAGES, 0, &body));
        third.extend(wait_ms(300));
    }
    third.extend(attack(&announcement(2, 20, &[home(2)])));
    third.extend(wait_ms(4000));

    let mut odd = Vec::new();
    let strange = [
        (1, 0, [10, 0, 0, 2]),
        (1, 7400, [239, 255, 0, 9]),
        (1, 70_000, [10, 0, 0, 2]),
        (2, 7400, [0; 4]),
        (0xffff_ffff, 1, [1; 4]),
    ];
    for (lease, ways) in [(0, 1), (0x7fff_ffff, 2), (0x8000_0000, 3)] {
        let body = announcement(2 + ways, lease, &strange);
        odd.extend(action(kind::SUBMESSAGES, ways, &body));
    }
    odd.extend(wait_ms(4000));
    odd.extend(action(kind::DEPART, 0, &[]));
    vec![
        Seed::new("participant", "fake-participants", many),
        Seed::new("participant", "third-party-address", third),
        Seed::new("participant", "strange-announcements", odd),
    ]
}

/// A message with our own GUID prefix from somewhere else.
fn own_claimed() -> Vec<u8> {
    let mut bytes = b"RTPS\x02\x05\x01\x10".to_vec();
    bytes.extend([1, 16, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend(announcement(1, 20, &[(1, 7410, [192, 0, 2, 9])]));
    bytes
}

/// Networks for two participants.
fn fates() -> Vec<Seed> {
    let pattern = |octets: &[u8], len: usize| octets.iter().copied().cycle().take(len).collect();
    let seeds: [(&str, Vec<u8>); 8] = [
        ("clean", vec![]),
        ("lossy", pattern(&[0, 0, 1, 0, 1, 1, 0, 7, 15], 200)),
        ("late", pattern(&[0x1b, 0, 0x53, 0x3a, 0, 7, 0x27], 200)),
        (
            "writes",
            pattern(&[7, 0x0f, 0x17, 0x1f, 0x27, 0xaf, 0x47], 200),
        ),
        ("one-way", pattern(&[0, 1], 240)),
        (
            "pauses",
            pattern(&[0, 0, 0, 0, 0, 0, 0, 0, 0xe7, 1, 0x67, 2], 120),
        ),
        (
            "damaged",
            pattern(&[0, 0, 0, 4, 60, 0, 0x81, 0, 4, 25, 1, 9], 200),
        ),
        (
            "cut",
            pattern(&[0, 0, 0, 0, 5, 90, 0, 0, 6, 3, 1, 2, 3], 200),
        ),
    ];
    let seed = |(name, bytes): (&str, Vec<u8>)| Seed::new("participant_pair", name, bytes);
    seeds.into_iter().map(seed).collect()
}
