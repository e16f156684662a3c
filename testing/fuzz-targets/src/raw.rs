//! A byte writer that knows only byte order and padding.

use crate::random::Random;

/// Bytes in one byte order.
#[derive(Clone)]
pub struct Raw {
    bytes: Vec<u8>,
    little: bool,
}

impl Raw {
    /// No bytes yet, in little endian.
    pub const fn little() -> Self {
        Self {
            bytes: Vec::new(),
            little: true,
        }
    }

    /// No bytes yet, in big endian.
    pub const fn big() -> Self {
        Self {
            bytes: Vec::new(),
            little: false,
        }
    }

    /// No bytes yet, in either byte order.
    pub fn either(random: &mut Random) -> Self {
        match random.once_in(2) {
            true => Self::big(),
            false => Self::little(),
        }
    }

    /// True where numbers begin with their least octet.
    pub const fn is_little(&self) -> bool {
        self.little
    }

    /// The bytes.
    pub fn done(self) -> Vec<u8> {
        self.bytes
    }

    /// These octets as they are.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// The octets of a number, least first, in our byte order.
    fn in_order<const N: usize>(self, mut octets: [u8; N]) -> Self {
        if !self.little {
            octets.reverse();
        }
        self.bytes(&octets)
    }

    /// One octet.
    #[must_use]
    pub fn u8(self, value: u8) -> Self {
        self.bytes(&[value])
    }

    /// Two octets.
    #[must_use]
    pub fn u16(self, value: u16) -> Self {
        self.in_order(value.to_le_bytes())
    }

    /// Four octets.
    #[must_use]
    pub fn u32(self, value: u32) -> Self {
        self.in_order(value.to_le_bytes())
    }

    /// Eight octets.
    #[must_use]
    pub fn u64(self, value: u64) -> Self {
        self.in_order(value.to_le_bytes())
    }

    /// A sequence number: high word first in either byte order. RTPS 2.5 §9.3.2.
    pub fn number(self, value: i64) -> Self {
        let bits = value as u64;
        self.u32((bits >> 32) as u32).u32(bits as u32)
    }

    /// A set of sequence numbers with the given words. RTPS 2.5 §9.4.2.6.
    pub fn numbers(self, base: i64, bits: u32, words: &[u32]) -> Self {
        words
            .iter()
            .fold(self.number(base).u32(bits), |raw, word| raw.u32(*word))
    }

    /// A set of fragment numbers with the given words. RTPS 2.5 §9.4.2.8.
    pub fn fragments(self, base: u32, bits: u32, words: &[u32]) -> Self {
        words
            .iter()
            .fold(self.u32(base).u32(bits), |raw, word| raw.u32(*word))
    }

    /// A CDR string with its terminator, padded to four octets.
    pub fn string(self, text: &str) -> Self {
        let len = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
        self.u32(len).bytes(text.as_bytes()).u8(0).pad()
    }

    /// Zeros up to the next multiple of four.
    pub fn pad(mut self) -> Self {
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self
    }
}
