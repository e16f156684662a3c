//! ParticipantMessageData: asserts the liveliness of a participant's writers. RTPS 2.5 §9.6.3.3.

use alloc::vec::Vec;

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor};
use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::reject::{Reject, RejectKind};

use crate::field::read_guid_prefix;
use crate::parameter::value::{read_octets, write_octets};

/// What a participant message says. RTPS 2.5 §9.6.3.3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ParticipantMessageKind(pub [u8; 4]);

impl ParticipantMessageKind {
    /// The participant's writers with automatic liveliness are alive.
    pub const AUTOMATIC_LIVELINESS: Self = Self([0, 0, 0, 1]);
    /// The participant's writers with liveliness by participant are alive.
    pub const MANUAL_LIVELINESS: Self = Self([0, 0, 0, 2]);

    /// True where the sender's vendor defines the meaning.
    pub const fn is_vendor_specific(self) -> bool {
        let [first, ..] = self.0;
        first & 0x80 != 0
    }
}

/// Asserts the liveliness of a participant's writers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParticipantMessageData<'a> {
    /// Participant that is meant.
    pub prefix: GuidPrefix,
    /// What is said.
    pub kind: ParticipantMessageKind,
    /// More about it; empty for the standard's kinds.
    pub data: &'a [u8],
}

impl<'a> ParticipantMessageData<'a> {
    /// Reads a payload in plain CDR. The data may be absent.
    ///
    /// # Errors
    /// `Encapsulation` for any other, `Truncated`.
    pub fn parse(payload: &'a [u8]) -> Result<Self, Reject> {
        let mut cursor = ReadCursor::new(payload, Endian::Big);
        let endian = match cursor.u16()? {
            0x0000 => Endian::Big,
            0x0001 => Endian::Little,
            _ => return Err(Reject::new(RejectKind::Encapsulation, 0)),
        };
        cursor.skip(2)?;
        cursor.set_endian(endian);
        Ok(Self {
            prefix: read_guid_prefix(&mut cursor)?,
            kind: ParticipantMessageKind(cursor.array()?),
            data: match cursor.is_empty() {
                true => &[],
                false => read_octets(&mut cursor)?,
            },
        })
    }

    /// Appends the payload in little-endian CDR.
    pub fn compose(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 1, 0, 0]);
        let mut out = WriteCursor::new(out, Endian::Little);
        out.bytes(&self.prefix.0);
        out.bytes(&self.kind.0);
        write_octets(&mut out, self.data);
    }

    /// The key hash: prefix and kind. RTPS 2.5 §9.6.4.8.
    pub fn key_hash(&self) -> [u8; 16] {
        let mut hash = [0; 16];
        for (to, from) in hash
            .iter_mut()
            .zip(self.prefix.0.iter().chain(&self.kind.0))
        {
            *to = *from;
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_and_truncations() {
        let golden = *b"\x00\x01\x00\x00abcdefghijkl\x00\x00\x00\x02\x02\x00\x00\x00hi";
        let data = ParticipantMessageData::parse(&golden).unwrap();
        assert_eq!(data.kind, ParticipantMessageKind::MANUAL_LIVELINESS);
        assert_eq!(data.data, b"hi");
        assert_eq!(data.key_hash(), *b"abcdefghijkl\x00\x00\x00\x02");
        let mut out = Vec::new();
        data.compose(&mut out);
        assert_eq!(out, golden);
        for len in 0..golden.len() {
            let outcome = ParticipantMessageData::parse(&golden[..len]);
            assert_eq!(outcome.is_ok(), len == 20, "{len}");
        }
        let mut big = golden;
        big[1] = 0;
        big[20..24].copy_from_slice(&[0, 0, 0, 2]);
        assert_eq!(ParticipantMessageData::parse(&big), Ok(data));
        big[1] = 2;
        let reject = ParticipantMessageData::parse(&big).unwrap_err();
        assert_eq!(reject.kind, RejectKind::Encapsulation);
    }
}
