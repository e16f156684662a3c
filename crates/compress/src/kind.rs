//! The codecs that there are.

use std::fmt;
use std::str::FromStr;

use crate::codec::{Codec, Level};

/// A codec, and what the levels 1 to 10 are to it. A writer of level 0 does not compress; a codec
/// that is asked for it does the least that it can.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CodecKind {
    /// Deflate with the frame of RFC 1950. Level 10 is 9, the best of the library.
    Zlib,
    /// Burrows-Wheeler transform and Huffman codes, as a `.bz2` file. A level is the size of blocks
    /// in 100,000 octets, 9 at most: what fits one block is the same at all of them.
    Bzip2,
    /// LZ4 in one block, without a frame. Levels 1 to 5 are one; from 6 on each looks twice as far
    /// for matches as the one before.
    Lz4,
    /// Zstandard, one frame. Levels 1 to 10 are the library's 1, 2, 3, 4, 6, 8, 10, 13, 16, 19.
    Zstd,
    /// LZO1X. It has one level.
    Lzo,
    /// Huffman codes alone: each octet by how often it comes. It has one level.
    Huffman,
    /// Lempel-Ziv alone: what was there before by its distance. Each level looks twice as far for
    /// matches as the one before; level 10 is 9.
    Lz,
}

impl CodecKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Zlib,
        Self::Bzip2,
        Self::Lz4,
        Self::Zstd,
        Self::Lzo,
        Self::Huffman,
        Self::Lz,
    ];

    /// How settings and people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Lzo => "lzo",
            Self::Huffman => "huffman",
            Self::Lz => "lz",
        }
    }

    /// Whether it was built in.
    pub const fn exists(self) -> bool {
        match self {
            Self::Zlib => cfg!(feature = "zlib"),
            Self::Bzip2 => cfg!(feature = "bzip2"),
            Self::Lz4 => cfg!(feature = "lz4"),
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Lzo => cfg!(feature = "lzo"),
            Self::Huffman | Self::Lz => true,
        }
    }

    /// A codec of this kind that compresses with `level`; `None` where it was not built in.
    pub fn codec(self, level: Level) -> Option<Box<dyn Codec>> {
        match self {
            #[cfg(feature = "zlib")]
            Self::Zlib => Some(Box::new(crate::zlib::Zlib::new(level))),
            #[cfg(feature = "bzip2")]
            Self::Bzip2 => Some(Box::new(crate::bzip2::Bzip2::new(level))),
            #[cfg(feature = "lz4")]
            Self::Lz4 => Some(Box::new(crate::lz4::Lz4::new(level))),
            #[cfg(feature = "zstd")]
            Self::Zstd => Some(Box::new(crate::zstd::Zstd::new(level))),
            #[cfg(feature = "lzo")]
            Self::Lzo => Some(Box::new(crate::lzo::Lzo::default())),
            Self::Huffman => Some(Box::new(crate::huffman::Huffman::default())),
            Self::Lz => Some(Box::new(crate::lz::Lz::new(level))),
            #[cfg(not(all(
                feature = "zlib",
                feature = "bzip2",
                feature = "lz4",
                feature = "zstd",
                feature = "lzo"
            )))]
            _ => None,
        }
    }
}

impl fmt::Display for CodecKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CodecKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let same = |it: &Self| it.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(same).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{name:?} is no codec: there are {names}")
        })
    }
}
