//! Values that many parameters share: strings, octets, booleans, lists of strings.

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::reject::{Reject, RejectKind};

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
    write_count(out, text.len().saturating_add(1));
    out.bytes(text.as_bytes());
    out.u8(0);
}

/// A string of at most `len_max` octets.
pub(crate) fn read_short_string<'a>(
    cursor: &mut ReadCursor<'a>,
    len_max: usize,
) -> Result<&'a str, Reject> {
    let at = cursor.position();
    let text = read_string(cursor)?;
    if text.len() > len_max {
        return Err(Reject::new(RejectKind::Limit, at));
    }
    Ok(text)
}

/// The count in front of a sequence, at most `max`.
pub(crate) fn read_count(cursor: &mut ReadCursor<'_>, max: usize) -> Result<usize, Reject> {
    let at = cursor.position();
    let count = cursor.u32()? as usize;
    if count > max {
        return Err(Reject::new(RejectKind::Limit, at));
    }
    Ok(count)
}

pub(crate) fn write_count(out: &mut WriteCursor<'_>, count: usize) {
    out.u32(u32::try_from(count).unwrap_or(u32::MAX));
}

/// `sequence<string>`: at most `count_max` strings of at most `len_max` octets.
pub(crate) fn read_strings(
    cursor: &mut ReadCursor<'_>,
    count_max: usize,
    len_max: usize,
) -> Result<Vec<String>, Reject> {
    let count = read_count(cursor, count_max)?;
    let mut strings = Vec::new();
    for _ in 0..count {
        cursor.align(4)?;
        strings.push(read_short_string(cursor, len_max)?.into());
    }
    Ok(strings)
}

pub(crate) fn write_strings<S: AsRef<str>>(out: &mut WriteCursor<'_>, strings: &[S]) {
    write_count(out, strings.len());
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
    write_count(out, octets.len());
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
        let read = |bytes: &[u8]| read_strings(&mut ReadCursor::new(bytes, Endian::Big), 1024, 3);
        assert_eq!(read(&bytes).unwrap(), ["a", "bcd", ""]);
        bytes[6] = 1;
        assert!(read(&bytes).is_err());
        bytes[6] = 0;
        bytes[..4].copy_from_slice(&[0, 0, 4, 0]);
        assert_eq!(read(&bytes).unwrap_err().kind, RejectKind::Truncated);
        bytes[..4].copy_from_slice(&[0xff; 4]);
        assert_eq!(read(&bytes).unwrap_err().kind, RejectKind::Limit);
    }
}
