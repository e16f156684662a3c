//! What a codec inflates.

use whimbrel_compress::{CodecKind, Level};

/// Largest length that an input may claim.
const CLAIM_BYTES_MAX: usize = 0xf_ffff;

/// The first octet says which codec, the next three how long what was compressed is said to be,
/// the lowest first. What inflates must come back from being compressed again.
pub fn codecs(data: &[u8]) {
    let Some(([kind, claimed @ ..], packed)) = data.split_first_chunk::<4>() else {
        return;
    };
    let kinds = CodecKind::ALL;
    let kind = kinds[usize::from(*kind) % kinds.len()];
    let [low, middle, high] = *claimed;
    let claimed = u32::from_le_bytes([low, middle, high, 0]) as usize & CLAIM_BYTES_MAX;
    let Some(mut codec) = kind.codec(Level::new(1)) else {
        return;
    };
    let mut plain = vec![0; claimed];
    if codec.decompress(packed, &mut plain).is_err() {
        return;
    }
    let mut again = vec![0; claimed * 2 + 1024];
    assert!(claimed <= kind.claim_bytes_max(packed.len()), "{kind}");
    let length = codec.compress(&plain, &mut again);
    let length = length.expect("there is room for the worst");
    let mut back = vec![0; claimed];
    let outcome = codec.decompress(&again[..length], &mut back);
    assert_eq!(outcome, Ok(()), "{kind}");
    assert_eq!(back, plain, "{kind}");
}
