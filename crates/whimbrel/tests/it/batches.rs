//! Samples that travel in batches, as Connext has them, to those who understand them.

use whimbrel::domain::InProcess;
use whimbrel::qos::{Batch, CompressionIds};
use whimbrel::{DataReader, DataReaderQos, DataWriter, DataWriterQos, Duration, Error};

use super::{Blob, PATIENCE, pair_set_up};

fn blob(number: u32) -> Blob {
    Blob {
        number,
        bytes: format!("[INFO] sample {number} of a run, as ever").into_bytes(),
    }
}

fn ends(qos: DataWriterQos) -> (DataWriter<Blob>, DataReader<Blob>) {
    let (here, there) = pair_set_up(|builder| builder.in_process(InProcess::Off));
    let topic = here.create_topic("batches").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic("batches").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    (writer, reader)
}

fn qos(batch: Batch) -> DataWriterQos {
    DataWriterQos::default().reliable().keep_all().batch(batch)
}

fn exchange(writer: &DataWriter<Blob>, reader: &DataReader<Blob>, count: u32) {
    for number in 0..count {
        writer.write(&blob(number)).unwrap();
    }
    writer.flush();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    let taken = reader.take(usize::MAX).unwrap();
    let data: Vec<_> = taken.iter().filter_map(|it| it.data()).collect();
    assert_eq!(
        data,
        (0..count)
            .map(blob)
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
    );
}

#[test]
fn samples_travel_in_batches() {
    let (writer, reader) = ends(qos(Batch::of_samples(10)));
    exchange(&writer, &reader, 95);
    assert_eq!(writer.statistics().batches, 10);
    assert_eq!(reader.statistics().batches, 10);
}

#[test]
fn a_batch_is_compressed_as_a_whole() {
    let batched = qos(Batch::of_samples(20))
        .compression_ids(CompressionIds::ZLIB)
        .writer_compression_threshold(Some(0));
    let (writer, reader) = ends(batched);
    exchange(&writer, &reader, 100);
    let (sent, taken) = (
        writer.compression_statistics(),
        reader.compression_statistics(),
    );
    assert_eq!((writer.statistics().batches, sent.below_threshold), (5, 0));
    assert_eq!((sent.samples, taken.samples), (100, 100));
    assert_eq!(sent.plain_bytes, taken.plain_bytes);
    assert!(sent.ratio() > 4.0, "{sent:?}");
    assert_eq!(sent.compressed_bytes, taken.compressed_bytes);
}

#[test]
fn samples_of_batches_that_stay_plain_are_counted_one_by_one() {
    let batched = qos(Batch::of_samples(20)).compression_ids(CompressionIds::ZLIB);
    let (writer, reader) = ends(batched.writer_compression_threshold(Some(4000)));
    exchange(&writer, &reader, 100);
    let sent = writer.compression_statistics();
    assert_eq!((sent.samples, sent.below_threshold), (0, 100));
    assert_eq!(reader.compression_statistics().samples, 0);
}

#[test]
fn samples_of_batches_that_nobody_takes_compressed_are_counted() {
    let (here, there) = pair_set_up(|builder| builder.in_process(InProcess::Off));
    let batched = qos(Batch::of_samples(20)).compression_ids(CompressionIds::LZO);
    let topic = here.create_topic("batches").unwrap();
    let writer = here.create_datawriter(&topic, batched).unwrap();
    let topic = there.create_topic("batches").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let qos = qos.compression_ids(CompressionIds::ZLIB);
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    exchange(&writer, &reader, 100);
    let sent = writer.compression_statistics();
    let left = (sent.samples, sent.below_threshold, sent.not_taken);
    assert_eq!(left, (0, 0, 100));
}

#[test]
fn a_batch_leaves_in_time() {
    let batch = Batch {
        max_flush_delay: Duration::from_millis(30),
        ..Batch::of_samples(1000)
    };
    let (writer, reader) = ends(qos(batch));
    writer.write(&blob(1)).unwrap();
    reader.wait_for_data(PATIENCE).unwrap();
    assert_eq!(reader.take(9).unwrap().len(), 1);
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let (here, _there) = pair_set_up(|builder| builder);
    let topic = here.create_topic::<Blob>("batches").unwrap();
    for batch in [
        Batch::of_samples(0),
        Batch {
            max_data_bytes: 0,
            ..Batch::default()
        },
        Batch {
            max_data_bytes: 60_001,
            ..Batch::default()
        },
    ] {
        let refused = here.create_datawriter(&topic, qos(batch));
        assert!(matches!(refused, Err(Error::BadParameter(_))), "{batch:?}");
    }
    let writer = here
        .create_datawriter(&topic, qos(Batch::default()))
        .unwrap();
    assert!(writer.set_qos(qos(Batch::of_samples(3))).is_err());
    let large = Blob {
        number: 1,
        bytes: vec![0; 61_000],
    };
    assert!(writer.write(&large).is_err());
}
