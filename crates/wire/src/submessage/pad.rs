//! PAD: nothing, to reach an alignment. RTPS 2.5 §8.3.8.11, §9.4.5.15.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;

use super::frame::{SubmessageKind, compose};

/// Nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pad {
    /// Octets of the body.
    pub len: u16,
}

impl Pad {
    /// Reads the body of a PAD, whatever it holds.
    pub fn parse(body: &[u8]) -> Self {
        let len = u16::try_from(body.len()).unwrap_or(u16::MAX);
        Self { len }
    }

    /// Appends the submessage, its body of zeros rounded up to a multiple of four.
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        compose(out, endian, SubmessageKind::PAD, 0, |out| {
            out.zeros(usize::from(self.len))
        });
    }
}

impl fmt::Display for Pad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PAD {} octets", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, round_trip};

    #[test]
    fn golden_bytes_and_round_trip() {
        let golden = [0x01, 0x01, 4, 0, 9, 9, 9, 9];
        assert_eq!(only(&golden), Ok(Submessage::Pad(Pad { len: 4 })));
        for (len, padded) in [(0, 0), (1, 4), (8, 8)] {
            let compose = |out: &mut Vec<u8>, endian| Pad { len }.compose(out, endian);
            round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::Pad(Pad { len: padded })
            });
        }
    }
}
