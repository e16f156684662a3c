//! Samples that share messages.

use std::thread;
use std::time::{Duration as StdDuration, Instant};

use whimbrel::domain::InProcess;
use whimbrel::qos::{Bundling, CompressionIds};
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Duration, Error,
    PublisherQos,
};

use super::{Blob, PATIENCE, pair_set_up};

/// Two participants whose samples cross the network.
fn pair() -> (DomainParticipant, DomainParticipant) {
    pair_set_up(|builder| builder.in_process(InProcess::Off))
}

fn blob(number: u32) -> Blob {
    let bytes = vec![number as u8; 20];
    Blob { number, bytes }
}

fn keep_all(bundling: Bundling) -> DataWriterQos {
    DataWriterQos::default().keep_all().bundling(bundling)
}

/// What compresses well.
fn text(number: u32) -> Blob {
    let bytes = format!("0042 [INFO] what is written here comes again, {number}");
    let bytes = bytes.into_bytes();
    Blob { number, bytes }
}

/// A writer and a reader that does not mind to wait for a second.
fn matched(
    (here, there): &(DomainParticipant, DomainParticipant),
    qos: DataWriterQos,
) -> (DataWriter<Blob>, DataReader<Blob>) {
    let topic = here.create_topic("blobs").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let qos = qos.latency_budget(Duration::from_secs(1));
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    (writer, reader)
}

fn take(reader: &DataReader<Blob>, count: u32) {
    for number in 0..count {
        let taken = reader.take_timeout(1, PATIENCE).unwrap();
        assert_eq!(taken[0].data(), Some(&blob(number)));
    }
}

const LONG: Duration = Duration::from_millis(500);

#[test]
fn a_bundle_leaves_in_time() {
    let participants = pair();
    let qos = keep_all(Bundling::ON).latency_budget(LONG);
    let (writer, reader) = matched(&participants, qos);
    let start = Instant::now();
    for number in 0..3 {
        writer.write(&blob(number)).unwrap();
    }
    assert_eq!(reader.take(1).unwrap().len(), 0);
    take(&reader, 3);
    assert!(start.elapsed() >= StdDuration::from_millis(500));
    let bundling = writer.statistics().bundling;
    assert_eq!(
        (bundling.bundles, bundling.samples, bundling.time),
        (1, 3, 1)
    );
}

#[test]
fn a_flush_ends_every_wait() {
    let participants = pair();
    let qos = keep_all(Bundling::ON).latency_budget(Duration::from_secs(1));
    let (writer, reader) = matched(&participants, qos);
    let start = Instant::now();
    writer.write(&blob(0)).unwrap();
    writer.flush();
    take(&reader, 1);
    writer.write(&blob(0)).unwrap();
    writer.publisher().flush();
    take(&reader, 1);
    writer.write(&blob(0)).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    take(&reader, 1);
    writer.write(&blob(0)).unwrap();
    drop(writer);
    take(&reader, 1);
    assert!(start.elapsed() < StdDuration::from_secs(1), "none waited");
}

#[test]
fn a_batch_is_few_messages_whatever_the_bundling() {
    for bundling in [Bundling::Off, Bundling::Automatic, Bundling::ON] {
        let participants = pair();
        let (writer, reader) = matched(&participants, keep_all(bundling));
        let batch: Vec<Blob> = (0..500).map(blob).collect();
        let before = participants.0.diagnostics().sent.0;
        writer.write_batch(&batch).unwrap();
        let messages = participants.0.diagnostics().sent.0 - before;
        // Alone they would be as many as samples.
        assert!(messages < 60, "{bundling}: {messages}");
        take(&reader, 500);
        let bundles = writer.statistics().bundling;
        assert_eq!(bundles.samples, 500, "{bundling}: {bundles:?}");
        assert!(
            bundles.samples_per_bundle() > 15.0,
            "{bundling}: {bundles:?}"
        );
    }
}

#[test]
fn suspended_publications_wait_for_their_resumption() {
    let participants = pair();
    let publisher = participants
        .0
        .create_publisher(PublisherQos::default())
        .unwrap();
    assert!(matches!(
        publisher.resume_publications(),
        Err(Error::PreconditionNotMet(_))
    ));
    publisher.suspend_publications();
    let topic = participants.0.create_topic("blobs").unwrap();
    let qos = DataWriterQos::default().keep_all();
    let writer = publisher.create_datawriter(&topic, qos).unwrap();
    publisher.suspend_publications();
    let topic = participants.1.create_topic("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participants
        .1
        .create_datareader::<Blob>(&topic, qos)
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for number in 0..10 {
        writer.write(&blob(number)).unwrap();
    }
    publisher.resume_publications().unwrap();
    thread::sleep(StdDuration::from_millis(50));
    assert_eq!(reader.take(1).unwrap().len(), 0, "one suspension is left");
    publisher.resume_publications().unwrap();
    take(&reader, 10);
    assert_eq!(writer.statistics().bundling.flush, 1);
}

#[test]
fn who_waits_during_a_suspension_gets_what_was_written() {
    let (writer, reader) = matched(&pair(), DataWriterQos::default().keep_all());
    let publisher = writer.publisher();
    publisher.suspend_publications();
    writer.write(&blob(0)).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    take(&reader, 1);
    let resume = || publisher.resume_publications().unwrap();
    let ends: [&dyn Fn(); 3] = [&|| writer.flush(), &|| publisher.flush(), &resume];
    for end in ends {
        writer.write(&blob(0)).unwrap();
        thread::sleep(StdDuration::from_millis(20));
        assert_eq!(reader.take(1).unwrap().len(), 0, "it waits again");
        end();
        take(&reader, 1);
    }
}

#[test]
fn a_burst_is_bundled_and_complete_whatever_is_kept() {
    for qos in [
        DataWriterQos::default().keep_all(),
        DataWriterQos::default().keep_last(1),
        DataWriterQos::default().keep_last(1).bundling(Bundling::ON),
        DataWriterQos::default()
            .keep_last(7)
            .bundling(Bundling::up_to(60_000)),
    ] {
        let (writer, reader) = matched(&pair(), qos.clone());
        for number in 0..2000 {
            writer.write(&blob(number)).unwrap();
        }
        if qos.history == whimbrel::qos::History::KeepAll {
            take(&reader, 2000);
        } else {
            // Repairs of what is lost may find it replaced; loopback rarely loses any.
            let mut last = None;
            while last != Some(1999) {
                for sample in reader.take_timeout(usize::MAX, PATIENCE).unwrap() {
                    let number = sample.data().unwrap().number;
                    assert!(last < Some(number));
                    last = Some(number);
                }
            }
        }
        let bundles = writer.statistics().bundling;
        if qos.bundling.is_some() {
            assert!(
                bundles.samples > 1500 && bundles.samples_per_bundle() > 10.0,
                "{bundles:?}"
            );
        }
    }
}

#[test]
fn a_participant_that_bundles_nothing_by_itself_does_as_its_writers_say() {
    let pair = pair_set_up(|it| it.in_process(InProcess::Off).automatic_bundling(false));
    for (bundling, is_bundled) in [(None, false), (Some(Bundling::ON), true)] {
        let qos = DataWriterQos::default().keep_all();
        let qos = DataWriterQos { bundling, ..qos };
        let (writer, reader) = matched(&pair, qos);
        for number in 0..2000 {
            writer.write(&blob(number)).unwrap();
        }
        take(&reader, 2000);
        let bundles = writer.statistics().bundling;
        assert_eq!(bundles.samples > 0, is_bundled, "{bundles:?}");
    }
}

#[test]
fn settings_are_checked_and_may_change() {
    let participants = pair();
    let topic = participants.0.create_topic::<Blob>("blobs").unwrap();
    let refused = |bytes| {
        let qos = keep_all(Bundling::up_to(bytes));
        let made = participants.0.create_datawriter(&topic, qos);
        matches!(made, Err(Error::BadParameter(_)))
    };
    assert!(refused(63) && refused(65_508) && !refused(64) && !refused(65_507));
    let publisher = PublisherQos::default().bundling(Bundling::up_to(9));
    assert!(participants.0.create_publisher(publisher).is_err());
    let quiet = keep_all(Bundling::ON).latency_budget(Duration::from_secs(1));
    let (writer, reader) = matched(&participants, quiet);
    writer.write(&blob(0)).unwrap();
    // What waits leaves with the change, and nothing waits any more.
    let start = Instant::now();
    let mut qos = writer.qos();
    qos.bundling = Some(Bundling::Off);
    writer.set_qos(qos.clone()).unwrap();
    take(&reader, 1);
    qos.bundling = None;
    writer.set_qos(qos).unwrap();
    let all = PublisherQos::default().bundling(Bundling::up_to(5000));
    writer.publisher().set_qos(all).unwrap();
    writer.write(&blob(0)).unwrap();
    assert_eq!(reader.take(1).unwrap().len(), 0);
    writer.flush();
    take(&reader, 1);
    assert_eq!(writer.statistics().bundling.flush, 2);
    assert!(start.elapsed() < StdDuration::from_secs(1));
}

#[test]
fn bundles_of_a_writer_that_compresses_are_one_block_on_the_wire() {
    for codec in [CompressionIds::LZ4, CompressionIds::ZLIB] {
        let participants = pair();
        let qos = keep_all(Bundling::up_to(9000)).compression_ids(codec);
        let (writer, reader) = matched(&participants, qos);
        let sent = || participants.0.diagnostics().sent.1;
        let before = sent();
        let batch: Vec<Blob> = (0..500).map(text).collect();
        writer.write_batch(&batch).unwrap();
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        for number in 0..500 {
            let taken = reader.take_timeout(1, PATIENCE).unwrap();
            assert_eq!(taken[0].data(), Some(&text(number)));
        }
        let packed = writer.bundle_compression_statistics();
        assert!(
            packed.bundles >= 5 && packed.ratio() > 2.5,
            "{codec}: {packed:?}"
        );
        let plain: u64 = batch.iter().map(|it| it.bytes.len() as u64).sum();
        let bytes = sent() - before;
        assert!(bytes < plain / 2, "{codec}: {bytes} of {plain}");
        // Each sample alone is below the threshold, so it leaves plain.
        assert_eq!(writer.compression_statistics().samples, 0);
        assert!(participants.1.diagnostics().inflated.0 >= 5);
        let lone = text(7);
        writer.write(&lone).unwrap();
        writer.flush();
        assert_eq!(
            reader.take_timeout(1, PATIENCE).unwrap()[0].data(),
            Some(&lone)
        );
        assert!(writer.bundle_compression_statistics().bundles <= packed.bundles + 1);
    }
}

/// Writers of one participant, and a reader of all that they write.
fn crowd(
    participants: &(DomainParticipant, DomainParticipant),
    count: usize,
) -> (Vec<DataWriter<Blob>>, DataReader<Blob>) {
    crowd_of(participants, count, |_, qos| qos.bundling(Bundling::ON))
}

/// The same with the QoS that `adapt` makes of that of each.
fn crowd_of(
    (here, there): &(DomainParticipant, DomainParticipant),
    count: usize,
    adapt: impl Fn(usize, DataWriterQos) -> DataWriterQos,
) -> (Vec<DataWriter<Blob>>, DataReader<Blob>) {
    let topic = there.create_topic("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let qos = qos.latency_budget(Duration::from_secs(100));
    let reader = there.create_datareader(&topic, qos).unwrap();
    let topic = here.create_topic("blobs").unwrap();
    let qos = keep_all(Bundling::ON).latency_budget(Duration::from_secs(100));
    let publisher = here.create_publisher(PublisherQos::default()).unwrap();
    let made = (0..count).map(|number| {
        let qos = adapt(number, qos.clone());
        publisher.create_datawriter(&topic, qos).unwrap()
    });
    let writers: Vec<DataWriter<Blob>> = made.collect();
    for writer in &writers {
        writer.wait_for_matched(1, PATIENCE).unwrap();
    }
    reader.wait_for_matched(count, PATIENCE).unwrap();
    (writers, reader)
}

#[test]
fn writers_of_a_participant_share_bundles() {
    let participants = pair();
    let (writers, reader) = crowd(&participants, 40);
    let sent = || participants.0.diagnostics().sent.0;
    let received = |count: usize| {
        let mut left = count;
        while left > 0 {
            left -= reader.take_timeout(left, PATIENCE).unwrap().len();
        }
    };
    let shared = || {
        let all = writers.iter().map(|it| it.statistics().bundling.shared);
        all.sum::<u64>()
    };
    // Heartbeats that come between count too, so it may take a few tries to see that samples share
    // messages.
    let quiet = || {
        for writer in &writers {
            writer.wait_for_acknowledgments(PATIENCE).unwrap();
        }
        sent()
    };
    let write = || writers.iter().for_each(|it| it.write(&blob(0)).unwrap());
    // Fifteen of them fill a message, whoever they are of.
    let filled = || {
        let before = quiet();
        write();
        let messages = sent() - before;
        received(30);
        writers[0].flush();
        received(10);
        messages
    };
    assert!((0..50).any(|_| filled() < 10));
    assert!(shared() >= 28, "{}", shared());
    // Those that are suspended wait for their resumption, then leave together.
    let publisher = writers[0].publisher();
    let resumed = || {
        quiet();
        publisher.suspend_publications();
        write();
        assert_eq!(reader.take(1).unwrap().len(), 0);
        let before = sent();
        publisher.resume_publications().unwrap();
        let messages = sent() - before;
        received(40);
        messages
    };
    assert!((0..50).any(|_| resumed() < 10));
}

#[test]
fn writers_that_compress_alike_share_compressed_bundles() {
    let participants = pair();
    // The last one compresses by another codec, and one does not at all.
    let (writers, reader) = crowd_of(&participants, 12, |number, qos| {
        let codec = match number {
            11 => CompressionIds::ZLIB,
            10 => CompressionIds::NONE,
            _ => CompressionIds::LZ4,
        };
        qos.bundling(Bundling::up_to(20_000)).compression_ids(codec)
    });
    let counted = || {
        let of = |it: &DataWriter<Blob>| it.bundle_compression_statistics().bundles;
        let all: Vec<u64> = writers.iter().map(of).collect();
        let alike: u64 = all[..10].iter().sum();
        (alike, all[10], all[11])
    };
    let inflated = || participants.1.diagnostics().inflated.0;
    let mut number = 0;
    let mut round = |leave: &dyn Fn()| {
        for writer in &writers {
            writer.wait_for_acknowledgments(PATIENCE).unwrap();
        }
        let (before, arrived) = (counted(), inflated());
        let mut written = Vec::new();
        for writer in &writers {
            for _ in 0..2 {
                writer.write(&text(number)).unwrap();
                written.push(text(number).bytes);
                number += 1;
            }
        }
        assert_eq!(reader.take(1).unwrap().len(), 0, "they wait");
        leave();
        let mut taken = Vec::new();
        while taken.len() < written.len() {
            let samples = reader.take_timeout(100, PATIENCE).unwrap();
            taken.extend(samples.into_iter().map(|it| it.into_data().unwrap().bytes));
        }
        written.sort();
        taken.sort();
        assert_eq!(taken, written);
        let after = counted();
        let blocks = (after.0 - before.0, after.1 - before.1, after.2 - before.2);
        assert_eq!(inflated() - arrived, blocks.0 + blocks.2);
        blocks
    };
    // One block of all that are alike; whoever compresses otherwise has its own.
    let publisher = writers[0].publisher();
    for _ in 0..3 {
        assert_eq!(round(&|| writers[3].flush()), (1, 0, 1));
        assert_eq!(round(&|| publisher.flush()), (1, 0, 1));
        publisher.suspend_publications();
        assert_eq!(
            round(&|| publisher.resume_publications().unwrap()),
            (1, 0, 1)
        );
        // It puts nothing together that it could not compress itself.
        assert_eq!(round(&|| writers[10].flush()), (10, 0, 1));
    }
}
