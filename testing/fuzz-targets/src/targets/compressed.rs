//! Compressed payloads: what stands before the data, and the data.

use whimbrel_wire::compressed::{Compressed, plain_data};

use crate::codec;

/// More than this no claim is followed.
const PLAIN_BYTES_MAX: usize = 1 << 20;

/// Reads a payload; one that is compressed must come back from being put together again, and
/// inflates to what it says or not at all.
pub fn compressed(data: &[u8]) {
    if let Some(plain) = plain_data(data) {
        assert!(plain.len() <= data.len());
    }
    let Ok(Some(parsed)) = Compressed::parse(data) else {
        return;
    };
    let head = Compressed::head_bytes(parsed.codec).expect("a codec with a name");
    let mut again = vec![0; head];
    again.extend_from_slice(parsed.packed);
    let (representation, bytes) = (parsed.representation, parsed.plain_bytes);
    Compressed::finish(representation, parsed.codec, bytes, &mut again);
    assert_eq!(Compressed::parse(&again), Ok(Some(parsed)));

    let kind = codec::kind_of(parsed.codec).expect("a codec with a name");
    let most = kind.claim_bytes_max(parsed.packed.len());
    let plain_bytes = bytes as usize;
    if plain_bytes > PLAIN_BYTES_MAX {
        return;
    }
    let mut plain = vec![0; plain_bytes];
    if codec::inflate(kind, parsed.packed, &mut plain) {
        assert!(plain_bytes <= most, "{kind}: {plain_bytes} of {most}");
        let packed = codec::packed(kind, &plain);
        let mut back = vec![0; plain_bytes];
        assert!(codec::inflate(kind, &packed, &mut back), "{kind}");
        assert_eq!(back, plain, "{kind}");
    }
}
