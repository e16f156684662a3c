//! Fewer octets, and why nobody gets any.

use whimbrel::qos::CompressionIds;
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, DomainParticipantBuilder};

use super::{Place, finish, program};

#[derive(DdsType, Debug, Default)]
struct Note {
    text: String,
}

#[test]
fn the_demo_says_what_compression_bundles_and_batches_came_to() {
    let demo = |options: &[&str]| {
        let args = [&["demo", "--quick", "--json"][..], options].concat();
        finish(program(&args)).expect(0).objects().pop().unwrap()
    };
    let plain = demo(&["--bundle", "off"]);
    let batched = demo(&["--compress", "zlib", "--batch", "20"]);
    let smaller = &batched["smaller"];
    assert!(smaller["batches"].as_u64() > Some(10), "{batched}");
    assert!(smaller["compressed"].as_u64() > Some(10), "{batched}");
    assert!(batched["bytes_per_line"].as_f64() < plain["bytes_per_line"].as_f64());
    let bundled = demo(&["--compress", "lz4", "--bundle", "1400"]);
    assert!(
        bundled["smaller"]["bundled"].as_u64() > Some(1000),
        "{bundled}"
    );
    let run = finish(program(&[
        "demo",
        "--quick",
        "--compress",
        "zlib",
        "--batch",
        "20",
    ]));
    let text = run.expect(0).stdout;
    assert!(
        text.contains("compressed") && text.contains("batches"),
        "{text}"
    );
}

#[test]
fn what_the_demo_does_not_know_is_refused() {
    for args in [
        ["demo", "--compress", "rar"],
        ["demo", "--bundle", "7"],
        ["demo", "--bundle", "sometimes"],
        ["demo", "--batch", "0"],
    ] {
        finish(program(&args)).expect(2);
    }
}

#[test]
fn codecs_that_do_not_fit_are_explained() {
    let place = Place::new();
    let join = || {
        let builder = DomainParticipantBuilder::default().domain(place.domain);
        let builder = builder.domain_tag(&place.tag).interfaces("lo");
        builder.build().unwrap()
    };
    let (here, there) = (join(), join());
    let topic = here.create_topic::<Note>("Notes").unwrap();
    let qos = DataWriterQos::default().compression_ids(CompressionIds::LZ4);
    let _writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Note>("Notes").unwrap();
    let qos = DataReaderQos::default().compression_ids(CompressionIds::ZLIB);
    let _reader = there.create_datareader(&topic, qos).unwrap();
    let text = place.run(&["why", "Notes"]).expect(1).stdout;
    assert!(text.contains("DATA_REPRESENTATION"), "{text}");
    assert!(text.contains("LZ4") && text.contains("ZLIB"), "{text}");
}
