//! A whole datagram.

use whimbrel_wire::message::Submessages;

/// Cuts a datagram into submessages, parses and prints each.
pub fn message(data: &[u8]) {
    let Ok((_, submessages)) = Submessages::new(data) else {
        return;
    };
    let mut end = 0;
    for raw in submessages {
        let Ok(raw) = raw else { return };
        assert!(raw.offset > end && raw.offset + raw.body.len() <= data.len());
        end = raw.offset + raw.body.len();
        match raw.parse() {
            Ok(submessage) => assert!(!submessage.to_string().is_empty()),
            Err(reject) => assert!(reject.offset as usize <= data.len()),
        }
    }
}
