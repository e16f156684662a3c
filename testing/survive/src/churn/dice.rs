//! Numbers by chance, the same for the same seed.

/// A xorshift generator.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % end.max(1)
    }

    /// True once in `of`.
    pub(super) fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// The same things in another order.
    pub(super) fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            things.swap(at, other);
        }
    }
}
