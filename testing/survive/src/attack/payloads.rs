//! Class 5: serialized user data.

use std::collections::BTreeMap;

use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::RejectKind;
use whimbrel_derive::DdsType;
use whimbrel_fuzz_targets::raw::Raw;
use whimbrel_fuzz_targets::targets::xcdr::{Appendable, Final, Form, Plain, Tree};
use whimbrel_types::dynamic::value_from_payload;
use whimbrel_types::{
    DdsType, Representation, from_payload, key_from_payload, key_hash_from_payload, to_payload,
};

use super::case::{Attack, Case};

type Outcome = Result<(), String>;

/// Encapsulation identifiers in big endian; those in little endian follow them.
/// XTypes 1.3 §7.6.3.1.2.
mod encapsulation {
    pub(super) const CDR: u8 = 0;
    pub(super) const PL_CDR: u8 = 2;
    pub(super) const CDR2: u8 = 6;
    pub(super) const D_CDR2: u8 = 8;
    pub(super) const PL_CDR2: u8 = 10;
}

use encapsulation::{CDR, CDR2, D_CDR2, PL_CDR, PL_CDR2};

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("payloads/no-encapsulation", &[RejectKind::Key], |it| {
        for payload in [&[][..], &[0], &[0, 1], &[0, 1, 0]] {
            refused::<Plain>(it, payload, &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/unknown-encapsulations", &[], |it| {
        let s = it.scene;
        let body = Raw::little().bytes(&s.payload(1, &[1])[4..]).done();
        for id in [0x0004_u16, 0x0005, 0x000c, 0x00ff, 0x0100, 0x8001, 0xffff] {
            let payload = [&id.to_be_bytes()[..], &[0, 0], &body].concat();
            refused::<Plain>(it, &payload, &[RejectKind::Encapsulation])?;
        }
        Ok(())
    }),
    Case::new("payloads/parameter-lists-of-user-data", &[], |it| {
        for id in [PL_CDR, PL_CDR2] {
            let payload = opened(it, id).u32(1).bytes(&[0; 16]).done();
            refused::<Plain>(it, &payload, &[RejectKind::Encapsulation])?;
        }
        Ok(())
    }),
    Case::new(
        "payloads/compressed-by-a-vendor",
        &[RejectKind::Codec, RejectKind::Compression],
        |it| {
            for options in [0b100, 0b1000, 0b1_1100] {
                let mut payload = opened(it, CDR).bytes(&[0; 32]).done();
                payload[3] = options;
                refused::<Plain>(it, &payload, &[RejectKind::Encapsulation])?;
            }
            Ok(())
        },
    ),
    Case::new(
        "payloads/padding-bits-over-the-content",
        &[RejectKind::Key],
        |it| {
            for len in 0..4 {
                let mut payload = opened(it, CDR).bytes(&vec![1; len]).done();
                payload[3] = 3;
                refused::<Plain>(it, &payload, &[RejectKind::Truncated])?;
            }
            Ok(())
        },
    ),
    Case::new("payloads/padding-bits-that-cut-off", &[], |it| {
        // The last octets belong to the value.
        let mut payload = encoded(it, &example(), Representation::Xcdr1);
        payload[3] = 3;
        refused::<Plain>(it, &payload, &[RejectKind::Truncated])
    }),
    Case::new("payloads/string-lengths-at-max", &[], |it| {
        for len in [u32::MAX, u32::MAX - 3, 1 << 31, 1 << 16, 9] {
            let payload = opened(it, CDR).u32(len).bytes(b"RED\0").done();
            refused::<Plain>(it, &payload, &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/sequence-lengths-at-max", &[], |it| {
        for len in [u32::MAX, 1 << 31, 1 << 30, 0x4000_0001, 1000] {
            for id in [CDR, CDR2] {
                let payload = opened(it, id).string("RED").u32(7).u16(3).u8(1).u8(0);
                let payload = payload.u32(len).u32(1).bytes(&[0; 16]).done();
                refused::<Plain>(it, &payload, &[RejectKind::Truncated])?;
            }
        }
        Ok(())
    }),
    Case::new("payloads/lengths-of-empty-elements-at-max", &[], |it| {
        // Elements whose every member may be absent still take their own header.
        for len in [u32::MAX, 1 << 30, 1 << 24] {
            let payload = opened(it, D_CDR2).u32(8).u32(4).u32(len).done();
            refused::<Tree>(it, &payload, &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/dheader-shorter-than-content", &[], |it| {
        let whole = encoded(it, &Tree { children: vec![] }, Representation::Xcdr2);
        for len in [1, 2, 3] {
            let mut payload = whole.clone();
            payload[4..8].copy_from_slice(&it.raw().u32(len).done());
            refused::<Tree>(it, &payload, &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/dheader-longer-than-content", &[], |it| {
        let whole = encoded(it, &Tree { children: vec![] }, Representation::Xcdr2);
        for len in [13, 1000, 1 << 31, u32::MAX] {
            let mut payload = whole.clone();
            payload[4..8].copy_from_slice(&it.raw().u32(len).done());
            refused::<Tree>(it, &payload, &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/inner-dheader-past-the-outer", &[], |it| {
        for inner in [9, 100, u32::MAX] {
            let payload = opened(it, D_CDR2).u32(8).u32(inner).u32(0).bytes(&[0; 200]);
            refused::<Tree>(it, &payload.done(), &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/member-headers-of-others", &[], |it| {
        optional_header(it, 0x0099, 8, RejectKind::Parameter)
    }),
    Case::new("payloads/member-headers-longer-than-content", &[], |it| {
        for len in [0x1000, 0xfffc] {
            optional_header(it, 2, len, RejectKind::Truncated)?;
        }
        Ok(())
    }),
    Case::new("payloads/member-headers-shorter-than-content", &[], |it| {
        for len in [1, 2, 3] {
            optional_header(it, 2, len, RejectKind::Truncated)?;
        }
        Ok(())
    }),
    Case::new("payloads/extended-member-headers-too-short", &[], |it| {
        for len in [0, 4, 7] {
            optional_header(it, 0x3f01, len, RejectKind::Parameter)?;
        }
        Ok(())
    }),
    Case::new("payloads/optional-members-twice", &[], |it| {
        // The second stands where the next member begins.
        let (mut bytes, at) = rich(it);
        let twice = bytes[at..at + 16].to_vec();
        bytes.splice(at..at, twice);
        hostile::<Final>(it, &bytes)
    }),
    Case::new("payloads/strings-that-are-not-utf-8", &[], |it| {
        for text in [
            &[0xff, 0xfe, 0xfd, 0][..],
            &[0xc0, 0x80, b'a', 0],
            &[0xed, 0xa0, 0x80, 0],
        ] {
            let payload = opened(it, CDR).u32(4).bytes(text).bytes(&[0; 40]).done();
            refused::<Plain>(it, &payload, &[RejectKind::String])?;
        }
        Ok(())
    }),
    Case::new("payloads/strings-without-terminator", &[], |it| {
        let payload = opened(it, CDR).u32(4).bytes(b"abcd").bytes(&[0; 40]).done();
        refused::<Plain>(it, &payload, &[RejectKind::String])
    }),
    Case::new("payloads/strings-with-inner-nul", &[], |it| {
        let payload = opened(it, CDR)
            .u32(4)
            .bytes(b"a\0b\0")
            .bytes(&[0; 40])
            .done();
        refused::<Plain>(it, &payload, &[RejectKind::String])
    }),
    Case::new("payloads/booleans-that-are-neither", &[], |it| {
        for octet in [2, 0x80, 0xff] {
            let payload = opened(it, CDR).string("RED").u32(7).u16(3).u8(octet).u8(0);
            refused::<Plain>(
                it,
                &payload.bytes(&[0; 24]).done(),
                &[RejectKind::EnumValue],
            )?;
        }
        Ok(())
    }),
    Case::new("payloads/enumerations-out-of-range", &[], |it| {
        for value in [2, 0x7fff_ffff, u32::MAX, 1 << 31] {
            let payload = opened(it, CDR).u32(value).done();
            refused::<Shade>(it, &payload, &[RejectKind::EnumValue])?;
        }
        Ok(())
    }),
    Case::new("payloads/unions-without-case", &[], |it| {
        for value in [0, 4, 0x7fff_ffff, u32::MAX] {
            let payload = opened(it, CDR).u32(value).bytes(&[0; 64]).done();
            refused::<Form>(it, &payload, &[RejectKind::EnumValue])?;
        }
        Ok(())
    }),
    Case::new("payloads/data-nested-deeply", &[], |it| {
        for id in [CDR, D_CDR2] {
            let payload = nested(it, id, 16_000);
            refused::<Tree>(it, &payload, &[RejectKind::Depth])?;
        }
        Ok(())
    }),
    Case::new("payloads/data-nested-as-deep-as-allowed", &[], |it| {
        let mut tree = Tree { children: vec![] };
        for _ in 0..60 {
            tree = Tree {
                children: vec![tree],
            };
        }
        for representation in [Representation::Xcdr1, Representation::Xcdr2] {
            let payload = encoded(it, &tree, representation);
            let back = it.measure("decoding", || from_payload::<Tree>(&payload));
            if !matches!(back, Some(Ok(ref back)) if *back == tree) {
                return Err("what is nested 61 deep was refused".to_owned());
            }
        }
        Ok(())
    }),
    Case::new("payloads/data-nested-widely", &[], |it| {
        // Every child has none of its own: as many values as there are words.
        let payload = opened(it, CDR).u32(15_000).bytes(&[0; 60_000]).done();
        hostile::<Tree>(it, &payload)
    }),
    Case::new("payloads/alignment-at-the-end", &[], |it| {
        // The last number would begin behind the end.
        for len in 0..8 {
            let payload = opened(it, CDR)
                .string("RED")
                .u32(7)
                .u16(3)
                .u8(1)
                .u8(0)
                .u32(0);
            let payload = payload.bytes(&vec![0; len]).done();
            refused::<Plain>(it, &payload, &[RejectKind::Truncated])?;
        }
        Ok(())
    }),
    Case::new("payloads/maps-with-a-key-twice", &[], |it| {
        let value = Pairs {
            table: BTreeMap::from([("k".to_owned(), 1)]),
        };
        let mut payload = encoded(it, &value, Representation::Xcdr1);
        let entry = payload[8..].to_vec();
        payload.truncate(4);
        let payload = it
            .raw()
            .bytes(&payload)
            .u32(2)
            .bytes(&entry)
            .bytes(&entry)
            .done();
        hostile::<Pairs>(it, &payload)
    }),
    Case::new("payloads/cut-off-everywhere", &[RejectKind::Key], |it| {
        let (whole, _) = rich(it);
        for len in 0..whole.len() {
            hostile::<Final>(it, &whole[..len])?;
            hostile::<Appendable>(it, &whole[..len])?;
        }
        Ok(())
    })
    .virtual_only(),
    Case::new("payloads/extremes-everywhere", &[RejectKind::Limit], |it| {
        let (whole, _) = rich(it);
        for at in (4..whole.len().saturating_sub(4)).step_by(3) {
            for extreme in [[0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0x80, 0, 0, 0], [0; 4]] {
                let mut payload = whole.clone();
                payload[at..at + 4].copy_from_slice(&extreme);
                hostile::<Final>(it, &payload)?;
            }
        }
        Ok(())
    })
    .virtual_only(),
    Case::new("payloads/keys-that-are-none", &[RejectKind::Key], |it| {
        let s = it.scene;
        // A disposal whose key ends before it begins.
        let list = s.parameter(0x0071, Raw::big().u32(3));
        let list = [&list[..], &s.raw().u16(1).u16(0).done()].concat();
        let payloads = [&[][..], &[0, 1, 0, 0], &[0xff; 4]];
        for (number, payload) in (1..).zip(payloads) {
            let head = s.raw().u16(0).u16(16).bytes(&s.to_reader().done());
            let head = head.number(number).bytes(&list).bytes(payload);
            it.say(&[&s.submessage(super::compose::id::DATA, 2 | 8, head)]);
        }
        it.expect(&[])
    }),
    Case::new(
        "payloads/data-and-key-at-once",
        &[RejectKind::EnumValue],
        |it| {
            let s = it.scene;
            let head = s.raw().u16(0).u16(16).bytes(&s.to_reader().done());
            let head = head.number(1).bytes(&s.payload(1, &[1]));
            it.say(&[&s.submessage(super::compose::id::DATA, 4 | 8, head)]);
            it.expect(&[])
        },
    ),
    Case::new("payloads/true-ones-between", &[], |it| {
        let s = it.scene;
        let broken = opened(it, CDR).u8(3).pad().u32(u32::MAX).done();
        it.say(&[&s.data(1, &s.payload(1, &[1])), &s.data(2, &broken)]);
        it.say(&[&s.data(3, &s.payload(2, &[2])), &s.heartbeat(1, 3, 1)]);
        it.wait_ms(20);
        let found = it.take_at_least(2);
        let whole = |key: u8| found.iter().any(|it| it.key == key && it.bytes == [key]);
        match whole(1) && whole(2) {
            true => Ok(()),
            false => Err(format!("{found:?}")),
        }
    }),
];

/// A topic of nothing but an enumeration.
#[derive(DdsType, Clone, Copy, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types", final)]
struct Shade {
    shade: whimbrel_fuzz_targets::targets::xcdr::Shade,
}

/// A topic of nothing but a map.
#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(crate = "::whimbrel_types", final)]
struct Pairs {
    table: BTreeMap<String, i32>,
}

/// An encapsulation header in the byte order of the scene.
fn opened(it: &Attack<'_>, id: u8) -> Raw {
    let order = u8::from(it.scene.endian == Endian::Little);
    it.raw().bytes(&[0, id + order, 0, 0])
}

fn encoded<T: DdsType>(it: &Attack<'_>, value: &T, representation: Representation) -> Vec<u8> {
    let mut payload = Vec::new();
    // Every value here is short.
    let _ = to_payload(value, representation, it.scene.endian, &mut payload);
    payload
}

fn example() -> Plain {
    Plain::example()
}

/// A value with something in every member, in XCDR1, and where its optional member begins.
fn rich(it: &Attack<'_>) -> (Vec<u8>, usize) {
    let with = encoded(it, &Final::example(), Representation::Xcdr1);
    let without = Final {
        note: None,
        ..Final::example()
    };
    let without = encoded(it, &without, Representation::Xcdr1);
    // The first octets that differ are those of the length in the member's header.
    let differ = with.iter().zip(&without).position(|(a, b)| a != b);
    (with, differ.unwrap_or(4) & !3)
}

/// A value whose optional member has this header.
fn optional_header(it: &mut Attack<'_>, pid: u16, len: u16, kind: RejectKind) -> Outcome {
    let (mut payload, at) = rich(it);
    payload[at..at + 4].copy_from_slice(&it.raw().u16(pid).u16(len).done());
    refused::<Final>(it, &payload, &[kind])
}

/// Lists of one list each.
fn nested(it: &Attack<'_>, id: u8, depth: u32) -> Vec<u8> {
    let mut raw = opened(it, id);
    for level in (0..depth).rev() {
        raw = match id {
            CDR => raw.u32(1),
            // Length of the structure, of the list, and how many there are.
            _ => raw.u32(12 * level + 8).u32(12 * level + 4).u32(1),
        };
    }
    raw.done()
}

/// The payload must be refused for one of these reasons, and harm no reader that gets it.
fn refused<T: DdsType>(it: &mut Attack<'_>, payload: &[u8], kinds: &[RejectKind]) -> Outcome {
    let outcome = it.measure("decoding", || from_payload::<T>(payload).map(drop));
    match outcome {
        Some(Err(reject)) if kinds.contains(&reject.kind) => {}
        other => return Err(format!("{other:?} instead of {kinds:?}: {payload:02x?}")),
    }
    hostile::<T>(it, payload)
}

/// The payload may be refused or not; nothing that looks at it may be harmed.
fn hostile<T: DdsType>(it: &mut Attack<'_>, payload: &[u8]) -> Outcome {
    it.measure("decoding", || from_payload::<T>(payload).map(drop));
    it.measure("reading a key", || key_from_payload::<T>(payload).map(drop));
    for is_key in [false, true] {
        it.measure("hashing a key", || {
            key_hash_from_payload::<T>(payload, is_key).map(drop)
        });
    }
    it.measure("showing", || {
        value_from_payload(T::describe(), payload).map(drop)
    });
    let s = it.scene;
    let number = s.next_sample;
    it.scene.next_sample += 1;
    if payload.len() < 60_000 {
        it.say(&[
            &s.data(number, payload),
            &s.heartbeat(1, number, number as u32),
        ]);
    }
    it.take();
    Ok(())
}
