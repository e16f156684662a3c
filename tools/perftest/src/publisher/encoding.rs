//! What encoding and decoding a sample costs, for `-showSerializationTime`.

use std::hint::black_box;
use std::time::Instant;

use whimbrel::base::cursor::Endian;
use whimbrel::types::{Representation, from_payload, to_payload};

use crate::message::{Head, Message, OVERHEAD_BYTES, zeros};

const TIMES: u32 = 1000;

/// Microseconds to encode and to decode a sample of `length` octets, by the mean of many.
pub(super) fn cost_us<M: Message>(length: usize) -> (f64, f64) {
    let message: M = zeros(Head::default(), length - OVERHEAD_BYTES);
    let mut bytes = Vec::new();
    let times = if length > 1 << 20 { 10 } else { TIMES };
    let mean_us = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / f64::from(times);
    let begun = Instant::now();
    for _ in 0..times {
        bytes.clear();
        // It has been encoded before, to be sent.
        let encoded = to_payload(
            black_box(&message),
            Representation::Xcdr1,
            NATIVE,
            &mut bytes,
        );
        debug_assert!(encoded.is_ok());
    }
    let out = mean_us(begun);
    let begun = Instant::now();
    for _ in 0..times {
        let _ = black_box(from_payload::<M>(black_box(&bytes)));
    }
    (out, mean_us(begun))
}

const NATIVE: Endian = Endian::NATIVE;
