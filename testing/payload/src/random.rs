//! Random numbers from a seed, the same on every machine.

/// A generator of 64-bit numbers: SplitMix64, whose whole state is one number.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator whose numbers depend on the seed alone.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number; all are equally likely.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, which must not be 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product favours no value by more than 2^-32 for bounds below 2^32.
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }

    /// True in so many of 1000 cases.
    pub const fn permille(&mut self, cases: u64) -> bool {
        self.below(1000) < cases
    }

    /// One of the values.
    pub fn one_of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len() as u64) as usize]
    }

    /// Exponentially distributed with the mean, by von Neumann's method, which only compares.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let mut whole = 0;
        loop {
            let first = self.next_u64();
            let mut last = first;
            let mut falling = 1;
            loop {
                let next = self.next_u64();
                if next >= last {
                    break;
                }
                last = next;
                falling += 1;
            }
            if falling % 2 == 1 {
                let part = ((u128::from(first) * u128::from(mean)) >> 64) as u64;
                return whole * mean + part;
            }
            whole += 1;
        }
    }
}
