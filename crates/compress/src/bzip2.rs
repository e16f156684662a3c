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
        self.level.min(Self::level_that_holds(bytes))
    }

    /// The level of the smallest blocks of which one holds `bytes`; the highest where none does.
    fn level_that_holds(bytes: usize) -> u8 {
        let enough = bytes.div_ceil(BLOCK_BYTES).clamp(1, 9);
        u8::try_from(enough).unwrap_or(9)
    }
}

impl Codec for Bzip2 {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let level = self.level_for(plain.len());
        let length = self.blocks.compress(level, WORK_FACTOR, plain, out);
        length.ok_or(NoRoom)
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        let (mark, rest) = packed.split_first_chunk().ok_or(Damaged)?;
        let [b'B', b'Z', b'h', digit @ b'1'..=b'9'] = *mark else {
            return Err(Damaged);
        };
        // Whatever level it names, memory goes by what is to come out.
        let enough = Self::level_that_holds(out.len().saturating_mul(5) / 4);
        let head = [b'B', b'Z', b'h', digit.min(b'0' + enough)];
        let inflated = self.blocks.decompress([&head, rest], out);
        inflated.ok_or(Damaged)
    }
}

impl fmt::Debug for Bzip2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bzip2({})", self.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_goes_by_what_comes_out_not_by_the_level_that_is_named() {
        // In the block, four equal octets are five.
        let worst: Vec<u8> = (0..80_000).map(|at| (at / 4 % 251) as u8).collect();
        let mut codec = Bzip2::new(Level::BEST);
        let mut packed = vec![0; 200_000];
        let length = codec.compress(&worst, &mut packed).unwrap();
        packed[3] = b'9';
        let mut codec = Bzip2::new(Level::BEST);
        let mut back = vec![0; worst.len()];
        assert_eq!(codec.decompress(&packed[..length], &mut back), Ok(()));
        assert_eq!(back, worst);
        let held = codec.blocks.held_bytes();
        assert!(held < 600_000, "{held}");
        for digit in [b'0', b':', 0] {
            packed[3] = digit;
            let outcome = codec.decompress(&packed[..length], &mut back);
            assert_eq!(outcome, Err(Damaged), "{digit}");
        }
    }
}
