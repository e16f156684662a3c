//! How much compressed octets can stand for.

use crate::kind::CodecKind;

/// Up to here whatever a format can say is believed.
const CLAIM_FREE_BYTES: usize = 64 << 20;

/// The largest ratio beyond, also of formats that could say more.
const RATIO_MAX: usize = ZLIB_RATIO;

/// A match of 258 octets takes two bits. RFC 1951 §3.2.5.
const ZLIB_RATIO: usize = 1032;

/// An octet more of a length adds 255.
const LENGTHS_RATIO: usize = 255;

/// A code has at least one bit.
const HUFFMAN_RATIO: usize = 8;

/// A block holds at most 128 KiB and takes no less than its header and one octet. RFC 8878
/// §3.1.1.2.
const ZSTD_RATIO: usize = (128 << 10) / 4;

/// The largest block of BZIP2, in which five octets stand for 259.
const BZIP2_BLOCK_PLAIN_BYTES: usize = 900_000 / 5 * 259;

/// What each block says besides its content: mark, checksum, origin, octets in use, two tables of
/// three codes, one selector, and the code that ends it.
const BZIP2_BLOCK_BITS_MIN: usize = 48 + 32 + 1 + 24 + 32 + 18 + 1 + 16 + 1;

impl CodecKind {
    /// Octets to which `packed_bytes` of this kind may claim to inflate: no more than the format
    /// can say in so few, and above 64 MiB no more than 1032 times them. Whoever compresses keeps
    /// to it as well.
    pub const fn claim_bytes_max(self, packed_bytes: usize) -> usize {
        let by_format = match self {
            Self::Zlib => packed_bytes.saturating_mul(ZLIB_RATIO),
            Self::Lz4 | Self::Lzo | Self::Lz => packed_bytes.saturating_mul(LENGTHS_RATIO),
            Self::Huffman => packed_bytes.saturating_mul(HUFFMAN_RATIO),
            Self::Zstd => packed_bytes.saturating_mul(ZSTD_RATIO),
            Self::Bzip2 => {
                let blocks = packed_bytes.saturating_mul(8) / BZIP2_BLOCK_BITS_MIN;
                blocks.saturating_mul(BZIP2_BLOCK_PLAIN_BYTES)
            }
        };
        let by_ratio = packed_bytes.saturating_mul(RATIO_MAX);
        let most = if by_ratio > CLAIM_FREE_BYTES {
            by_ratio
        } else {
            CLAIM_FREE_BYTES
        };
        if by_format < most { by_format } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn what_compresses_best_is_within_the_bound_and_near_it() {
        for kind in CodecKind::ALL.into_iter().filter(|it| it.exists()) {
            let mut codec = kind.codec(Level::BEST).unwrap();
            for plain_bytes in [100_000, 45_000_000] {
                let plain = vec![0; plain_bytes];
                let mut packed = vec![0; plain_bytes / 4];
                let length = codec.compress(&plain, &mut packed).unwrap();
                let most = kind.claim_bytes_max(length);
                assert!(plain_bytes <= most, "{kind}: {length} octets: {most}");
            }
        }
    }

    #[test]
    fn few_octets_are_not_believed_to_be_many() {
        let most = |kind: CodecKind| kind.claim_bytes_max(40);
        assert_eq!(most(CodecKind::Zlib), 41_280);
        assert_eq!(most(CodecKind::Lz4), 10_200);
        assert_eq!(most(CodecKind::Huffman), 320);
        assert_eq!(most(CodecKind::Zstd), 1_310_720);
        assert_eq!(most(CodecKind::Bzip2), 46_620_000);
        // An end without a block.
        assert_eq!(CodecKind::Bzip2.claim_bytes_max(14), 0);
        assert_eq!(CodecKind::Bzip2.claim_bytes_max(60), CLAIM_FREE_BYTES);
        assert_eq!(CodecKind::Zstd.claim_bytes_max(1 << 20), 1032 << 20);
        for kind in CodecKind::ALL {
            assert_eq!(kind.claim_bytes_max(0), 0);
            assert!(kind.claim_bytes_max(usize::MAX) > CLAIM_FREE_BYTES);
        }
    }
}
