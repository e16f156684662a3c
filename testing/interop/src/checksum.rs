//! CRC-32 as in zlib, over the members of a sample (`testing/interop/README.md`).

/// The checksum of what was added so far, and how many octets that were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    crc: u32,
    length: usize,
}

impl Checksum {
    /// Of nothing.
    pub(crate) const fn new() -> Self {
        Self {
            crc: u32::MAX,
            length: 0,
        }
    }

    /// Adds octets.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let index = (self.crc ^ u32::from(*byte)) & 0xff;
            self.crc = TABLE[index as usize] ^ (self.crc >> 8);
        }
        self.length += bytes.len();
    }

    /// The checksum.
    pub(crate) const fn value(self) -> u32 {
        !self.crc
    }

    /// Octets added.
    pub(crate) const fn length(self) -> usize {
        self.length
    }
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < table.len() {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = value & 1;
            value >>= 1;
            if carry == 1 {
                value ^= 0xedb8_8320;
            }
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_crc_of_zlib() {
        let mut sum = Checksum::new();
        assert_eq!(sum.value(), 0);
        sum.add(b"1234");
        sum.add(b"56789");
        assert_eq!((sum.value(), sum.length()), (0xcbf4_3926, 9));
    }
}
