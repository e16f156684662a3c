//! LZ4 in one block: levels up to 5 by one look for each match, above by chains of them.

use std::fmt;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

use crate::chains::{Chains, Match};
use crate::codec::{Codec, Damaged, Level, NoRoom, with_room};

/// The last octets of a block are literals.
const LITERALS_LAST: usize = 5;

/// No match begins nearer to the end.
const MATCH_LAST: usize = 12;

const MATCH_MIN: usize = 4;

/// Inputs below this length need only a small table.
const SMALL_BYTES: usize = 1 << 16;

/// See the module.
pub(crate) struct Lz4 {
    level: Level,
    small: Option<CompressTable>,
    large: Option<CompressTable>,
    scratch: Vec<u8>,
    chains: Chains,
}

impl Lz4 {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            level,
            small: None,
            large: None,
            scratch: Vec::new(),
            chains: Chains::default(),
        }
    }

    fn fast(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let table = if plain.len() < SMALL_BYTES - 1 {
            self.small.get_or_insert_with(CompressTable::small)
        } else {
            self.large.get_or_insert_with(CompressTable::large)
        };
        let worst = get_maximum_output_size(plain.len());
        with_room(worst, &mut self.scratch, out, |room| {
            compress_into_with_table(plain, room, table).ok()
        })
    }

    fn high(&mut self, plain: &[u8], out: &mut [u8], depth: usize) -> Result<usize, NoRoom> {
        let mut block = Block { out, length: 0 };
        let matches_end = plain.len().saturating_sub(MATCH_LAST);
        let ends_max = plain.len().saturating_sub(LITERALS_LAST);
        self.chains.begin(plain.len());
        let (mut at, mut anchor) = (0, 0);
        while at < matches_end {
            let Some(found) = self.chains.lazy(plain, at, ends_max, depth) else {
                at += 1;
                continue;
            };
            block.sequence(&plain[anchor..found.at], Some(&found))?;
            at = found.at + found.length;
            anchor = at;
            self.chains.skip_to(plain, at);
        }
        block.sequence(&plain[anchor..], None)?;
        Ok(block.length)
    }
}

impl Codec for Lz4 {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        match self.level.get() {
            0..=5 => self.fast(plain, out),
            level => self.high(plain, out, 1 << (level - 3)),
        }
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        match decompress_into(packed, out) {
            Ok(length) if length == out.len() => Ok(()),
            _ => Err(Damaged),
        }
    }
}

/// A block that is being written.
struct Block<'a> {
    out: &'a mut [u8],
    length: usize,
}

impl Block<'_> {
    /// Literals, and the match that follows them unless they end the block.
    fn sequence(&mut self, literals: &[u8], found: Option<&Match>) -> Result<(), NoRoom> {
        let more = found.map_or(0, |it| it.length - MATCH_MIN);
        let token = (literals.len().min(15) << 4) | more.min(15);
        self.octets(&[token as u8])?;
        self.rest(literals.len())?;
        self.octets(literals)?;
        if let Some(found) = found {
            self.octets(&(found.distance as u16).to_le_bytes())?;
            self.rest(more)?;
        }
        Ok(())
    }

    /// What of a length does not fit its half of the token.
    fn rest(&mut self, length: usize) -> Result<(), NoRoom> {
        let Some(mut rest) = length.checked_sub(15) else {
            return Ok(());
        };
        while rest >= 255 {
            self.octets(&[255])?;
            rest -= 255;
        }
        self.octets(&[rest as u8])
    }

    fn octets(&mut self, octets: &[u8]) -> Result<(), NoRoom> {
        let end = self.length + octets.len();
        let room = self.out.get_mut(self.length..end).ok_or(NoRoom)?;
        room.copy_from_slice(octets);
        self.length = end;
        Ok(())
    }
}

impl fmt::Debug for Lz4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lz4({})", self.level.get())
    }
}
