//! Messages that are compressed as a whole.

use whimbrel_base::guid::GuidPrefix;
use whimbrel_base::qos::CompressionIds;
use whimbrel_compress::{CodecKind, Level};
use whimbrel_proto::receive::MessageReceiver;
use whimbrel_wire::packed_message::{HEAD_BYTES, MESSAGE_BYTES_MAX, PackedMessage};

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
    let kind = match parsed.codec {
        CompressionIds::ZLIB => CodecKind::Zlib,
        CompressionIds::LZ4 => CodecKind::Lz4,
        CompressionIds::HUFFMAN => CodecKind::Huffman,
        CompressionIds::LZ => CodecKind::Lz,
        _ => return,
    };
    let Some(mut codec) = kind.codec(Level::BEST) else {
        return;
    };
    let mut plain = vec![0; parsed.plain_bytes];
    if codec.decompress(parsed.packed, &mut plain).is_err() {
        return;
    }
    if PackedMessage::check_plain(&plain).is_ok() {
        let message = [parsed.header, &plain].concat();
        assert_eq!(PackedMessage::parse(&message), Ok(None), "not twice");
        let receiver = MessageReceiver::new(&message, GuidPrefix([1; 12]));
        let receiver = receiver.expect("the header was read before");
        assert!(receiver.count() <= message.len());
    }
}
