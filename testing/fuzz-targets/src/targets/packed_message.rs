//! Messages that are compressed as a whole.

use whimbrel_base::guid::GuidPrefix;
use whimbrel_proto::receive::MessageReceiver;
use whimbrel_wire::packed_message::{HEAD_BYTES, MESSAGE_BYTES_MAX, PackedMessage};

use crate::codec;

/// Reads a datagram; one that is compressed must come back from being put together again, and
/// what it inflates to is bounded before, and read as any message.
pub fn packed_message(data: &[u8]) {
    let Ok(Some(parsed)) = PackedMessage::parse(data) else {
        return;
    };
    assert!(parsed.header.len() + parsed.plain_bytes <= MESSAGE_BYTES_MAX);
    let mut again = vec![0; HEAD_BYTES];
    again.extend_from_slice(parsed.packed);
    let bytes = u32::try_from(parsed.plain_bytes).expect("bounded");
    assert!(PackedMessage::finish(
        parsed.header,
        parsed.codec,
        bytes,
        &mut again
    ));
    assert_eq!(PackedMessage::parse(&again), Ok(Some(parsed)));
    let Some(kind) = codec::kind_of(parsed.codec) else {
        return;
    };
    let mut plain = vec![0; parsed.plain_bytes];
    if !codec::inflate(kind, parsed.packed, &mut plain) {
        return;
    }
    assert!(parsed.plain_bytes <= kind.claim_bytes_max(parsed.packed.len()));
    if PackedMessage::check_plain(&plain).is_ok() {
        let message = [parsed.header, &plain].concat();
        assert_eq!(PackedMessage::parse(&message), Ok(None), "not twice");
        // A header extension that comes first may say of the message what is not so.
        if let Ok(receiver) = MessageReceiver::new(&message, GuidPrefix([1; 12])) {
            assert!(receiver.count() <= message.len());
        }
    }
}
