//! The library of BZIP2 in memory that is kept from one call to the next.
//!
//! It allocates a megabyte or more for each stream and cannot begin anew in what it has. Memory of
//! its caller it takes only as C does, by pointers to functions; hence the unsafe code of this
//! module, the only one of the crate. What it promises: the library is lent each block to itself,
//! until it gives it back, and only within one call of [`Blocks::compress`] or
//! [`Blocks::decompress`], for whose time all it is told to read and write is borrowed.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use libbz2_rs_sys::{
    BZ_FINISH, BZ_OK, BZ_STREAM_END, BZ2_bzCompress, BZ2_bzCompressEnd, BZ2_bzCompressInit,
    BZ2_bzDecompress, BZ2_bzDecompressEnd, BZ2_bzDecompressInit, bz_stream,
};

/// More is never asked for at once: four octets for each of the largest block's, and some.
const BLOCK_BYTES_MAX: usize = 4 << 20;

/// What blocks are made of, aligned for whatever the library puts there.
type Unit = u128;

/// Memory that the library uses; owned, but never touched from here while it is lent.
struct Block {
    memory: NonNull<[Unit]>,
    is_lent: bool,
}

// SAFETY: a block owns its memory, which no other thread knows of.
unsafe impl Send for Block {}

impl Block {
    fn lent(units: usize) -> Self {
        Self {
            memory: NonNull::from(Box::leak(vec![0; units].into_boxed_slice())),
            is_lent: true,
        }
    }

    fn start(&self) -> *mut c_void {
        self.memory.as_ptr().cast()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was a box, and is one again for nobody else.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}

/// Memory for one stream at a time.
pub(crate) struct Blocks {
    blocks: RefCell<Vec<Block>>,
    block_bytes_max: usize,
}

impl Blocks {
    pub(crate) const fn new() -> Self {
        Self {
            blocks: RefCell::new(Vec::new()),
            block_bytes_max: BLOCK_BYTES_MAX,
        }
    }

    /// Compresses `plain` to the start of `out`, in blocks of `level` times 100,000 octets; how
    /// many octets that took. `None` where they do not fit, or there is no such level.
    pub(crate) fn compress(
        &mut self,
        level: u8,
        work_factor: u8,
        plain: &[u8],
        out: &mut [u8],
    ) -> Option<usize> {
        let mut stream = self.stream(plain, out)?;
        let at = &raw mut stream;
        // SAFETY: the stream has an allocator as it must be, and stays where it is to its end; its
        // input and output are as long as it says and borrowed for as long. It is ended if, and
        // only if, it has begun.
        let status = unsafe {
            if BZ2_bzCompressInit(at, level.into(), 0, work_factor.into()) != BZ_OK {
                return None;
            }
            let status = BZ2_bzCompress(at, BZ_FINISH);
            BZ2_bzCompressEnd(at);
            status
        };
        // What it has no room for it leaves unfinished.
        (status == BZ_STREAM_END).then(|| out.len() - stream.avail_out as usize)
    }

    /// Fills `out` with what `head` and then `rest`, all of them, were made from; `None` where that
    /// is not so.
    pub(crate) fn decompress(&mut self, [head, rest]: [&[u8]; 2], out: &mut [u8]) -> Option<()> {
        let mut stream = self.stream(head, out)?;
        let rest_bytes = rest.len().try_into().ok()?;
        let mut rest = Some(rest);
        let at = &raw mut stream;
        // SAFETY: as above; the second part of the input takes the place of the first once that has
        // been read.
        let status = unsafe {
            if BZ2_bzDecompressInit(at, 0, 0) != BZ_OK {
                return None;
            }
            loop {
                if (*at).avail_in == 0
                    && let Some(rest) = rest.take()
                {
                    (*at).next_in = rest.as_ptr().cast();
                    (*at).avail_in = rest_bytes;
                }
                let before = ((*at).avail_in, (*at).avail_out);
                let status = BZ2_bzDecompress(at);
                if status != BZ_OK || before == ((*at).avail_in, (*at).avail_out) {
                    BZ2_bzDecompressEnd(at);
                    break status;
                }
            }
        };
        let read = stream.avail_in == 0 && rest.is_none_or(<[u8]>::is_empty);
        let whole = status == BZ_STREAM_END && read && stream.avail_out == 0;
        whole.then_some(())
    }

    /// Octets of all that it keeps.
    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> usize {
        let blocks = self.blocks.borrow();
        let units = blocks.iter().map(|it| it.memory.len());
        units.sum::<usize>() * size_of::<Unit>()
    }

    /// A stream that has not begun.
    fn stream(&mut self, input: &[u8], output: &mut [u8]) -> Option<bz_stream> {
        let mut stream = bz_stream::zeroed();
        stream.next_in = input.as_ptr().cast();
        stream.avail_in = input.len().try_into().ok()?;
        stream.next_out = output.as_mut_ptr().cast();
        stream.avail_out = output.len().try_into().ok()?;
        stream.bzalloc = Some(lend);
        stream.bzfree = Some(take_back);
        stream.opaque = ptr::from_ref(self).cast_mut().cast();
        Some(stream)
    }

    /// The smallest block of at least so many octets that is not lent; else a new one, for which
    /// the largest of those that are too small goes.
    fn lend(&self, bytes: usize) -> Option<*mut c_void> {
        if bytes > self.block_bytes_max {
            return None;
        }
        let units = bytes.div_ceil(size_of::<Unit>());
        let mut blocks = self.blocks.borrow_mut();
        let free = blocks.iter_mut().filter(|it| !it.is_lent);
        let fits = free.filter(|it| it.memory.len() >= units);
        if let Some(block) = fits.min_by_key(|it| it.memory.len()) {
            block.is_lent = true;
            return Some(block.start());
        }
        let free = (0..blocks.len()).filter(|at| !blocks[*at].is_lent);
        if let Some(at) = free.max_by_key(|at| blocks[*at].memory.len()) {
            blocks.swap_remove(at);
        }
        let block = Block::lent(units);
        let start = block.start();
        blocks.push(block);
        Some(start)
    }

    fn take_back(&self, start: *mut c_void) {
        let mut blocks = self.blocks.borrow_mut();
        if let Some(block) = blocks.iter_mut().find(|it| it.start() == start) {
            block.is_lent = false;
        }
    }
}

/// The library's `bzalloc`.
unsafe extern "C" fn lend(blocks: *mut c_void, count: c_int, size: c_int) -> *mut c_void {
    // SAFETY: a stream's `opaque`, which is borrowed until the stream has ended.
    let blocks = unsafe { &*blocks.cast::<Blocks>() };
    let sizes = usize::try_from(count).ok().zip(usize::try_from(size).ok());
    let bytes = sizes.and_then(|(count, size)| count.checked_mul(size));
    bytes
        .and_then(|it| blocks.lend(it))
        .unwrap_or(ptr::null_mut())
}

/// The library's `bzfree`.
unsafe extern "C" fn take_back(blocks: *mut c_void, start: *mut c_void) {
    // SAFETY: as above.
    unsafe { &*blocks.cast::<Blocks>() }.take_back(start);
}

#[cfg(test)]
mod tests;
