//! Helpers of this crate's tests.

use alloc::vec::Vec;
use core::fmt::Debug;

use whimbrel_base::cursor::{Endian, ReadCursor};
use whimbrel_base::reject::{Reject, RejectKind};

use crate::message::{RawSubmessage, Submessage, Submessages};
use crate::submessage::frame::{FLAG_ENDIAN, SubmessageKind};

pub(crate) const MESSAGE_HEADER: [u8; 20] = *b"RTPS\x02\x05\x01\x77abcdefghijkl";

/// The one submessage in `bytes`, its length checked.
pub(crate) fn only(bytes: &[u8]) -> Result<Submessage<'_>, Reject> {
    assert_eq!(bytes.len() % 4, 0, "composed unaligned");
    let (kind, flags) = (SubmessageKind(bytes[0]), bytes[1]);
    let endian = Endian::from_flag(flags & FLAG_ENDIAN != 0);
    let len = ReadCursor::new(&bytes[2..], endian).u16().unwrap();
    assert_eq!(usize::from(len) + 4, bytes.len(), "stated length");
    let body = &bytes[4..];
    RawSubmessage {
        kind,
        flags,
        body,
        offset: 0,
    }
    .parse()
}

/// Composes in both byte orders, parses back, and tries every truncation.
pub(crate) fn round_trip(
    bytes: [&mut Vec<u8>; 2],
    compose: impl Fn(&mut Vec<u8>, Endian),
    expected: &impl Fn(&Submessage<'_>) -> bool,
) {
    for (endian, out) in [Endian::Big, Endian::Little].into_iter().zip(bytes) {
        compose(out, endian);
        let parsed = only(out).unwrap();
        assert!(expected(&parsed), "{endian:?}: {parsed}");
        truncations(out);
    }
}

fn truncations(submessage: &[u8]) {
    let mut message = Vec::from(MESSAGE_HEADER);
    message.extend_from_slice(submessage);
    for len in 0..message.len() {
        let Ok((_, submessages)) = Submessages::new(&message[..len]) else {
            assert!(len < 20);
            continue;
        };
        // The stated length does not fit any more.
        let outcomes: Vec<_> = submessages.collect();
        assert!(len == 20 || outcomes[0].is_err(), "{len}");
        // Nor do the fields fit a body that is shorter.
        if let Some(body) = message[..len].get(24..) {
            let _ = Submessage::parse(SubmessageKind(submessage[0]), submessage[1], body);
        }
    }
}

/// Parses `golden` as one submessage and expects `error`.
pub(crate) fn refused(golden: &[u8], error: impl Debug + PartialEq<RejectKind>) {
    match only(golden) {
        Ok(parsed) => panic!("accepted: {parsed}"),
        Err(reject) => assert_eq!(error, reject.kind),
    }
}
