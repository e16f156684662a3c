//! `-cft`: which keys a subscriber wants.

use std::fmt;

use crate::message::EVERYBODY;

/// The instances from one number to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    from: u32,
    to: u32,
}

impl KeyRange {
    /// Reads `FROM:TO`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once(':')?;
        Some(Self {
            from: from.parse().ok()?,
            to: to.parse().ok()?,
        })
    }

    /// Whether samples of `key` are wanted, as those that concern everybody always are.
    pub(crate) fn takes(self, key: [u8; 4]) -> bool {
        key == EVERYBODY || (self.from..=self.to).contains(&u32::from_le_bytes(key))
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instances {} to {}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_numbers_and_marks_pass() {
        let range = KeyRange::parse("255:256").unwrap();
        for (key, taken) in [
            ([254, 0, 0, 0], false),
            ([255, 0, 0, 0], true),
            ([0, 1, 0, 0], true),
            ([1, 1, 0, 0], false),
            ([0, 0, 1, 0], false),
            (EVERYBODY, true),
        ] {
            assert_eq!(range.takes(key), taken, "{key:?}");
        }
        assert_eq!(KeyRange::parse("7"), None);
        assert_eq!(range.to_string(), "instances 255 to 256");
    }
}
