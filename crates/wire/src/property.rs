//! Property lists: names and values free to use. RTPS 2.5 §9.6.3.2, DDS-Security 1.1 §7.2.1.

use alloc::string::String;
use alloc::vec::Vec;

use whimbrel_base::cursor::{ReadCursor, WriteCursor};
use whimbrel_base::limits::Limits;
use whimbrel_base::reject::{Reject, RejectKind};

use crate::parameter::value::{
    read_count, read_octets, read_short_string, write_count, write_octets, write_string,
};

/// A name and a value of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A name and a value of octets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BinaryProperty {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Vec<u8>,
}

/// Names and values free to use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PropertyList {
    /// Those with values of text.
    pub text: Vec<Property>,
    /// Those with values of octets.
    pub binary: Vec<BinaryProperty>,
}

impl PropertyList {
    /// True where there is no property of either sort.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty() && self.binary.is_empty()
    }

    /// The value of text named `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.text.iter().find(|property| property.name == name);
        found.map(|property| property.value.as_str())
    }

    /// Reads the value of a property list parameter. The binary properties may be absent.
    ///
    /// # Errors
    /// `Limit` for more or longer properties than `limits` allow, `String`, `Truncated`.
    pub fn parse(cursor: &mut ReadCursor<'_>, limits: &Limits) -> Result<Self, Reject> {
        let mut list = Self::default();
        for _ in 0..read_count(cursor, limits.properties_max)? {
            cursor.align(4)?;
            let name = read_short_string(cursor, limits.property_bytes_max)?.into();
            cursor.align(4)?;
            let value = read_short_string(cursor, limits.property_bytes_max)?.into();
            list.text.push(Property { name, value });
        }
        // What is left may be up to three octets of padding.
        if cursor.remaining() < 4 || cursor.align(4).is_err() || cursor.remaining() < 4 {
            return Ok(list);
        }
        for _ in 0..read_count(cursor, limits.properties_max)? {
            cursor.align(4)?;
            let name = read_short_string(cursor, limits.property_bytes_max)?.into();
            cursor.align(4)?;
            let too_long = cursor.reject(RejectKind::Limit);
            let value = read_octets(cursor)?;
            if value.len() > limits.property_bytes_max {
                return Err(too_long);
            }
            let value = value.to_vec();
            list.binary.push(BinaryProperty { name, value });
        }
        Ok(list)
    }

    /// Appends the value of a property list parameter.
    pub fn compose(&self, out: &mut WriteCursor<'_>) {
        write_count(out, self.text.len());
        for Property { name, value } in &self.text {
            out.align(4);
            write_string(out, name);
            out.align(4);
            write_string(out, value);
        }
        if self.binary.is_empty() {
            return;
        }
        out.align(4);
        write_count(out, self.binary.len());
        for BinaryProperty { name, value } in &self.binary {
            out.align(4);
            write_string(out, name);
            out.align(4);
            write_octets(out, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::cursor::Endian;

    use super::*;

    fn list(binary: usize) -> PropertyList {
        let binary = (0..binary).map(|len| BinaryProperty {
            name: "b".into(),
            value: Vec::from([7; 9])[..len].to_vec(),
        });
        PropertyList {
            text: Vec::from([
                Property {
                    name: "dds.sys_info.hostname".into(),
                    value: "whim".into(),
                },
                Property {
                    name: "x".into(),
                    value: String::new(),
                },
            ]),
            binary: binary.collect(),
        }
    }

    fn parse(bytes: &[u8], limits: &Limits) -> Result<PropertyList, RejectKind> {
        let mut cursor = ReadCursor::new(bytes, Endian::Little);
        PropertyList::parse(&mut cursor, limits).map_err(|reject| reject.kind)
    }

    #[test]
    fn lists_round_trip_and_truncations_are_refused() {
        for binary in 0..5 {
            let list = list(binary);
            let mut bytes = Vec::new();
            list.compose(&mut WriteCursor::new(&mut bytes, Endian::Little));
            assert_eq!(parse(&bytes, &Limits::DEFAULT), Ok(list));
            for len in 0..bytes.len() {
                // A list may end where its binary properties would begin.
                if let Ok(shorter) = parse(&bytes[..len], &Limits::DEFAULT) {
                    assert!(binary > 0 && shorter.binary.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_length_of_nearly_2_to_the_32_is_refused() {
        let mut bytes = Vec::from([1, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0]);
        bytes.extend_from_slice(&[0xfd, 0xff, 0xff, 0xff, b'a', 0, 0, 0]);
        assert_eq!(parse(&bytes, &Limits::DEFAULT), Err(RejectKind::Truncated));
        bytes[..4].copy_from_slice(&[0xff; 4]);
        assert_eq!(parse(&bytes, &Limits::DEFAULT), Err(RejectKind::Limit));
    }

    #[test]
    fn limits_hold() {
        let mut bytes = Vec::new();
        list(3).compose(&mut WriteCursor::new(&mut bytes, Endian::Little));
        let few = Limits {
            properties_max: 1,
            ..Limits::DEFAULT
        };
        assert_eq!(parse(&bytes, &few), Err(RejectKind::Limit));
        let short = Limits {
            property_bytes_max: 4,
            ..Limits::DEFAULT
        };
        assert_eq!(parse(&bytes, &short), Err(RejectKind::Limit));
    }
}
