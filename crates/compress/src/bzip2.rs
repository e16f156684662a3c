//! BZIP2, as a `.bz2` file.
//!
//! Alone of the codecs it allocates for each sample, 1 MB or more: the library cannot begin anew
//! in the memory that it has, and takes memory of others only through its C interface, which is
//! unsafe.

use bzip2::{Action, Compress, Compression, Decompress, Status};

use crate::codec::{Codec, Damaged, Level, NoRoom};

/// Octets that a block of level 1 holds, half of those of level 2, and so on.
const BLOCK_BYTES: usize = 100_000;

/// What the library recommends: when to fall back to a slower way for repetitive data.
const WORK_FACTOR: u32 = 30;

/// See the module.
#[derive(Debug)]
pub(crate) struct Bzip2 {
    level: u8,
}

impl Bzip2 {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            level: level.get().clamp(1, 9),
        }
    }

    /// The smallest blocks that hold as much of `bytes` as those of the level: what they take is
    /// allocated for each sample.
    fn level_for(&self, bytes: usize) -> u32 {
        let enough = bytes.div_ceil(BLOCK_BYTES).max(1);
        usize::from(self.level).min(enough) as u32
    }
}

impl Codec for Bzip2 {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let level = Compression::new(self.level_for(plain.len()));
        let mut stream = Compress::new(level, WORK_FACTOR);
        loop {
            let (read, written) = (stream.total_in() as usize, stream.total_out() as usize);
            let input = plain.get(read..).ok_or(NoRoom)?;
            let room = out.get_mut(written..).ok_or(NoRoom)?;
            match stream.compress(input, room, Action::Finish) {
                Ok(Status::StreamEnd) => return Ok(stream.total_out() as usize),
                Ok(_) => {}
                Err(_) => return Err(NoRoom),
            }
            let moved = stream.total_in() as usize > read || stream.total_out() as usize > written;
            if !moved {
                return Err(NoRoom);
            }
        }
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        let mut stream = Decompress::new(false);
        loop {
            let (read, written) = (stream.total_in() as usize, stream.total_out() as usize);
            let input = packed.get(read..).ok_or(Damaged)?;
            let room = out.get_mut(written..).ok_or(Damaged)?;
            let status = stream.decompress(input, room);
            let (read_now, written_now) = (stream.total_in() as usize, stream.total_out() as usize);
            match status {
                Ok(Status::StreamEnd) if read_now == packed.len() && written_now == out.len() => {
                    return Ok(());
                }
                Ok(Status::Ok | Status::MemNeeded)
                    if (read_now, written_now) != (read, written) => {}
                _ => return Err(Damaged),
            }
        }
    }
}
