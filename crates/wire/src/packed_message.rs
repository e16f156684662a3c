//! Messages whose submessages are compressed as one block: between Whimbrel's participants, as far
//! as they announced that they take it. To others the one submessage would be of an unknown kind,
//! to be skipped. Behind another submessage, or within what it holds, it is refused. RTPS 2.5
//! §8.3.4.1, §9.4.5.1.
//!
//! ```text
//! 0   message header
//! 20  u8   kind, of those that vendors may give
//! 21  u8   flags: little-endian
//! 22  u16  octets that follow: to the end of the message
//! 24  u32  which codec, as in the parameter that announces those taken
//! 28  u32  octets of the submessages when they were plain
//! 32  what the codec made of them
//! ```

use alloc::vec::Vec;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::qos::CompressionIds;
use whimbrel_base::reject::{Reject, RejectKind};
use whimbrel_base::vendor::VendorId;

use crate::header::Header;
use crate::submessage::SubmessageKind;
use crate::submessage::frame::FLAG_ENDIAN;

/// The kind of the one submessage.
pub const KIND: SubmessageKind = SubmessageKind(0xc1);

/// Octets before the compressed block.
pub const HEAD_BYTES: usize = Header::LEN + 12;

/// Largest message, plain or compressed: what fits a datagram.
pub const MESSAGE_BYTES_MAX: usize = 65_507;

/// A message in its compressed form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedMessage<'a> {
    /// The header that the plain message has too.
    pub header: &'a [u8],
    /// The one codec.
    pub codec: CompressionIds,
    /// Octets of the plain message without its header; at least one, and no more than fit a
    /// datagram.
    pub plain_bytes: usize,
    /// What the codec made of them.
    pub packed: &'a [u8],
}

impl<'a> PackedMessage<'a> {
    /// Reads a datagram; `None` where it is anything else, whether or not that is well formed.
    ///
    /// # Errors
    /// `Truncated` and `Length` where octets are missing or too many, `Codec` where there is not
    /// one codec, `Limit` where more is claimed than a message can have been.
    pub fn parse(datagram: &'a [u8]) -> Result<Option<Self>, Reject> {
        let Some((header, body)) = datagram.split_at_checked(Header::LEN) else {
            return Ok(None);
        };
        if body.first() != Some(&KIND.0) {
            return Ok(None);
        }
        let is_ours = Header::parse(header).is_ok_and(|it| it.vendor == VendorId::WHIMBREL);
        if !is_ours {
            return Ok(None);
        }
        let flags = body.get(1).copied().unwrap_or_default();
        let endian = if flags & FLAG_ENDIAN != 0 {
            Endian::Little
        } else {
            Endian::Big
        };
        let mut cursor = ReadCursor::new(body, endian);
        cursor.skip(2)?;
        let follows = usize::from(cursor.u16()?);
        let codec = CompressionIds(cursor.u32()?);
        let plain_bytes = usize::try_from(cursor.u32()?).unwrap_or(usize::MAX);
        let packed = cursor.rest();
        if follows != packed.len().saturating_add(8) {
            return Err(Reject::new(RejectKind::Length, 22));
        }
        if codec.count() != 1 {
            return Err(Reject::new(RejectKind::Codec, 24));
        }
        if plain_bytes == 0 || plain_bytes > MESSAGE_BYTES_MAX.saturating_sub(Header::LEN) {
            return Err(Reject::new(RejectKind::Limit, 28));
        }
        Ok(Some(Self {
            header,
            codec,
            plain_bytes,
            packed,
        }))
    }

    /// Refuses plain submessages that begin with a compressed block again.
    ///
    /// # Errors
    /// `Compression`.
    pub fn check_plain(plain: &[u8]) -> Result<(), Reject> {
        if plain.first() == Some(&KIND.0) {
            return Err(Reject::new(RejectKind::Compression, Header::LEN));
        }
        Ok(())
    }

    /// Puts what stands before the compressed block into the first octets of `out`, which is as
    /// long as both; false where it is too short or too long.
    pub fn finish(header: &[u8], codec: CompressionIds, plain_bytes: u32, out: &mut [u8]) -> bool {
        let follows = out.len().saturating_sub(Header::LEN.saturating_add(4));
        let Ok(follows) = u16::try_from(follows) else {
            return false;
        };
        let mut head: Vec<u8> = Vec::with_capacity(HEAD_BYTES);
        head.extend_from_slice(header);
        head.extend([KIND.0, FLAG_ENDIAN]);
        head.extend(follows.to_le_bytes());
        head.extend(codec.0.to_le_bytes());
        head.extend(plain_bytes.to_le_bytes());
        match out.get_mut(..HEAD_BYTES) {
            Some(place) if head.len() == HEAD_BYTES => place.copy_from_slice(&head),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use whimbrel_base::guid::GuidPrefix;
    use whimbrel_base::vendor::ProtocolVersion;

    fn header(vendor: VendorId) -> Vec<u8> {
        let mut out = Vec::new();
        let header = Header {
            version: ProtocolVersion::V2_5,
            vendor,
            prefix: GuidPrefix([3; 12]),
        };
        header.compose(&mut out);
        out
    }

    fn message(codec: CompressionIds, plain_bytes: u32, packed: &[u8]) -> Vec<u8> {
        let mut out = vec![0; HEAD_BYTES];
        out.extend_from_slice(packed);
        let header = header(VendorId::WHIMBREL);
        assert!(PackedMessage::finish(&header, codec, plain_bytes, &mut out));
        out
    }

    #[test]
    fn what_was_put_together_is_read() {
        let sent = message(CompressionIds::LZ4, 700, b"packed");
        let head = [0xc1, 1, 14, 0, 4, 0, 0, 0, 0xbc, 2, 0, 0];
        assert_eq!(sent.get(20..32), Some(&head[..]));
        let read = PackedMessage::parse(&sent).unwrap().unwrap();
        assert_eq!(read.header, &header(VendorId::WHIMBREL)[..]);
        assert_eq!((read.codec, read.plain_bytes), (CompressionIds::LZ4, 700));
        assert_eq!(read.packed, b"packed");
    }

    #[test]
    fn what_is_false_is_refused() {
        let check = |sent: &[u8], kind| {
            let outcome = PackedMessage::parse(sent).map_err(|it| it.kind);
            assert_eq!(outcome, Err(kind), "{sent:?}");
        };
        let good = message(CompressionIds::LZ4, 700, b"packed");
        for cut in 21..32 {
            check(good.get(..cut).unwrap(), RejectKind::Truncated);
        }
        check(good.get(..35).unwrap(), RejectKind::Length);
        check(&[&good[..], b"more"].concat(), RejectKind::Length);
        check(&message(CompressionIds::SHARED, 9, b"x"), RejectKind::Codec);
        check(&message(CompressionIds::NONE, 9, b"x"), RejectKind::Codec);
        for bytes in [0, 65_488, u32::MAX] {
            check(
                &message(CompressionIds::LZ4, bytes, b"x"),
                RejectKind::Limit,
            );
        }
        assert!(PackedMessage::check_plain(&good).is_ok());
        assert!(PackedMessage::check_plain(good.get(20..).unwrap()).is_err());
    }

    #[test]
    fn everything_else_is_left_alone() {
        let good = message(CompressionIds::LZ4, 700, b"packed");
        let mut other = header(VendorId([1, 1]));
        other.extend_from_slice(good.get(20..).unwrap());
        let mut later = header(VendorId::WHIMBREL);
        later.extend([1, 1, 0, 0]);
        later.extend_from_slice(good.get(20..).unwrap());
        let empty = header(VendorId::WHIMBREL);
        for datagram in [&other, &later, &empty, &vec![0xc1; 19], &vec![0xc1; 40]] {
            assert_eq!(PackedMessage::parse(datagram), Ok(None), "{datagram:?}");
        }
        let mut long = vec![0; 70_000];
        assert!(!PackedMessage::finish(
            &empty,
            CompressionIds::LZ4,
            9,
            &mut long
        ));
        assert!(!PackedMessage::finish(
            &empty,
            CompressionIds::LZ4,
            9,
            &mut [0; 31]
        ));
    }
}
