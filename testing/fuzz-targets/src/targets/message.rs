//! A whole datagram.

use whimbrel_base::guid::GuidPrefix;
use whimbrel_proto::receive::MessageReceiver;
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::submessage::{Content, TimedData};

/// Cuts a datagram into submessages, parses and prints each; what is read in one piece is what is
/// read part by part.
pub fn message(data: &[u8]) {
    if let Some(usual) = TimedData::parse(data) {
        compare(data, &usual);
    }
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

/// `usual`, as which `data` was read, is all that there is in it.
fn compare(data: &[u8], usual: &TimedData<'_>) {
    let receiver = MessageReceiver::new(data, GuidPrefix([1; 12])).expect("a header");
    let parts: Vec<_> = receiver.collect();
    let [Ok(only)] = parts.as_slice() else {
        panic!("not one part: {parts:?}");
    };
    let Submessage::Data(read) = only.submessage else {
        panic!("no sample: {only:?}");
    };
    assert_eq!(
        (only.source, only.timestamp),
        (usual.source, usual.timestamp)
    );
    assert_eq!((read.content, read.inline_qos), (Content::Data, None));
    assert_eq!(read.payload, usual.payload);
    let ids = (read.reader, read.writer, read.number);
    assert_eq!(ids, (usual.reader, usual.writer, usual.number));
}
