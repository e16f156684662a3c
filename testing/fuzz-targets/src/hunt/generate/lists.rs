//! Parameter lists and what discovery puts into them.

use crate::random::Random;
use crate::raw::Raw;

/// What a parameter holds.
#[derive(Clone, Copy)]
enum Value {
    Text,
    Texts,
    Octets,
    Words,
    Boolean,
    Duration,
    Locator,
    Guid,
    Properties,
    Number,
    Anything,
}

/// Which announcement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Participant,
    Writer,
    Reader,
}

/// Parameters of discovery and of samples, and what they hold. RTPS 2.5 §9.6.3.
const KNOWN: &[(u16, Value)] = &[
    (0x0000, Value::Anything),
    (0x0002, Value::Duration),
    (0x0004, Value::Duration),
    (0x0005, Value::Text),
    (0x0006, Value::Words),
    (0x0007, Value::Text),
    (0x000f, Value::Words),
    (0x0015, Value::Words),
    (0x0016, Value::Words),
    (0x001a, Value::Words),
    (0x001b, Value::Words),
    (0x001d, Value::Words),
    (0x001e, Value::Words),
    (0x001f, Value::Words),
    (0x0021, Value::Words),
    (0x0023, Value::Duration),
    (0x0025, Value::Words),
    (0x0027, Value::Duration),
    (0x0029, Value::Texts),
    (0x002b, Value::Duration),
    (0x002c, Value::Octets),
    (0x002d, Value::Octets),
    (0x002e, Value::Octets),
    (0x002f, Value::Locator),
    (0x0030, Value::Locator),
    (0x0031, Value::Locator),
    (0x0032, Value::Locator),
    (0x0033, Value::Locator),
    (0x0034, Value::Words),
    (0x0035, Value::Texts),
    (0x0040, Value::Words),
    (0x0041, Value::Words),
    (0x0043, Value::Boolean),
    (0x0048, Value::Locator),
    (0x0049, Value::Words),
    (0x0050, Value::Guid),
    (0x0052, Value::Guid),
    (0x0053, Value::Words),
    (0x0055, Value::Anything),
    (0x0056, Value::Number),
    (0x0057, Value::Anything),
    (0x0058, Value::Words),
    (0x0059, Value::Properties),
    (0x005a, Value::Guid),
    (0x0060, Value::Words),
    (0x0061, Value::Anything),
    (0x0062, Value::Text),
    (0x0063, Value::Number),
    (0x0064, Value::Number),
    (0x0070, Value::Guid),
    (0x0071, Value::Words),
    (0x0072, Value::Anything),
    (0x0073, Value::Words),
    (0x0074, Value::Words),
    (0x0075, Value::Anything),
    (0x0077, Value::Words),
    (0x0083, Value::Anything),
    (0x4014, Value::Text),
    (0x8005, Value::Boolean),
];

/// The octet that names the byte order, and a list.
pub(super) fn ordered_list(random: &mut Random) -> Vec<u8> {
    let raw = Raw::either(random);
    let order = u8::from(raw.is_little());
    [vec![order], list(random, raw).done()].concat()
}

/// An announcement: encapsulation, what it must hold, and more.
pub(super) fn announcement(random: &mut Random, sort: Sort) -> Vec<u8> {
    let prefix = random.octets(12);
    about(random, sort, &prefix, 0)
}

/// An announcement by the participant `prefix` of its endpoint `number`.
pub(super) fn about(random: &mut Random, sort: Sort, prefix: &[u8], number: u8) -> Vec<u8> {
    let start = Raw::either(random);
    let head = [0, if start.is_little() { 3 } else { 2 }, 0, 0];
    let mut raw = start.clone();
    let (pid, entity) = match sort {
        Sort::Participant => (0x50, [0, 0, 1, 0xc1]),
        Sort::Writer => (0x5a, [0, 0, number, 2]),
        Sort::Reader => (0x5a, [0, 0, number, 7]),
    };
    if !random.once_in(20) {
        raw = raw.u16(pid).u16(16).bytes(prefix).bytes(&entity);
    }
    if sort == Sort::Participant {
        raw = raw.u16(0x15).u16(4).bytes(&[2, 5, 0, 0]);
        raw = raw.u16(0x58).u16(4).u32(0xc3f);
        for pid in [0x31_u16, 0x32] {
            raw = raw.u16(pid).u16(24).u32(1).u32(7410).bytes(&[0; 12]);
            raw = raw.bytes(&[10, 0, 0, prefix[11]]);
        }
    } else if !random.once_in(10) {
        let topic = *random.one_of(&["Square", "Circle", "Triangle", "Star", "Other"]);
        let topic = start.clone().string(topic).done();
        raw = raw.u16(5).u16(topic.len() as u16).bytes(&topic);
        let name = start.clone().string("ShapeType").done();
        raw = raw.u16(7).u16(name.len() as u16).bytes(&name);
    }
    let rest = list(random, start);
    [&head[..], &raw.done(), &rest.done()].concat()
}

/// A few parameters, mostly with a sentinel.
pub(super) fn list(random: &mut Random, start: Raw) -> Raw {
    let little = start.is_little();
    let empty = || if little { Raw::little() } else { Raw::big() };
    let mut raw = start;
    let count = if random.once_in(40) {
        300
    } else {
        random.below(8)
    };
    for _ in 0..count {
        let (mut pid, kind) = *random.one_of(KNOWN);
        if random.once_in(16) {
            pid = random.edge() as u16;
        }
        let value = value(random, kind, empty()).pad().done();
        let len = random.mostly(value.len() as u64) as u16;
        raw = raw.u16(pid).u16(len).bytes(&value);
    }
    match random.once_in(12) {
        true => raw,
        false => raw.u16(1).u16(random.edge() as u16),
    }
}

fn value(random: &mut Random, kind: Value, raw: Raw) -> Raw {
    match kind {
        Value::Text => text(random, raw),
        Value::Texts => {
            let count = random.below(5);
            let raw = raw.u32(random.mostly(count as u64) as u32);
            (0..count).fold(raw, |raw, _| text(random, raw).pad())
        }
        Value::Octets => {
            let len = random.below(20);
            let octets = random.octets(len);
            raw.u32(random.mostly(len as u64) as u32).bytes(&octets)
        }
        Value::Words => {
            let count = 1 + random.below(8);
            (0..count).fold(raw, |raw, _| raw.u32(random.edge() as u32))
        }
        Value::Boolean => raw.u8(random.mostly(1) as u8),
        Value::Duration => raw.u32(random.edge() as u32).u32(random.edge() as u32),
        Value::Locator => {
            let kind = *random.one_of(&[1, 1, 1, 2, 0, 0xffff_ffff, 16]);
            let raw = raw.u32(kind).u32(random.mostly(7411) as u32);
            let address = [10, 0, 0, random.below(6) as u8];
            let near = [[0; 12].as_slice(), &address].concat();
            let address = match random.below(4) {
                0 => random.octets(16),
                _ => near,
            };
            raw.bytes(&address)
        }
        Value::Guid => raw.bytes(&random.octets(16)),
        Value::Properties => {
            let sorts = 1 + random.below(2);
            (0..sorts).fold(raw, |raw, _| {
                let count = random.below(4);
                let raw = raw.pad().u32(random.mostly(count as u64) as u32);
                (0..2 * count).fold(raw, |raw, _| text(random, raw).pad())
            })
        }
        Value::Number => raw.number(random.edge() as i64),
        Value::Anything => {
            let len = random.below(40);
            raw.bytes(&random.octets(len))
        }
    }
}

fn text(random: &mut Random, raw: Raw) -> Raw {
    let len = random.below(12);
    let mut octets: Vec<u8> = (0..len).map(|_| b'a' + random.below(26) as u8).collect();
    if random.once_in(16) {
        octets = random.octets(len);
    }
    if !random.once_in(24) {
        octets.push(0);
    }
    raw.u32(random.mostly(octets.len() as u64) as u32)
        .bytes(&octets)
}
