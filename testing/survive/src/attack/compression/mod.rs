//! Class 11: what comes compressed, and what comes many at once.

pub(super) mod batches;
pub(super) mod bundles;

use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::RejectKind;
use whimbrel_compress::CodecKind;
use whimbrel_fuzz_targets::codec::{CODECS, packed};
use whimbrel_fuzz_targets::raw::Raw;
use whimbrel_wire::compressed::Compressed;

use super::case::{Attack, Case, Scene};

/// Octets of zeros that any codec packs into a datagram.
const BOMB_BYTES: usize = 400_000;

/// Samples.
pub(super) const CASES: &[Case] = &[
    Case::new("compression/true-samples-of-every-codec", &[], |it| {
        for (codec, id) in CODECS {
            let payload = it.scene.payload(1, &text(600));
            let block = Block::of(codec, id, &payload);
            send(it, &block.payload());
            it.expect(&[(1, &text(600))])?;
        }
        Ok(())
    }),
    Case::new("compression/claims-at-max", &[RejectKind::Limit], |it| {
        for claims in [u32::MAX, u32::MAX - 4, 1 << 31] {
            spoilt(it, |block| block.claims = claims);
        }
        Ok(())
    }),
    Case::new(
        "compression/claims-that-no-such-octets-make",
        &[RejectKind::Limit],
        |it| {
            // What the reader would take, but the codec cannot have said in so few octets.
            for (codec, id) in CODECS {
                let packed_bytes = match codec {
                    // One block may be of more than that.
                    CodecKind::Bzip2 => 14,
                    CodecKind::Zstd => 0,
                    _ => 7,
                };
                let block = Block {
                    representation: [0, 1],
                    codec: id,
                    claims: 8000,
                    packed: vec![0x55; packed_bytes],
                };
                send(it, &block.payload());
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "compression/ratio-bombs",
        &[RejectKind::Compression, RejectKind::Limit],
        |it| {
            // Far more than what is announced; and announced, far more than the octets can make.
            for (codec, id) in CODECS {
                let mut block = Block::of(codec, id, &zeros());
                for claims in [1, 100, 5000] {
                    block.claims = claims;
                    send(it, &block.payload());
                }
                block.claims = 1 << 30;
                send(it, &block.payload());
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "compression/lengths-that-do-not-fit",
        &[RejectKind::Compression, RejectKind::Limit],
        |it| {
            let whole = it.scene.payload(1, &text(600)).len() as u32 - 4;
            for claims in [0, 1, whole - 1, whole + 1, 2 * whole, 8000] {
                spoilt(it, |block| block.claims = claims);
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "compression/cut-off-everywhere",
        &[
            RejectKind::Compression,
            RejectKind::Length,
            RejectKind::Limit,
            RejectKind::Truncated,
        ],
        |it| {
            let payload = it.scene.payload(1, &text(600));
            for (codec, id) in CODECS {
                let whole = Block::of(codec, id, &payload).payload();
                for len in 4..whole.len() - 4 {
                    send(it, &whole[..len]);
                }
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "compression/padding-over-the-content",
        &[RejectKind::Length],
        |it| {
            // Three octets of padding, of which there is not one.
            for class in [1, 2, 4] {
                let options = (class << 2) | 3;
                send(it, &[0, 1, 0, options, 0, 0, 0, 9]);
            }
            it.expect(&[])
        },
    ),
    Case::new(
        "compression/trailing-octets",
        &[RejectKind::Compression],
        |it| {
            for more in [4, 100, 1000] {
                spoilt(it, |block| block.packed.extend(vec![0x55; more]));
            }
            it.expect(&[])
        },
    ),
    Case::new("compression/unknown-codecs", &[RejectKind::Codec], |it| {
        for class in [3, 5, 6] {
            send(it, &[0, 1, 0, class << 2, 0, 0, 0, 9, 1, 2, 3, 4]);
        }
        for number in [0, 1, 0x0101_0001, 0x0177_0000, 0x0177_0005, u32::MAX] {
            let head = Raw::big().bytes(&[0, 1, 0, 7 << 2]).u32(9).u32(number);
            send(it, &head.bytes(&[1, 2, 3, 4]).done());
        }
        it.expect(&[])
    }),
    Case::new(
        "compression/another-codec-than-said",
        &[RejectKind::Compression, RejectKind::Limit],
        |it| {
            let payload = it.scene.payload(1, &text(600));
            for (codec, id) in CODECS {
                for (_, other) in CODECS.into_iter().filter(|(_, other)| *other != id) {
                    let mut block = Block::of(codec, id, &payload);
                    block.codec = other;
                    // Whatever it is taken for, it is not this sample.
                    send(it, &block.payload());
                }
            }
            it.take();
            Ok(())
        },
    ),
    Case::new("compression/noise", &[RejectKind::Compression], |it| {
        for seed in 0..20 {
            spoilt(it, |block| {
                let noise = noise(seed).take(block.packed.len());
                block.packed = noise.collect();
            });
        }
        it.expect(&[])
    }),
];

/// What compresses well.
fn text(len: usize) -> Vec<u8> {
    let words = b"all of it was said before, ".iter().copied().cycle();
    words.take(len).collect()
}

/// What no codec made.
fn noise(seed: u32) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
}

/// A payload that any codec makes very small.
fn zeros() -> Vec<u8> {
    let mut payload = vec![0; BOMB_BYTES + 4];
    payload[1] = 1;
    payload
}

/// A compressed payload in its parts.
#[derive(Clone)]
struct Block {
    representation: [u8; 2],
    codec: CompressionIds,
    claims: u32,
    packed: Vec<u8>,
}

impl Block {
    fn of(codec: CodecKind, id: CompressionIds, payload: &[u8]) -> Self {
        Self {
            representation: [payload[0], payload[1]],
            codec: id,
            claims: payload.len() as u32 - 4,
            packed: packed(codec, &payload[4..]),
        }
    }

    fn payload(&self) -> Vec<u8> {
        let mut out = vec![0; Compressed::head_bytes(self.codec).unwrap_or(8)];
        out.extend_from_slice(&self.packed);
        Compressed::finish(self.representation, self.codec, self.claims, &mut out);
        out
    }
}

/// The next sample of the attacker, announced.
fn send(it: &mut Attack<'_>, payload: &[u8]) {
    let s = it.scene;
    let number = s.next_sample;
    it.scene.next_sample += 1;
    it.say(&[
        &s.data(number, payload),
        &s.heartbeat(1, number, number as u32),
    ]);
}

/// A sample of each codec, which `spoil` makes another.
fn spoilt(it: &mut Attack<'_>, spoil: impl Fn(&mut Block)) {
    let payload = it.scene.payload(1, &text(600));
    for (codec, id) in CODECS {
        let mut block = Block::of(codec, id, &payload);
        spoil(&mut block);
        send(it, &block.payload());
    }
}

/// A header of the attacker, whose implementation is ours.
fn ours(scene: &Scene) -> Vec<u8> {
    let mut header = scene.header();
    header[6..8].copy_from_slice(&[0x01, 0x77]);
    header
}

/// As [`Scene::message`], of our own implementation.
fn with_ours(scene: &Scene, submessages: &[u8]) -> Vec<u8> {
    [&ours(scene)[..], &scene.message(submessages)[20..]].concat()
}
