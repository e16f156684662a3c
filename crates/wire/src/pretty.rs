//! Prints a whole datagram for people: one line per submessage, its parameters indented below.
//!
//! Text from the wire is printed with control characters escaped, so that it cannot command a
//! terminal.

use alloc::string::String;
use core::fmt::{self, Write as _};

use whimbrel_base::guid::EntityId;
use whimbrel_base::reject::Reject;

use crate::discovery::{ParticipantMessageData, parameter_list};
use crate::field::{read_duration, read_entity_id, read_guid, read_locator, read_sequence_number};
use crate::inline_qos::StatusInfo;
use crate::message::{RawSubmessage, Submessage, Submessages};
use crate::parameter::value::read_string;
use crate::parameter::{Parameter, ParameterId, ParameterList};
use crate::submessage::{Content, Data};

/// Octets of a value that are shown in hexadecimal.
const HEX_SHOWN: usize = 32;

/// Prints the datagram it holds.
///
/// ```text
/// RTPS 2.5 Whimbrel 61626364.65666768.696a6b6c
///   INFO_TS 1700000000.500000000
///   DATA 000100c2 -> 000100c7 #1 data 80 octets
///     protocol_version 2.5
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dissection<'a>(pub &'a [u8]);

impl fmt::Display for Dissection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (header, submessages) = match Submessages::new(self.0) {
            Ok(found) => found,
            Err(reject) => return writeln!(f, "REFUSED {reject}"),
        };
        let version = header.version;
        let vendor = header.vendor.name();
        writeln!(
            f,
            "RTPS {}.{} {vendor} {}",
            version.major, version.minor, header.prefix
        )?;
        for raw in submessages {
            match raw {
                Ok(raw) => submessage(f, &raw)?,
                Err(reject) => writeln!(f, "  REFUSED {reject}")?,
            }
        }
        Ok(())
    }
}

fn submessage(f: &mut fmt::Formatter<'_>, raw: &RawSubmessage<'_>) -> fmt::Result {
    let parsed = match raw.parse() {
        Ok(parsed) => parsed,
        Err(reject) => return writeln!(f, "  {} REFUSED {reject}", raw.kind),
    };
    writeln!(f, "  {parsed}")?;
    match parsed {
        Submessage::Data(data) => {
            inline_qos(f, data.inline_qos)?;
            payload(f, &data)
        }
        Submessage::DataBatch(data) => inline_qos(f, data.inline_qos),
        Submessage::DataFrag(data) => inline_qos(f, data.inline_qos),
        Submessage::HeaderExtension(extension) => inline_qos(f, extension.parameters),
        Submessage::Heartbeat(_)
        | Submessage::HeartbeatBatch(_)
        | Submessage::HeartbeatFrag(_)
        | Submessage::AckNack(_)
        | Submessage::NackFrag(_)
        | Submessage::Gap(_)
        | Submessage::InfoTimestamp(_)
        | Submessage::InfoDestination(_)
        | Submessage::InfoSource(_)
        | Submessage::InfoReply(_)
        | Submessage::InfoReplyIp4(_)
        | Submessage::Pad(_)
        | Submessage::Unknown { .. } => Ok(()),
    }
}

fn inline_qos(f: &mut fmt::Formatter<'_>, list: Option<ParameterList<'_>>) -> fmt::Result {
    for parameter in list.into_iter().flatten() {
        line(f, "inline ", &parameter)?;
    }
    Ok(())
}

/// Discovery payloads are shown as parameters, others are not looked into.
fn payload(f: &mut fmt::Formatter<'_>, data: &Data<'_>) -> fmt::Result {
    if data.content == Content::None || !data.writer.is_builtin() {
        return Ok(());
    }
    if data.writer == EntityId::PARTICIPANT_MESSAGE_WRITER {
        return match ParticipantMessageData::parse(data.payload) {
            Ok(message) => writeln!(f, "    {} kind {:02x?}", message.prefix, message.kind.0),
            Err(reject) => writeln!(f, "    REFUSED {reject}"),
        };
    }
    match parameter_list(data.payload) {
        Ok(list) => list
            .iter()
            .try_for_each(|parameter| line(f, "", &parameter)),
        Err(reject) => writeln!(f, "    REFUSED {reject}"),
    }
}

fn line(f: &mut fmt::Formatter<'_>, prefix: &str, parameter: &Parameter<'_>) -> fmt::Result {
    let mut text = String::new();
    match value(&mut text, parameter) {
        Ok(()) => writeln!(f, "    {prefix}{} {text}", parameter.id),
        Err(reject) => writeln!(f, "    {prefix}{} REFUSED {reject}", parameter.id),
    }
}

/// Writes to a `String` cannot fail, so their outcome is not looked at.
fn value(out: &mut String, parameter: &Parameter<'_>) -> Result<(), Reject> {
    let mut cursor = parameter.cursor();
    let cursor = &mut cursor;
    let _ = match parameter.id {
        ParameterId::TOPIC_NAME
        | ParameterId::TYPE_NAME
        | ParameterId::ENTITY_NAME
        | ParameterId::DOMAIN_TAG => write!(out, "{:?}", read_string(cursor)?),
        ParameterId::PARTICIPANT_GUID | ParameterId::ENDPOINT_GUID | ParameterId::GROUP_GUID => {
            write!(out, "{}", read_guid(cursor)?)
        }
        ParameterId::GROUP_ENTITY_ID => write!(out, "{}", read_entity_id(cursor)?),
        ParameterId::UNICAST_LOCATOR
        | ParameterId::MULTICAST_LOCATOR
        | ParameterId::DEFAULT_UNICAST_LOCATOR
        | ParameterId::DEFAULT_MULTICAST_LOCATOR
        | ParameterId::METATRAFFIC_UNICAST_LOCATOR
        | ParameterId::METATRAFFIC_MULTICAST_LOCATOR => write!(out, "{}", read_locator(cursor)?),
        ParameterId::PARTICIPANT_LEASE_DURATION
        | ParameterId::DEADLINE
        | ParameterId::LATENCY_BUDGET
        | ParameterId::LIFESPAN
        | ParameterId::TIME_BASED_FILTER => write!(out, "{}", read_duration(cursor)?),
        ParameterId::RELIABILITY | ParameterId::LIVELINESS => {
            let kind = cursor.u32()?;
            write!(out, "kind {kind} {}", read_duration(cursor)?)
        }
        ParameterId::DOMAIN_ID
        | ParameterId::DURABILITY
        | ParameterId::OWNERSHIP
        | ParameterId::DESTINATION_ORDER
        | ParameterId::TYPE_MAX_SIZE_SERIALIZED => write!(out, "{}", cursor.u32()?),
        ParameterId::BUILTIN_ENDPOINT_SET | ParameterId::BUILTIN_ENDPOINT_QOS => {
            write!(out, "{:#010x}", cursor.u32()?)
        }
        ParameterId::PROTOCOL_VERSION => {
            let [major, minor] = cursor.array()?;
            write!(out, "{major}.{minor}")
        }
        ParameterId::STATUS_INFO => write!(out, "{:?}", StatusInfo::from_bytes(cursor.array()?)),
        ParameterId::COHERENT_SET => write!(out, "#{}", read_sequence_number(cursor)?),
        _ => hex(out, parameter.value),
    };
    Ok(())
}

fn hex(out: &mut String, octets: &[u8]) -> fmt::Result {
    for octet in octets.iter().take(HEX_SHOWN) {
        write!(out, "{octet:02x}")?;
    }
    match octets.len().checked_sub(HEX_SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => write!(out, " and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::string::ToString;

    use whimbrel_base::cursor::Endian;
    use whimbrel_base::guid::{Guid, GuidPrefix};
    use whimbrel_base::sequence::SequenceNumber;
    use whimbrel_base::time::Timestamp;
    use whimbrel_base::vendor::VendorId;

    use super::*;
    use crate::discovery::ParticipantData;
    use crate::parameter::ParameterListWriter;
    use crate::submessage::InfoTimestamp;
    use crate::testing::MESSAGE_HEADER;

    fn announcement() -> Vec<u8> {
        let mut out = Vec::from(MESSAGE_HEADER);
        let time = Some(Timestamp(1_700_000_000_500_000_000));
        InfoTimestamp { time }.compose(&mut out, Endian::Little);
        let guid = Guid::new(GuidPrefix(*b"abcdefghijkl"), EntityId::PARTICIPANT);
        let mut payload = Vec::new();
        let mut participant = ParticipantData::new(guid, VendorId::WHIMBREL);
        participant.entity_name = "\x1b[31m".into();
        participant.compose(&mut payload).unwrap();
        let mut qos = Vec::new();
        let mut list = ParameterListWriter::new(&mut qos, Endian::Little);
        list.put(ParameterId::KEY_HASH, |out| out.bytes(&guid.to_bytes()));
        list.put(ParameterId(0x8123), |out| out.zeros(36));
        list.put(ParameterId::STATUS_INFO, |out| out.u8(0));
        list.finish().unwrap();
        Data {
            reader: EntityId::SPDP_READER,
            writer: EntityId::SPDP_WRITER,
            number: SequenceNumber(1),
            inline_qos: Some(ParameterList::parse(&qos, Endian::Little).unwrap()),
            content: Content::Data,
            non_standard_payload: false,
            payload: &payload,
        }
        .compose(&mut out, Endian::Little);
        out.extend_from_slice(&[0x80, 1, 0, 0, 1, 2, 3, 4]);
        out
    }

    const PRINTED: &str = "\
RTPS 2.5 Whimbrel 61626364.65666768.696a6b6c
  INFO_TS 1700000000.500000000
  DATA 000100c2 -> 000100c7 #1 data 80 octets
    inline key_hash 6162636465666768696a6b6c000001c1
    inline vendor 0x8123 0000000000000000000000000000000000000000000000000000000000000000 and 4 more
    inline status_info alive
    protocol_version 2.5
    vendor_id 01770000
    participant_guid 61626364.65666768.696a6b6c:000001c1
    builtin_endpoint_set 0x00000000
    participant_lease_duration 100s
    entity_name \"\\u{1b}[31m\"
  VENDOR 0x80 flags 0x01 4 octets
";

    #[test]
    fn an_announcement_is_printed() {
        assert_eq!(Dissection(&announcement()).to_string(), PRINTED);
    }

    #[test]
    fn truncations_are_printed_as_refused() {
        let whole = announcement();
        for len in 0..whole.len() {
            let text = Dissection(&whole[..len]).to_string();
            let at_boundary = [20, 32, whole.len() - 8].contains(&len);
            // The last submessage states no length, so any may be its own.
            let at_boundary = at_boundary || len >= whole.len() - 4;
            assert_eq!(text.contains("REFUSED"), !at_boundary, "{len}: {text}");
        }
    }
}
