//! CRC-32C, the checksum of the header extension. RTPS 2.5 §9.4.5.2.

/// The polynomial 0x1edc6f41, bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// CRC-32C (Castagnoli) over `parts` as if they were one slice.
pub(crate) fn crc32c<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut crc = u32::MAX;
    for byte in parts.into_iter().flatten() {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = (crc & 1).wrapping_neg();
            crc = (crc >> 1) ^ (POLYNOMIAL & carry);
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // RFC 3720 §B.4 and the usual check value.
        assert_eq!(crc32c([b"1234".as_slice(), b"56789"]), 0xe306_9283);
        assert_eq!(crc32c([[0; 32].as_slice()]), 0x8a91_36aa);
    }
}
