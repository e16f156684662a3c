//! Disposals of announcements as data, so that they stay in line with the other changes and need no
//! instance: a parameter list of the key and the status info.

use alloc::vec::Vec;

use whimbrel_base::buffer::SharedBytes;
use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::Guid;
use whimbrel_wire::discovery::{Context, parse_key};
use whimbrel_wire::parameter::{ParameterId, ParameterListWriter};

use crate::change::ChangeKind;
use crate::reader::Incoming;
use crate::receive::Inbound;

/// A disposal of an announcement as data; other changes as they are.
pub(super) fn with_disposal_as_data(mut change: Incoming, inbound: &Inbound<'_>) -> Incoming {
    if change.kind == ChangeKind::Alive {
        return change;
    }
    change.kind = ChangeKind::Alive;
    change.is_key = false;
    let context = Context {
        key_hash: change.key_hash.map(|hash| hash.key_hash()),
        ..Context::new(inbound.vendor)
    };
    // A payload without key stays as it is, to be refused when its turn comes.
    if let Ok(guid) = parse_key(&change.payload, ParameterId::ENDPOINT_GUID, &context) {
        change.payload = SharedBytes::from_vec(disposal(guid));
    }
    change
}

/// The payload that stands for the disposal of `guid`.
fn disposal(guid: Guid) -> Vec<u8> {
    let mut payload = Vec::from([0, 3, 0, 0]);
    let mut list = ParameterListWriter::new(&mut payload, Endian::Little);
    list.put(ParameterId::ENDPOINT_GUID, |out| {
        out.bytes(&guid.to_bytes())
    });
    list.put(ParameterId::STATUS_INFO, |out| out.bytes(&[0, 0, 0, 3]));
    // Both values are short.
    let _ = list.finish();
    payload
}
