//! How much octets hold when each is looked at by itself.

/// Entropy of order 0 in bits for each octet, 0 to 8: what no code for single octets goes below.
/// 0 where there are none.
pub fn entropy_bits(octets: &[u8]) -> f64 {
    let mut counts = [0u64; 256];
    for octet in octets {
        counts[usize::from(*octet)] += 1;
    }
    let total = octets.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|it| **it > 0)
        .map(|it| {
            let share = *it as f64 / total;
            share * (1.0 / share).log2()
        })
        .sum();
    // The sum of nothing is a negative zero, which people would see.
    bits.abs()
}
