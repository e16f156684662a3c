//! Parameter lists by themselves: the first octet is 1 for little endian, the list follows.

use super::seed::Seed;
use crate::raw::Raw;

/// A parameter that states its true length. RTPS 2.5 §9.4.2.11.
pub(super) fn parameter(raw: Raw, id: u16, value: &[u8]) -> Raw {
    let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
    raw.u16(id).u16(len).bytes(value)
}

/// The sentinel that ends a list.
pub(super) fn sentinel(raw: Raw) -> Raw {
    raw.u16(1).u16(0)
}

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for (order, start) in [("le", Raw::little()), ("be", Raw::big())] {
        for (name, raw) in structures(&start).into_iter().chain(strings(&start)) {
            let name = format!("{name}-{order}");
            let bytes = [vec![u8::from(raw.is_little())], raw.done()].concat();
            all.push(Seed::new("parameter_list", name.clone(), bytes.clone()));
            all.push(Seed::new("inline_qos", name, bytes));
        }
    }
    all
}

type Named = Vec<(&'static str, Raw)>;

fn structures(start: &Raw) -> Named {
    let start = || start.clone();
    let one = |id, value: &[u8]| sentinel(parameter(start(), id, value));
    let two = |a, first: &[u8], b, second: &[u8]| {
        sentinel(parameter(parameter(start(), a, first), b, second))
    };
    let many = (0..2000).fold(start(), |raw, _| raw.u16(0x8001).u16(0));
    vec![
        ("empty", sentinel(start())),
        ("key-and-status", two(0x70, &[7; 16], 0x71, &[0, 0, 0, 3])),
        ("twice", two(0x71, &[0, 0, 0, 1], 0x71, &[0, 0, 0, 2])),
        ("no-sentinel", parameter(start(), 0x70, &[7; 16])),
        ("sentinel-with-length", start().u16(1).u16(0xffff)),
        ("length-odd", sentinel(start().u16(5).u16(3).bytes(&[9; 3]))),
        ("length-past-end", sentinel(start().u16(5).u16(0xfffc))),
        ("pad", one(0, &[9; 8])),
        ("must-understand", one(0x4abc, &[0; 4])),
        ("vendor-must-understand", one(0xc001, &[0; 4])),
        ("many", sentinel(many)),
    ]
}

fn strings(start: &Raw) -> Named {
    let string = |len: u32, text: &[u8]| {
        let value = start.clone().u32(len).bytes(text).pad().done();
        sentinel(parameter(start.clone(), 5, &value))
    };
    vec![
        ("string", string(4, b"abc\0")),
        ("string-no-nul", string(3, b"abc")),
        ("string-inner-nul", string(4, b"a\0c\0")),
        ("string-length-zero", string(0, b"")),
        ("string-length-max", string(u32::MAX, b"abc\0")),
        ("string-not-utf8", string(3, b"\xff\xfe\0")),
    ]
}
