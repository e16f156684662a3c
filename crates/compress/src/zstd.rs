//! ZSTD, one frame. RFC 8878.

use std::fmt;

use zstd_safe::{CCtx, CompressionLevel, DCtx, find_frame_compressed_size};

use crate::codec::{Codec, Damaged, Level, NoRoom};

/// Levels of the library for ours, from 0 on.
const LEVELS: [CompressionLevel; 11] = [-1, 1, 2, 3, 4, 6, 8, 10, 13, 16, 19];

/// First octets of a frame that holds something. RFC 8878 §3.1.1.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// See the module.
pub(crate) struct Zstd {
    level: CompressionLevel,
    packer: Option<CCtx<'static>>,
    unpacker: Option<DCtx<'static>>,
}

impl Zstd {
    pub(crate) fn new(level: Level) -> Self {
        let level = LEVELS.get(usize::from(level.get()));
        Self {
            level: level.copied().unwrap_or_default(),
            packer: None,
            unpacker: None,
        }
    }
}

impl Codec for Zstd {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let packer = self.packer.get_or_insert_with(CCtx::create);
        packer.compress(out, plain, self.level).map_err(|_| NoRoom)
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        // The library takes any number of frames, and skips those that say so.
        let is_one = find_frame_compressed_size(packed).is_ok_and(|it| it == packed.len());
        if !packed.starts_with(&MAGIC) || !is_one {
            return Err(Damaged);
        }
        let unpacker = self.unpacker.get_or_insert_with(DCtx::create);
        match unpacker.decompress(out, packed) {
            Ok(length) if length == out.len() => Ok(()),
            _ => Err(Damaged),
        }
    }
}

impl fmt::Debug for Zstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zstd({})", self.level)
    }
}
