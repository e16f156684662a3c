//! Payloads of discovery: participant, writer, reader and participant message, each with its
//! encapsulation header.

use super::lists::{parameter, sentinel};
use super::seed::Seed;
use crate::raw::Raw;

const LITTLE: [u8; 4] = [0, 3, 0, 0];
const BIG: [u8; 4] = [0, 2, 0, 0];

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for (order, start) in [("le", Raw::little()), ("be", Raw::big())] {
        let lists = [
            ("participant_data", participants(&start)),
            ("writer_data", endpoints(&start, [0, 0, 1, 2])),
            ("reader_data", endpoints(&start, [0, 0, 1, 7])),
            ("participant_message", participant_messages(&start)),
        ];
        for (target, seeds) in lists {
            let seeds = seeds.into_iter();
            all.extend(seeds.map(|(n, b)| Seed::new(target, format!("{n}-{order}"), b)));
        }
    }
    all
}

type Named = Vec<(&'static str, Vec<u8>)>;

/// A payload: encapsulation, the fields given, a sentinel.
fn payload(start: &Raw, fields: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let head = if start.is_little() { LITTLE } else { BIG };
    let list = fields
        .iter()
        .fold(start.clone(), |raw, (id, value)| parameter(raw, *id, value));
    [head.to_vec(), sentinel(list).done()].concat()
}

fn locator(start: &Raw, kind: u32, port: u32) -> Vec<u8> {
    start
        .clone()
        .u32(kind)
        .u32(port)
        .bytes(&[0; 12])
        .bytes(&[127, 0, 0, 1])
        .done()
}

fn duration(start: &Raw, seconds: u32, fraction: u32) -> Vec<u8> {
    start.clone().u32(seconds).u32(fraction).done()
}

fn guid(entity: [u8; 4]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (1..=12).collect();
    bytes.extend(entity);
    bytes
}

fn property(start: &Raw, name: &str, value: &str) -> Vec<u8> {
    start.clone().u32(1).string(name).string(value).done()
}

fn participant(start: &Raw) -> Vec<(u16, Vec<u8>)> {
    vec![
        (0x15, vec![2, 5, 0, 0]),
        (0x16, vec![1, 16, 0, 0]),
        (0x50, guid([0, 0, 1, 0xc1])),
        (0x58, start.clone().u32(0x0c3f).done()),
        (0x31, locator(start, 1, 7411)),
        (0x32, locator(start, 1, 7410)),
        (0x33, locator(start, 1, 7400)),
        (0x02, duration(start, 20, 0)),
        (0x0f, start.clone().u32(0).done()),
        (0x59, property(start, "a.b", "c")),
        (0x62, start.clone().string("name").done()),
        (0x2c, start.clone().u32(4).bytes(b"user").done()),
    ]
}

fn participants(start: &Raw) -> Named {
    let with = |id: u16, value: Vec<u8>| {
        let mut fields = participant(start);
        fields.retain(|(other, _)| *other != id);
        fields.push((id, value));
        payload(start, &fields)
    };
    let without = |id: u16| {
        let fields = participant(start)
            .into_iter()
            .filter(|(other, _)| *other != id);
        payload(start, &fields.collect::<Vec<_>>())
    };
    let mut many = participant(start);
    many.extend(vec![(0x32, locator(start, 1, 7410)); 400]);
    let lie = |count: u32| start.clone().u32(count).string("a").string("b").done();
    vec![
        ("whole", payload(start, &participant(start))),
        ("empty", payload(start, &[])),
        ("no-guid", without(0x50)),
        ("no-version", without(0x15)),
        ("no-locators", payload(start, &participant(start)[..4])),
        ("lease-zero", with(2, duration(start, 0, 0))),
        (
            "lease-infinite",
            with(2, duration(start, 0x7fff_ffff, u32::MAX)),
        ),
        ("lease-negative", with(2, duration(start, 0xffff_ffff, 1))),
        ("lease-short", with(2, vec![1, 0, 0, 0])),
        ("locator-port-zero", with(0x32, locator(start, 1, 0))),
        ("locator-port-big", with(0x32, locator(start, 1, 70_000))),
        (
            "locator-kind-unknown",
            with(0x32, locator(start, 0x0100_0001, 7410)),
        ),
        (
            "locator-kind-negative",
            with(0x32, locator(start, u32::MAX, 7410)),
        ),
        ("locators-many", payload(start, &many)),
        ("properties-max", with(0x59, lie(u32::MAX))),
        ("properties-wrap", with(0x59, lie(0x2000_0001))),
        (
            "user-data-lies",
            with(0x2c, start.clone().u32(0xffff_fff0).u32(0).done()),
        ),
        (
            "name-no-nul",
            with(0x62, start.clone().u32(4).bytes(b"abcd").done()),
        ),
        (
            "encapsulation",
            [vec![0x7f, 0xff, 0, 0], participant(start)[0].1.clone()].concat(),
        ),
    ]
}

fn endpoint(start: &Raw, entity: [u8; 4]) -> Vec<(u16, Vec<u8>)> {
    let number = |value| start.clone().u32(value).done();
    vec![
        (0x5a, guid(entity)),
        (0x05, start.clone().string("Square").done()),
        (0x07, start.clone().string("ShapeType").done()),
        (0x1a, start.clone().u32(2).u32(0).u32(0x1999_9999).done()),
        (0x1d, number(1)),
        (0x23, duration(start, 1, 0)),
        (0x1b, start.clone().u32(0).u32(10).u32(0).done()),
        (0x1f, number(0)),
        (0x06, number(7)),
        (0x29, start.clone().u32(2).string("A").string("B*").done()),
        (0x21, start.clone().u32(0).bytes(&[1, 0, 0, 0]).done()),
        (0x40, start.clone().u32(0).u32(5).done()),
        (0x41, start.clone().u32(10).u32(10).u32(10).done()),
        (0x2f, locator(start, 1, 7411)),
        (0x73, start.clone().u32(2).u16(2).u16(0).done()),
        (0x74, start.clone().u16(1).bytes(&[1, 1, 0, 0, 0, 0]).done()),
        (0x70, guid(entity)),
    ]
}

fn endpoints(start: &Raw, entity: [u8; 4]) -> Named {
    let without = |id: u16| {
        let mut fields = endpoint(start, entity);
        fields.retain(|(other, _)| *other != id);
        payload(start, &fields)
    };
    let mut all = vec![
        ("whole", payload(start, &endpoint(start, entity))),
        ("no-topic", without(0x05)),
        ("no-type", without(0x07)),
        ("no-guid", without(0x5a)),
    ];
    for (name, id, value) in bad_numbers(start).into_iter().chain(bad_texts(start)) {
        let mut fields = endpoint(start, entity);
        fields.retain(|(other, _)| *other != id);
        fields.push((id, value));
        all.push((name, payload(start, &fields)));
    }
    all
}

/// Names of attacks, the parameter and its value.
type Attacks = Vec<(&'static str, u16, Vec<u8>)>;

fn bad_numbers(start: &Raw) -> Attacks {
    let three = |a, b, c| start.clone().u32(a).u32(b).u32(c).done();
    let two = |a, b| start.clone().u32(a).u32(b).done();
    let flags = start.clone().u32(0).bytes(&[7, 0, 0, 0]).done();
    vec![
        ("reliability-9", 0x1a, three(9, 0, 0)),
        ("durability-max", 0x1d, start.clone().u32(u32::MAX).done()),
        ("history-depth-negative", 0x40, two(0, u32::MAX)),
        ("limits-negative", 0x41, three(0, 0x8000_0000, 0)),
        ("deadline-negative", 0x23, duration(start, 0x8000_0000, 0)),
        (
            "deadline-infinite",
            0x23,
            duration(start, 0x7fff_ffff, u32::MAX),
        ),
        ("representations-max", 0x73, two(u32::MAX, 0)),
        ("boolean-7", 0x21, flags),
        ("must-understand", 0x4eee, vec![0; 4]),
    ]
}

fn bad_texts(start: &Raw) -> Attacks {
    let partitions = |count: u32| start.clone().u32(count);
    let topic = |name: &str| start.clone().string(name).done();
    let filter = |text: &str, parameters: u32| {
        let names = start
            .clone()
            .string("filtered")
            .string("Square")
            .string("DDSSQL");
        names.string(text).u32(parameters).string("1").done()
    };
    let no_nul = partitions(1).u32(4).bytes(b"abcd").done();
    vec![
        (
            "partitions-max",
            0x29,
            partitions(u32::MAX).string("A").done(),
        ),
        ("partition-no-nul", 0x29, no_nul),
        (
            "partition-pattern",
            0x29,
            partitions(1).string("[a-").done(),
        ),
        ("topic-empty", 0x05, topic("")),
        ("topic-long", 0x05, topic(&"x".repeat(3000))),
        ("filter", 0x35, filter("x > %0", 1)),
        ("filter-parameters-max", 0x35, filter("x > %99", u32::MAX)),
    ]
}

fn participant_messages(start: &Raw) -> Named {
    let head = if start.is_little() {
        [0, 1, 0, 0]
    } else {
        [0, 0, 0, 0]
    };
    let message = |kind: [u8; 4], len: u32, data: &[u8]| {
        let body = start
            .clone()
            .bytes(&guid(kind)[..12])
            .bytes(&kind)
            .u32(len)
            .bytes(data);
        [head.to_vec(), body.done()].concat()
    };
    vec![
        ("automatic", message([0, 0, 0, 1], 0, &[])),
        ("manual", message([0, 0, 0, 2], 4, &[1, 2, 3, 4])),
        ("vendor", message([0x80, 0, 0, 1], 0, &[])),
        ("length-max", message([0, 0, 0, 1], u32::MAX, &[0; 4])),
        ("length-short", message([0, 0, 0, 1], 1, &[0; 4])),
        ("encapsulation", vec![0xff; 28]),
    ]
}
