//! Packets that announce codecs and filters, laid out as Connext documents it, are read as what
//! they were made from. They were made for this purpose, not captured from the product.

use whimbrel_base::qos::CompressionIds;
use whimbrel_base::qos::data_representation::DataRepresentationId;
use whimbrel_base::vendor::VendorId;
use whimbrel_wire::discovery::{Context, ReaderData, WriterData};
use whimbrel_wire::inline_qos::InlineQos;
use whimbrel_wire::message::{Submessage, Submessages};

use crate::compressed::datagrams;

/// Has `check` look at every submessage of a capture but INFO_TS; how many there were.
fn each(file: &str, mut check: impl FnMut(usize, Submessage<'_>)) -> usize {
    let mut count = 0;
    for datagram in datagrams(file) {
        let (_, submessages) = Submessages::new(&datagram).expect("RTPS");
        for submessage in submessages {
            match submessage.expect("whole").parse().expect("understood") {
                Submessage::InfoTimestamp(_) => {}
                other => {
                    check(count, other);
                    count += 1;
                }
            }
        }
    }
    count
}

#[test]
fn a_writer_that_offers_zlib() {
    let count = each("sedp-compression-mask.pcap", |_, submessage| {
        let Submessage::Data(data) = submessage else {
            panic!("{submessage:?}");
        };
        let context = Context::new(VendorId::CONNEXT);
        let writer = WriterData::parse(data.payload, &context).expect("an announcement");
        assert_eq!(writer.endpoint.topic_name, "Square");
        assert_eq!(writer.endpoint.type_name, "ShapeType");
        let representation = &writer.qos.data_representation;
        assert_eq!(representation.ids.as_slice(), [DataRepresentationId::XCDR1]);
        assert_eq!(representation.compression.offered(), CompressionIds::ZLIB);
    });
    assert_eq!(count, 1);
}

#[test]
fn a_reader_that_takes_all_codecs_and_filters_and_what_was_filtered() {
    // MD5 of the filter's strings, each with the zero that ends it.
    let signature = [
        0x0d, 0x0a, 0x6f, 0xc2, 0xf7, 0x3a, 0x09, 0x15, 0x20, 0x59, 0xdd, 0x2b, 0xd1, 0xc5, 0x9e,
        0x4a,
    ];
    let count = each("filter.pcap", |at, submessage| match (at, submessage) {
        (0, Submessage::Data(data)) => {
            let context = Context::new(VendorId::FAST_DDS);
            let reader = ReaderData::parse(data.payload, &context).expect("an announcement");
            let codecs = reader.qos.data_representation.compression.compression_ids;
            assert_eq!(codecs, Some(CompressionIds(7)));
            let filter = reader.content_filter.expect("a filter");
            assert_eq!(filter.filtered_topic_name, "myfilter");
            assert_eq!(filter.related_topic_name, "Square");
            assert_eq!(filter.class_name, "DDSSQL");
            assert_eq!(filter.expression, "x > %0");
            assert_eq!(filter.parameters, ["50"]);
        }
        (1 | 3, Submessage::Data(data)) => {
            let qos = data.inline_qos.expect("inline QoS");
            let qos = InlineQos::parse(qos).expect("a list");
            let info = qos.content_filter_info.expect("what the filter said").value;
            let passed = if at == 1 { 0x8000_0000_u32 } else { 0 };
            assert_eq!(info[4..8], passed.to_le_bytes());
            assert_eq!(info[12..], signature);
        }
        (2, Submessage::Gap(gap)) => assert_eq!(gap.start.0, 2),
        (_, other) => panic!("{at}: {other:?}"),
    });
    assert_eq!(count, 4);
}
