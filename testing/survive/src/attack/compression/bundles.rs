//! Messages that are compressed as a whole.

use whimbrel_base::cursor::Endian;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::RejectKind;
use whimbrel_compress::CodecKind;

use super::super::case::{Attack, Case, Scene};
use super::{BOMB_BYTES, CODECS, ours, packed, text};

/// The kind of their one submessage.
const PACKED: u8 = 0xc1;

/// A frame that ZSTD may skip. RFC 8878 §3.1.2.
const SKIPPABLE: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];

/// The cases.
pub(crate) const CASES: &[Case] = &[
    Case::new("bundles/true-ones", &[], |it| {
        for (at, (codec, id)) in CODECS.into_iter().enumerate() {
            let plain = two_samples(it);
            let packed = packed(codec, &plain);
            it.datagram(&bundle(&it.scene, id.0, plain.len() as u32, &packed));
            it.wait_ms(5);
            let found = it.take_at_least(2);
            if found.len() != 2 {
                return Err(format!("codec {at}: {} samples", found.len()));
            }
        }
        Ok(())
    }),
    Case::new("bundles/claims-at-max", &[RejectKind::Limit], |it| {
        for claims in [0, 65_488, 65_536, 1 << 31, u32::MAX] {
            bundle_with(it, CompressionIds::ZLIB.0, |_| claims);
        }
        it.expect(&[])
    }),
    Case::new("bundles/ratio-bombs", &[RejectKind::Compression], |it| {
        for (codec, id) in CODECS {
            let bomb = packed(codec, &[0; BOMB_BYTES]);
            for claims in [1, 1000, 65_487] {
                it.datagram(&bundle(&it.scene, id.0, claims, &bomb));
            }
        }
        it.expect(&[])
    }),
    Case::new(
        "bundles/lengths-that-do-not-fit",
        &[RejectKind::Compression],
        |it| {
            for (codec, id) in CODECS {
                for add in [-1, 1, 1000] {
                    let plain = two_samples(it);
                    let claims = (plain.len() as u32).wrapping_add_signed(add);
                    let packed = packed(codec, &plain);
                    it.datagram(&bundle(&it.scene, id.0, claims, &packed));
                }
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "bundles/cut-off-everywhere",
        &[
            RejectKind::Truncated,
            RejectKind::Length,
            RejectKind::Compression,
        ],
        |it| {
            for (codec, id) in CODECS {
                let plain = two_samples(it);
                let packed = packed(codec, &plain);
                let claims = plain.len() as u32;
                let whole = bundle(&it.scene, id.0, claims, &packed);
                for len in 21..whole.len() {
                    it.datagram(&whole[..len]);
                }
                for len in 0..packed.len() {
                    it.datagram(&bundle(&it.scene, id.0, claims, &packed[..len]));
                }
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "bundles/trailing-octets",
        &[RejectKind::Length, RejectKind::Compression],
        |it| {
            for (codec, id) in CODECS {
                let plain = two_samples(it);
                let packed = packed(codec, &plain);
                let s = it.scene;
                let of = |packed: &[u8]| bundle(&s, id.0, plain.len() as u32, packed);
                it.datagram(&[&of(&packed)[..], &[0; 8]].concat());
                for behind in [[0; 8], SKIPPABLE] {
                    it.datagram(&of(&[&packed[..], &behind].concat()));
                }
            }
            it.expect(&[])
        },
    ),
    Case::new("bundles/unknown-codecs", &[RejectKind::Codec], |it| {
        for codec in [0, 3, 1 << 3, 1 << 15, 1 << 20, 1 << 31, u32::MAX] {
            bundle_with(it, codec, |real| real);
        }
        it.expect(&[])
    }),
    Case::new("bundles/nested", &[RejectKind::Compression], |it| {
        let plain = two_samples(it);
        let inner = packed(CodecKind::Zlib, &plain);
        let s = it.scene;
        let inner = bundle(&s, CompressionIds::ZLIB.0, plain.len() as u32, &inner);
        let mut nested = inner[20..].to_vec();
        for _ in 0..3 {
            let packed = packed(CodecKind::Zlib, &nested);
            let outer = bundle(&s, CompressionIds::ZLIB.0, nested.len() as u32, &packed);
            it.datagram(&outer);
            nested = outer[20..].to_vec();
        }
        it.expect(&[])
    }),
    Case::new(
        "bundles/nested-behind-others",
        &[RejectKind::Compression],
        |it| {
            let plain = two_samples(it);
            let inner = packed(CodecKind::Zlib, &plain);
            let s = it.scene;
            let inner = bundle(&s, CompressionIds::ZLIB.0, plain.len() as u32, &inner);
            let front = [&plain[..16], &inner[20..]].concat();
            let packed = packed(CodecKind::Zlib, &front);
            let outer = bundle(&s, CompressionIds::ZLIB.0, front.len() as u32, &packed);
            it.datagram(&outer);
            it.datagram(&[&ours(&s)[..], &front].concat());
            it.expect(&[])
        },
    ),
    Case::new("bundles/of-other-vendors", &[], |it| {
        // To them the number may mean something else.
        let plain = two_samples(it);
        let packed = packed(CodecKind::Zlib, &plain);
        let s = it.scene;
        let mut message = bundle(&s, CompressionIds::ZLIB.0, plain.len() as u32, &packed);
        for vendor in [[1, 1], [1, 15], [1, 16], [0, 0]] {
            message[6..8].copy_from_slice(&vendor);
            it.datagram(&message);
        }
        it.expect(&[])
    }),
    Case::new(
        "bundles/samples-that-lie-inside",
        &[RejectKind::Truncated],
        |it| {
            let s = it.scene;
            let whole = s.data(1, &s.payload(1, &[1; 40]));
            let lies = s.message(&[&whole[..], &s.claiming(0x15, 4, 60, &[0; 4])].concat());
            let packed = packed(CodecKind::Zlib, &lies[20..]);
            let claims = lies.len() as u32 - 20;
            it.datagram(&bundle(&s, CompressionIds::ZLIB.0, claims, &packed));
            it.say(&[&s.heartbeat(1, 1, 1)]);
            // What came before the lie is taken.
            it.expect(&[(1, &[1; 40])])
        },
    ),
];

/// The submessages of a message with the next two samples of the attacker.
fn two_samples(it: &mut Attack<'_>) -> Vec<u8> {
    let s = it.scene;
    let number = s.next_sample;
    it.scene.next_sample += 2;
    let payload = |key| s.payload(key, &text(100));
    let both = [
        s.data(number, &payload(1)),
        s.data(number + 1, &payload(2)),
        s.heartbeat(1, number + 1, number as u32 + 1),
    ];
    s.message(&both.concat())[20..].to_vec()
}

/// A message that is compressed as a whole.
fn bundle(scene: &Scene, codec: u32, claims: u32, packed: &[u8]) -> Vec<u8> {
    let order = u8::from(scene.endian == Endian::Little);
    let follows = u16::try_from(packed.len() + 8).unwrap_or(0);
    let head = scene.raw().bytes(&ours(scene)).u8(PACKED).u8(order);
    let head = head.u16(follows).u32(codec).u32(claims);
    head.bytes(packed).done()
}

/// Fires a bundle that says something else than it is.
fn bundle_with(it: &mut Attack<'_>, codec: u32, claims: impl Fn(u32) -> u32) {
    let plain = two_samples(it);
    let packed = packed(CodecKind::Zlib, &plain);
    let claims = claims(plain.len() as u32);
    it.datagram(&bundle(&it.scene, codec, claims, &packed));
}
