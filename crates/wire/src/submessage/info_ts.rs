//! INFO_TS: time of the submessages that follow. RTPS 2.5 §8.3.8.9.6, §9.4.5.12.

use alloc::vec::Vec;
use core::fmt;

use whimbrel_base::cursor::Endian;
use whimbrel_base::reject::Reject;
use whimbrel_base::time::Timestamp;

use super::frame::{SubmessageKind, body_cursor, compose_words};
use crate::field::{read_timestamp, timestamp_words};

const FLAG_INVALIDATE: u8 = 0x02;

/// Time of the submessages that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InfoTimestamp {
    /// The time; `None` where what follows has none.
    pub time: Option<Timestamp>,
}

impl InfoTimestamp {
    /// Reads the body of an INFO_TS. TIME_INVALID counts as no time.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn parse(flags: u8, body: &[u8]) -> Result<Self, Reject> {
        let time = match flags & FLAG_INVALIDATE {
            0 => Some(read_timestamp(&mut body_cursor(flags, body))?),
            _ => None,
        };
        Ok(Self {
            time: time.filter(|time| !time.is_invalid()),
        })
    }

    /// Appends the submessage.
    #[inline(always)]
    pub fn compose(&self, out: &mut Vec<u8>, endian: Endian) {
        let kind = SubmessageKind::INFO_TS;
        match self.time {
            Some(time) => {
                let words = timestamp_words(endian, time);
                compose_words(out, endian, kind, 0, 0, words);
            }
            None => compose_words(out, endian, kind, FLAG_INVALIDATE, 0, []),
        }
    }
}

impl fmt::Display for InfoTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time {
            Some(time) => write!(f, "INFO_TS {time:?}"),
            None => f.write_str("INFO_TS none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_base::reject::RejectKind;

    use super::*;
    use crate::message::Submessage;
    use crate::testing::{only, refused, round_trip};

    // 1,700,000,000.5 s.
    const GOLDEN: &[u8] = &[
        0x09, 0x01, 0x08, 0x00, 0x00, 0xf1, 0x53, 0x65, 0x00, 0x00, 0x00, 0x80,
    ];

    #[test]
    fn golden_bytes() {
        let time = Some(Timestamp(1_700_000_000_500_000_000));
        assert_eq!(
            only(GOLDEN),
            Ok(Submessage::InfoTimestamp(InfoTimestamp { time }))
        );
        let mut out = Vec::new();
        InfoTimestamp { time }.compose(&mut out, Endian::Little);
        assert_eq!(out, GOLDEN);
    }

    #[test]
    fn times_round_trip() {
        for time in [
            None,
            Some(Timestamp(0)),
            Some(Timestamp(4_000_000_000_123_456_789)),
        ] {
            let info = InfoTimestamp { time };
            let compose = |out: &mut Vec<u8>, endian| info.compose(out, endian);
            round_trip([&mut Vec::new(), &mut Vec::new()], compose, &|parsed| {
                *parsed == Submessage::InfoTimestamp(info)
            });
        }
    }

    #[test]
    fn an_empty_body_must_be_flagged() {
        assert_eq!(
            only(&[0x09, 0x03, 0, 0]),
            Ok(Submessage::InfoTimestamp(InfoTimestamp { time: None }))
        );
        refused(&[0x09, 0x01, 0, 0], RejectKind::Truncated);
    }
}
