//! A codec that has seen samples of a size allocates nothing for further ones.
//!
//! A program without the harness, whose own thread allocates meanwhile.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use whimbrel_compress::{CodecKind, Level};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let line = b"1700000000 [INFO] a line much like the one before it, but for a number: ";
    let plain: Vec<u8> = line.iter().copied().cycle().take(100_000).collect();
    nothing_is_allocated_after_warm_up(&plain);
    nothing_outlives_the_codecs(&plain);
    println!("test result: ok. 2 passed; 0 failed");
}

fn nothing_is_allocated_after_warm_up(plain: &[u8]) {
    let mut out = vec![0; plain.len()];
    let mut back = vec![0; plain.len()];
    for kind in CodecKind::ALL {
        let levels = [1, 6, 10].map(Level::new);
        for mut codec in levels.into_iter().filter_map(|level| kind.codec(level)) {
            let mut round = |length: usize| {
                let packed = codec.compress(&plain[..length], &mut out).unwrap();
                codec
                    .decompress(&out[..packed], &mut back[..length])
                    .unwrap();
            };
            round(100_000);
            round(1000);
            let region = Region::new(ALLOCATOR);
            for length in [200, 1000, 60_000, 100_000] {
                round(length);
            }
            let made = region.change().allocations;
            assert_eq!(made, 0, "{kind}");
        }
    }
}

fn nothing_outlives_the_codecs(plain: &[u8]) {
    let mut out = vec![0; plain.len()];
    let mut back = vec![0; plain.len()];
    let region = Region::new(ALLOCATOR);
    for kind in CodecKind::ALL {
        if let Some(mut codec) = kind.codec(Level::BEST) {
            let packed = codec.compress(plain, &mut out).unwrap();
            codec.decompress(&out[..packed], &mut back).unwrap();
        }
    }
    let change = region.change();
    assert!(change.allocations > 0);
    assert_eq!(change.allocations, change.deallocations);
    assert_eq!(change.bytes_allocated, change.bytes_deallocated);
}
