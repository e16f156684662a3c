//! See `whimbrel_fuzz_targets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whimbrel_fuzz_targets::run("packed_message", data));
