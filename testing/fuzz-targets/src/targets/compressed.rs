//! What stands before compressed data.

use whimbrel_wire::compressed::{Compressed, plain_data};

/// Reads a payload; one that is compressed must come back from being put together again.
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
}
