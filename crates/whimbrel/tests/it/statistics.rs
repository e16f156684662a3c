//! What others are told of what writers and readers count.

use std::time::{Duration, Instant};

use whimbrel::base::guid::Guid;
use whimbrel::domain::InProcess;
use whimbrel::qos::{Bundling, CompressionIds};
use whimbrel::statistics::{EndpointStatistics, TOPIC_NAME};
use whimbrel::{
    DataReader, DataReaderQos, DataWriterQos, DomainParticipant, InstanceState, Sample,
};

use super::{Blob, PATIENCE, tag};

type Statistics = EndpointStatistics;

struct Bus {
    tag: String,
}

impl Bus {
    fn new() -> Self {
        Self { tag: tag() }
    }

    fn join(&self, statistics: bool) -> DomainParticipant {
        DomainParticipant::builder(77)
            .domain_tag(&self.tag)
            .interfaces("lo")
            .in_process(InProcess::Off)
            .statistics(statistics)
            .build()
            .unwrap()
    }
}

fn watch(observer: &DomainParticipant) -> DataReader<Statistics> {
    let topic = observer.create_topic(TOPIC_NAME).unwrap();
    let qos = DataReaderQos::default().reliable().transient_local();
    observer
        .create_datareader(&topic, qos.keep_last(1))
        .unwrap()
}

/// Waits until `reader` has been told what `wanted` looks for.
fn find<R>(
    reader: &DataReader<Statistics>,
    mut wanted: impl FnMut(&Sample<Statistics>) -> Option<R>,
) -> R {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The newest of each stays there for the next question.
        let known = reader.read(usize::MAX).unwrap();
        if let Some(found) = known.iter().find_map(&mut wanted) {
            return found;
        }
        assert!(Instant::now() < deadline, "not told");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `reader` is told of `guid` what `enough` accepts.
fn told(
    reader: &DataReader<Statistics>,
    guid: Guid,
    enough: impl Fn(&Statistics) -> bool,
) -> Statistics {
    find(reader, |sample| {
        let writer = Guid::from_bytes(sample.info().publication_handle.0);
        let data = sample.data().filter(|it| it.guid() == guid)?;
        (data.is_of(writer) && enough(data)).then_some(*data)
    })
}

#[test]
fn others_are_told_what_writers_and_readers_count_themselves() {
    let bus = Bus::new();
    let (here, there) = (bus.join(true), bus.join(true));
    let qos = DataWriterQos::default().reliable().keep_all();
    let qos = qos.compression_ids(CompressionIds::LZ4);
    let qos = qos.writer_compression_threshold(Some(1000));
    // Each leaves alone, however fast this is; only what is written as one leaves together.
    let qos = qos.bundling(Bundling::Off);
    let topic = here.create_topic::<Blob>("blobs").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Blob>("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for number in 0..30 {
        let bytes = vec![7; if number % 3 == 0 { 100 } else { 70_000 }];
        writer.write(&Blob { number, bytes }).unwrap();
    }
    let small = |number| Blob {
        number,
        bytes: vec![1; 10],
    };
    let batch: Vec<_> = (30..50).map(small).collect();
    writer.write_batch(&batch).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();

    let observer = bus.join(false);
    let watching = watch(&observer);
    let of_writer = told(&watching, writer.guid(), |it| it.samples == 50);
    let of_reader = told(&watching, reader.guid(), |it| it.samples == 50);
    let sent = writer.compression_statistics();
    assert_eq!((sent.samples, sent.below_threshold), (20, 10), "{sent:?}");
    let codec_ns = u64::try_from(sent.time_spent.as_nanos()).unwrap();
    assert_eq!(of_writer.compressed_samples, sent.samples);
    assert_eq!(of_writer.plain_bytes, sent.plain_bytes);
    assert_eq!(of_writer.compressed_bytes, sent.compressed_bytes);
    assert_eq!(
        (of_writer.ratio(), of_writer.codec_ns),
        (sent.ratio(), codec_ns)
    );
    assert_eq!(of_writer.below_threshold, sent.below_threshold);
    assert_eq!((of_writer.incompressible, of_writer.not_taken), (0, 0));
    assert_eq!(of_writer.payload_bytes, writer.statistics().written_bytes);
    let bundling = writer.statistics().bundling;
    assert!(bundling.samples >= 20);
    assert_eq!(
        (of_writer.bundles, of_writer.bundled_samples),
        (bundling.bundles, bundling.samples)
    );
    let packed = writer.bundle_compression_statistics();
    assert!(packed.bundles > 0);
    assert_eq!(of_writer.compressed_bundles, packed.bundles);
    assert_eq!(of_writer.bundle_ratio(), packed.ratio());
    let got = reader.compression_statistics();
    assert_eq!(of_reader.compressed_samples, got.samples);
    assert_eq!(of_reader.plain_bytes, sent.plain_bytes);
    assert_eq!(of_reader.payload_bytes, of_writer.payload_bytes);
    let unpacked = reader.bundle_compression_statistics();
    assert_eq!(
        (unpacked.bundles, unpacked.plain_bytes),
        (packed.bundles, packed.plain_bytes)
    );
    assert_eq!(unpacked.compressed_bytes, packed.compressed_bytes);
    assert!(unpacked.time_spent > Duration::ZERO);
    assert_eq!(of_reader.compressed_bundles, unpacked.bundles);
    assert_eq!(of_reader.bundle_ratio(), unpacked.ratio());
    let codec_ns = u64::try_from(unpacked.time_spent.as_nanos()).unwrap();
    assert_eq!(of_reader.bundle_codec_ns, codec_ns);

    // What changes is told again, and what is gone is disposed of.
    writer.write(&small(50)).unwrap();
    told(&watching, writer.guid(), |it| it.samples == 51);
    let guid = reader.guid();
    let mut key = Statistics::default();
    key.guid = guid.to_bytes();
    drop(reader);
    find(&watching, |sample| {
        let ended = sample.info().instance_state == InstanceState::NotAliveDisposed;
        (ended && sample.key().is_some_and(|it| it.guid == key.guid)).then_some(())
    });
}

#[test]
fn samples_that_nobody_takes_compressed_are_counted() {
    let bus = Bus::new();
    let (here, there) = (bus.join(true), bus.join(false));
    let qos = DataWriterQos::default().reliable().keep_all();
    let qos = qos.compression_ids(CompressionIds::LZO);
    let topic = here.create_topic::<Blob>("blobs").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let blob = |number| Blob {
        number,
        bytes: vec![7; 20_000],
    };
    writer.write(&blob(0)).unwrap();
    let topic = there.create_topic::<Blob>("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    // Says what other vendors say of codecs.
    let qos = qos.compression_ids(CompressionIds(7));
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    writer.write(&blob(1)).unwrap();
    writer.write(&blob(2)).unwrap();
    assert_eq!(writer.compression_statistics().not_taken, 2);
    let watching = watch(&there);
    let counted = told(&watching, writer.guid(), |it| it.samples == 3);
    assert_eq!((counted.not_taken, counted.compressed_samples), (2, 0));
    drop(reader);
}

#[test]
fn nothing_is_on_the_bus_unless_asked_for_nor_said_unless_read() {
    let bus = Bus::new();
    let (silent, offering) = (bus.join(false), bus.join(true));
    let observer = bus.join(false);
    for participant in [&silent, &offering] {
        let topic = participant.create_topic::<Blob>("blobs").unwrap();
        let writer = participant.create_datawriter(&topic, DataWriterQos::default());
        // Found after the statistics, which are there from the beginning.
        let guid = writer.as_ref().unwrap().guid();
        let known = observer.wait_for_discovery(PATIENCE, |it| {
            it.discovered_writers().iter().any(|it| it.guid == guid)
        });
        assert!(known);
    }
    let offered = || {
        let all = observer.discovered_writers().into_iter();
        all.filter(|it| it.topic_name == TOPIC_NAME)
    };
    let offers: Vec<_> = offered().map(|it| it.guid.prefix).collect();
    assert_eq!(offers, [offering.guid().prefix]);
    assert_eq!(silent.memory().writers.len(), 0);

    let said = || {
        let memory = offering.memory().writers.into_iter();
        let mut memory = memory.filter(|it| it.topic_name == TOPIC_NAME);
        memory.next().unwrap().samples
    };
    let topic = offering.create_topic::<Blob>("blobs").unwrap();
    let writer = offering.create_datawriter(&topic, DataWriterQos::default());
    let writer = writer.unwrap();
    assert_eq!(said(), 0);
    let watching = watch(&observer);
    told(&watching, writer.guid(), |it| it.samples == 0);
    assert!(said() > 0);
}
