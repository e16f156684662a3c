//! Announcements that live peers sent.

use whimbrel_base::guid::EntityId;
use whimbrel_base::qos::{
    DataReaderQos, DataRepresentationId, DataWriterQos, Durability, DurabilityService, History,
};
use whimbrel_base::time::Duration;
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{Context, ReaderData, WriterData};

/// Cyclone DDS 0.10.2: a reliable, transient-local, KEEP_ALL reader of XCDR1 and XCDR2.
const CYCLONE_READER: &str = "\
    0003000005000c00070000005371756172650000070010000a0000005368617065547970650000001d000400\
    010000001a000c00020000000a00000000000000400008000100000000000000730008000200000000000200\
    750064006000000001100040280000002400000014000000f1db08f6b602d14231def2922bc7260057000000\
    00000000040000000000000002100040280000002400000014000000f238d19a4750b044d179ba954d03c600\
    84000000000000000400000000000000150004000201000016000400011000005a00100001105eb5a85ed50a\
    5de8c130000002070c8004000100000001000000";

/// Fast DDS 2.9.1: a reliable, transient-local writer.
const FAST_DDS_WRITER: &str = "\
    000300002f001800010000002b6700000000000000000000000000007f00000150001000010f78fd387431b6\
    00000000000001c105000c00070000005371756172650000070010000a000000536861706554797065000000\
    70001000010f78fd387431b600000000000001025a001000010f78fd387431b6000000000000010260000400\
    98000000150004000203000016000400010f00001d000400010000001e001c00000000000000000000000000\
    01000000ffffffffffffffffffffffff23000800ffffff7fffffffff2700080000000000000000001b000c00\
    00000000ffffff7fffffffff1a000c00020000000a000000000000002b000800ffffff7fffffffff2c000400\
    000000000400080000000000000000001f000400000000002500040000000000210008000000000000000000\
    29000400000000002e000400000000002d0004000000000001000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |text: &[u8]| u8::from_str_radix(core::str::from_utf8(text).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(digit).collect()
}

#[test]
fn a_reader_of_cyclone_dds() {
    let context = Context::new(VendorId::CYCLONE_DDS);
    let data = ReaderData::parse(&bytes(CYCLONE_READER), &context).unwrap();
    let endpoint = &data.endpoint;
    assert_eq!(endpoint.guid.entity, EntityId([0, 0, 2, 7]));
    assert_eq!(endpoint.topic_name, "Square");
    assert_eq!(endpoint.type_name, "ShapeType");
    assert_eq!(endpoint.type_information.as_ref().map(Vec::len), Some(100));
    assert_eq!(endpoint.unknown_parameters, 1);
    let both = [DataRepresentationId::XCDR1, DataRepresentationId::XCDR2];
    let mut expected = DataReaderQos::default()
        .reliable()
        .transient_local()
        .keep_all()
        .data_representation(&both);
    expected.reliability.max_blocking_time = Duration::from_secs(10);
    assert_eq!(data.qos, expected);
    assert!(data.content_filter.is_none() && !data.expects_inline_qos);
}

#[test]
fn a_writer_of_fast_dds() {
    let context = Context::new(VendorId::FAST_DDS);
    let data = WriterData::parse(&bytes(FAST_DDS_WRITER), &context).unwrap();
    assert_eq!(data.endpoint.guid.entity, EntityId([0, 0, 1, 2]));
    assert_eq!(data.endpoint.unicast.len(), 1);
    assert_eq!(data.endpoint.unicast[0].to_string(), "udp/127.0.0.1:26411");
    // A time-based filter, which means nothing at a writer.
    assert_eq!(data.endpoint.unknown_parameters, 1);
    assert_eq!(data.max_serialized_size, Some(0x98));
    let expected = DataWriterQos::default()
        .transient_local()
        .max_blocking_time(Duration::from_secs(10));
    assert_eq!(data.qos.durability, Durability::TransientLocal);
    assert_eq!(data.qos, expected);
    let service = data.qos.durability_service;
    assert_eq!(service, DurabilityService::default());
    assert_eq!(service.history, History::KeepLast(1));
}
