//! The greatest size that the key of a type can have once encoded.
//!
//! A key hash is the key itself where that size is at most 16 octets, else a digest of it
//! (RTPS 2.5 §9.6.4.8), so both sides must compute the same bound, padding included. Padding
//! depends on where a value starts, hence one figure per starting position modulo 8.

use crate::representation::Representation;

/// For each starting position modulo 8, the greatest number of octets up to the end; `None`
/// where there is no bound.
type Spans = Option<[u32; 8]>;

/// Bounds on the encoded size of a value as (part of) a key, in both representations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyBounds {
    xcdr1: Spans,
    xcdr2: Spans,
}

impl KeyBounds {
    /// Nothing at all.
    pub const EMPTY: Self = Self {
        xcdr1: Some([0; 8]),
        xcdr2: Some([0; 8]),
    };

    /// No bound: unbounded strings and sequences.
    pub const UNBOUNDED: Self = Self {
        xcdr1: None,
        xcdr2: None,
    };

    /// A number of `size` octets (1, 2, 4 or 8), aligned as its representation says.
    pub const fn number(size: u32) -> Self {
        Self {
            xcdr1: aligned(size, size),
            xcdr2: aligned(size, if size < 4 { size } else { 4 }),
        }
    }

    /// A string of at most `bound` octets without its terminator.
    pub const fn string(bound: u32) -> Self {
        let octets = bound.saturating_add(1);
        let text = Self {
            xcdr1: Some([octets; 8]),
            xcdr2: Some([octets; 8]),
        };
        Self::number(4).then(text)
    }

    /// This value followed by `next`.
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        Self {
            xcdr1: chained(self.xcdr1, next.xcdr1),
            xcdr2: chained(self.xcdr2, next.xcdr2),
        }
    }

    /// This value or `other`, whichever ends later.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            xcdr1: greatest(self.xcdr1, other.xcdr1),
            xcdr2: greatest(self.xcdr2, other.xcdr2),
        }
    }

    /// This value `count` times.
    #[must_use]
    pub const fn times(self, count: usize) -> Self {
        // More than 16 octets are all the same to a key hash, and 17 elements that are not empty
        // make more.
        let capped = if count > 17 { 17 } else { count };
        let mut all = Self::EMPTY;
        let mut done: usize = 0;
        while done < capped {
            all = all.then(self);
            done = done.wrapping_add(1);
        }
        all
    }

    /// This value behind the delimiter that XCDR2 puts around collections.
    /// XTypes 1.3 §7.4.3.5.
    #[must_use]
    pub const fn delimited(self) -> Self {
        Self {
            xcdr1: self.xcdr1,
            xcdr2: chained(aligned(4, 4), self.xcdr2),
        }
    }

    /// The greatest size in octets from the start of a key, capped only where it is far beyond
    /// the 16 octets that matter; `None` where there is no bound.
    pub const fn size_max(self, representation: Representation) -> Option<usize> {
        let spans = match representation {
            Representation::Xcdr1 => self.xcdr1,
            Representation::Xcdr2 => self.xcdr2,
        };
        match spans {
            Some([from_origin, ..]) => Some(from_origin as usize),
            None => None,
        }
    }

    /// True where the key hash is the key itself. RTPS 2.5 §9.6.4.8.
    pub const fn fits_key_hash(self, representation: Representation) -> bool {
        matches!(self.size_max(representation), Some(size) if size <= 16)
    }
}

const fn aligned(size: u32, to: u32) -> Spans {
    let mask = to.wrapping_sub(1);
    let mut spans = [0; 8];
    let mut rest: &mut [u32] = &mut spans;
    let mut start: u32 = 0;
    while let [first, tail @ ..] = rest {
        *first = (start.wrapping_neg() & mask).wrapping_add(size);
        start = start.wrapping_add(1);
        rest = tail;
    }
    Some(spans)
}

const fn chained(first: Spans, next: Spans) -> Spans {
    let (Some(mut spans), Some(next)) = (first, next) else {
        return None;
    };
    let mut rest: &mut [u32] = &mut spans;
    let mut start: u32 = 0;
    while let [span, tail @ ..] = rest {
        let [n0, n1, n2, n3, n4, n5, n6, n7] = next;
        let more = match start.wrapping_add(*span) & 7 {
            0 => n0,
            1 => n1,
            2 => n2,
            3 => n3,
            4 => n4,
            5 => n5,
            6 => n6,
            _ => n7,
        };
        *span = span.saturating_add(more);
        start = start.wrapping_add(1);
        rest = tail;
    }
    Some(spans)
}

const fn greatest(one: Spans, other: Spans) -> Spans {
    let (Some(mut spans), Some(other)) = (one, other) else {
        return None;
    };
    let mut rest: &mut [u32] = &mut spans;
    let mut others: &[u32] = &other;
    while let ([span, tail @ ..], [rival, rivals @ ..]) = (rest, others) {
        if *rival > *span {
            *span = *rival;
        }
        rest = tail;
        others = rivals;
    }
    Some(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bounds: KeyBounds, xcdr1: Option<usize>, xcdr2: Option<usize>) {
        assert_eq!(bounds.size_max(Representation::Xcdr1), xcdr1);
        assert_eq!(bounds.size_max(Representation::Xcdr2), xcdr2);
    }

    #[test]
    fn padding_counts() {
        let long = KeyBounds::number(4);
        let octet = KeyBounds::number(1);
        let hyper = KeyBounds::number(8);
        check(KeyBounds::EMPTY, Some(0), Some(0));
        check(octet.then(long), Some(8), Some(8));
        check(octet.then(hyper), Some(16), Some(12));
        check(octet.then(hyper).then(octet), Some(17), Some(13));
        check(long.times(4), Some(16), Some(16));
        check(octet.then(long).times(2), Some(16), Some(16));
        assert!(
            !octet
                .then(hyper)
                .then(octet)
                .fits_key_hash(Representation::Xcdr1)
        );
        assert!(
            octet
                .then(hyper)
                .then(octet)
                .fits_key_hash(Representation::Xcdr2)
        );
    }

    #[test]
    fn strings_and_alternatives() {
        check(KeyBounds::string(11), Some(16), Some(16));
        check(KeyBounds::UNBOUNDED.then(KeyBounds::EMPTY), None, None);
        check(
            KeyBounds::number(2).or(KeyBounds::number(8)),
            Some(8),
            Some(8),
        );
        check(KeyBounds::number(2).delimited(), Some(2), Some(6));
        assert!(
            KeyBounds::number(1)
                .times(1 << 40)
                .size_max(Representation::Xcdr1)
                > Some(16)
        );
    }
}
