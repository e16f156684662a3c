//! Why bytes from outside were refused.
//!
//! A [`Reject`] is small, `Copy`, and never logged per packet: receivers count it in
//! [`RejectCounters`], which tools show.

use core::fmt;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal,)+) => {
        /// What was wrong.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum RejectKind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl RejectKind {
            /// Every kind, in the order of the counters.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// What it means, in words.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

kinds! {
    /// The bytes ended before the value did.
    Truncated => "bytes end before the value does",
    /// The message does not begin with "RTPS".
    NotRtps => "not an RTPS message",
    /// A protocol version that we do not speak.
    ProtocolVersion => "unsupported protocol version",
    /// A length field is impossible.
    Length => "impossible length",
    /// A sequence number is out of its range.
    SequenceNumber => "sequence number out of range",
    /// A number set is malformed.
    NumberSet => "malformed number set",
    /// A fragment number or size is impossible.
    Fragment => "impossible fragment",
    /// A parameter is malformed.
    Parameter => "malformed parameter",
    /// A parameter list has no sentinel.
    MissingSentinel => "parameter list without sentinel",
    /// A parameter that must be understood is not known to us.
    MustUnderstand => "unknown parameter that must be understood",
    /// A required parameter is absent.
    MissingParameter => "required parameter is absent",
    /// A string is not terminated, holds a NUL or is not UTF-8.
    String => "malformed string",
    /// A boolean, enumeration or discriminator has no such value.
    EnumValue => "value outside its enumeration",
    /// A duration or time is impossible.
    Time => "impossible duration or time",
    /// Compressed by a codec that is not known or was not built in.
    Codec => "unknown codec",
    /// Compressed data that does not inflate to what it says it does.
    Compression => "damaged compressed data",
    /// An encapsulation identifier that we do not decode.
    Encapsulation => "unknown or unsupported encapsulation",
    /// A locator cannot be used.
    Locator => "unusable locator",
    /// Something nested deeper than the limit.
    Depth => "nested too deeply",
    /// A configured limit was reached.
    Limit => "limit reached",
    /// The sender is not matched with the receiver.
    Stranger => "sender is not matched",
    /// The sender is not known to be where this came from.
    Source => "sender is known to be elsewhere",
    /// A counter or number was seen before.
    Duplicate => "already seen",
    /// Our own GUID, used by somebody else.
    OwnGuid => "our own GUID used by another",
    /// A checksum or stated length does not fit the content.
    Integrity => "content does not fit its checksum or length",
    /// A key could not be computed.
    Key => "key cannot be computed",
    /// A submessage is not allowed here.
    Unexpected => "submessage not allowed here",
}

/// Bytes from outside that were refused: what was wrong and where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reject {
    /// What was wrong.
    pub kind: RejectKind,
    /// Offset of the offending octet from the start of what was being parsed.
    pub offset: u32,
}

impl Reject {
    /// A refusal at octet `offset`.
    pub fn new(kind: RejectKind, offset: usize) -> Self {
        Self {
            kind,
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }

    /// The same refusal seen from an enclosing buffer in which the parsed part starts at `base`.
    #[must_use]
    pub fn shifted(self, base: usize) -> Self {
        let base = u32::try_from(base).unwrap_or(u32::MAX);
        Self {
            kind: self.kind,
            offset: self.offset.saturating_add(base),
        }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (octet {})", self.kind.text(), self.offset)
    }
}

impl core::error::Error for Reject {}

/// How often each kind of refusal happened.
#[derive(Clone, Debug)]
pub struct RejectCounters {
    counts: [u64; RejectKind::ALL.len()],
}

impl Default for RejectCounters {
    fn default() -> Self {
        Self {
            counts: [0; RejectKind::ALL.len()],
        }
    }
}

impl RejectCounters {
    /// Counts one refusal.
    pub fn count(&mut self, kind: RejectKind) {
        if let Some(count) = self.counts.get_mut(kind as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// How often `kind` happened.
    pub fn of(&self, kind: RejectKind) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// All refusals together.
    pub fn total(&self) -> u64 {
        self.counts
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The kinds that happened, with how often.
    pub fn iter(&self) -> impl Iterator<Item = (RejectKind, u64)> + '_ {
        RejectKind::ALL
            .iter()
            .copied()
            .zip(self.counts)
            .filter(|(_, count)| *count > 0)
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_cover_every_kind() {
        let mut counters = RejectCounters::default();
        for kind in RejectKind::ALL {
            counters.count(*kind);
            counters.count(*kind);
        }
        assert!(counters.iter().all(|(_, count)| count == 2));
        assert_eq!(counters.total(), 2 * RejectKind::ALL.len() as u64);
    }
}
