//! Globally unique identities of RTPS entities.

use core::fmt;

/// The part of a [`Guid`] that all entities of one participant share. RTPS 2.5 §8.2.4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GuidPrefix(pub [u8; 12]);

impl GuidPrefix {
    /// Nobody, or everybody where a destination is meant.
    pub const UNKNOWN: Self = Self([0; 12]);
}

/// What an [`EntityId`] names. RTPS 2.5 §9.3.1.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntityKind {
    /// Not said.
    Unknown,
    /// A participant.
    Participant,
    /// A writer of a topic with key.
    WriterWithKey,
    /// A writer of a topic without key.
    WriterNoKey,
    /// A reader of a topic without key.
    ReaderNoKey,
    /// A reader of a topic with key.
    ReaderWithKey,
    /// A group of writers: a Publisher.
    WriterGroup,
    /// A group of readers: a Subscriber.
    ReaderGroup,
}

/// The part of a [`Guid`] that is unique within its participant. RTPS 2.5 §9.3.1.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EntityId(pub [u8; 4]);

impl EntityId {
    /// No entity, or every entity where a destination is meant.
    pub const UNKNOWN: Self = Self([0; 4]);
    /// The participant itself.
    pub const PARTICIPANT: Self = Self([0, 0, 1, 0xc1]);
    /// Writer of SPDP announcements.
    pub const SPDP_WRITER: Self = Self([0, 1, 0, 0xc2]);
    /// Reader of SPDP announcements.
    pub const SPDP_READER: Self = Self([0, 1, 0, 0xc7]);
    /// Writer of SEDP topic announcements.
    pub const SEDP_TOPICS_WRITER: Self = Self([0, 0, 2, 0xc2]);
    /// Reader of SEDP topic announcements.
    pub const SEDP_TOPICS_READER: Self = Self([0, 0, 2, 0xc7]);
    /// Writer of SEDP publication announcements.
    pub const SEDP_PUBLICATIONS_WRITER: Self = Self([0, 0, 3, 0xc2]);
    /// Reader of SEDP publication announcements.
    pub const SEDP_PUBLICATIONS_READER: Self = Self([0, 0, 3, 0xc7]);
    /// Writer of SEDP subscription announcements.
    pub const SEDP_SUBSCRIPTIONS_WRITER: Self = Self([0, 0, 4, 0xc2]);
    /// Reader of SEDP subscription announcements.
    pub const SEDP_SUBSCRIPTIONS_READER: Self = Self([0, 0, 4, 0xc7]);
    /// Writer of participant messages (liveliness). RTPS 2.5 §8.4.13.
    pub const PARTICIPANT_MESSAGE_WRITER: Self = Self([0, 2, 0, 0xc2]);
    /// Reader of participant messages (liveliness). RTPS 2.5 §8.4.13.
    pub const PARTICIPANT_MESSAGE_READER: Self = Self([0, 2, 0, 0xc7]);

    /// A user-defined entity numbered `key` (its low 24 bits count).
    pub const fn user(key: u32, kind: EntityKind) -> Self {
        let k = key.to_be_bytes();
        Self([k[1], k[2], k[3], Self::user_kind_octet(kind)])
    }

    const fn user_kind_octet(kind: EntityKind) -> u8 {
        match kind {
            EntityKind::Unknown => 0x00,
            EntityKind::Participant => 0x01,
            EntityKind::WriterWithKey => 0x02,
            EntityKind::WriterNoKey => 0x03,
            EntityKind::ReaderNoKey => 0x04,
            EntityKind::ReaderWithKey => 0x07,
            EntityKind::WriterGroup => 0x08,
            EntityKind::ReaderGroup => 0x09,
        }
    }

    /// What this names.
    pub const fn kind(self) -> EntityKind {
        let [_, _, _, octet] = self.0;
        match octet & 0x3f {
            0x01 => EntityKind::Participant,
            0x02 => EntityKind::WriterWithKey,
            0x03 => EntityKind::WriterNoKey,
            0x04 => EntityKind::ReaderNoKey,
            0x07 => EntityKind::ReaderWithKey,
            0x08 => EntityKind::WriterGroup,
            0x09 => EntityKind::ReaderGroup,
            _ => EntityKind::Unknown,
        }
    }

    /// True for the entities that the standard predefines (discovery and liveliness).
    pub const fn is_builtin(self) -> bool {
        let [_, _, _, octet] = self.0;
        octet & 0xc0 == 0xc0
    }

    /// True for writers, with or without key.
    pub const fn is_writer(self) -> bool {
        matches!(
            self.kind(),
            EntityKind::WriterWithKey | EntityKind::WriterNoKey
        )
    }

    /// True for readers, with or without key.
    pub const fn is_reader(self) -> bool {
        matches!(
            self.kind(),
            EntityKind::ReaderWithKey | EntityKind::ReaderNoKey
        )
    }

    /// True for writers and readers of topics with key.
    pub const fn has_key(self) -> bool {
        matches!(
            self.kind(),
            EntityKind::WriterWithKey | EntityKind::ReaderWithKey
        )
    }
}

/// Globally unique identity of an RTPS entity. RTPS 2.5 §8.2.4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Guid {
    /// Which participant.
    pub prefix: GuidPrefix,
    /// Which entity of it.
    pub entity: EntityId,
}

impl Guid {
    /// Nobody.
    pub const UNKNOWN: Self = Self {
        prefix: GuidPrefix::UNKNOWN,
        entity: EntityId::UNKNOWN,
    };

    /// Joins the two parts.
    pub const fn new(prefix: GuidPrefix, entity: EntityId) -> Self {
        Self { prefix, entity }
    }

    /// The sixteen octets as they travel.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (to, from) in bytes
            .iter_mut()
            .zip(self.prefix.0.iter().chain(&self.entity.0))
        {
            *to = *from;
        }
        bytes
    }

    /// The inverse of [`Guid::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, entity @ ..] = bytes;
        Self {
            prefix: GuidPrefix([a, b, c, d, e, f, g, h, i, j, k, l]),
            entity: EntityId(entity),
        }
    }
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 && at % 4 == 0 {
            f.write_str(".")?;
        }
        write!(f, "{byte:02x}")?;
    }
    Ok(())
}

impl fmt::Display for GuidPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Debug for GuidPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.prefix, self.entity)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn kinds_round_trip_and_builtins_are_recognised() {
        for kind in [
            EntityKind::Participant,
            EntityKind::WriterWithKey,
            EntityKind::WriterNoKey,
            EntityKind::ReaderNoKey,
            EntityKind::ReaderWithKey,
            EntityKind::WriterGroup,
            EntityKind::ReaderGroup,
        ] {
            let id = EntityId::user(0x0001_0203, kind);
            assert_eq!(id.kind(), kind);
            assert!(!id.is_builtin());
        }
        assert!(EntityId::SEDP_PUBLICATIONS_WRITER.is_builtin());
        assert!(EntityId::SEDP_PUBLICATIONS_WRITER.is_writer());
        assert!(EntityId::PARTICIPANT_MESSAGE_READER.is_reader());
    }

    #[test]
    fn bytes_and_text() {
        let guid = Guid::new(
            GuidPrefix([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
            EntityId::SPDP_WRITER,
        );
        assert_eq!(Guid::from_bytes(guid.to_bytes()), guid);
        assert_eq!(guid.to_string(), "01020304.05060708.090a0b0c:000100c2");
    }
}
