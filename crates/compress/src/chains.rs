//! Finds what was there before: chains of the places where the same four octets stand.

/// How far back a match may lie: what two octets can say.
pub(crate) const DISTANCE_MAX: usize = 65_535;

/// Octets that a match has at least.
pub(crate) const MATCH_MIN: usize = 4;

const HASH_BITS: u32 = 15;

/// Places that are remembered.
const WINDOW: usize = 1 << 16;

/// A match this long is not improved on.
const LONG: usize = 64;

/// The same octets as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Match {
    /// Where they stand again.
    pub(crate) at: usize,
    pub(crate) length: usize,
    /// How far back they stand.
    pub(crate) distance: usize,
}

/// The chains of one input at a time. Nothing is cleared between two inputs: the places of each
/// are numbered on from those of the one before.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    /// Place where each hash was seen last, in numbers that go on from input to input.
    heads: Vec<u32>,
    /// For each place, modulo the window, how far back its hash was seen before.
    back: Vec<u16>,
    /// Number of the first place of this input.
    base: u32,
    /// Number of the first place after it.
    end: u32,
    /// Places before this one are in the chains.
    next: usize,
}

impl Chains {
    /// Starts with an input of `length` octets.
    pub(crate) fn begin(&mut self, length: usize) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        // Places of the input before must be out of reach.
        let base = self.end.checked_add(WINDOW as u32);
        let fits = base.filter(|base| base.checked_add(length).is_some());
        if self.heads.is_empty() || fits.is_none() {
            self.heads.clear();
            self.heads.resize(1 << HASH_BITS, 0);
            self.back.resize(WINDOW, 0);
        }
        self.base = fits.unwrap_or(WINDOW as u32);
        self.end = self.base.saturating_add(length);
        self.next = 0;
    }

    /// Puts places before `at` into the chains.
    pub(crate) fn skip_to(&mut self, plain: &[u8], at: usize) {
        while self.next < at {
            let place = self.next;
            self.next += 1;
            let Some(hash) = hash_at(plain, place) else {
                continue;
            };
            let number = self.base.saturating_add(place as u32);
            let back = number.saturating_sub(self.heads[hash]);
            self.back[place % WINDOW] = u16::try_from(back).unwrap_or(0);
            self.heads[hash] = number;
        }
    }

    /// The longest match at `at` that ends before `end`, by a look at no more than `depth` places.
    fn longest(&mut self, plain: &[u8], at: usize, end: usize, depth: usize) -> Option<Match> {
        self.skip_to(plain, at);
        let hash = hash_at(plain, at)?;
        let number = self.base + at as u32;
        let here = plain.get(at..end)?;
        let mut best = Match {
            at,
            length: MATCH_MIN - 1,
            distance: 0,
        };
        let mut distance = (number - self.heads[hash]) as usize;
        for _ in 0..depth {
            if distance == 0 || distance > DISTANCE_MAX || distance > at {
                break;
            }
            let length = common(here, &plain[at - distance..]);
            if length > best.length {
                best.length = length;
                best.distance = distance;
                if length >= LONG {
                    break;
                }
            }
            match self.back[(at - distance) % WINDOW] {
                0 => break,
                back => distance += usize::from(back),
            }
        }
        (best.length >= MATCH_MIN).then_some(best)
    }

    /// A match at `at`, or at the place after it where that is longer.
    pub(crate) fn lazy(
        &mut self,
        plain: &[u8],
        at: usize,
        end: usize,
        depth: usize,
    ) -> Option<Match> {
        let found = self.longest(plain, at, end, depth)?;
        if found.length >= LONG {
            return Some(found);
        }
        let later = self.longest(plain, at + 1, end, depth);
        Some(
            later
                .filter(|it| it.length > found.length + 1)
                .unwrap_or(found),
        )
    }
}

fn hash_at(plain: &[u8], at: usize) -> Option<usize> {
    let four = plain.get(at..)?.first_chunk::<4>()?;
    let product = u32::from_le_bytes(*four).wrapping_mul(0x9E37_79B1);
    Some((product >> (32 - HASH_BITS)) as usize)
}

/// How many octets both begin with.
fn common(left: &[u8], right: &[u8]) -> usize {
    let words = left.chunks_exact(8).zip(right.chunks_exact(8));
    let mut length = 0;
    for (one, other) in words {
        let one = u64::from_le_bytes(one.try_into().unwrap_or_default());
        let other = u64::from_le_bytes(other.try_into().unwrap_or_default());
        if one != other {
            return length + ((one ^ other).trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    let rest = left[length..].iter().zip(&right[length..]);
    length + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_the_input_before_are_out_of_reach_and_numbers_start_anew_at_their_end() {
        let plain = b"what comes again: what comes again";
        let found = Some(Match {
            at: 18,
            length: 16,
            distance: 18,
        });
        let mut chains = Chains::default();
        for end in [0, 200_000, u32::MAX - WINDOW as u32 - 40, u32::MAX - 5] {
            chains.end = end;
            chains.begin(plain.len());
            assert_eq!(chains.lazy(plain, 0, plain.len(), 8), None, "{end}");
            assert_eq!(chains.lazy(plain, 18, plain.len(), 8), found, "{end}");
        }
        assert!(chains.base == WINDOW as u32, "{}", chains.base);
    }
}
