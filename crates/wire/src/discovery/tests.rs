use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;

use whimbrel_base::cursor::{Endian, WriteCursor};
use whimbrel_base::guid::{EntityId, Guid, GuidPrefix};
use whimbrel_base::limits::Limits;
use whimbrel_base::locator::Locator;
use whimbrel_base::qos::{
    CompressionIds, DataReaderQos, DataRepresentationId, DataWriterQos, DestinationOrder,
    Durability, DurabilityService, History, LivelinessKind, Ownership, PresentationScope,
    ReliabilityKind, ResourceLimits,
};
use whimbrel_base::reject::RejectKind;
use whimbrel_base::sequence::Count;
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::{ProtocolVersion, VendorId};

use super::*;
use crate::parameter::{ParameterId, ParameterListWriter};
use crate::property::{Property, PropertyList};

const PREFIX: GuidPrefix = GuidPrefix(*b"abcdefghijkl");

fn context() -> Context<'static> {
    Context::new(VendorId::CONNEXT)
}

fn locator(text: &str) -> Locator {
    text.parse::<SocketAddr>().unwrap().into()
}

/// A payload in `endian` with these parameters.
fn payload(endian: Endian, parameters: &[(u16, &[u8])]) -> Vec<u8> {
    let mut out = Vec::from([0, if endian == Endian::Big { 2 } else { 3 }, 0, 0]);
    let mut list = ParameterListWriter::new(&mut out, endian);
    for (id, value) in parameters {
        list.put(ParameterId(*id), |out| out.bytes(value));
    }
    list.finish().unwrap();
    out
}

fn string(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut cursor = WriteCursor::new(&mut out, Endian::Little);
    crate::parameter::value::write_string(&mut cursor, text);
    out
}

fn participant() -> ParticipantData {
    ParticipantData {
        version: ProtocolVersion { major: 2, minor: 3 },
        domain_id: Some(7),
        domain_tag: "blue".into(),
        builtin_endpoints: BuiltinEndpoints::STANDARD,
        builtin_endpoint_qos: 1,
        metatraffic_unicast: Vec::from([locator("127.0.0.1:7410"), locator("[::1]:7410")]),
        metatraffic_multicast: Vec::from([locator("239.255.0.1:7400")]),
        default_unicast: Vec::from([locator("127.0.0.1:7411")]),
        default_multicast: Vec::from([locator("239.255.0.1:7401")]),
        lease_duration: Duration::from_millis(12_345),
        manual_liveliness_count: Count(3),
        receive_buffer_bytes: 300_000,
        packed_messages: CompressionIds::ALL,
        expects_inline_qos: true,
        user_data: Vec::from(*b"hello"),
        properties: PropertyList {
            text: Vec::from([Property {
                name: "a".into(),
                value: "b".into(),
            }]),
            binary: Vec::new(),
        },
        entity_name: "whim".into(),
        ..ParticipantData::new(Guid::new(PREFIX, EntityId::PARTICIPANT), VendorId::WHIMBREL)
    }
}

fn writer() -> WriterData {
    let guid = Guid::new(PREFIX, EntityId([0, 0, 1, 2]));
    let mut endpoint = EndpointData::new(guid, "Square", "ShapeType");
    endpoint.group = Some(EntityId([0, 0, 1, 8]));
    endpoint.partition.names = Vec::from(["a".into(), "b*".into()]);
    endpoint.presentation.access_scope = PresentationScope::Group;
    endpoint.presentation.coherent_access = true;
    endpoint.group_data.value = Vec::from(*b"group");
    endpoint.topic_data.value = Vec::from(*b"topic");
    endpoint.unicast = Vec::from([locator("127.0.0.1:7411")]);
    endpoint.multicast = Vec::from([locator("239.255.0.2:7401")]);
    endpoint.entity_name = "writer".into();
    endpoint.type_information = Some(Vec::from([7; 92]));
    endpoint.type_object = Some(Vec::from([8; 24]));
    let mut qos = DataWriterQos::default()
        .transient_local()
        .keep_all()
        .deadline(Duration::from_millis(1500))
        .latency_budget(Duration::from_millis(10))
        .liveliness(LivelinessKind::ManualByTopic, Duration::from_secs(9))
        .ownership(Ownership::Exclusive)
        .ownership_strength(-4)
        .destination_order(DestinationOrder::BySourceTimestamp)
        .data_representation(&[DataRepresentationId::XCDR2])
        .compression_ids(CompressionIds::ZLIB)
        .resource_limits(ResourceLimits::UNLIMITED.max_samples(7).max_instances(3))
        .user_data(*b"user")
        .lifespan(Duration::from_secs(60))
        .transport_priority(-1);
    qos.durability_service = DurabilityService {
        service_cleanup_delay: Duration::from_secs(1),
        history: History::KeepLast(4),
        resource_limits: ResourceLimits::UNLIMITED,
    };
    let max_serialized_size = Some(152);
    WriterData {
        endpoint,
        qos,
        max_serialized_size,
    }
}

fn reader() -> ReaderData {
    let mut endpoint = writer().endpoint;
    endpoint.guid.entity = EntityId([0, 0, 1, 7]);
    let mut qos = DataReaderQos::default()
        .reliable()
        .keep_last(9)
        .minimum_separation(Duration::from_millis(5))
        .deadline(Duration::from_secs(5))
        .liveliness(LivelinessKind::Automatic, Duration::from_secs(5))
        .data_representation(&[DataRepresentationId::XCDR2, DataRepresentationId::XCDR1])
        .compression_ids(CompressionIds(7));
    qos.type_consistency.ignore_member_names = true;
    ReaderData {
        endpoint,
        qos,
        expects_inline_qos: true,
        content_filter: Some(ContentFilter {
            filtered_topic_name: "myfilter".into(),
            related_topic_name: "Square".into(),
            class_name: "DDSSQL".into(),
            expression: "x > %0".into(),
            parameters: Vec::from(["50".into()]),
        }),
    }
}

#[test]
fn everything_that_is_announced_comes_back() {
    let mut out = Vec::new();
    participant().compose(&mut out).unwrap();
    assert_eq!(ParticipantData::parse(&out, &context()), Ok(participant()));
    let mut out = Vec::new();
    writer().compose(&mut out).unwrap();
    assert_eq!(WriterData::parse(&out, &context()), Ok(writer()));
    let mut out = Vec::new();
    reader().compose(&mut out).unwrap();
    assert_eq!(ReaderData::parse(&out, &context()), Ok(reader()));
}

#[test]
fn every_truncation_is_refused() {
    let mut out = Vec::new();
    participant().compose(&mut out).unwrap();
    assert!((0..out.len()).all(|len| ParticipantData::parse(&out[..len], &context()).is_err()));
    let mut out = Vec::new();
    writer().compose(&mut out).unwrap();
    assert!((0..out.len()).all(|len| WriterData::parse(&out[..len], &context()).is_err()));
    let mut out = Vec::new();
    reader().compose(&mut out).unwrap();
    assert!((0..out.len()).all(|len| ReaderData::parse(&out[..len], &context()).is_err()));
}

#[test]
fn a_connext_participant() {
    // Connext 7.2, in the order in which it sends; security left out.
    let guid = Guid::new(PREFIX, EntityId::PARTICIPANT).to_bytes();
    let bytes = payload(
        Endian::Little,
        &[
            (0x0050, &guid),
            (0x800f, &[0; 4]),
            (0x0015, &[2, 5, 0, 0]),
            (0x0016, &[1, 1, 0, 0]),
            (0x0058, &[0x3f, 0x0c, 0xff, 0x0f]),
            (0x0077, &[1, 0, 0, 0]),
            (0x8016, &[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff]),
            (0x000f, &[0; 4]),
            (0x8000, &[7, 2, 0, 0]),
            (0x0002, &[0x64, 0, 0, 0, 0, 0, 0, 0]),
            (0x8010, &[1, 0, 0, 0, 1, 0, 0, 0, 0xe3, 0xff, 0, 0]),
            (
                0x0032,
                &[
                    1, 0, 0, 0, 0xf2, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 127, 0, 0, 1,
                ],
            ),
            (0x8017, &[0x33, 0, 0, 0]),
        ],
    );
    let data = ParticipantData::parse(&bytes, &context()).unwrap();
    assert_eq!(data.guid, Guid::new(PREFIX, EntityId::PARTICIPANT));
    assert_eq!(data.vendor, VendorId::CONNEXT);
    assert_eq!(data.domain_id, Some(0));
    assert!(data.builtin_endpoints.contains(BuiltinEndpoints::STANDARD));
    assert_eq!(data.lease_duration, Duration::from_secs(100));
    assert_eq!(data.metatraffic_unicast, [locator("127.0.0.1:7410")]);
    assert_eq!(data.unknown_parameters, 5);
}

#[test]
fn connext_endpoints_leave_defaults_out() {
    let (topic, kind) = (string("Square"), string("ShapeType"));
    let guid = Guid::new(PREFIX, EntityId([0x80, 0, 0, 2])).to_bytes();
    let base: &[(u16, &[u8])] = &[
        (0x005a, &guid),
        (0x0015, &[2, 5, 0, 0]),
        (0x0016, &[1, 1, 0, 0]),
        (0x8000, &[7, 2, 0, 0]),
        (0x0005, &topic),
        (0x0007, &kind),
        (0x0013, &[0xff; 4]),
        (0x0053, &[0, 0, 1, 8]),
        (0x0060, &[0x98, 0, 0, 0]),
        (0x8002, &guid),
    ];
    let data = WriterData::parse(&payload(Endian::Little, base), &context()).unwrap();
    assert_eq!(data.endpoint.topic_name, "Square");
    assert_eq!(data.endpoint.type_name, "ShapeType");
    assert_eq!(data.endpoint.group, Some(EntityId([0, 0, 1, 8])));
    assert_eq!(data.max_serialized_size, Some(0x98));
    assert_eq!(data.qos, DataWriterQos::default());
    assert_eq!(data.qos.reliability.kind, ReliabilityKind::Reliable);
    assert_eq!(data.endpoint.unknown_parameters, 3);
    let mut with_more = base.to_vec();
    with_more.push((0x0073, &[1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]));
    with_more.push((0x0074, &[1, 0, 0, 0]));
    let data = ReaderData::parse(&payload(Endian::Little, &with_more), &context()).unwrap();
    let codecs = data.qos.data_representation.compression.compression_ids;
    assert_eq!(codecs, Some(CompressionIds(7)));
    assert_eq!(data.qos.reliability.kind, ReliabilityKind::BestEffort);
    let ids = &data.qos.data_representation.ids;
    assert_eq!(ids.as_slice(), [DataRepresentationId::XCDR1]);
}

#[test]
fn big_endian_announcements_are_read() {
    let guid = Guid::new(PREFIX, EntityId([0, 0, 1, 7])).to_bytes();
    let bytes = payload(
        Endian::Big,
        &[
            (0x0005, b"\0\0\0\x02T\0"),
            (0x0007, b"\0\0\0\x02t\0"),
            (0x005a, &guid),
            (0x001d, &[0, 0, 0, 1]),
            (0x001a, &[0, 0, 0, 2, 0, 0, 0, 0, 0x80, 0, 0, 0]),
            (0x0029, b"\0\0\0\x02\0\0\0\x02p\0\xee\xee\0\0\0\x02q\0"),
        ],
    );
    let data = ReaderData::parse(&bytes, &context()).unwrap();
    assert_eq!(data.qos.durability, Durability::TransientLocal);
    assert_eq!(
        data.qos.reliability.max_blocking_time,
        Duration::from_millis(500)
    );
    assert_eq!(data.endpoint.partition.names, ["p", "q"]);
}

fn writer_with(id: u16, value: &[u8]) -> Result<WriterData, RejectKind> {
    let guid = Guid::new(PREFIX, EntityId([0, 0, 1, 2])).to_bytes();
    let topic = string("T");
    let base = [
        (0x005a, guid.as_slice()),
        (5, &topic),
        (7, &topic),
        (id, value),
    ];
    WriterData::parse(&payload(Endian::Little, &base), &context()).map_err(|reject| reject.kind)
}

#[test]
fn what_means_nothing_is_refused() {
    assert!(writer_with(0x001d, &[3, 0, 0, 0]).is_ok());
    assert_eq!(
        writer_with(0x001d, &[4, 0, 0, 0]),
        Err(RejectKind::EnumValue)
    );
    assert_eq!(
        writer_with(0x001f, &[2, 0, 0, 0]),
        Err(RejectKind::EnumValue)
    );
    let negative = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    assert_eq!(writer_with(0x0023, &negative), Err(RejectKind::Time));
    assert_eq!(
        writer_with(0x0023, &negative[..4]),
        Err(RejectKind::Truncated)
    );
    assert_eq!(writer_with(0x4123, &[]), Err(RejectKind::MustUnderstand));
    assert_eq!(writer_with(0xc123, &[]), Err(RejectKind::MustUnderstand));
    assert_eq!(
        writer_with(0x0005, b"\x02\0\0\0TT\0\0"),
        Err(RejectKind::String)
    );
    assert_eq!(
        writer_with(0x0005, &string("")),
        Err(RejectKind::MissingParameter)
    );
    let long: String = core::iter::repeat_n('x', 1025).collect();
    assert_eq!(writer_with(0x0005, &string(&long)), Err(RejectKind::Limit));
    // A participant that is not the endpoint's own.
    assert_eq!(writer_with(0x0050, &[9; 16]), Err(RejectKind::Parameter));
}

#[test]
fn only_fast_dds_says_no_positive_acks() {
    let guid = Guid::new(PREFIX, EntityId([0, 0, 1, 2])).to_bytes();
    let topic = string("T");
    let base = [
        (0x005a, guid.as_slice()),
        (5, &topic),
        (7, &topic),
        (0x8005, &[1, 0, 0, 0]),
    ];
    for (vendor, disabled) in [(VendorId::FAST_DDS, true), (VendorId::CONNEXT, false)] {
        let bytes = payload(Endian::Little, &base);
        let data = WriterData::parse(&bytes, &Context::new(vendor)).unwrap();
        assert_eq!(data.endpoint.disable_positive_acks, disabled);
    }
}

#[test]
fn guids_come_from_the_key_hash_where_the_payload_lacks_them() {
    let guid = Guid::new(PREFIX, EntityId([0, 0, 1, 2]));
    let topic = string("T");
    let bytes = payload(Endian::Little, &[(5, topic.as_slice()), (7, &topic)]);
    let missing = WriterData::parse(&bytes, &context()).unwrap_err();
    assert_eq!(missing.kind, RejectKind::MissingParameter);
    // Fast DDS puts a key hash into the payload.
    let hash = guid.to_bytes();
    let fast_dds = [(5, topic.as_slice()), (7, &topic), (0x70, &hash)];
    let data = WriterData::parse(&payload(Endian::Little, &fast_dds), &context()).unwrap();
    assert_eq!(data.endpoint.guid, guid);
    assert_eq!(data.endpoint.unknown_parameters, 0);
    let context = Context {
        key_hash: Some(guid.to_bytes()),
        ..context()
    };
    let data = WriterData::parse(&bytes, &context).unwrap();
    assert_eq!(data.endpoint.guid, guid);
    assert_eq!(data.endpoint.participant().entity, EntityId::PARTICIPANT);
}

#[test]
fn locators_past_the_limit_are_passed_over() {
    let mut data = participant();
    data.default_unicast = Vec::from([locator("127.0.0.1:1"); 100]);
    let mut out = Vec::new();
    data.compose(&mut out).unwrap();
    let parsed = ParticipantData::parse(&out, &context()).unwrap();
    assert_eq!(parsed.default_unicast.len(), Limits::DEFAULT.locators_max);
}

#[test]
fn what_is_too_long_to_travel_is_said() {
    let mut data = participant();
    data.user_data = Vec::from([0; 70_000]);
    let mut out = Vec::new();
    assert_eq!(data.compose(&mut out).unwrap_err().kind, RejectKind::Length);
    let parsed = ParticipantData::parse(&out, &context()).unwrap();
    assert!(parsed.user_data.is_empty());
}
