//! The codecs by what they are called where a sample or a message says its own.

use whimbrel_base::qos::CompressionIds;
use whimbrel_compress::{CodecKind, Level};

/// All of them.
pub const CODECS: [(CodecKind, CompressionIds); CodecKind::ALL.len()] = [
    (CodecKind::Zlib, CompressionIds::ZLIB),
    (CodecKind::Bzip2, CompressionIds::BZIP2),
    (CodecKind::Lz4, CompressionIds::LZ4),
    (CodecKind::Zstd, CompressionIds::ZSTD),
    (CodecKind::Lzo, CompressionIds::LZO),
    (CodecKind::Huffman, CompressionIds::HUFFMAN),
    (CodecKind::Lz, CompressionIds::LZ),
];

/// What `id` is; `None` where nobody knows it.
pub fn kind_of(id: CompressionIds) -> Option<CodecKind> {
    let known = CODECS.iter().find(|(_, it)| *it == id);
    known.map(|(kind, _)| *kind)
}

/// `plain` as the codec makes it smallest, in no more memory than that takes.
///
/// # Panics
/// Where the codec is not built in, or makes of it more than 1000 octets more.
pub fn packed(kind: CodecKind, plain: &[u8]) -> Vec<u8> {
    let mut codec = kind.codec(Level::BEST).expect("built in");
    let mut out = vec![0; plain.len() + 1000];
    let length = codec.compress(plain, &mut out).expect("there is room");
    out.truncate(length);
    out.shrink_to_fit();
    out
}

/// Fills `out` with what `packed` stands for; false where it is not of so many octets, or was not
/// made by the codec.
///
/// # Panics
/// Where the codec is not built in.
pub fn inflate(kind: CodecKind, packed: &[u8], out: &mut [u8]) -> bool {
    let mut codec = kind.codec(Level::BEST).expect("built in");
    codec.decompress(packed, out).is_ok()
}
