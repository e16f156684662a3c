//! A golden datagram as text: every value that the parsers find, octet order left out.

use std::fmt::Write as _;
use std::path::Path;

use whimbrel_base::guid::EntityId;
use whimbrel_base::vendor::VendorId;
use whimbrel_net::capture::CaptureReader;
use whimbrel_wire::discovery::{
    Context, ParticipantData, ParticipantMessageData, ReaderData, WriterData, parse_key,
};
use whimbrel_wire::inline_qos::InlineQos;
use whimbrel_wire::message::{Submessage, Submessages};
use whimbrel_wire::parameter::ParameterId;
use whimbrel_wire::submessage::{Content, Data};

/// What is said of the type: octets whose order is the sender's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    /// In hexadecimal.
    Shown,
    /// Only how many there are.
    Counted,
}

/// All datagrams of a capture.
pub(crate) fn capture(path: &Path, types: Types) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let reader = CaptureReader::new(&bytes).expect("a capture");
    let mut text = String::new();
    for datagram in reader {
        let datagram = datagram.expect("a packet");
        if !text.is_empty() {
            text.push('\n');
        }
        text += &message(datagram.payload, types);
    }
    text
}

fn message(bytes: &[u8], types: Types) -> String {
    let (header, submessages) = Submessages::new(bytes).expect("an RTPS header");
    let (version, vendor) = (header.version, header.vendor.name());
    let mut text = format!(
        "RTPS {}.{} {vendor} {}\n",
        version.major, version.minor, header.prefix
    );
    for raw in submessages {
        let parsed = raw.expect("a submessage").parse().expect("its content");
        let _ = writeln!(text, "{parsed}");
        if let Submessage::Data(data) = parsed {
            text += &values(&data, header.vendor, types);
        }
    }
    text
}

/// Inline QoS and discovery of a DATA.
fn values(data: &Data<'_>, vendor: VendorId, types: Types) -> String {
    let mut text = String::new();
    let mut context = Context::new(vendor);
    if let Some(list) = data.inline_qos {
        let qos = InlineQos::parse(list).expect("inline QoS");
        context.key_hash = qos.key_hash;
        let _ = writeln!(text, "inline {qos:#?}");
    }
    let payload = data.payload;
    let discovery = match (data.content, data.writer) {
        (Content::Data, EntityId::SPDP_WRITER) => {
            let data = ParticipantData::parse(payload, &context);
            format!("{:#?}", data.expect("a participant"))
        }
        (Content::Data, EntityId::SEDP_PUBLICATIONS_WRITER) => {
            let mut data = WriterData::parse(payload, &context).expect("a writer");
            let information = data.endpoint.type_information.take();
            format!("{data:#?}\n{}", type_information(information, types))
        }
        (Content::Data, EntityId::SEDP_SUBSCRIPTIONS_WRITER) => {
            let mut data = ReaderData::parse(payload, &context).expect("a reader");
            let information = data.endpoint.type_information.take();
            format!("{data:#?}\n{}", type_information(information, types))
        }
        (Content::Data, EntityId::PARTICIPANT_MESSAGE_WRITER) => {
            let data = ParticipantMessageData::parse(payload);
            format!("{:#?}", data.expect("a message"))
        }
        (_, EntityId::SPDP_WRITER) => key(payload, ParameterId::PARTICIPANT_GUID, &context),
        (_, EntityId::SEDP_PUBLICATIONS_WRITER | EntityId::SEDP_SUBSCRIPTIONS_WRITER) => {
            key(payload, ParameterId::ENDPOINT_GUID, &context)
        }
        _ => return text,
    };
    text += discovery.trim_end();
    text.push('\n');
    text
}

fn key(payload: &[u8], parameter: ParameterId, context: &Context) -> String {
    let guid = parse_key(payload, parameter, context).expect("a key");
    format!("key {guid}")
}

fn type_information(octets: Option<Vec<u8>>, types: Types) -> String {
    let Some(octets) = octets else {
        return "no TypeInformation".into();
    };
    let mut text = format!("TypeInformation of {} octets", octets.len());
    if types == Types::Shown {
        for (index, octet) in octets.iter().enumerate() {
            let gap = if index % 32 == 0 { "\n  " } else { "" };
            let _ = write!(text, "{gap}{octet:02x}");
        }
    }
    text
}
