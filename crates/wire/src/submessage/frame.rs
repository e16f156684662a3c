//! What all submessages share: kinds, flags, the four octets in front.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::{Endian, ReadCursor, WriteCursor};

/// The E flag: numbers are little-endian. RTPS 2.5 §9.4.5.1.2.
pub const FLAG_ENDIAN: u8 = 0x01;

/// Octets of a submessage header. RTPS 2.5 §9.4.5.1.
pub const SUBMESSAGE_HEADER_LEN: usize = 4;

/// What a submessage is. RTPS 2.5 §9.4.5.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubmessageKind(pub u8);

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal;)+) => {
        impl SubmessageKind {
            $($(#[doc = $doc])+ pub const $name: Self = Self($value);)+

            /// Its name; `None` for kinds that are not known.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// More about the message; only directly behind the message header.
    HEADER_EXTENSION = 0x00;
    /// Nothing.
    PAD = 0x01;
    /// What a reader has and lacks.
    ACKNACK = 0x06;
    /// What a writer has.
    HEARTBEAT = 0x07;
    /// What a reader need not wait for.
    GAP = 0x08;
    /// Time of the submessages that follow.
    INFO_TS = 0x09;
    /// Sender of the submessages that follow.
    INFO_SRC = 0x0c;
    /// Where to answer, IPv4 only.
    INFO_REPLY_IP4 = 0x0d;
    /// Receiver of the submessages that follow.
    INFO_DST = 0x0e;
    /// Where to answer.
    INFO_REPLY = 0x0f;
    /// Fragments that a reader lacks.
    NACK_FRAG = 0x12;
    /// Fragments that a writer has.
    HEARTBEAT_FRAG = 0x13;
    /// A change.
    DATA = 0x15;
    /// Fragments of a change.
    DATA_FRAG = 0x16;
    /// Many changes. Not of the standard, but of RTI Connext.
    DATA_BATCH = 0x18;
    /// Which batches a writer has. Not of the standard, but of RTI Connext.
    HEARTBEAT_BATCH = 0x19;
    /// Protected content. DDS-Security 1.1 §7.3.6.
    SEC_BODY = 0x30;
    /// In front of a protected submessage. DDS-Security 1.1 §7.3.6.
    SEC_PREFIX = 0x31;
    /// Behind a protected submessage. DDS-Security 1.1 §7.3.6.
    SEC_POSTFIX = 0x32;
    /// In front of a protected message. DDS-Security 1.1 §7.3.6.
    SRTPS_PREFIX = 0x33;
    /// Behind a protected message. DDS-Security 1.1 §7.3.6.
    SRTPS_POSTFIX = 0x34;
}

impl SubmessageKind {
    /// True for what only those understand and mean so that speak of batches.
    pub const fn is_batched(self) -> bool {
        matches!(self, Self::DATA_BATCH | Self::HEARTBEAT_BATCH)
    }

    /// True where the sender's vendor defines the meaning. RTPS 2.5 §9.4.5.1.1.
    pub const fn is_vendor_specific(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// True for the kinds whose stated length 0 means an empty body, not "up to the end of the
    /// message". RTPS 2.5 §9.4.5.1.3.
    pub(crate) const fn may_be_empty(self) -> bool {
        matches!(self, Self::PAD | Self::INFO_TS)
    }
}

impl fmt::Display for SubmessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None if self.is_vendor_specific() => write!(f, "VENDOR {:#04x}", self.0),
            None => write!(f, "UNKNOWN {:#04x}", self.0),
        }
    }
}

impl fmt::Debug for SubmessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `flag` where it is `set`.
pub(crate) const fn flag(flag: u8, set: bool) -> u8 {
    if set { flag } else { 0 }
}

/// A cursor over `body` in the byte order that `flags` state.
pub(crate) const fn body_cursor(flags: u8, body: &[u8]) -> ReadCursor<'_> {
    ReadCursor::new(body, Endian::from_flag(flags & FLAG_ENDIAN != 0))
}

/// Appends the header, what `write` writes, and padding to a multiple of four.
pub(crate) fn compose(
    out: &mut Vec<u8>,
    endian: Endian,
    kind: SubmessageKind,
    flags: u8,
    write: impl FnOnce(&mut WriteCursor<'_>),
) {
    compose_head(out, endian, kind, flags, 0, |cursor| {
        write(cursor);
        cursor.align(4);
    });
}

/// Appends the header and a body of `words`, each as it travels, behind which `follows` octets of
/// the same body are sent from elsewhere: what changes begin with, in one piece.
#[inline]
pub(crate) fn compose_words<const N: usize>(
    out: &mut Vec<u8>,
    endian: Endian,
    kind: SubmessageKind,
    flags: u8,
    follows: usize,
    words: [[u8; 4]; N],
) {
    let body = words.as_flattened().len();
    let [first, second] = endian.u16_bytes(stated_len(body.saturating_add(follows)));
    let header = [kind.0, flags | endian_flag(endian), first, second];
    // Put together first: to append twice is to look twice whether there is room.
    let mut all = [[0; 4]; WORDS_MAX];
    for (place, word) in all.iter_mut().zip([header].into_iter().chain(words)) {
        *place = word;
    }
    const { assert!(N < WORDS_MAX) };
    let len = SUBMESSAGE_HEADER_LEN.saturating_add(body);
    out.extend_from_slice(all.as_flattened().get(..len).unwrap_or_default());
}

/// Words of a header and the body after it that [`compose_words`] takes at most.
const WORDS_MAX: usize = 8;

const fn endian_flag(endian: Endian) -> u8 {
    match endian {
        Endian::Big => 0,
        Endian::Little => FLAG_ENDIAN,
    }
}

/// What a header states of a body of `len` octets: one over 65,535 octets is stated as 0, and goes
/// on to the end of the message. RTPS 2.5 §9.4.5.1.3.
pub(crate) fn stated_len(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(0)
}

/// Appends the header and what `write` writes; `follows` octets of the same body are sent from
/// elsewhere.
pub(crate) fn compose_head(
    out: &mut Vec<u8>,
    endian: Endian,
    kind: SubmessageKind,
    flags: u8,
    follows: usize,
    write: impl FnOnce(&mut WriteCursor<'_>),
) {
    let start = out.len();
    let mut cursor = WriteCursor::new(out, endian);
    cursor.bytes(&[kind.0, flags | endian_flag(endian), 0, 0]);
    write(&mut cursor);
    let body = start.saturating_add(SUBMESSAGE_HEADER_LEN);
    let len = cursor
        .position()
        .saturating_sub(body)
        .saturating_add(follows);
    cursor.patch_u16(start.saturating_add(2), stated_len(len));
}
