//! Codecs behind one trait: LZ4, ZLIB, BZIP2, LZO, ZSTD and the two techniques that they are made
//! of, Huffman codes alone and Lempel-Ziv alone.
//!
//! A [`Codec`] keeps what it needs from one call to the next, so that it allocates nothing once it
//! has seen samples of a size. It writes into room that the caller provides: what does not fit is
//! refused, never grown for, and nothing is ever as large as a sender merely claims. Start at
//! [`CodecKind::codec`].
//!
//! Unsafe code lives only in `sys/`: BZIP2's library takes memory in no other way.
#![deny(unsafe_code)]

#[cfg(feature = "bzip2")]
mod bzip2;
mod chains;
mod claim;
mod codec;
mod huffman;
mod kind;
mod lz;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzo")]
mod lzo;
#[cfg(feature = "bzip2")]
#[allow(unsafe_code, reason = "the library's interface is that of C")]
mod sys;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

pub use codec::{Codec, Damaged, Level, NoRoom};
pub use kind::CodecKind;

#[cfg(test)]
mod tests;
