//! Codecs without a bus: what they cost and save on a payload, in blocks and in batches of lines.

use std::time::Instant;

use whimbrel::qos::CompressionIds;
use whimbrel_compress::{Codec, CodecKind, Level};
use whimbrel_payload::{LogLines, Payload, SEED, entropy_bits};

use super::setting::{Extent, Setting};
use crate::bytes::bytes_on_the_wire;
use crate::failure::Failure;
use crate::report::model::{CodecFigure, SavingFigure, Section};
use crate::stop;

/// Level of the published latencies.
const LEVEL: Level = Level::new(5);
/// Octets per microsecond of a wire of 1 Gbit/s, by 950 Mbit/s of payload.
const WIRE_BYTES_PER_US: f64 = 950.0 / 8.0;
/// Octets around what a codec made: encapsulation options and the length.
const FRAME_BYTES: usize = 8;
/// Lines that travel, for what is on the wire.
const WIRE_LINES: usize = 3000;
/// How long each figure is measured, in seconds.
const TIME_S: f64 = 0.02;

/// The published savings of batches of 1, 2, 5 and 10 samples.
const PUBLISHED: [(usize, f64); 4] = [(1, 23.87), (2, 46.57), (5, 68.12), (10, 75.42)];

/// The payload `name` in a sentence.
///
/// # Errors
/// There is no such payload, or its file cannot be read.
pub(crate) fn describe(name: &str) -> Result<String, Failure> {
    let octets = block(name, 1 << 16)?;
    let bits = entropy_bits(&octets);
    Ok(format!(
        "payload: {name}, seed {SEED}, entropy {bits:.2} bits for each octet"
    ))
}

fn block(name: &str, size: usize) -> Result<Vec<u8>, Failure> {
    let payload: Payload = name.parse().map_err(|it| Failure::Setup(format!("{it}")))?;
    payload
        .octets(SEED, size)
        .map_err(|error| Failure::Setup(error.to_string()))
}

/// Blocks of growing size, compressed and decompressed.
pub(super) fn blocks(setting: &Setting, section: &mut Section) -> Result<(), Failure> {
    section.notes.push(describe(&setting.payload)?);
    section.notes.push(
        "level 5, in this process and on one core; the wire is arithmetic: 950 Mbit/s of payload"
            .into(),
    );
    let sizes = setting.sizes(
        &[1024],
        &[1024, 8192, 63_000, 1_048_576],
        &[
            32, 64, 128, 256, 512, 1024, 8192, 63_000, 100_000, 500_000, 1_048_576, 4_194_304,
            10_485_760,
        ],
    );
    for size in sizes {
        let plain = block(&setting.payload, size)?;
        let wire_us = size as f64 / WIRE_BYTES_PER_US;
        let base = CodecFigure {
            codec: "plain".into(),
            size,
            entropy_bits: entropy_bits(&plain),
            ratio: 1.0,
            compress_us: 0.0,
            decompress_us: 0.0,
            wire_us,
            total_us: wire_us,
        };
        section.codecs.push(base.clone());
        for kind in [CodecKind::Lz4, CodecKind::Zlib, CodecKind::Bzip2] {
            stop::check()?;
            section.codecs.extend(one(kind, &plain, &base));
        }
    }
    Ok(())
}

/// The figures of one codec and block; none where it is not built in.
fn one(kind: CodecKind, plain: &[u8], base: &CodecFigure) -> Option<CodecFigure> {
    let (packed, compress_us, decompress_us) = timed(kind, plain)?;
    let sent = (packed + FRAME_BYTES) as f64;
    Some(CodecFigure {
        codec: kind.name().into(),
        ratio: plain.len() as f64 / sent,
        compress_us,
        decompress_us,
        total_us: compress_us + sent / WIRE_BYTES_PER_US + decompress_us,
        ..base.clone()
    })
}

/// What `kind` makes of `plain`: octets, and microseconds there and back.
fn timed(kind: CodecKind, plain: &[u8]) -> Option<(usize, f64, f64)> {
    let mut codec = kind.codec(LEVEL)?;
    let mut out = vec![0; plain.len() * 2 + 4096];
    let mut packed = 0;
    let compress_us = mean_us(|| {
        packed = codec.compress(plain, &mut out).unwrap_or(0);
    });
    let mut back = vec![0; plain.len()];
    let mut whole = true;
    let decompress_us = mean_us(|| {
        whole &= codec.decompress(&out[..packed], &mut back).is_ok();
    });
    if !whole || back != plain {
        return None;
    }
    Some((packed, compress_us, decompress_us))
}

fn mean_us(mut work: impl FnMut()) -> f64 {
    work();
    let begun = Instant::now();
    let mut times = 0;
    while times == 0 || (begun.elapsed().as_secs_f64() < TIME_S && times < 10_000) {
        work();
        times += 1;
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

/// Lines of a log, one by one and in batches, by ZLIB at its best level.
pub(super) fn savings(setting: &Setting, section: &mut Section) -> Result<(), Failure> {
    let count = if setting.extent == Extent::Miniature {
        1000
    } else {
        20_000
    };
    section.notes.push(describe("log")?);
    let lines: Vec<String> = LogLines::new(SEED).take(count).collect();
    let samples: Vec<Vec<u8>> = lines.iter().map(|it| encoded(it.as_bytes())).collect();
    section.notes.push(format!(
        "{count} lines of the seeded log as strings in CDR, ZLIB level 10, payload only: no RTPS, \
         UDP or IP around it; a batch that would not get smaller stays plain"
    ));
    let travelling = count.min(WIRE_LINES);
    section.notes.push(format!(
        "on the wire: {travelling} of them as samples of the bus between two participants, \
         DATA_BATCH of so many, ZLIB level 10 of each batch: RTPS, UDP, IP and Ethernet headers, \
         heartbeats and acknowledgments counted, on both sides of the comparison"
    ));
    let mut codec = CodecKind::Zlib
        .codec(Level::BEST)
        .ok_or_else(|| Failure::Setup("ZLIB is not built in".into()))?;
    for (batch, published_percent) in PUBLISHED {
        stop::check()?;
        let (plain, packed) = packed_bytes(codec.as_mut(), &samples, batch);
        let wire = |codec| {
            let bytes = bytes_on_the_wire(&lines[..travelling], batch, codec);
            bytes.map_err(|error| Failure::Broke(error.to_string()))
        };
        let (wire_plain, wire_packed) = (wire(None)?, wire(Some(CompressionIds::ZLIB))?);
        section.savings.push(SavingFigure {
            payload: format!("log, seed {SEED}"),
            batch,
            plain_bytes: plain,
            packed_bytes: packed,
            saved_percent: saved_percent(plain, packed),
            published_percent,
            wire_bytes: [wire_plain, wire_packed],
            wire_saved_percent: saved_percent(wire_plain, wire_packed),
        });
    }
    Ok(())
}

fn saved_percent(before: u64, after: u64) -> f64 {
    before.saturating_sub(after) as f64 * 100.0 / before.max(1) as f64
}

/// A string in CDR: its length, its octets, zero, padding.
fn encoded(line: &[u8]) -> Vec<u8> {
    let mut bytes = (line.len() as u32 + 1).to_le_bytes().to_vec();
    bytes.extend_from_slice(line);
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Octets of all samples, and of all batches as they would be sent.
fn packed_bytes(codec: &mut dyn Codec, samples: &[Vec<u8>], batch: usize) -> (u64, u64) {
    let (mut plain, mut packed) = (0, 0);
    for group in samples.chunks(batch) {
        let whole = group.concat();
        let mut out = vec![0; whole.len()];
        let smaller = codec.compress(&whole, &mut out).map(|it| it + FRAME_BYTES);
        plain += whole.len() as u64;
        packed += smaller.unwrap_or(whole.len()).min(whole.len()) as u64;
    }
    (plain, packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_save_more_and_never_less_than_nothing() {
        let samples: Vec<Vec<u8>> = LogLines::new(SEED)
            .take(500)
            .map(|it| encoded(it.as_bytes()))
            .collect();
        let mut codec = CodecKind::Zlib.codec(Level::BEST).unwrap();
        let mut last = u64::MAX;
        for (batch, _) in PUBLISHED {
            let (plain, packed) = packed_bytes(codec.as_mut(), &samples, batch);
            assert!(
                packed <= plain && packed < last,
                "{batch}: {packed} of {plain}"
            );
            last = packed;
        }
        let noise = vec![Payload::Random.octets(SEED, 200).unwrap()];
        let (plain, packed) = packed_bytes(codec.as_mut(), &noise, 1);
        assert_eq!(plain, packed);
    }

    #[test]
    fn strings_are_encoded_with_length_and_zero() {
        assert_eq!(encoded(b"ab"), [3, 0, 0, 0, b'a', b'b', 0, 0]);
    }

    #[test]
    fn a_payload_that_is_not_there_is_refused() {
        for name in ["nonsense", "file:/nowhere"] {
            assert!(matches!(describe(name), Err(Failure::Setup(_))), "{name}");
        }
        assert!(describe("zeros").unwrap().contains("entropy 0.00"));
    }
}
