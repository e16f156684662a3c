//! Class 1: headers of messages and submessages that lie.

use whimbrel_base::reject::RejectKind;

use super::case::Case;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case::new("headers/empty", &[RejectKind::Truncated], |it| {
        it.datagram(&[]);
        Ok(())
    }),
    Case::new("headers/wrong-magic", &[RejectKind::NotRtps], |it| {
        let mut message = it.scene.message(&it.scene.heartbeat(1, 1, 1));
        message[3] = b'X';
        it.datagram(&message);
        Ok(())
    }),
];
