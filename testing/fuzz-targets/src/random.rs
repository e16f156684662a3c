//! Numbers that are the same on every machine.

/// An xorshift generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of `seed`.
    pub const fn new(seed: u64) -> Self {
        // Seeds next to each other give runs of numbers that have nothing in common.
        let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ mixed >> 31) | 1)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    ///
    /// # Panics
    /// When there is none.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// So many octets.
    pub fn octets(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// A number that is seldom other than `truth`.
    pub fn mostly(&mut self, truth: u64) -> u64 {
        match self.once_in(24) {
            true => self.edge(),
            false => truth,
        }
    }

    /// A number as attackers choose them: small, or next to some power of two.
    pub fn edge(&mut self) -> u64 {
        let small = self.next() % 9;
        if self.once_in(2) {
            return small;
        }
        let power = 1_u64 << self.below(64);
        match self.below(4) {
            0 => power.wrapping_sub(small),
            1 => power.wrapping_add(small),
            2 => 0_u64.wrapping_sub(small),
            _ => power,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_differ() {
        let run = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(0), run(1));
        assert_ne!(run(1), run(2));
    }
}
