//! What comes compressed to a whole participant: samples, batches and messages of every codec.

use whimbrel_base::qos::CompressionIds;
use whimbrel_compress::CodecKind;
use whimbrel_wire::compressed::Compressed;
use whimbrel_wire::packed_message::{HEAD_BYTES, PackedMessage};

use super::participants::{acknack, after_match_as, data, heartbeat, submessage, to_reader};
use super::seed::Seed;
use crate::codec::{CODECS, packed};
use crate::raw::Raw;
use crate::targets::participant::{action, flag, kind};

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = vec![samples(), batches(), own_batches()];
    all.extend(CODECS.map(|(kind, id)| messages(kind, id)));
    all
}

/// What a codec made of so many octets, by what it is said to be and to have been.
fn payload(kind: CodecKind, id: CompressionIds, plain: &[u8], claimed: u32) -> Vec<u8> {
    let mut bytes = vec![0; Compressed::head_bytes(id).unwrap_or(0)];
    bytes.extend(packed(kind, plain));
    Compressed::finish([0, 1], id, claimed, &mut bytes);
    bytes
}

/// Two of each codec that are whole, and some that are not what they say.
fn samples() -> Seed {
    let plain = [[7; 4], [8; 4]].concat().repeat(20);
    let mut messages = Vec::new();
    let mut number = 0;
    for (kind, id) in CODECS {
        let whole = payload(kind, id, &plain, plain.len() as u32);
        let cut = &whole[..whole.len() - 8];
        let bomb = payload(kind, id, &[0; 8000], 40);
        let claims = payload(kind, id, &plain, 1 << 30);
        for payload in [&whole, cut, &whole, &bomb[..], &claims[..]] {
            number += 1;
            messages.push(data(number, payload));
        }
        messages.push(heartbeat(1, number, number as u32));
    }
    after_match_as(flag::PACKS, "packed-samples", &messages)
}

/// A batch of each codec that is whole, and some that are not what they say.
fn batches() -> Seed {
    let plain = [9; 12];
    let batch = |number: i64, payload: &[u8]| {
        let head = Raw::little().u16(0).u16(32).bytes(&to_reader().done());
        let head = head.number(number).number(3 * number - 2).u32(2).u32(3);
        let list = (0..3).fold(head.u32(24), |raw, _| raw.u32(0x0004_0800).u32(4));
        submessage(0x18, 0, list.bytes(payload))
    };
    let beat = |last: i64| {
        let body = to_reader().number(1).number(last).number(1);
        submessage(0x19, 0, body.number(3 * last).u32(last as u32))
    };
    let mut messages = Vec::new();
    let mut number = 0;
    for (kind, id) in CODECS {
        for (plain, claimed) in [(&plain[..], 12), (&plain, 13), (&[0; 8000], 12)] {
            number += 1;
            messages.push(batch(number, &payload(kind, id, plain, claimed)));
        }
        messages.push(beat(number));
    }
    after_match_as(flag::BATCHES | flag::PACKS, "packed-batches", &messages)
}

/// Our writer is one of batches, asked for batches that there are and are not.
fn own_batches() -> Seed {
    let mut bytes = action(kind::ENDPOINT, 8, &[]);
    let flags = flag::BATCHES | flag::PACKS;
    let rest = after_match_as(
        flags,
        "own-batches",
        &[
            acknack(1, 3, &[7 << 29], 1),
            acknack(2, 256, &[u32::MAX; 8], 2),
            acknack(1000, 0, &[], 3),
            acknack(0, 1, &[1 << 31], 4),
            acknack(i64::MAX, 1, &[1 << 31], 5),
        ],
    );
    bytes.extend(&rest.bytes);
    Seed { bytes, ..rest }
}

/// Messages of participant 2 that one codec made smaller: two samples, the same again damaged, a
/// bomb, and one within another.
fn messages(codec: CodecKind, id: CompressionIds) -> Seed {
    let header = b"RTPS\x02\x05\x01\x77\x01\x10\x02\x02\0\0\0\0\0\0\0\x02";
    let of = |plain: &[u8], claimed: usize, spoil: usize| {
        let mut bytes = vec![0; HEAD_BYTES];
        bytes.extend(packed(codec, plain));
        let at = HEAD_BYTES + (bytes.len() - HEAD_BYTES) / 2;
        bytes[at] ^= spoil as u8;
        PackedMessage::finish(header, id, claimed as u32, &mut bytes);
        bytes
    };
    let sample = |number, key| data(number, &[0, 1, 0, 0, key, 0, 0, 0, 5, 5, 5, 5]);
    let plain = [sample(1, 1), sample(2, 2), heartbeat(1, 2, 1)].concat();
    let inner = of(&plain, plain.len(), 0)[20..].to_vec();
    let damaged = [sample(3, 1), sample(4, 2), heartbeat(1, 4, 2)].concat();
    let mut bytes = after_match_as(flag::PACKS, "", &[]).bytes;
    for datagram in [
        of(&plain, plain.len(), 0),
        of(&damaged, damaged.len(), 0x55),
        of(&damaged, damaged.len() - 1, 0),
        of(&[0; 8000], 1000, 0),
        of(&[0; 8000], 8000, 0),
        of(&inner, inner.len(), 0),
    ] {
        bytes.extend(action(kind::DATAGRAM, 0, &datagram));
    }
    bytes.extend(action(kind::TAKE, 0, &[]));
    Seed::new("participant", format!("packed-messages-{codec}"), bytes)
}
