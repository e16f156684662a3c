//! Copies of octets, of many and of few.
//!
//! Processors have an instruction that copies a block as a whole, which the standard library and
//! systems use for large ones. On some processors it takes ten to thirty times as long where the
//! copy begins a few octets further into its page than what is copied does. Small pieces are
//! copied without it, as quickly as a large block where that is quick.

use alloc::vec::Vec;

/// Octets of a page: places that far apart are alike.
pub const PAGE_BYTES: usize = 4096;

/// So many octets further into its page a copy is slow.
const SLOW_BYTES: usize = 32;

/// The standard library copies blocks of so many octets and more by the instruction.
const BLOCK_BYTES_MIN: usize = 4096;

/// Larger ones it copies past the caches, by other instructions.
const BLOCK_BYTES_MAX: usize = 512 * 1024;

/// Octets that are copied at once where a block would be slow.
const PIECE_BYTES: usize = 2048;

/// True where the system copies a block slowly that begins `from` octets into a page to where `to`
/// are before it in a page.
pub const fn is_slow(from: usize, to: usize) -> bool {
    let further = to.wrapping_sub(from) % PAGE_BYTES;
    further > 0 && further < SLOW_BYTES
}

/// Appends `values` to `out`.
#[inline]
pub fn append<T: Copy>(out: &mut Vec<T>, values: &[T]) {
    if is_block(values) {
        append_pieces(out, values);
    } else {
        out.extend_from_slice(values);
    }
}

/// Copies `from` over `to` where both are as long and few: in two pieces that may overlap, without
/// the call that copying any number takes. Whether they are.
#[inline]
pub fn overwrite_few(to: &mut [u8], from: &[u8]) -> bool {
    to.len() == from.len() && (overwrite_ends::<16>(to, from) || overwrite_ends::<8>(to, from))
}

#[inline(always)]
fn overwrite_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else {
        return false;
    };
    if from.len() > N.saturating_mul(2) {
        return false;
    }
    if let Some(to) = to.first_chunk_mut() {
        *to = *first;
    }
    if let Some(to) = to.last_chunk_mut() {
        *to = *last;
    }
    true
}

/// A copy of `bytes`.
pub fn to_vec(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    append(&mut out, bytes);
    out
}

/// Copies `from` over the first octets of `to`, as many as both have.
pub fn overwrite(to: &mut [u8], from: &[u8]) {
    let each = if is_block(from) {
        PIECE_BYTES
    } else {
        from.len().max(1)
    };
    for (to, from) in to.chunks_mut(each).zip(from.chunks(each)) {
        let len = to.len().min(from.len());
        if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
            to.copy_from_slice(from);
        }
    }
}

const fn is_block<T>(values: &[T]) -> bool {
    let bytes = size_of_val(values);
    bytes >= BLOCK_BYTES_MIN && bytes <= BLOCK_BYTES_MAX
}

#[cold]
fn append_pieces<T: Copy>(out: &mut Vec<T>, values: &[T]) {
    out.reserve(values.len());
    let each = PIECE_BYTES.checked_div(size_of::<T>());
    for piece in values.chunks(each.unwrap_or_default().max(1)) {
        out.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn every_length_is_copied_whole() {
        for len in [
            0, 1, 2047, 2048, 2049, 4095, 4096, 4097, 10_000, 524_288, 524_289,
        ] {
            let bytes = octets(len);
            assert_eq!(to_vec(&bytes), bytes);
            let mut out = octets(3);
            append(&mut out, &bytes);
            assert_eq!(out, [octets(3), octets(len)].concat());
            let wide: Vec<u64> = (0..len as u64).collect();
            let mut out: Vec<u64> = [7; 2].to_vec();
            append(&mut out, &wide);
            assert_eq!(out, [[7; 2].to_vec(), wide].concat());
            let mut room = octets(len + 5);
            room.iter_mut().for_each(|it| *it = 0xff);
            overwrite(&mut room, &bytes);
            assert_eq!(room, [octets(len), [0xff; 5].to_vec()].concat());
            let mut less = octets(len / 2);
            less.iter_mut().for_each(|it| *it = 0);
            overwrite(&mut less, &bytes);
            assert_eq!(less, bytes[..len / 2]);
        }
    }

    #[test]
    fn a_few_are_copied_whole_and_others_not_at_all() {
        for len in 0..=40 {
            let bytes = octets(len);
            for room in [len.saturating_sub(1), len, len + 5] {
                let mut to = [0xff; 50];
                let copied = overwrite_few(&mut to[2..2 + room], &bytes);
                assert_eq!(
                    copied,
                    room == len && (8..=32).contains(&len),
                    "{len} {room}"
                );
                let wanted = if copied { &bytes[..] } else { &[] };
                let rest = [0xff; 48][wanted.len()..].to_vec();
                assert_eq!(to[..], [&[0xff; 2], wanted, &rest].concat(), "{len} {room}");
            }
        }
    }

    #[test]
    fn slow_is_what_begins_a_little_further_into_its_page() {
        assert!(!is_slow(16, 16) && is_slow(16, 17) && is_slow(16, 47) && !is_slow(16, 48));
        assert!(!is_slow(17, 16) && !is_slow(0, 2048));
        assert!(is_slow(4095, 0) && is_slow(4096 + 10, 3 * 4096 + 12) && is_slow(4090, 8192));
    }
}
