//! Numbers that look random and are the same for the same seed, for ever: SplitMix64.

use whimbrel_base::time::Duration;

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream that belongs to `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A stream of its own, so that what it is used for does not shift this one.
    pub fn fork(&mut self) -> Self {
        Self(self.next_u64())
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `permille` of a thousand cases.
    pub fn chance(&mut self, permille: u32) -> bool {
        permille > 0 && self.below(1000) < u64::from(permille)
    }

    /// One of `choices`, which are not empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A span from nothing to `longest`.
    pub fn span(&mut self, longest: Duration) -> Duration {
        Duration::from_nanos(self.below(longest.as_nanos().unsigned_abs() + 1) as i64)
    }
}

/// Spreads the bits of `number` over all others; SplitMix64's finalizer.
pub const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A running hash of everything that went over the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrafficHash(u64);

impl TrafficHash {
    /// The hash of nothing.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Adds a number.
    pub fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// Adds octets.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.add(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
        self.add(bytes.len() as u64);
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        mix(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn ranges_are_reached_and_kept() {
        let mut random = Random::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[random.between(3, 7) as usize - 3] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert!(!random.chance(0));
        assert!(random.chance(1000));
    }

    #[test]
    fn the_hash_tells_order_and_length() {
        let hash = |parts: &[&[u8]]| {
            let mut hash = TrafficHash::EMPTY;
            parts.iter().for_each(|part| hash.add_bytes(part));
            hash.value()
        };
        assert_ne!(hash(&[&[1, 2]]), hash(&[&[2, 1]]));
        assert_ne!(hash(&[&[0]]), hash(&[&[0, 0]]));
        assert_eq!(hash(&[&[7; 20]]), hash(&[&[7; 20]]));
    }
}
