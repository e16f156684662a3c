//! Compressed data: whole, cut, damaged, and claims that are not true.

use whimbrel_wire::compressed::Compressed;

use super::seed::Seed;
use crate::codec::{CODECS, packed};

/// What most seeds stand for; below it by other implementations.
const TEXT: &[u8] = b"to be or not to be, to be or not to be";
const ZLIB: &[u8] = &[
    0x78, 0xda, 0x2b, 0xc9, 0x57, 0x48, 0x4a, 0x55, 0xc8, 0x2f, 0x52, 0xc8, 0xcb, 0x2f, 0x51, 0x28,
    0x01, 0x71, 0x74, 0x20, 0x14, 0x8a, 0x18, 0x00, 0xf6, 0x0e, 0x0c, 0x99,
];
const BZIP2: &[u8] = &[
    0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x59, 0x7c, 0x03, 0x66, 0x00, 0x00,
    0x11, 0x11, 0x80, 0x40, 0x04, 0x12, 0x01, 0x94, 0x00, 0x20, 0x00, 0x20, 0xaa, 0x9a, 0x69, 0xe8,
    0x84, 0x30, 0x22, 0x18, 0x8f, 0x6b, 0xb0, 0xc2, 0x96, 0x53, 0x5a, 0x4b, 0xe7, 0xc5, 0xdc, 0x91,
    0x4e, 0x14, 0x24, 0x16, 0x5f, 0x00, 0xd9, 0x80,
];

/// "to be or not to be, " and 18 octets again from 20 back, the last five plain, in LZ4.
const LZ4: &[u8] = b"\xf9\x05to be or not to be, \x14\x00\x50to be";

/// As octets and one match.
const LZ: &[u8] = b"\x00to be or\x00 not to \x10be, \x14\x00\x0e";

/// A million zeros.
const BOMB: &[u8] = &[
    0x78, 0xda, 0xed, 0xc1, 0x01, 0x01, 0x00, 0x00, 0x00, 0x82, 0x20, 0xff, 0xaf, 0x6e, 0x48, 0x40,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
];

const NAMES: [&str; 7] = ["zlib", "bzip2", "lz4", "zstd", "lzo", "huffman", "lz"];

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    let mut add = |name: String, kind: usize, claimed: usize, packed: &[u8]| {
        let [low, middle, high, ..] = claimed.to_le_bytes();
        let head = vec![kind as u8, low, middle, high];
        all.push(Seed::new("codecs", name, [&head, packed].concat()));
    };
    let made = CODECS.map(|(kind, _)| packed(kind, TEXT));
    let of_others = [(0, ZLIB), (1, BZIP2), (2, LZ4), (6, LZ)];
    let own = [3, 4].map(|kind| (kind, &*made[kind]));
    for (kind, packed) in of_others.into_iter().chain(own) {
        let name = NAMES[kind];
        let half = packed.len() / 2;
        let mut damaged = packed.to_vec();
        damaged[half] ^= 0x55;
        let trailing = [packed, &[0, 1, 2]].concat();
        add(name.into(), kind, TEXT.len(), packed);
        add(format!("{name}-cut"), kind, TEXT.len(), &packed[..half]);
        add(format!("{name}-damaged"), kind, TEXT.len(), &damaged);
        add(format!("{name}-trailing"), kind, TEXT.len(), &trailing);
        add(format!("{name}-short-claim"), kind, 3, packed);
        add(format!("{name}-long-claim"), kind, 0xf_ffff, packed);
    }
    for (kind, name) in NAMES.into_iter().enumerate() {
        add(format!("{name}-nothing"), kind, 0, &[]);
        add(format!("{name}-zeros"), kind, 100, &[0; 40]);
        add(format!("{name}-ones"), kind, 5000, &[255; 40]);
    }
    // One octet, one bit each, and a table that says less than its codes need.
    add("huffman".into(), 5, 4, b"aa\x01\x10");
    add("huffman-incomplete".into(), 5, 4, b"ac\x22\x02\x1b");
    add("huffman-too-many".into(), 5, 4, b"ac\x11\x01\x1b");
    // A match before the start, one without end, and one that repeats itself.
    add("lz-before".into(), 6, 9, b"\x02a\x02\x00\x04");
    add("lz-self".into(), 6, 9, b"\x02a\x01\x00\x04");
    add(
        "lz-endless".into(),
        6,
        9,
        &[&b"\x02a\x01\x00"[..], &[255; 60]].concat(),
    );
    add("zlib-bomb".into(), 0, 1_000_000, &BOMB[..200]);
    add("lzo-literals".into(), 4, 5, b"\x16hello\x11\x00\x00");
    all.extend(payloads());
    all.extend(messages());
    all
}

/// Payloads with what stands before compressed data.
fn payloads() -> Vec<Seed> {
    let seed = |(name, bytes): (&str, &[u8])| Seed::new("compressed", name, bytes.to_vec());
    let frames: [(&str, &[u8]); 13] = [
        ("plain", b"\x00\x01\x00\x03body\x00"),
        (
            "zlib",
            b"\x00\x01\x00\x06\x00\x00\x00\xd0\x78\xda\x03\x04\x05\x06\x00\x00",
        ),
        ("bzip2", b"\x00\x01\x00\x08\x00\x00\x00\x09BZh9"),
        ("lz4", b"\x00\x07\x00\x11\x00\x00\x00\x09\x5f\xc9\x00\x00"),
        (
            "zstd",
            b"\x00\x01\x00\x1c\x00\x00\x00\x09\x01\x77\x00\x01data",
        ),
        (
            "lzo",
            b"\x00\x01\x00\x1c\x00\x00\x00\x09\x01\x77\x00\x02data",
        ),
        (
            "stranger",
            b"\x00\x01\x00\x1c\x00\x00\x00\x09\x01\x01\x00\x01data",
        ),
        ("class-three", b"\x00\x01\x00\x0c\x00\x00\x00\x09data"),
        ("no-length", b"\x00\x01\x00\x04\x00\x00"),
        ("no-codec", b"\x00\x01\x00\x1c\x00\x00\x00\x09\x01"),
        ("all-padding", b"\x00\x01\x00\x07\x00\x00\x00\x09\x00\x00"),
        (
            "claims-all",
            b"\x00\x01\x00\x04\xff\xff\xff\xff\x78\xda\x03\x04",
        ),
        (
            "options-all",
            b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ),
    ];
    frames
        .into_iter()
        .map(seed)
        .chain(whole_payloads())
        .collect()
}

/// Payloads of every codec: whole, cut, damaged, and with claims that are not true.
fn whole_payloads() -> Vec<Seed> {
    let mut all = Vec::new();
    for (kind, id) in CODECS {
        let mut add = |what: &str, claimed: usize, block: &[u8]| {
            let mut bytes = vec![0; Compressed::head_bytes(id).unwrap_or(0)];
            bytes.extend_from_slice(block);
            Compressed::finish([0, 1], id, claimed as u32, &mut bytes);
            all.push(Seed::new(
                "compressed",
                format!("whole-{kind}{what}"),
                bytes,
            ));
        };
        let block = packed(kind, TEXT);
        let mut damaged = block.clone();
        damaged[block.len() / 2] ^= 0x55;
        add("", TEXT.len(), &block);
        add("-zeros", 5000, &packed(kind, &[0; 5000]));
        add("-cut", TEXT.len(), &block[..block.len() / 2]);
        add("-damaged", TEXT.len(), &damaged);
        add("-trailing", TEXT.len(), &[&block[..], &[0; 8]].concat());
        add("-short-claim", 3, &block);
        add("-long-claim", 1 << 20, &block);
        add("-claims-all", 0xffff_ffff, &block);
    }
    all
}

/// Messages that are compressed as a whole: what they claim, and what inflates.
fn messages() -> Vec<Seed> {
    let mut plain = Vec::new();
    for number in 0..4u8 {
        // INFO_TS, and DATA without payload.
        plain.extend(b"\x09\x01\x08\x00timetime\x15\x01\x14\x00\x00\x00\x10\x00");
        plain.extend(b"\x00\x00\x00\x00\x00\x00\x01\x03\x00\x00\x00\x00");
        plain.extend([number + 1, 0, 0, 0]);
    }
    let nested = [&b"\xc1\x01\x08\x00"[..], &plain].concat();
    let mut all = Vec::new();
    let mut add = |name: &str, codec: u32, claimed: usize, packed: &[u8]| {
        let mut bytes = b"RTPS\x02\x05\x01\x77prefixprefix\xc1\x01".to_vec();
        bytes.extend((packed.len() as u16 + 8).to_le_bytes());
        bytes.extend(codec.to_le_bytes());
        bytes.extend((claimed as u32).to_le_bytes());
        bytes.extend(packed);
        all.push(Seed::new("packed_message", name, bytes));
    };
    for (kind, id) in CODECS {
        let name = kind.name();
        let block = packed(kind, &plain);
        let mut damaged = block.clone();
        damaged[block.len() / 2] ^= 0x55;
        let trailing = [&block[..], &[0, 1, 2]].concat();
        let half = &block[..block.len() / 2];
        add(name, id.0, plain.len(), &block);
        let mut spoilt = |what: &str, claimed, block: &[u8]| {
            add(&format!("{name}-{what}"), id.0, claimed, block);
        };
        spoilt("nested", nested.len(), &packed(kind, &nested));
        spoilt("short", plain.len() - 1, &block);
        spoilt("bomb", 65_487, &block);
        spoilt("too-much", 65_488, &block);
        spoilt("cut", plain.len(), half);
        spoilt("damaged", plain.len(), &damaged);
        spoilt("trailing", plain.len(), &trailing);
    }
    add("no-codec", 0, 9, b"packed");
    add("two-codecs", 3, 9, b"packed");
    add("unknown-codec", 1 << 30, 9, b"packed");
    add("nothing", 4, 0, b"");
    all
}
