//! Compressed payloads, as Connext lays them out. The options of the encapsulation header say by
//! which codec, and how many octets pad the payload; the length of the data when it was plain
//! follows, then what the codec made of it. All numbers are big-endian.
//!
//! ```text
//! 0  u16  representation of the plain data
//! 2  u16  options: 5 bits that count, three for the codec and two for the octets of padding
//! 4  u32  octets of the plain data without its encapsulation header
//! 8  u32  which codec, only where the three bits are all ones
//! ```

use alloc::vec::Vec;

use whimbrel_base::cursor::padding;
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::{Reject, RejectKind};

/// The three bits that say that the codec is named elsewhere.
const EXTENDED: u16 = 7;

/// Codecs of our own by name: our vendor number, then theirs.
const OWN: [(CompressionIds, u32); 4] = [
    (CompressionIds::ZSTD, 0x0177_0001),
    (CompressionIds::LZO, 0x0177_0002),
    (CompressionIds::HUFFMAN, 0x0177_0003),
    (CompressionIds::LZ, 0x0177_0004),
];

/// A compressed payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compressed<'a> {
    /// The first two octets of the plain payload: its representation.
    pub representation: [u8; 2],
    /// The one codec.
    pub codec: CompressionIds,
    /// Octets of the plain data, its encapsulation header not counted.
    pub plain_bytes: u32,
    /// What the codec made of them.
    pub packed: &'a [u8],
}

/// Octets of encapsulation header.
pub const ENCAPSULATION_BYTES: usize = 4;

/// The octets of data in a plain payload: without its encapsulation header, and without the
/// padding of which that tells. RTPS 2.5 §10.2.1.2, XTypes 1.3 §7.6.3.1.2.
pub fn plain_data(payload: &[u8]) -> Option<&[u8]> {
    let ([_, _, _, options], data) = payload.split_first_chunk::<ENCAPSULATION_BYTES>()?;
    let end = data.len().checked_sub(usize::from(options & 3))?;
    data.get(..end)
}

impl<'a> Compressed<'a> {
    /// Reads a payload; `None` where it is plain, whether or not that is well formed.
    ///
    /// # Errors
    /// `Codec` for a codec that nobody knows, `Truncated` and `Length` where octets are missing.
    pub fn parse(payload: &'a [u8]) -> Result<Option<Self>, Reject> {
        let Some(([first, second, _, options], rest)) = payload.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let (class, pad) = (u16::from(options >> 2) & EXTENDED, usize::from(options & 3));
        if class == 0 {
            return Ok(None);
        }
        let truncated = Reject::new(RejectKind::Truncated, payload.len());
        let (length, rest) = rest.split_first_chunk().ok_or(truncated)?;
        let (codec, rest) = match class {
            1 => (CompressionIds::ZLIB, rest),
            2 => (CompressionIds::BZIP2, rest),
            4 => (CompressionIds::LZ4, rest),
            EXTENDED => {
                let (number, rest) = rest.split_first_chunk().ok_or(truncated)?;
                let number = u32::from_be_bytes(*number);
                let known = OWN.iter().find(|(_, it)| *it == number);
                let (codec, _) = known.ok_or(Reject::new(RejectKind::Codec, 8))?;
                (*codec, rest)
            }
            _ => return Err(Reject::new(RejectKind::Codec, 2)),
        };
        let end = rest.len().checked_sub(pad);
        let end = end.ok_or(Reject::new(RejectKind::Length, 2))?;
        Ok(Some(Self {
            representation: [*first, *second],
            codec,
            plain_bytes: u32::from_be_bytes(*length),
            packed: rest.get(..end).unwrap_or_default(),
        }))
    }

    /// Octets before the compressed data; `None` for codecs that cannot be named.
    pub fn head_bytes(codec: CompressionIds) -> Option<usize> {
        class_of(codec).map(|(_, number)| if number.is_some() { 12 } else { 8 })
    }

    /// Puts what stands before the compressed data into the first octets of `out`, which is as
    /// long as the head and the compressed data, and pads it to a multiple of four octets; nothing
    /// for codecs that cannot be named.
    pub fn finish(
        representation: [u8; 2],
        codec: CompressionIds,
        plain_bytes: u32,
        out: &mut Vec<u8>,
    ) {
        let Some((class, number)) = class_of(codec) else {
            return;
        };
        let pad = padding(out.len(), 4);
        out.resize(out.len().saturating_add(pad), 0);
        let pad = u16::try_from(pad).unwrap_or_default();
        let options = (class << 2) | pad;
        let length = plain_bytes.to_be_bytes();
        let head = representation
            .into_iter()
            .chain(options.to_be_bytes())
            .chain(length)
            .chain(number.into_iter().flat_map(u32::to_be_bytes));
        for (place, octet) in out.iter_mut().zip(head) {
            *place = octet;
        }
    }
}

fn class_of(codec: CompressionIds) -> Option<(u16, Option<u32>)> {
    match codec {
        CompressionIds::ZLIB => Some((1, None)),
        CompressionIds::BZIP2 => Some((2, None)),
        CompressionIds::LZ4 => Some((4, None)),
        _ => {
            let known = OWN.iter().find(|(it, _)| *it == codec)?;
            Some((EXTENDED, Some(known.1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_layout_of_connext() {
        let mut out = vec![0; 8];
        out.extend([0x78, 0xda, 3, 4, 5, 6]);
        Compressed::finish([0, 1], CompressionIds::ZLIB, 208, &mut out);
        let golden = [0, 1, 0, 6, 0, 0, 0, 0xd0, 0x78, 0xda, 3, 4, 5, 6, 0, 0];
        assert_eq!(out, golden);
        let parsed = Compressed::parse(&golden).unwrap().unwrap();
        assert_eq!(parsed.codec, CompressionIds::ZLIB);
        assert_eq!(parsed.packed, &golden[8..14]);
        assert_eq!(parsed.plain_bytes, 208);
        assert_eq!(parsed.representation, [0, 1]);
    }

    #[test]
    fn every_codec_is_named_and_read_back() {
        for codec in CompressionIds::ALL.iter() {
            let head = Compressed::head_bytes(codec).unwrap();
            let mut out = vec![0; head];
            out.extend([9; 5]);
            Compressed::finish([0, 7], codec, 77, &mut out);
            assert_eq!(out.len() % 4, 0);
            let parsed = Compressed::parse(&out).unwrap().unwrap();
            assert_eq!((parsed.codec, parsed.plain_bytes), (codec, 77));
            assert_eq!(parsed.packed, [9; 5]);
        }
        assert_eq!(Compressed::head_bytes(CompressionIds::ALL), None);
    }

    #[test]
    fn plain_payloads_and_bad_ones() {
        let check = |payload: &[u8], kind| {
            let outcome = Compressed::parse(payload).map_err(|it| it.kind);
            assert_eq!(outcome, kind, "{payload:?}");
        };
        check(&[], Ok(None));
        check(&[0, 1, 0], Ok(None));
        check(&[0, 1, 0, 3, 9, 9, 9, 9], Ok(None));
        check(&[0, 1, 0xff, 0xe3], Ok(None));
        check(&[0, 1, 0, 4], Err(RejectKind::Truncated));
        check(&[0, 1, 0, 4, 0, 0, 0], Err(RejectKind::Truncated));
        check(&[0, 1, 0, 7, 0, 0, 0, 9, 1, 2], Err(RejectKind::Length));
        check(&[0, 1, 0, 12, 0, 0, 0, 9], Err(RejectKind::Codec));
        check(&[0, 1, 0, 20, 0, 0, 0, 9], Err(RejectKind::Codec));
        check(&[0, 1, 0, 28, 0, 0, 0, 9], Err(RejectKind::Truncated));
        let stranger = [0, 1, 0, 28, 0, 0, 0, 9, 1, 1, 0, 1];
        check(&stranger, Err(RejectKind::Codec));
        assert_eq!(plain_data(&[0, 1, 0, 2, 1, 2, 0, 0]), Some(&[1, 2][..]));
        assert_eq!(plain_data(&[0, 1, 0, 2, 1]), None);
    }
}
