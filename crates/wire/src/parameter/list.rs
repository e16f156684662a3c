//! A checked view of a parameter list.

use core::fmt;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::reject::{Reject, RejectKind};

use super::id::ParameterId;

/// A parameter list whose structure was checked: every length fits and a sentinel ends it.
/// RTPS 2.5 §9.4.2.11.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ParameterList<'a> {
    // With the sentinel.
    bytes: &'a [u8],
    endian: Endian,
}

/// One value with its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter<'a> {
    /// What the value means.
    pub id: ParameterId,
    /// The value with its padding, a multiple of four octets.
    pub value: &'a [u8],
    /// Byte order of numbers in the value.
    pub endian: Endian,
    /// Where in the list the value starts.
    pub offset: usize,
}

impl<'a> Parameter<'a> {
    /// A cursor over the value, aligned from its start. RTPS 2.5 §9.4.2.11.
    pub const fn cursor(&self) -> ReadCursor<'a> {
        ReadCursor::new(self.value, self.endian)
    }
}

impl<'a> ParameterList<'a> {
    /// The list at the start of `bytes`, which may go on behind the list's sentinel.
    ///
    /// # Errors
    /// `MissingSentinel` where the bytes end first, `Parameter` where a length is no multiple of
    /// four, `Truncated` where a value reaches past the end.
    pub fn parse(bytes: &'a [u8], endian: Endian) -> Result<Self, Reject> {
        let mut cursor = ReadCursor::new(bytes, endian);
        loop {
            match next(&mut cursor)? {
                Some(_) => {}
                None => {
                    let bytes = bytes.get(..cursor.position()).unwrap_or(bytes);
                    return Ok(Self { bytes, endian });
                }
            }
        }
    }

    /// The encoded list with its sentinel.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Octets of the encoded list with its sentinel.
    pub const fn encoded_len(&self) -> usize {
        self.bytes.len()
    }

    /// Byte order of the numbers in the list.
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// The parameters in their order, without padding.
    pub const fn iter(&self) -> Parameters<'a> {
        Parameters {
            cursor: ReadCursor::new(self.bytes, self.endian),
        }
    }

    /// The first parameter named `id`.
    pub fn find(&self, id: ParameterId) -> Option<Parameter<'a>> {
        self.iter().find(|parameter| parameter.id == id)
    }
}

impl<'a> IntoIterator for ParameterList<'a> {
    type Item = Parameter<'a>;
    type IntoIter = Parameters<'a>;

    fn into_iter(self) -> Parameters<'a> {
        self.iter()
    }
}

impl fmt::Debug for ParameterList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// Iterates over a [`ParameterList`].
#[derive(Clone, Debug)]
pub struct Parameters<'a> {
    cursor: ReadCursor<'a>,
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Parameter<'a>;

    fn next(&mut self) -> Option<Parameter<'a>> {
        loop {
            match next(&mut self.cursor) {
                Ok(Some(parameter)) if parameter.id == ParameterId::PAD => {}
                // The list was checked when it was made.
                other => return other.ok().flatten(),
            }
        }
    }
}

/// The next parameter; `None` for the sentinel, whose length does not count.
fn next<'a>(cursor: &mut ReadCursor<'a>) -> Result<Option<Parameter<'a>>, Reject> {
    let at = cursor.position();
    if cursor.remaining() < 4 {
        return Err(Reject::new(RejectKind::MissingSentinel, at));
    }
    let id = ParameterId(cursor.u16()?);
    let len = usize::from(cursor.u16()?);
    if id == ParameterId::SENTINEL {
        return Ok(None);
    }
    if len % 4 != 0 {
        return Err(Reject::new(RejectKind::Parameter, at));
    }
    Ok(Some(Parameter {
        id,
        offset: cursor.position(),
        value: cursor.bytes(len)?,
        endian: cursor.endian(),
    }))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    // Pad, topic name "Square", a vendor's parameter without value, sentinel with a length, tail.
    const LITTLE: &[u8] = &[
        0, 0, 4, 0, 9, 9, 9, 9, // pad
        5, 0, 12, 0, 7, 0, 0, 0, b'S', b'q', b'u', b'a', b'r', b'e', 0, 0xee, // topic name
        0x15, 0x80, 0, 0, // vendor
        1, 0, 77, 0, // sentinel
        1, 2, 3,
    ];

    #[test]
    fn a_list_ends_at_its_sentinel() {
        let list = ParameterList::parse(LITTLE, Endian::Little).unwrap();
        assert_eq!(list.encoded_len(), LITTLE.len() - 3);
        let ids: Vec<_> = list.iter().map(|parameter| parameter.id.0).collect();
        assert_eq!(ids, [0x0005, 0x8015]);
        let name = list.find(ParameterId::TOPIC_NAME).unwrap();
        assert_eq!(name.cursor().u32(), Ok(7));
        assert_eq!(name.value.len(), 12);
        assert!(list.find(ParameterId::PAD).is_none());
    }

    #[test]
    fn every_prefix_is_refused() {
        let whole = LITTLE.len() - 3;
        for len in 0..whole {
            let kind = ParameterList::parse(&LITTLE[..len], Endian::Little).unwrap_err();
            assert!(
                matches!(
                    kind.kind,
                    RejectKind::MissingSentinel | RejectKind::Truncated
                ),
                "{len}: {kind}"
            );
        }
    }

    #[test]
    fn odd_lengths_are_refused() {
        for len in [1, 2, 3, 5, 0xffff] {
            let mut bytes = Vec::from([5, 0]);
            bytes.extend_from_slice(&u16::to_le_bytes(len));
            bytes.resize(70_000, 0);
            let reject = ParameterList::parse(&bytes, Endian::Little).unwrap_err();
            assert_eq!(reject, Reject::new(RejectKind::Parameter, 0));
        }
    }

    #[test]
    fn marks_of_ids() {
        assert!(ParameterId::DOMAIN_TAG.must_be_understood());
        assert!(!ParameterId::DOMAIN_TAG.is_vendor_specific());
        assert!(ParameterId(0xc001).must_be_understood());
        assert!(ParameterId(0xc001).is_vendor_specific());
    }
}
