//! Codecs behind one trait: LZ4, ZLIB, BZIP2, LZO, ZSTD and the two techniques that they are made
//! of, Huffman codes alone and Lempel-Ziv alone.
//!
//! A [`Codec`] keeps what it needs from one call to the next, so that it allocates nothing once it
//! has seen samples of a size (BZIP2 aside, whose library starts anew each time). It writes into
//! room that the caller provides: what does not fit is refused, never grown for, and nothing is
//! ever as large as a sender merely claims. Start at [`CodecKind::codec`].

#[cfg(feature = "bzip2")]
mod bzip2;
mod chains;
mod codec;
mod huffman;
mod kind;
mod lz;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzo")]
mod lzo;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

pub use codec::{Codec, Damaged, Level, NoRoom, claim_bytes_max};
pub use kind::CodecKind;

#[cfg(test)]
mod tests;
