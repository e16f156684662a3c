//! Values that many parameters share: strings, octets, booleans, lists of strings.

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::reject::{Reject, RejectKind};

/// Strings that one list of strings may hold.
pub const STRINGS_MAX: usize = 1024;

/// A CDR string: its length with the NUL, the characters, the NUL. A length of 0 is read as the
/// empty string, as some peers send it.
pub(crate) fn read_string<'a>(cursor: &mut ReadCursor<'a>) -> Result<&'a str, Reject> {
    let at = cursor.position();
    let malformed = Reject::new(RejectKind::String, at);
    let len = cursor.u32()? as usize;
    if len == 0 {
        return Ok("");
    }
    match cursor.bytes(len)?.split_last() {
        Some((0, text)) if !text.contains(&0) => core::str::from_utf8(text).map_err(|_| malformed),
        _ => Err(malformed),
    }
}

pub(crate) fn write_string(out: &mut WriteCursor<'_>, text: &str) {
    out.u32(u32::try_from(text.len().saturating_add(1)).unwrap_or(u32::MAX));
    out.bytes(text.as_bytes());
    out.u8(0);
}

/// `sequence<string>`, at most [`STRINGS_MAX`] of them.
pub(crate) fn read_strings(cursor: &mut ReadCursor<'_>) -> Result<Vec<String>, Reject> {
    let at = cursor.position();
    let count = cursor.u32()? as usize;
    if count > STRINGS_MAX {
        return Err(Reject::new(RejectKind::Limit, at));
    }
    let mut strings = Vec::new();
    for _ in 0..count {
        cursor.align(4)?;
        strings.push(read_string(cursor)?.into());
    }
    Ok(strings)
}

pub(crate) fn write_strings<S: AsRef<str>>(out: &mut WriteCursor<'_>, strings: &[S]) {
    out.u32(u32::try_from(strings.len()).unwrap_or(u32::MAX));
    for text in strings {
        out.align(4);
        write_string(out, text.as_ref());
    }
}

/// `sequence<octet>`.
pub(crate) fn read_octets<'a>(cursor: &mut ReadCursor<'a>) -> Result<&'a [u8], Reject> {
    let len = cursor.u32()? as usize;
    cursor.bytes(len)
}

pub(crate) fn write_octets(out: &mut WriteCursor<'_>, octets: &[u8]) {
    out.u32(u32::try_from(octets.len()).unwrap_or(u32::MAX));
    out.bytes(octets);
}

/// A boolean; anything but 0 and 1 is refused.
pub(crate) fn read_bool(cursor: &mut ReadCursor<'_>) -> Result<bool, Reject> {
    let at = cursor.position();
    match cursor.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Reject::new(RejectKind::EnumValue, at)),
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::cursor::Endian;

    use super::*;

    fn string(bytes: &[u8]) -> Result<&str, RejectKind> {
        read_string(&mut ReadCursor::new(bytes, Endian::Little)).map_err(|reject| reject.kind)
    }

    #[test]
    fn strings_are_terminated_once_and_utf8() {
        assert_eq!(string(&[3, 0, 0, 0, b'a', b'b', 0]), Ok("ab"));
        assert_eq!(string(&[1, 0, 0, 0, 0]), Ok(""));
        assert_eq!(string(&[0, 0, 0, 0]), Ok(""));
        assert_eq!(string(&[2, 0, 0, 0, b'a', b'b']), Err(RejectKind::String));
        assert_eq!(string(&[3, 0, 0, 0, 0, b'b', 0]), Err(RejectKind::String));
        assert_eq!(string(&[2, 0, 0, 0, 0xff, 0]), Err(RejectKind::String));
        assert_eq!(
            string(&[0xff, 0xff, 0xff, 0xff, 0]),
            Err(RejectKind::Truncated)
        );
    }

    #[test]
    fn lists_of_strings_do_not_trust_their_count() {
        let mut bytes = Vec::new();
        write_strings(
            &mut WriteCursor::new(&mut bytes, Endian::Big),
            &["a", "bcd", ""],
        );
        let read = |bytes: &[u8]| read_strings(&mut ReadCursor::new(bytes, Endian::Big));
        assert_eq!(read(&bytes).unwrap(), ["a", "bcd", ""]);
        bytes[..4].copy_from_slice(&[0, 0, 4, 0]);
        assert_eq!(read(&bytes).unwrap_err().kind, RejectKind::Truncated);
        bytes[..4].copy_from_slice(&[0xff; 4]);
        assert_eq!(read(&bytes).unwrap_err().kind, RejectKind::Limit);
    }
}
