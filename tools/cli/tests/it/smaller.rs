//! Fewer octets, and why nobody gets any.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;

use whimbrel::qos::CompressionIds;
use whimbrel::statistics::{EndpointStatistics, TOPIC_NAME};
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
    let smaller = &bundled["smaller"];
    assert!(smaller["bundled"].as_u64() > Some(1000), "{bundled}");
    assert!(smaller["compressed"].as_u64() > Some(100), "{bundled}");
    let octets = |name: &str| smaller[name].as_u64().unwrap();
    assert!(
        octets("compressed_bytes") < octets("plain_bytes"),
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
fn ls_shows_beside_the_demo_what_its_writer_and_reader_count() {
    let mut command = program(&[
        "demo",
        "--seconds",
        "5",
        "--compress",
        "lz4",
        "--bundle",
        "1400",
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = command.spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let told = |line: String| line.split("--tag ").nth(1).map(str::to_owned);
    let tag = lines.find_map(|line| told(line.unwrap())).unwrap();
    // The rest is nothing to us, but the demo must find somebody who reads it.
    let rest = thread::spawn(move || lines.count());
    let ls = |more: &[&str]| {
        let args = [&["ls", "-v", "--interfaces", "lo", "--tag", &tag], more].concat();
        finish(program(&args)).expect(0)
    };
    let topics = ls(&["--json", "whimbrel/demo/*"]).objects();
    let text = ls(&["whimbrel/demo/*"]).stdout;
    demo.kill().unwrap();
    demo.wait().unwrap();
    rest.join().unwrap();
    let endpoints = topics[0]["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), 2, "{topics:?}");
    for it in endpoints {
        let counted = &it["statistics"];
        assert!(counted["samples"].as_u64() > Some(10), "{it}");
        assert!(counted["payload_bytes"].as_u64() > Some(100), "{it}");
        assert!(counted["compressed_bundles"].as_u64() > Some(1), "{it}");
        assert!(counted["bundle_ratio"].as_f64() > Some(1.1), "{it}");
        assert!(counted["bundle_codec_ns"].as_u64() > Some(0), "{it}");
    }
    let writer = endpoints.iter().find(|it| it["kind"] == "writer").unwrap();
    let counted = &writer["statistics"];
    assert!(counted["bundles"].as_u64() > Some(1), "{writer}");
    assert_eq!(text.matches("bundles compressed: ").count(), 2, "{text}");
    assert!(!text.contains("WHIMBREL_STATISTICS"), "{text}");
}

/// What a participant that tells lies sends: of others, cut off, of lengths that are not there.
#[test]
fn statistics_that_lie_neither_harm_ls_nor_are_shown() {
    #[derive(DdsType, Debug)]
    #[dds(rename = "whimbrel::EndpointStatistics")]
    struct Cut {
        #[dds(key)]
        guid: [u8; 16],
        samples: u64,
    }
    let place = Place::new();
    let builder = DomainParticipantBuilder::default().domain(place.domain);
    let liar = builder
        .domain_tag(&place.tag)
        .interfaces("lo")
        .build()
        .unwrap();
    let honest = DomainParticipantBuilder::default().domain(place.domain);
    let honest = honest
        .domain_tag(&place.tag)
        .interfaces("lo")
        .statistics(true);
    let honest = honest.build().unwrap();
    let topic = honest.create_topic::<Note>("Notes\u{1b}[31m").unwrap();
    let notes = honest
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    let text = "x".to_owned();
    notes.write(&Note { text }).unwrap();
    let qos = DataWriterQos::default().reliable().transient_local();
    let topic = liar.create_topic::<EndpointStatistics>(TOPIC_NAME).unwrap();
    let lies = liar.create_datawriter(&topic, qos.clone()).unwrap();
    let mut lie = EndpointStatistics::default();
    (lie.guid, lie.samples) = (notes.guid().to_bytes(), 4711);
    lies.write(&lie).unwrap();
    let other = DomainParticipantBuilder::default().domain(place.domain);
    let other = other
        .domain_tag(&place.tag)
        .interfaces("lo")
        .build()
        .unwrap();
    let topic = other.create_topic::<Cut>(TOPIC_NAME).unwrap();
    let cut = other.create_datawriter(&topic, qos).unwrap();
    let guid = notes.guid().to_bytes();
    let samples = 4711;
    cut.write(&Cut { guid, samples }).unwrap();
    let text = place.run(&["ls", "-v"]).expect(0).stdout;
    assert!(text.contains("\n    1 samples of 12 octets\n"), "{text}");
    assert!(!text.contains("4711") && !text.contains('\u{1b}'), "{text}");
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
    let (lz4, zlib, lzo) = (
        CompressionIds::LZ4,
        CompressionIds::ZLIB,
        CompressionIds::LZO,
    );
    // Codecs of our own keep nobody from matching, and stand for no other.
    let pairs = [
        ("Notes", lz4, zlib, false),
        ("Memos", zlib, lzo, false),
        ("Words", lzo, zlib, true),
    ];
    let mut ends = Vec::new();
    for (name, offered, taken, _) in pairs {
        let topic = here.create_topic::<Note>(name).unwrap();
        let qos = DataWriterQos::default().compression_ids(offered);
        let writer = here.create_datawriter(&topic, qos).unwrap();
        let topic = there.create_topic::<Note>(name).unwrap();
        let qos = DataReaderQos::default().compression_ids(taken);
        ends.push((writer, there.create_datareader(&topic, qos).unwrap()));
    }
    for (name, offered, taken, matches) in pairs {
        let text = place.run(&["why", name]).expect(i32::from(!matches)).stdout;
        let line = text.lines().find(|it| it.contains("DATA_REPRESENTATION"));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        let mark = if matches { "pass" } else { "FAIL" };
        assert!(line.trim_start().starts_with(mark), "{line}");
        let names = [offered, taken].map(|it| format!("compression {it}"));
        assert!(names.iter().all(|it| line.contains(it)), "{line}");
        let (offered, taken) = (offered.to_string(), taken.to_string());
        let change =
            format!("let the reader take {offered} too (`compression_ids`), or the writer");
        assert!(
            text.contains(&format!("{change} compress by {taken}")),
            "{text}"
        );
        assert_eq!(text.contains("        change: "), !matches, "{text}");
        let plain = format!(
            "        note: samples leave plain for this reader: the writer \
            compresses by {offered}, the reader takes {taken}; "
        );
        assert_eq!(text.contains(&plain), matches, "{text}");
    }
    // Nothing leaves, plain or not, where they do not match for another reason.
    let topic = here.create_topic::<Note>("Letters").unwrap();
    let qos = DataWriterQos::default().compression_ids(lzo).best_effort();
    let _writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Note>("Letters").unwrap();
    let qos = DataReaderQos::default().compression_ids(zlib).reliable();
    let _reader = there.create_datareader(&topic, qos).unwrap();
    let text = place.run(&["why", "Letters"]).expect(1).stdout;
    assert!(!text.contains("        note: "), "{text}");
}
