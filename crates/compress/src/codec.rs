//! What every codec does.

use std::fmt;

/// How hard a codec tries: 0 the least, 10 the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Level(u8);

impl Level {
    /// The best that there is.
    pub const BEST: Self = Self(10);

    /// The level `number`; [`Level::BEST`] above that.
    pub const fn new(number: u8) -> Self {
        if number > Self::BEST.0 {
            Self::BEST
        } else {
            Self(number)
        }
    }

    /// 0 to 10.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::BEST
    }
}

/// What was to be made smaller did not fit the room for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRoom;

/// Octets that are not what the codec makes of data of the length asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged;

/// Makes octets fewer and brings them back.
pub trait Codec: Send + fmt::Debug {
    /// Compresses `plain` to the start of `out`; how many octets that took.
    ///
    /// # Errors
    /// Where it does not fit. What stands in `out` then means nothing.
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom>;

    /// Fills `out` with what `packed`, all of it, was made from.
    ///
    /// # Errors
    /// Where `packed` is not that of exactly so many octets. What stands in `out` then means
    /// nothing.
    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged>;
}

/// Compresses by a library that wants room for the worst case: into `out` where that is large
/// enough, else by way of `scratch`.
#[cfg(any(feature = "lz4", feature = "lzo"))]
pub(crate) fn with_room(
    worst: usize,
    scratch: &mut Vec<u8>,
    out: &mut [u8],
    compress: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> Result<usize, NoRoom> {
    if out.len() >= worst {
        return compress(out).ok_or(NoRoom);
    }
    if scratch.len() < worst {
        scratch.resize(worst, 0);
    }
    let length = compress(scratch).ok_or(NoRoom)?;
    let packed = scratch.get(..length).ok_or(NoRoom)?;
    out.get_mut(..length).ok_or(NoRoom)?.copy_from_slice(packed);
    Ok(length)
}
