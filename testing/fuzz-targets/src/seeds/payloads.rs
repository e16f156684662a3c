//! Serialized user data: encapsulation header, then XCDR1 or XCDR2 of a type the targets derive.

use whimbrel_types::{Endian, Representation, to_payload};

use super::seed::Seed;
use crate::raw::Raw;
use crate::targets::xcdr::{Appendable, Final};

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = rich();
    // Encapsulation identifiers of XTypes 1.3 §7.6.3.1.2: plain and delimited, both byte orders.
    for (name, id, raw) in [
        ("xcdr1-be", 0x0000, Raw::big()),
        ("xcdr1-le", 0x0001, Raw::little()),
        ("xcdr2-be", 0x0006, Raw::big()),
        ("xcdr2-le", 0x0007, Raw::little()),
        ("delimited-be", 0x0008, Raw::big()),
        ("delimited-le", 0x0009, Raw::little()),
        ("mutable-le", 0x000b, Raw::little()),
        ("unknown", 0x7fff, Raw::little()),
    ] {
        let head = [(id >> 8) as u8, id as u8, 0, 0];
        let plain = plain(&raw, id <= 1);
        for (what, body) in bodies(&raw, &plain) {
            let bytes = [head.to_vec(), body].concat();
            for target in ["xcdr_plain", "xcdr_final", "xcdr_appendable"] {
                all.push(Seed::new(target, format!("{what}-{name}"), bytes.clone()));
            }
        }
    }
    all
}

/// The example of `Plain`, by hand: XCDR1 aligns the last member to eight octets, XCDR2 to four.
fn plain(raw: &Raw, xcdr1: bool) -> Vec<u8> {
    let head = raw.clone().string("BLUE").u32(10).u16(30).u8(1).pad();
    let values = head.u32(3).u32(7).u32(8).u32(9);
    let values = if xcdr1 { values.u32(0) } else { values };
    values.u64(0x3ff0_0000_0000_0000).done()
}

/// Bodies that fit the plain type, or lie about lengths.
fn bodies(raw: &Raw, plain: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let raw = || raw.clone();
    let delimited = |len: usize| raw().u32(len as u32).bytes(plain).done();
    vec![
        ("plain", plain.to_vec()),
        ("delimited", delimited(plain.len())),
        ("delimiter-short", delimited(4)),
        ("delimiter-long", delimited(0x7fff_ffff)),
        ("delimiter-max", delimited(0xffff_ffff)),
        ("string-max", raw().u32(u32::MAX).u64(0).done()),
        (
            "string-not-utf8",
            raw().u32(3).bytes(b"\xff\xfe\0\0").u64(0).done(),
        ),
        (
            "sequence-max",
            raw()
                .string("BLUE")
                .u32(1)
                .u32(2)
                .u32(u32::MAX)
                .u64(0)
                .done(),
        ),
        (
            "nested-lengths",
            (0..64).fold(raw(), |raw, _| raw.u32(1)).done(),
        ),
        ("ones", vec![0xff; 64]),
        ("empty", Vec::new()),
    ]
}

/// Values with something in every member, encoded by the code under test.
fn rich() -> Vec<Seed> {
    let mut all = Vec::new();
    for (name, representation, endian) in [
        ("rich-xcdr1-be", Representation::Xcdr1, Endian::Big),
        ("rich-xcdr1-le", Representation::Xcdr1, Endian::Little),
        ("rich-xcdr2-be", Representation::Xcdr2, Endian::Big),
        ("rich-xcdr2-le", Representation::Xcdr2, Endian::Little),
    ] {
        let (mut fixed, mut growing) = (Vec::new(), Vec::new());
        to_payload(&Final::example(), representation, endian, &mut fixed)
            .expect("the example can be encoded");
        to_payload(&Appendable::example(), representation, endian, &mut growing)
            .expect("the example can be encoded");
        all.push(Seed::new("xcdr_final", name, fixed));
        all.push(Seed::new("xcdr_appendable", name, growing));
    }
    all
}
