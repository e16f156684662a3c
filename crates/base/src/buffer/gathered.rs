//! Octets that lie in more than one place.

use alloc::vec::Vec;
use core::ops::Range;

use super::SharedBytes;
use crate::copying;

/// Octets in one slab, or with those of another amid them.
///
/// What a program shares need not be copied into the encoded sample that it is part of: the
/// encoding is then what stands around it.
#[derive(Clone, Debug, Default)]
pub struct GatheredBytes {
    around: SharedBytes,
    /// Where in `around` the others belong.
    at: usize,
    amid: SharedBytes,
}

impl GatheredBytes {
    /// The octets `around` with `amid` put in before those at `at`, or after all of them where
    /// there are fewer.
    pub fn new(around: SharedBytes, at: usize, amid: SharedBytes) -> Self {
        let at = at.min(around.len());
        Self { around, at, amid }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.around.len().saturating_add(self.amid.len())
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Octets that their slabs keep alive, at least as many as there are.
    pub fn slab_len(&self) -> usize {
        self.around.slab_len().saturating_add(self.amid.slab_len())
    }

    /// All of them: those before the most of them, these, and those after them.
    #[inline(always)]
    pub fn in_order(&self) -> [&[u8]; 3] {
        let around: &[u8] = &self.around;
        if self.amid.is_empty() {
            return [&[], around, &[]];
        }
        let (before, after) = around.split_at_checked(self.at).unwrap_or((around, &[]));
        [before, &self.amid, after]
    }

    /// Those in `range`, as far as there are so many, where they lie in one place.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if !self.amid.is_empty() {
            return None;
        }
        self.around
            .get(range.start..range.end.min(self.around.len()))
    }

    /// All of them in one place; copied only where they are not.
    pub fn whole(&self) -> SharedBytes {
        if self.amid.is_empty() {
            return self.around.clone();
        }
        let mut bytes = Vec::with_capacity(self.len());
        for piece in self.pieces(0..self.len()) {
            copying::append(&mut bytes, &piece);
        }
        SharedBytes::from_vec(bytes)
    }

    /// As [`GatheredBytes::whole`], of octets that nobody else needs.
    pub fn into_whole(self) -> SharedBytes {
        if self.amid.is_empty() {
            self.around
        } else {
            self.whole()
        }
    }

    /// Those in `range`, as far as there are so many, in the pieces in which they lie.
    pub fn pieces(&self, range: Range<usize>) -> [SharedBytes; 3] {
        let before = self.at;
        let after = before.saturating_add(self.amid.len());
        let end = range.end.min(self.len());
        let part = |of: &SharedBytes, from: usize, to: usize, skipped: usize| {
            let start = range.start.max(from);
            let end = end.min(to);
            let own = start.saturating_sub(skipped)..end.saturating_sub(skipped);
            let found = (start < end).then(|| of.slice(own)).flatten();
            found.unwrap_or_default()
        };
        [
            part(&self.around, 0, before, 0),
            part(&self.amid, before, after, before),
            part(&self.around, after, usize::MAX, self.amid.len()),
        ]
    }
}

impl From<SharedBytes> for GatheredBytes {
    fn from(bytes: SharedBytes) -> Self {
        let at = bytes.len();
        Self::new(bytes, at, SharedBytes::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(gathered: &GatheredBytes, range: Range<usize>) -> Vec<u8> {
        let pieces = gathered.pieces(range);
        pieces.iter().flat_map(|it| it.iter().copied()).collect()
    }

    #[test]
    fn every_range_of_every_arrangement_is_found() {
        let all: Vec<u8> = (0..12).collect();
        for at in 0..=12 {
            for len in 0..=(12 - at) {
                let around = [&all[..at], &all[at + len..]].concat();
                let amid = SharedBytes::copy_from(&all[at..at + len]);
                let gathered = GatheredBytes::new(SharedBytes::from_vec(around), at, amid);
                assert_eq!((gathered.len(), gathered.is_empty()), (12, false));
                assert_eq!(*gathered.whole(), *all);
                for start in 0..14 {
                    for end in 0..14 {
                        let wanted = all.get(start..end.min(12)).unwrap_or_default();
                        assert_eq!(octets(&gathered, start..end), wanted, "{at} {len}");
                        let found = gathered.get(start..end).unwrap_or(wanted);
                        assert_eq!(found, wanted);
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_copied_where_all_is_in_one_place() {
        let bytes = SharedBytes::copy_from(&[7; 100]);
        let gathered = GatheredBytes::from(bytes.clone());
        assert_eq!(gathered.whole().as_ptr(), bytes.as_ptr());
        assert_eq!(gathered.slab_len(), bytes.slab_len());
        assert_eq!(gathered.get(98..200), Some(&[7, 7][..]));
        let amid = SharedBytes::copy_from(&[8; 50]);
        let gathered = GatheredBytes::new(bytes, 1000, amid.clone());
        assert_eq!(gathered.pieces(100..150)[1].as_ptr(), amid.as_ptr());
        assert!(GatheredBytes::default().is_empty());
    }
}
