//! Payloads of discovery, each with its encapsulation header.

use whimbrel_base::reject::Reject;
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{
    Context, ParticipantData, ParticipantMessageData, ReaderData, WriterData, parse_key,
};
use whimbrel_wire::inline_qos::InlineQos;
use whimbrel_wire::parameter::ParameterId;

use super::parameter_list;

/// Senders whose own parameters mean something to us, and one that means nothing.
const VENDORS: [VendorId; 4] = [
    VendorId::WHIMBREL,
    VendorId::CONNEXT,
    VendorId::CYCLONE_DDS,
    VendorId([0x7f, 0x7f]),
];

/// Reads what SPDP carries.
pub fn participant_data(data: &[u8]) {
    announcement(
        data,
        ParameterId::PARTICIPANT_GUID,
        ParticipantData::parse,
        ParticipantData::compose,
    );
}

/// Reads what SEDP carries of a writer.
pub fn writer_data(data: &[u8]) {
    announcement(
        data,
        ParameterId::ENDPOINT_GUID,
        WriterData::parse,
        WriterData::compose,
    );
}

/// Reads what SEDP carries of a reader.
pub fn reader_data(data: &[u8]) {
    announcement(
        data,
        ParameterId::ENDPOINT_GUID,
        ReaderData::parse,
        ReaderData::compose,
    );
}

/// What was understood is understood again from its own composition, in the same octets.
fn announcement<T>(
    data: &[u8],
    key: ParameterId,
    parse: impl Fn(&[u8], &Context<'_>) -> Result<T, Reject>,
    compose: impl Fn(&T, &mut Vec<u8>) -> Result<(), Reject>,
) {
    for vendor in VENDORS {
        let context = Context::new(vendor);
        let _ = parse_key(data, key, &context);
        let Ok(parsed) = parse(data, &context) else {
            continue;
        };
        let mut once = Vec::new();
        if compose(&parsed, &mut once).is_err() {
            continue;
        }
        let ours = Context::new(VendorId::WHIMBREL);
        let again = parse(&once, &ours).expect("what we compose can be read");
        let mut twice = Vec::new();
        assert_eq!(compose(&again, &mut twice), Ok(()));
        assert_eq!(twice, once);
    }
}

/// Reads what asserts liveliness.
pub fn participant_message(data: &[u8]) {
    let Ok(parsed) = ParticipantMessageData::parse(data) else {
        return;
    };
    let mut once = Vec::new();
    parsed.compose(&mut once);
    assert_eq!(ParticipantMessageData::parse(&once), Ok(parsed));
    assert_eq!(parsed.key_hash()[..12], parsed.prefix.0);
}

/// Reads the parameters that go with a change: the first octet is odd for little endian.
pub fn inline_qos(data: &[u8]) {
    if let Some(list) = parameter_list::parse(data) {
        let _ = InlineQos::parse(list);
    }
}
