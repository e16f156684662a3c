//! Samples that are smaller on the wire, and readers that know nothing of that.

use whimbrel::qos::{Bundling, CompressionIds, PolicyId};
use whimbrel::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Error};

use whimbrel::domain::InProcess;

use super::{Blob, PATIENCE, Position, pair_set_up, position, tag};

/// Two participants whose samples cross the network.
fn pair() -> (DomainParticipant, DomainParticipant) {
    pair_set_up(|builder| builder.in_process(InProcess::Off))
}

/// Gives participants that meet, whose samples cross the network.
fn joining() -> impl Fn() -> DomainParticipant {
    let tag = tag();
    move || {
        let builder = DomainParticipant::builder(77).domain_tag(&tag);
        let builder = builder.interfaces("lo").in_process(InProcess::Off);
        builder.build().unwrap()
    }
}

fn blob(number: u32, length: usize) -> Blob {
    let text = b"0042 [INFO] what is written here comes again, ".iter();
    let mut bytes: Vec<u8> = text.copied().cycle().take(length).collect();
    bytes.extend(number.to_le_bytes());
    Blob { number, bytes }
}

fn writer_qos(codec: CompressionIds) -> DataWriterQos {
    DataWriterQos::default()
        .reliable()
        .keep_all()
        .compression_ids(codec)
        .writer_compression_threshold(Some(200))
        .bundling(Bundling::Off)
}

fn reader_qos() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

fn writer(here: &DomainParticipant, qos: DataWriterQos) -> Result<DataWriter<Blob>, Error> {
    here.create_datawriter(&here.create_topic("blobs")?, qos)
}

fn reader(there: &DomainParticipant, qos: DataReaderQos) -> DataReader<Blob> {
    let topic = there.create_topic("blobs").unwrap();
    there.create_datareader(&topic, qos).unwrap()
}

/// Writes samples of these lengths and sees that they arrive as they were.
fn exchange(writer: &DataWriter<Blob>, readers: &[&DataReader<Blob>], lengths: &[usize]) {
    writer.wait_for_matched(readers.len(), PATIENCE).unwrap();
    for (number, length) in (0..).zip(lengths) {
        writer.write(&blob(number, *length)).unwrap();
    }
    for reader in readers {
        for (number, length) in (0..).zip(lengths) {
            let outcome = reader.wait_for_data(PATIENCE);
            assert!(
                outcome.is_ok(),
                "{number}: {:?} {:?}",
                writer.compression_statistics(),
                reader.statistics()
            );
            let taken = reader.take(1).unwrap();
            assert!(taken[0].data() == Some(&blob(number, *length)), "{number}");
        }
    }
}

const LENGTHS: [usize; 7] = [0, 100, 300, 5000, 60_000, 200_000, 1_000_000];

#[test]
fn every_codec_carries_samples_of_every_size() {
    let mut carried = 0;
    for codec in CompressionIds::ALL.iter() {
        let (here, there) = pair();
        let writer = match writer(&here, writer_qos(codec)) {
            Ok(writer) => writer,
            Err(Error::UnsupportedPolicy(refused)) => {
                assert_eq!(codec, CompressionIds::ZSTD, "{refused}");
                assert!(refused.why.contains("feature `zstd`"), "{refused}");
                continue;
            }
            Err(error) => panic!("{codec}: {error}"),
        };
        let reader = reader(&there, reader_qos());
        exchange(&writer, &[&reader], &LENGTHS);
        let (sent, got) = (
            writer.compression_statistics(),
            reader.compression_statistics(),
        );
        assert_eq!((sent.samples, sent.below_threshold), (5, 2), "{codec}");
        assert_eq!(got.samples, 5, "{codec}");
        assert_eq!(sent.plain_bytes, got.plain_bytes, "{codec}");
        assert_eq!(sent.compressed_bytes, got.compressed_bytes, "{codec}");
        assert!(sent.ratio() > 1.4 && got.refused == 0, "{codec} {sent:?}");
        carried += 1;
    }
    assert!(carried >= 6);
}

#[test]
fn readers_without_the_codec_get_plain_samples_at_the_same_time() {
    let join = joining();
    let (here, one, other) = (join(), join(), join());
    let writer = writer(&here, writer_qos(CompressionIds::LZO)).unwrap();
    let takes = reader(&one, reader_qos());
    let takes_not = reader(&other, reader_qos().compression_ids(CompressionIds(7)));
    exchange(&writer, &[&takes, &takes_not], &LENGTHS);
    assert_eq!(takes.compression_statistics().samples, 5);
    assert_eq!(takes_not.compression_statistics().samples, 0);
    let sent = writer.compression_statistics();
    assert_eq!(sent.samples, 5, "each is compressed once");
    // Where both live at one address, everybody there gets plain samples.
    let beside = reader(&one, reader_qos().compression_ids(CompressionIds(7)));
    exchange(&writer, &[&takes, &takes_not, &beside], &LENGTHS);
    assert_eq!(takes.compression_statistics().samples, 5);
    drop((beside, takes_not));
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
}

#[test]
fn a_sample_that_waits_for_others_in_vain_is_compressed_all_the_same() {
    let (here, there) = pair();
    let qos = writer_qos(CompressionIds::LZ4).bundling(Bundling::up_to(60_000));
    let writer = writer(&here, qos).unwrap();
    let reader = reader(&there, reader_qos());
    writer.wait_for_matched(1, PATIENCE).unwrap();
    // Too small for the codec, for a bundle, and too large for one, so that it is compressed alone.
    for (number, (length, bundles, alone)) in
        (0..).zip([(150, 0, 0), (20_000, 1, 0), (50_000, 1, 1)])
    {
        let sample = blob(number, length);
        let before = here.diagnostics().sent.1;
        writer.publisher().suspend_publications();
        writer.write(&sample).unwrap();
        writer.publisher().resume_publications().unwrap();
        let sent = here.diagnostics().sent.1 - before;
        assert!(length < 200 || sent < length as u64 / 2, "{length}: {sent}");
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        assert_eq!(reader.take(1).unwrap()[0].data(), Some(&sample));
        assert_eq!(
            writer.bundle_compression_statistics().bundles,
            bundles,
            "{length}"
        );
        let compressed = writer.compression_statistics();
        assert_eq!(compressed.samples, alone, "{length}");
        let left = (compressed.below_threshold, compressed.incompressible);
        assert_eq!(left, (1, 0), "{length}: the first one");
    }
}

#[test]
fn each_sample_that_stays_plain_counts_once_however_it_leaves() {
    let mut random = 1u32;
    let mut noise = |number, length| {
        let bytes = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        });
        let bytes = bytes.take(length).collect();
        Blob { number, bytes }
    };
    let (here, there) = pair();
    let qos = writer_qos(CompressionIds::LZ4).bundling(Bundling::up_to(60_000));
    let writer = writer(&here, qos).unwrap();
    let _reader = reader(&there, reader_qos());
    writer.wait_for_matched(1, PATIENCE).unwrap();
    // Two in a bundle; too large for one, so that it is looked at alone; in fragments.
    let mut all = 0;
    for (length, samples) in [(20_000, 2), (40_000, 1), (200_000, 1)] {
        let noise: Vec<Blob> = (0..samples).map(|number| noise(number, length)).collect();
        writer.write_batch(&noise).unwrap();
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        all += u64::from(samples);
        let sent = writer.compression_statistics();
        let left = (sent.incompressible, sent.below_threshold, sent.not_taken);
        assert_eq!(left, (all, 0, 0), "{length}: {sent:?}");
        assert_eq!(sent.samples, 0, "{length}");
        // Only the two together were tried in their message, which each codec does once.
        let packed = writer.bundle_compression_statistics();
        assert_eq!((packed.bundles, packed.incompressible), (0, 1), "{length}");
    }
}

#[test]
fn keys_count_among_what_is_left_plain() {
    let (here, there) = pair();
    let qos = writer_qos(CompressionIds::LZ4);
    let topic = here.create_topic::<Position>("positions").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Position>("positions").unwrap();
    let _reader = there.create_datareader(&topic, reader_qos()).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    let vehicle = "the same again and again ".repeat(40);
    let position = Position {
        vehicle,
        x: 1,
        y: 2,
    };
    writer.write(&position).unwrap();
    writer
        .dispose(&Position {
            vehicle: "bus".into(),
            ..position
        })
        .unwrap();
    let sent = writer.compression_statistics();
    assert_eq!((sent.samples, sent.below_threshold), (1, 1), "{sent:?}");
}

#[test]
fn samples_that_nobody_takes_compressed_are_not_small_as_well() {
    let (here, there) = pair();
    let qos = writer_qos(CompressionIds::LZO).transient_local();
    let writer = writer(&here, qos).unwrap();
    let reader = reader(&there, reader_qos().compression_ids(CompressionIds::ZLIB));
    exchange(&writer, &[&reader], &[100, 5000]);
    let sent = writer.compression_statistics();
    assert_eq!((sent.not_taken, sent.below_threshold), (2, 0), "{sent:?}");
}

#[test]
fn bundles_leave_plain_where_a_reader_does_not_take_the_codec() {
    for taken in [CompressionIds::LZO, CompressionIds(7)] {
        let (here, there) = pair();
        let qos = writer_qos(CompressionIds::LZO).bundling(Bundling::up_to(20_000));
        let writer = writer(&here, qos).unwrap();
        let reader = reader(&there, reader_qos().compression_ids(taken));
        writer.wait_for_matched(1, PATIENCE).unwrap();
        let all: Vec<Blob> = (0..200).map(|number| blob(number, 100)).collect();
        writer.write_batch(&all).unwrap();
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        let taken_out = reader.take(200).unwrap();
        assert!(
            taken_out
                .iter()
                .map(|it| it.data())
                .eq(all.iter().map(Some))
        );
        let packed = writer.bundle_compression_statistics().bundles;
        assert_eq!(
            packed > 0,
            taken == CompressionIds::LZO,
            "{taken}: {packed}"
        );
        assert_eq!(there.diagnostics().inflated.0 > 0, packed > 0);
    }
}

#[test]
fn readers_get_bundles_compressed_beside_one_that_does_not_take_the_codec() {
    let join = joining();
    let (here, one, other) = (join(), join(), join());
    let qos = writer_qos(CompressionIds::LZO).bundling(Bundling::up_to(20_000));
    let writer = writer(&here, qos).unwrap();
    let takes = reader(&one, reader_qos());
    // Says what other vendors say.
    let plain = reader(&other, reader_qos().compression_ids(CompressionIds(7)));
    writer.wait_for_matched(2, PATIENCE).unwrap();
    let all: Vec<Blob> = (0..200).map(|number| blob(number, 500)).collect();
    writer.write_batch(&all).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    for reader in [&takes, &plain] {
        let taken = reader.take(200).unwrap();
        assert!(taken.iter().map(|it| it.data()).eq(all.iter().map(Some)));
    }
    let sent = writer.bundle_compression_statistics();
    let (came, not) = (
        takes.bundle_compression_statistics(),
        plain.bundle_compression_statistics(),
    );
    assert!(sent.bundles > 3 && sent.ratio() > 2.0, "{sent:?}");
    assert_eq!((came.bundles, not.bundles), (sent.bundles, 0));
    assert_eq!(other.diagnostics().inflated.0, 0);
    assert_eq!(writer.compression_statistics().samples, 0, "none alone");
}

#[test]
fn a_codec_that_a_reader_does_not_take_is_named() {
    let (zlib, lz4, lzo) = (
        CompressionIds::ZLIB,
        CompressionIds::LZ4,
        CompressionIds::LZO,
    );
    for taken in [lz4, lzo, CompressionIds::NONE] {
        let (here, there) = pair();
        let reader = reader(&there, reader_qos().compression_ids(taken));
        let writer = writer(&here, writer_qos(zlib)).unwrap();
        let deadline = std::time::Instant::now() + PATIENCE;
        let (offered, requested) = loop {
            let offered = writer.offered_incompatible_qos_status();
            let requested = reader.requested_incompatible_qos_status();
            let told = offered.total_count > 0 && requested.total_count > 0;
            if told || std::time::Instant::now() > deadline {
                break (offered, requested);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        let policies = (offered.last_policy, requested.last_policy);
        let named = PolicyId::DataRepresentation;
        assert_eq!(policies, (named, named), "{taken}");
    }
}

#[test]
fn a_codec_of_our_own_keeps_nobody_from_matching() {
    let (zlib, lzo, huffman) = (
        CompressionIds::ZLIB,
        CompressionIds::LZO,
        CompressionIds::HUFFMAN,
    );
    for (offered, taken) in [
        (lzo, huffman),
        (huffman, lzo),
        (lzo, zlib),
        (lzo, CompressionIds::NONE),
    ] {
        let (here, there) = pair();
        let writer = writer(&here, writer_qos(offered)).unwrap();
        let reader = reader(&there, reader_qos().compression_ids(taken));
        exchange(&writer, &[&reader], &[100, 5000]);
        assert_eq!(reader.compression_statistics().samples, 0, "{offered}");
        assert_eq!(writer.compression_statistics().not_taken, 2, "{offered}");
    }
}

#[test]
fn what_connext_refuses_is_refused() {
    let (here, _there) = pair();
    let two = CompressionIds::ZLIB | CompressionIds::LZ4;
    let refused = writer(&here, writer_qos(two)).map(drop);
    assert!(
        matches!(refused, Err(Error::InconsistentPolicy(_))),
        "{refused:?}"
    );
    let refused = writer(&here, writer_qos(CompressionIds(8))).map(drop);
    assert!(
        matches!(refused, Err(Error::InconsistentPolicy(_))),
        "{refused:?}"
    );
    let level = writer_qos(CompressionIds::LZ4).writer_compression_level(11);
    assert!(writer(&here, level).is_err());
}

#[test]
fn nothing_is_compressed_unless_asked_for() {
    let level = writer_qos(CompressionIds::ZLIB).writer_compression_level(0);
    let never = writer_qos(CompressionIds::ZLIB).writer_compression_threshold(None);
    for qos in [DataWriterQos::default().reliable().keep_all(), level, never] {
        let (here, there) = pair();
        let writer = writer(&here, qos).unwrap();
        let reader = reader(&there, reader_qos().compression_ids(CompressionIds::NONE));
        exchange(&writer, &[&reader], &[10, 10_000]);
        assert_eq!(writer.compression_statistics(), Default::default());
        assert_eq!(reader.compression_statistics(), Default::default());
    }
}

#[test]
fn a_late_joiner_gets_history_compressed() {
    let (here, there) = pair();
    let qos = writer_qos(CompressionIds::LZ4).transient_local();
    let writer = writer(&here, qos).unwrap();
    for number in 0..5 {
        writer.write(&blob(number, 9000)).unwrap();
    }
    let reader = reader(&there, reader_qos().transient_local());
    for number in 0..5 {
        reader.wait_for_data(PATIENCE).unwrap();
        assert!(reader.take(1).unwrap()[0].data() == Some(&blob(number, 9000)));
    }
    assert_eq!(reader.compression_statistics().samples, 5);
}

#[test]
fn serialized_keys_are_left_alone() {
    let (here, there) = pair();
    let topic = here.create_topic::<Position>("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, writer_qos(CompressionIds::ZLIB))
        .unwrap();
    let topic = there.create_topic::<Position>("positions").unwrap();
    let reader = there.create_datareader(&topic, reader_qos()).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for (name, end) in [
        ("tram ", DataWriter::dispose as fn(&_, &_) -> _),
        ("bus ", DataWriter::unregister_instance),
    ] {
        let value = position(&name.repeat(200), 1);
        writer.write(&value).unwrap();
        let samples = reader.take_timeout(1, PATIENCE).unwrap();
        let sample = samples.into_iter().next().unwrap();
        assert_eq!(sample.data(), Some(&value));
        end(&writer, &value).unwrap();
        let samples = reader.take_timeout(1, PATIENCE).unwrap();
        let sample = samples.into_iter().next().unwrap();
        assert!(!sample.info().valid_data);
        assert_eq!(sample.key().unwrap().vehicle, value.vehicle);
    }
    let (sent, taken) = (
        writer.compression_statistics(),
        reader.compression_statistics(),
    );
    assert_eq!((sent.samples, taken.samples), (2, 2), "the values alone");
    assert_eq!((sent.incompressible, sent.below_threshold), (0, 0));
}
