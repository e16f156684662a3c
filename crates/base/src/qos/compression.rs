//! How samples are made smaller: the part of DATA_REPRESENTATION that Connext added.
//!
//! What keeps a writer and a reader from matching is the request/offered rule of Connext, for its
//! three codecs: the writer's must be among those that the reader says it takes. A reader that says
//! nothing of codecs, as those of other vendors, matches and is sent plain samples. The codecs of
//! our own are no part of that rule, since nobody else could know of them: whoever does not take
//! the writer's, one of ours with another list included, matches and is sent plain samples.
//!
//! | the writer offers | the reader takes | they |
//! |---|---|---|
//! | ZLIB | ZLIB, maybe others | match, compressed |
//! | ZLIB | LZ4, or LZO, or explicitly none | do not match |
//! | ZLIB | (says nothing) | match, plain |
//! | LZO | LZO, maybe others | match, compressed |
//! | LZO | ZLIB, or ZSTD, or explicitly none | match, plain |
//! | LZO | (says nothing) | match, plain |
//! | nothing | anything | match, plain |

use core::fmt;
use core::ops::BitOr;

/// A set of codecs. The first three bits travel as Connext sends them, the others are our own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CompressionIds(pub u32);

/// Names of the codecs that there are, by rank: what several come to where one must be chosen.
const NAMES: [(CompressionIds, &str); 7] = [
    (CompressionIds::ZLIB, "ZLIB"),
    (CompressionIds::BZIP2, "BZIP2"),
    (CompressionIds::LZ4, "LZ4"),
    (CompressionIds::ZSTD, "ZSTD"),
    (CompressionIds::LZO, "LZO"),
    (CompressionIds::HUFFMAN, "HUFFMAN"),
    (CompressionIds::LZ, "LZ"),
];

impl CompressionIds {
    /// No codec: MASK_NONE.
    pub const NONE: Self = Self(0);
    /// Deflate in the format of RFC 1950.
    pub const ZLIB: Self = Self(1);
    /// The Burrows-Wheeler transform, as a file of BZIP2.
    pub const BZIP2: Self = Self(1 << 1);
    /// LZ4 in one block.
    pub const LZ4: Self = Self(1 << 2);
    /// Zstandard. Ours.
    pub const ZSTD: Self = Self(1 << 16);
    /// LZO1X. Ours.
    pub const LZO: Self = Self(1 << 17);
    /// Huffman codes alone. Ours.
    pub const HUFFMAN: Self = Self(1 << 18);
    /// Lempel-Ziv alone. Ours.
    pub const LZ: Self = Self(1 << 19);
    /// Those that Connext has too.
    pub const SHARED: Self = Self(0xffff);
    /// Those that only this implementation has.
    pub const OWN: Self = Self(0xffff_0000);
    /// Every codec: MASK_ALL. A build without some of them refuses this; a reader that says nothing
    /// takes all that were built in.
    pub const ALL: Self = Self(0x000f_0007);

    /// True when there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True when some codec is in both.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The codecs that are in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// How many codecs are in it.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The one with the lowest bit, which is what a writer takes of several of its topic.
    #[must_use]
    pub const fn first(self) -> Self {
        Self(self.0 & self.0.wrapping_neg())
    }

    /// Each codec as a set of one, the lowest bit first.
    pub fn iter(self) -> impl Iterator<Item = Self> {
        (0..u32::BITS)
            .filter_map(|bit| 1u32.checked_shl(bit))
            .map(Self)
            .filter(move |it| self.intersects(*it))
    }

    /// The name of the one codec that it has.
    pub fn name(self) -> Option<&'static str> {
        let known = NAMES.iter().find(|(id, _)| *id == self);
        known.map(|(_, name)| *name)
    }

    /// The codec of this name, in any case of letters.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = NAMES.iter().find(|(_, it)| it.eq_ignore_ascii_case(name));
        known.map(|(id, _)| *id)
    }
}

impl BitOr for CompressionIds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for CompressionIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no codec");
        }
        for (at, id) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            match id.name() {
                Some(name) => f.write_str(name)?,
                None => write!(f, "codec {:#x}", id.0)?,
            }
        }
        Ok(())
    }
}

/// How samples are made smaller. Names, defaults and rules are those of Connext.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Compression {
    /// A writer's one codec, those that a reader takes. Not said, the default, means none for a
    /// writer and a topic, and every one that was built in for a reader; of another's reader, that
    /// it knows nothing of compression.
    pub compression_ids: Option<CompressionIds>,
    /// How hard a writer tries: 0 not at all, 10, the default, as hard as it can.
    pub writer_compression_level: u8,
    /// Serialized samples of so many octets and fewer leave as they are: 8192 by default. `None`
    /// compresses nothing.
    pub writer_compression_threshold: Option<usize>,
}

impl Compression {
    /// Greatest level.
    pub const LEVEL_MAX: u8 = 10;

    /// The default threshold in octets.
    pub const THRESHOLD_BYTES: usize = 8192;

    /// The codec that a writer with these settings offers; none where they turn it off.
    pub fn offered(&self) -> CompressionIds {
        let off = self.writer_compression_level == 0 || self.writer_compression_threshold.is_none();
        if off {
            return CompressionIds::NONE;
        }
        self.compression_ids.unwrap_or_default()
    }

    /// True when a reader with these settings takes what a writer with `offered` compresses.
    pub fn takes(&self, offered: CompressionIds) -> bool {
        let known = self.compression_ids.unwrap_or_default();
        known.intersects(offered)
    }

    /// True when a reader with these settings may match a writer with `offered`: it takes the
    /// codec, says nothing of codecs, or that is one of our own. See the module.
    pub fn accepts(&self, offered: CompressionIds) -> bool {
        let asked = offered.and(CompressionIds::SHARED);
        let takes = |known: CompressionIds| known.intersects(asked);
        asked.is_empty() || self.compression_ids.is_none_or(takes)
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self {
            compression_ids: None,
            writer_compression_level: Self::LEVEL_MAX,
            writer_compression_threshold: Some(Self::THRESHOLD_BYTES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_and_order() {
        let all: alloc::vec::Vec<_> = CompressionIds::ALL.iter().collect();
        assert_eq!(all.len(), NAMES.len());
        for id in all {
            let name = id.name().unwrap();
            assert_eq!(CompressionIds::from_name(&name.to_lowercase()), Some(id));
        }
        let both = CompressionIds::LZ4 | CompressionIds::BZIP2;
        assert_eq!(both.to_string(), "BZIP2 LZ4");
        assert_eq!(both.first(), CompressionIds::BZIP2);
        assert_eq!(CompressionIds(8).to_string(), "codec 0x8");
        assert_eq!(CompressionIds::NONE.first(), CompressionIds::NONE);
    }

    #[test]
    fn offers_and_requests() {
        let of = |ids: Option<CompressionIds>| Compression {
            compression_ids: ids,
            ..Compression::default()
        };
        let check = |offered, requested, accepted: bool, taken: bool| {
            let reader = of(requested);
            assert_eq!(reader.accepts(offered), accepted, "{offered} {requested:?}");
            assert_eq!(reader.takes(offered), taken, "{offered} {requested:?}");
        };
        let (none, zlib, lz4) = (
            CompressionIds::NONE,
            CompressionIds::ZLIB,
            CompressionIds::LZ4,
        );
        check(none, None, true, false);
        check(none, Some(none), true, false);
        check(zlib, None, true, false);
        check(zlib, Some(zlib | lz4), true, true);
        check(zlib, Some(lz4), false, false);
        check(zlib, Some(none), false, false);
        // A codec of our own never keeps anybody from matching, nor does it stand for another.
        let (zstd, lzo) = (CompressionIds::ZSTD, CompressionIds::LZO);
        check(zstd, None, true, false);
        check(zstd, Some(CompressionIds(7)), true, false);
        check(zstd, Some(CompressionIds::ALL), true, true);
        check(zstd, Some(zstd | zlib), true, true);
        for known in [zlib, lzo, none, zlib | lzo] {
            check(zstd, Some(known), true, false);
        }
        check(zlib, Some(lzo), false, false);
        check(zlib, Some(zlib | lzo), true, true);
        let mut writer = of(Some(zlib));
        assert_eq!(writer.offered(), zlib);
        writer.writer_compression_threshold = None;
        assert_eq!(writer.offered(), none);
        writer.writer_compression_threshold = Some(0);
        writer.writer_compression_level = 0;
        assert_eq!(writer.offered(), none);
    }
}
