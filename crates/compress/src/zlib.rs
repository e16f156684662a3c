//! ZLIB. RFC 1950, RFC 1951.

use std::fmt;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::codec::{Codec, Damaged, Level, NoRoom};

/// See the module. What takes memory is made when it is first needed.
pub(crate) struct Zlib {
    level: Compression,
    deflate: Option<Compress>,
    inflate: Option<Decompress>,
}

impl Zlib {
    pub(crate) fn new(level: Level) -> Self {
        Self {
            level: Compression::new(u32::from(level.get().min(9))),
            deflate: None,
            inflate: None,
        }
    }
}

impl Codec for Zlib {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let level = self.level;
        let deflate = self
            .deflate
            .get_or_insert_with(|| Compress::new(level, true));
        deflate.reset();
        match deflate.compress(plain, out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => usize::try_from(deflate.total_out()).map_err(|_| NoRoom),
            Ok(Status::Ok | Status::BufError) | Err(_) => Err(NoRoom),
        }
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        let inflate = self.inflate.get_or_insert_with(|| Decompress::new(true));
        inflate.reset(true);
        let ended = inflate.decompress(packed, out, FlushDecompress::Finish);
        let all =
            inflate.total_in() == packed.len() as u64 && inflate.total_out() == out.len() as u64;
        match ended {
            Ok(Status::StreamEnd) if all => Ok(()),
            _ => Err(Damaged),
        }
    }
}

impl fmt::Debug for Zlib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zlib({})", self.level.level())
    }
}
