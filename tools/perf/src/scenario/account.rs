//! Where time and octets of a message go: a budget of its median, a ledger of what is on the cable.

use std::hint::black_box;
use std::time::Instant;

use whimbrel::SharedBytes;
use whimbrel::base::cursor::Endian;
use whimbrel::types::{Representation, from_shared_payload, to_payload};
use whimbrel_bench::exchange::Msg;
use whimbrel_bench::protocol::{RTPS_BYTES, SAMPLE_BYTES};

use super::codecs::Packed;
use crate::contestant::Product;
use crate::report::model::{BudgetFigure, LatencyFigure, LedgerFigure};
use crate::world::Link;

/// Octets of the encapsulation header.
const ENCAPSULATION_BYTES: usize = 4;
/// Octets around a datagram: UDP 8, IPv4 20, Ethernet 14.
const PACKET_BYTES: usize = 42;
/// Largest payload that surely fits one packet.
const ONE_PACKET_BYTES: usize = 1300;
/// How often encoding and decoding are measured.
const TIMES: u32 = 200;

/// Where octets on the cable go, message by message that fits a packet; `packed` is what the codec
/// of the row's sender made of a sample of its size.
pub(super) fn ledger(figure: &LatencyFigure, packed: Option<&Packed>) -> Option<LedgerFigure> {
    let sent = packed.map_or(figure.size, |it| {
        it.sample_bytes.saturating_sub(SAMPLE_BYTES)
    });
    let is_ours = figure.contestant.starts_with(Product::Whimbrel.name());
    if !is_ours || sent > ONE_PACKET_BYTES {
        return None;
    }
    let wire_bytes = figure.wire_bytes?;
    let around = RTPS_BYTES - ENCAPSULATION_BYTES;
    let known = sent + SAMPLE_BYTES + RTPS_BYTES + PACKET_BYTES;
    Some(LedgerFigure {
        contestant: figure.contestant.clone(),
        size: figure.size,
        wire_bytes,
        entries: vec![
            ("payload as sent", sent as f64),
            ("number and length", SAMPLE_BYTES as f64),
            ("encapsulation", ENCAPSULATION_BYTES as f64),
            ("RTPS headers", around as f64),
            ("UDP, IP, Ethernet", PACKET_BYTES as f64),
            (
                "heartbeats, acknowledgments, discovery",
                wire_bytes - known as f64,
            ),
        ],
    })
}

/// The parts of the median of `figure` between processes: the path is what the raw socket took for
/// as many octets, `path_us`; the rest is the bus's own.
pub(super) fn budget(figure: &LatencyFigure, path_us: f64) -> BudgetFigure {
    let (encode_us, decode_us) = coding_us(figure.size);
    let rest = figure.p50_us - path_us - encode_us - decode_us;
    BudgetFigure {
        contestant: figure.contestant.clone(),
        size: figure.size,
        total_us: figure.p50_us,
        stages: vec![
            ("encode", encode_us),
            ("path as of the raw socket", path_us),
            ("decode", decode_us),
            ("rest of the bus", rest),
        ],
    }
}

/// The same over a slow cable: the path is the cable's arithmetic for what was sent.
pub(super) fn cable_budget(
    figure: &LatencyFigure,
    packed: Option<&Packed>,
    link: Link,
) -> BudgetFigure {
    let (encode_us, decode_us) = coding_us(figure.size);
    let (pack_us, unpack_us) = packed.map_or((0.0, 0.0), |it| (it.compress_us, it.decompress_us));
    let sent = packed.map_or(figure.size + SAMPLE_BYTES, |it| it.sample_bytes);
    let wire_us = link.ideal_us(sent + RTPS_BYTES);
    let known = encode_us + pack_us + wire_us + unpack_us + decode_us;
    BudgetFigure {
        contestant: figure.contestant.clone(),
        size: figure.size,
        total_us: figure.p50_us,
        stages: vec![
            ("encode", encode_us),
            ("compress", pack_us),
            ("cable by arithmetic", wire_us),
            ("decompress", unpack_us),
            ("decode", decode_us),
            ("rest: bus, kernel, wake-up", figure.p50_us - known),
        ],
    }
}

/// What encoding and decoding a sample of `size` octets cost, in microseconds, in this process.
fn coding_us(size: usize) -> (f64, f64) {
    let sample = Msg {
        seq: 1,
        payload: vec![0x55; size].into(),
    };
    let times = if size > 1 << 18 { 5 } else { TIMES };
    let mean_us = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    let mut bytes = Vec::new();
    let mut encode = || {
        bytes.clear();
        let encoded = to_payload(
            black_box(&sample),
            Representation::Xcdr1,
            Endian::NATIVE,
            &mut bytes,
        );
        debug_assert!(encoded.is_ok());
    };
    encode();
    let begun = Instant::now();
    (0..times).for_each(|_| encode());
    let out = mean_us(begun);
    let bytes = SharedBytes::from(bytes);
    let begun = Instant::now();
    for _ in 0..times {
        let _ = black_box(from_shared_payload::<Msg>(black_box(&bytes)));
    }
    (out, mean_us(begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(contestant: &str, size: usize, wire_bytes: Option<f64>) -> LatencyFigure {
        LatencyFigure {
            contestant: contestant.into(),
            size,
            wire_bytes,
            p50_us: 20.0,
            ..LatencyFigure::default()
        }
    }

    #[test]
    fn the_ledger_adds_up() {
        let entries = |figure: &LatencyFigure, packed: Option<&Packed>| {
            let it = ledger(figure, packed).unwrap();
            let sum: f64 = it.entries.iter().map(|it| it.1).sum();
            assert!((sum - it.wire_bytes).abs() < 1e-9);
            it.entries
        };
        // 64 + 8 + 4 + 56 + 42 are 174.
        let all = entries(&figure("Whimbrel", 64, Some(200.0)), None);
        assert_eq!((all[0].1, all[5].1), (64.0, 26.0));
        let packed = Packed {
            sample_bytes: 508,
            compress_us: 3.0,
            decompress_us: 2.0,
        };
        let all = entries(&figure("Whimbrel LZ4", 4096, Some(700.0)), Some(&packed));
        assert_eq!(all[0].1, 500.0);
        for it in [
            figure("Whimbrel", 64, None),
            figure("Whimbrel", 4096, Some(5000.0)),
            figure("Fast DDS", 64, Some(200.0)),
        ] {
            assert!(ledger(&it, None).is_none());
        }
    }

    #[test]
    fn the_stages_are_the_total() {
        let packed = Packed {
            sample_bytes: 100,
            compress_us: 3.0,
            decompress_us: 2.0,
        };
        let figure = figure("Whimbrel", 1024, None);
        for it in [
            budget(&figure, 5.0),
            cable_budget(&figure, None, Link::FAST_ETHERNET),
            cable_budget(&figure, Some(&packed), Link::FAST_ETHERNET),
        ] {
            let sum: f64 = it.stages.iter().map(|it| it.1).sum();
            assert!((sum - 20.0).abs() < 1e-9, "{it:?}");
            assert!(it.stages[0].1 > 0.0);
        }
    }
}
