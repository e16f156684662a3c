//! One message of every kind of submessage and of every discovery payload.

use std::net::SocketAddr;

use whimbrel_base::cursor::Endian;
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{
    DataReaderQos, DataRepresentationId, DataWriterQos, DestinationOrder, LivelinessKind,
    Ownership, ResourceLimits,
};
use whimbrel_base::sequence::{Count, FragmentNumber, SequenceNumber};
use whimbrel_base::time::{Duration, Timestamp};
use whimbrel_base::vendor::{ProtocolVersion, VendorId};
use whimbrel_wire::discovery::{
    BuiltinEndpoints, ContentFilter, EndpointData, ParticipantData, ParticipantMessageData,
    ParticipantMessageKind, ReaderData, WriterData, compose_key,
};
use whimbrel_wire::header::Header;
use whimbrel_wire::inline_qos::StatusInfo;
use whimbrel_wire::number_set::{FragmentNumberSet, SequenceNumberSet};
use whimbrel_wire::parameter::{ParameterId, ParameterList, ParameterListWriter};
use whimbrel_wire::property::{BinaryProperty, Property, PropertyList};
use whimbrel_wire::submessage::{
    AckNack, Content, Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InfoDestination, InfoReply,
    InfoReplyIp4, InfoSource, InfoTimestamp, LocatorUdpV4, NackFrag, Pad,
};

const PREFIX: GuidPrefix = GuidPrefix(*b"\x01\x77cdefghijkl");
const READER: EntityId = EntityId([0, 0, 1, 7]);
const WRITER: EntityId = EntityId([0, 0, 1, 2]);

/// Every message, in both byte orders.
pub(crate) fn all() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for endian in [Endian::Big, Endian::Little] {
        all.push(user(endian));
        all.push(control(endian));
        all.push(info(endian));
    }
    all.extend(announcements());
    all
}

fn start() -> Vec<u8> {
    let mut out = Vec::new();
    Header {
        version: ProtocolVersion::V2_5,
        vendor: VendorId::WHIMBREL,
        prefix: PREFIX,
    }
    .compose(&mut out);
    out
}

fn number(value: i64) -> SequenceNumber {
    SequenceNumber(value)
}

fn set(base: i64, members: &[i64]) -> SequenceNumberSet {
    let mut set = SequenceNumberSet::new(number(base));
    assert!(members.iter().all(|member| set.insert(number(*member))));
    set
}

fn data(payload: &[u8]) -> Data<'_> {
    Data {
        reader: EntityId::UNKNOWN,
        writer: WRITER,
        number: number(5),
        inline_qos: None,
        content: Content::Data,
        non_standard_payload: false,
        payload,
    }
}

/// Samples, whole and in fragments, and a disposal.
fn user(endian: Endian) -> Vec<u8> {
    let mut out = start();
    let time = Some(Timestamp(1_700_000_000_123_456_789));
    InfoTimestamp { time }.compose(&mut out, endian);
    data(&[0, 1, 0, 0, 1, 0, 0, 0, 2]).compose(&mut out, endian);
    let mut qos = Vec::new();
    let mut list = ParameterListWriter::new(&mut qos, endian);
    list.put(ParameterId::KEY_HASH, |out| out.bytes(&[7; 16]));
    let status = StatusInfo::DISPOSED.with(StatusInfo::UNREGISTERED);
    list.put(ParameterId::STATUS_INFO, |out| {
        out.bytes(&status.to_bytes())
    });
    list.finish().unwrap();
    let inline_qos = Some(ParameterList::parse(&qos, endian).unwrap());
    let dispose = Data {
        inline_qos,
        content: Content::Key,
        number: number(6),
        ..data(&[0, 1, 0, 0, 7, 0, 0, 0])
    };
    dispose.compose(&mut out, endian);
    let nothing = Data {
        content: Content::None,
        number: number(7),
        inline_qos,
        ..data(&[])
    };
    nothing.compose(&mut out, endian);
    DataFrag {
        reader: READER,
        writer: WRITER,
        number: number(8),
        first: FragmentNumber(2),
        count: 2,
        fragment_size: 16,
        sample_size: 43,
        inline_qos,
        key: false,
        non_standard_payload: false,
        payload: &[9; 27],
    }
    .compose(&mut out, endian);
    out
}

/// Heartbeats, acknowledgements and gaps.
fn control(endian: Endian) -> Vec<u8> {
    let mut out = start();
    let prefix = GuidPrefix(*b"ABCDEFGHIJKL");
    InfoDestination { prefix }.compose(&mut out, endian);
    let (reader, writer, count) = (READER, WRITER, Count(3));
    for (first, last) in [(1, 8), (9, 8)] {
        Heartbeat {
            reader,
            writer,
            first: number(first),
            last: number(last),
            count,
            is_final: true,
            liveliness: true,
            group: None,
        }
        .compose(&mut out, endian);
    }
    let last = FragmentNumber(3);
    let number = number(8);
    HeartbeatFrag {
        reader,
        writer,
        number,
        last,
        count,
    }
    .compose(&mut out, endian);
    for state in [set(3, &[3, 7, 40]), set(9, &[])] {
        AckNack {
            reader,
            writer,
            state,
            count,
            is_final: false,
        }
        .compose(&mut out, endian);
    }
    let mut state = FragmentNumberSet::new(FragmentNumber(1));
    assert!(state.insert(FragmentNumber(3)));
    NackFrag {
        reader,
        writer,
        number,
        state,
        count,
    }
    .compose(&mut out, endian);
    Gap {
        reader,
        writer,
        start: SequenceNumber(2),
        list: set(5, &[6, 7]),
        group: None,
        filtered_count: None,
    }
    .compose(&mut out, endian);
    out
}

/// What only changes the receiver's state.
fn info(endian: Endian) -> Vec<u8> {
    let mut out = start();
    InfoSource {
        version: ProtocolVersion::V2_5,
        vendor: VendorId::WHIMBREL,
        prefix: PREFIX,
    }
    .compose(&mut out, endian);
    InfoReply {
        unicast: vec![locator("127.0.0.1:7410"), locator("[::1]:7411")],
        multicast: Some(vec![locator("239.255.0.1:7400")]),
    }
    .compose(&mut out, endian);
    let unicast = LocatorUdpV4 {
        address: 0x7f00_0001,
        port: 7410,
    };
    InfoReplyIp4 {
        unicast,
        multicast: Some(unicast),
    }
    .compose(&mut out, endian);
    InfoTimestamp { time: None }.compose(&mut out, endian);
    Pad { len: 8 }.compose(&mut out, endian);
    out
}

fn locator(text: &str) -> Locator {
    text.parse::<SocketAddr>().unwrap().into()
}

fn participant() -> ParticipantData {
    ParticipantData {
        domain_id: Some(0),
        domain_tag: "blue".into(),
        builtin_endpoints: BuiltinEndpoints::STANDARD,
        builtin_endpoint_qos: 1,
        metatraffic_unicast: vec![locator("127.0.0.1:7410"), locator("[::1]:7410")],
        metatraffic_multicast: vec![locator("239.255.0.1:7400")],
        default_unicast: vec![locator("127.0.0.1:7411")],
        default_multicast: vec![locator("239.255.0.1:7401")],
        lease_duration: Duration::from_millis(10_500),
        manual_liveliness_count: Count(3),
        expects_inline_qos: true,
        user_data: b"hello".to_vec(),
        properties: PropertyList {
            text: vec![Property {
                name: "whimbrel.host".into(),
                value: "shore".into(),
            }],
            binary: vec![BinaryProperty {
                name: "b".into(),
                value: vec![1, 2, 3],
            }],
        },
        entity_name: "demo".into(),
        ..ParticipantData::new(Guid::new(PREFIX, EntityId::PARTICIPANT), VendorId::WHIMBREL)
    }
}

fn endpoint(entity: EntityId) -> EndpointData {
    let mut endpoint = EndpointData::new(Guid::new(PREFIX, entity), "Square", "ShapeType");
    endpoint.group = Some(EntityId([0, 0, 1, 8]));
    endpoint.partition.names = vec!["a".into(), "b*".into()];
    endpoint.presentation.coherent_access = true;
    endpoint.group_data.value = b"group".to_vec();
    endpoint.topic_data.value = b"topic".to_vec();
    endpoint.unicast = vec![locator("127.0.0.1:7411")];
    endpoint.multicast = vec![locator("239.255.0.2:7401")];
    endpoint.entity_name = "endpoint".into();
    endpoint.properties = participant().properties;
    endpoint
}

fn writer() -> WriterData {
    WriterData {
        endpoint: endpoint(WRITER),
        qos: DataWriterQos::default()
            .transient_local()
            .keep_last(5)
            .deadline(Duration::from_millis(1500))
            .latency_budget(Duration::from_millis(10))
            .liveliness(LivelinessKind::ManualByTopic, Duration::from_secs(9))
            .ownership(Ownership::Exclusive)
            .ownership_strength(4)
            .destination_order(DestinationOrder::BySourceTimestamp)
            .data_representation(&[DataRepresentationId::XCDR2])
            .resource_limits(ResourceLimits::UNLIMITED.max_samples(7))
            .user_data(*b"user")
            .lifespan(Duration::from_secs(60))
            .transport_priority(1),
        max_serialized_size: Some(152),
    }
}

fn reader() -> ReaderData {
    let mut qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .minimum_separation(Duration::from_millis(5))
        .data_representation(&[DataRepresentationId::XCDR2, DataRepresentationId::XCDR1]);
    qos.type_consistency.ignore_member_names = true;
    ReaderData {
        endpoint: endpoint(READER),
        qos,
        expects_inline_qos: true,
        content_filter: Some(ContentFilter {
            filtered_topic_name: "myfilter".into(),
            related_topic_name: "Square".into(),
            class_name: "DDSSQL".into(),
            expression: "x > %0".into(),
            parameters: vec!["50".into()],
        }),
    }
}

fn announce(writer: EntityId, reader: EntityId, content: Content, payload: &[u8]) -> Vec<u8> {
    let mut out = start();
    let data = Data {
        reader,
        writer,
        content,
        ..data(payload)
    };
    data.compose(&mut out, Endian::Little);
    out
}

fn announcements() -> Vec<Vec<u8>> {
    let mut payloads = vec![Vec::new(); 5];
    participant().compose(&mut payloads[0]).unwrap();
    writer().compose(&mut payloads[1]).unwrap();
    reader().compose(&mut payloads[2]).unwrap();
    ParticipantMessageData {
        prefix: PREFIX,
        kind: ParticipantMessageKind::AUTOMATIC_LIVELINESS,
        data: &[],
    }
    .compose(&mut payloads[3]);
    let guid = writer().endpoint.guid;
    compose_key(guid, ParameterId::ENDPOINT_GUID, &mut payloads[4]);
    let publications = (
        EntityId::SEDP_PUBLICATIONS_WRITER,
        EntityId::SEDP_PUBLICATIONS_READER,
    );
    let channels = [
        (EntityId::SPDP_WRITER, EntityId::SPDP_READER),
        publications,
        (
            EntityId::SEDP_SUBSCRIPTIONS_WRITER,
            EntityId::SEDP_SUBSCRIPTIONS_READER,
        ),
        (
            EntityId::PARTICIPANT_MESSAGE_WRITER,
            EntityId::PARTICIPANT_MESSAGE_READER,
        ),
        publications,
    ];
    let contents = [
        Content::Data,
        Content::Data,
        Content::Data,
        Content::Data,
        Content::Key,
    ];
    let announce = |((payload, (writer, reader)), content)| {
        announce(
            writer,
            reader,
            content,
            <Vec<u8> as AsRef<[u8]>>::as_ref(payload),
        )
    };
    payloads
        .iter()
        .zip(channels)
        .zip(contents)
        .map(announce)
        .collect()
}
