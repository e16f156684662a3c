//! What comes compressed, the way the real driver brings it back: bounded before, counted after.

use std::fmt;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_compress::CodecKind;
use whimbrel_proto::reader::Unpacker;
use whimbrel_wire::compressed::{Compressed, ENCAPSULATION_BYTES};
use whimbrel_wire::packed_message::{HEAD_BYTES, PackedMessage};

use crate::codec;

/// Inflates samples.
pub(super) struct Inflater;

impl Unpacker for Inflater {
    fn unpack(&mut self, compressed: &Compressed<'_>) -> Result<SharedBytes, Reject> {
        let plain_bytes = usize::try_from(compressed.plain_bytes).unwrap_or(usize::MAX);
        let unknown = Reject::new(RejectKind::Codec, 2);
        let kind = codec::kind_of(compressed.codec).ok_or(unknown)?;
        if plain_bytes > kind.claim_bytes_max(compressed.packed.len()) {
            return Err(Reject::new(RejectKind::Limit, 4));
        }
        let mut out = vec![0; ENCAPSULATION_BYTES + plain_bytes];
        let (head, plain) = out.split_at_mut(ENCAPSULATION_BYTES);
        head[..2].copy_from_slice(&compressed.representation);
        decompress(kind, compressed.packed, plain, ENCAPSULATION_BYTES)?;
        Ok(SharedBytes::from_vec(out))
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inflater")
    }
}

/// The plain message, where `datagram` is one that is compressed as a whole.
pub(super) fn message(datagram: &[u8]) -> Result<Option<SharedBytes>, Reject> {
    let Some(packed) = PackedMessage::parse(datagram)? else {
        return Ok(None);
    };
    let unknown = Reject::new(RejectKind::Codec, 24);
    let kind = codec::kind_of(packed.codec).ok_or(unknown)?;
    let mut out = packed.header.to_vec();
    out.resize(packed.header.len() + packed.plain_bytes, 0);
    let plain = &mut out[packed.header.len()..];
    decompress(kind, packed.packed, plain, HEAD_BYTES)?;
    PackedMessage::check_plain(plain)?;
    Ok(Some(SharedBytes::from_vec(out)))
}

fn decompress(kind: CodecKind, packed: &[u8], out: &mut [u8], at: usize) -> Result<(), Reject> {
    match codec::inflate(kind, packed, out) {
        true => Ok(()),
        false => Err(Reject::new(RejectKind::Compression, at)),
    }
}
