//! LZO1X. It has one level.

use std::fmt;

use lzokay::compress::{Dict, compress_no_alloc, compress_worst_size};
use lzokay::decompress::decompress;

use crate::codec::{Codec, Damaged, NoRoom, with_room};

/// See the module.
#[derive(Default)]
pub(crate) struct Lzo {
    dictionary: Option<Box<Dict>>,
    scratch: Vec<u8>,
}

impl Codec for Lzo {
    fn compress(&mut self, plain: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        if plain.is_empty() {
            return Ok(0);
        }
        let dictionary = self.dictionary.get_or_insert_with(Dict::new);
        let worst = compress_worst_size(plain.len());
        with_room(worst, &mut self.scratch, out, |room| {
            compress_no_alloc(plain, room, dictionary).ok()
        })
    }

    fn decompress(&mut self, packed: &[u8], out: &mut [u8]) -> Result<(), Damaged> {
        if out.is_empty() {
            return if packed.is_empty() {
                Ok(())
            } else {
                Err(Damaged)
            };
        }
        match decompress(packed, out) {
            Ok(length) if length == out.len() => Ok(()),
            _ => Err(Damaged),
        }
    }
}

impl fmt::Debug for Lzo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lzo")
    }
}
