//! BZIP2, as a `.bz2` file.

use std::fmt;

use crate::codec::{Codec, Damaged, Level, NoRoom};
use crate::sys::Blocks;

/// Octets that a block of level 1 holds, half of those of level 2, and so on.
const BLOCK_BYTES: usize = 100_000;

/// What the library recommends: when to fall back to a slower way for repetitive data.
const WORK_FACTOR: u8 = 30;

/// See the module. What takes memory is made when it is first needed.
pub(crate) struct Bzip2 {
    level: u8,
    blocks: Blocks,
}

impl Bzip2 {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            level: level.get().clamp(1, 9),
            blocks: Blocks::new(),
        }
    }

    /// The smallest blocks that hold as much of `bytes` as those of the level: small samples need
    /// no memory for large ones.
    fn level_for(&self, bytes: usize) -> u8 {
        let enough = bytes.div_ceil(BLOCK_BYTES).max(1);
        self.level.min(u8::try_from(enough).unwrap_or(u8::MAX))
    }
}

impl Codec for Bzip2 {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let level = self.level_for(plain.len());
        let length = self.blocks.compress(level, WORK_FACTOR, plain, out);
        length.ok_or(NoRoom)
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        self.blocks.decompress(packed, out).ok_or(Damaged)
    }
}

impl fmt::Debug for Bzip2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bzip2({})", self.level)
    }
}
