//! Who sends, how fast, and in messages of which size.

use std::time::{Duration as StdDuration, Instant};

use whimbrel::domain::InProcess;
use whimbrel::qos::{FlowController, PublishMode};
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Duration, Error,
};

use super::{Blob, PATIENCE, pair_set_up};

fn ends(
    (here, there): &(DomainParticipant, DomainParticipant),
    qos: DataWriterQos,
) -> (DataWriter<Blob>, DataReader<Blob>) {
    let topic = here.create_topic("published").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic("published").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    (writer, reader)
}

fn blob(number: u32, bytes: usize) -> Blob {
    Blob {
        number,
        bytes: vec![number as u8; bytes],
    }
}

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().reliable().keep_all()
}

fn take(reader: &DataReader<Blob>, count: u32) {
    for number in 0..count {
        let taken = reader.take_timeout(1, PATIENCE).unwrap();
        assert_eq!(taken[0].data().unwrap().number, number);
    }
}

#[test]
fn another_thread_sends_and_nothing_is_lost() {
    for how in [InProcess::Off, InProcess::Direct] {
        let pair = pair_set_up(|builder| builder.in_process(how));
        let mode = PublishMode::Asynchronous(FlowController::UNLIMITED);
        let (writer, reader) = ends(&pair, keep_all().publish_mode(mode));
        for number in 0..500 {
            writer.write(&blob(number, 100)).unwrap();
        }
        take(&reader, 500);
        writer.write(&blob(0, 300_000)).unwrap();
        take(&reader, 1);
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        // What is written last leaves though nobody writes any more.
        writer.write(&blob(0, 10)).unwrap();
        drop(writer);
        take(&reader, 1);
    }
}

#[test]
fn a_controller_says_how_fast() {
    let pair = pair_set_up(|builder| builder.in_process(InProcess::Off));
    let mode = PublishMode::Asynchronous(FlowController {
        bytes_per_period: 1000,
        period: Duration::from_millis(10),
        burst_bytes_max: 10_000,
    });
    let (writer, reader) = ends(&pair, keep_all().publish_mode(mode));
    let start = Instant::now();
    for number in 0..30 {
        writer.write(&blob(number, 1000)).unwrap();
    }
    assert!(reader.take(usize::MAX).unwrap().len() < 25);
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    // 30,000 octets less a bucket of 10,000 and what overdraws it, at 1,000 in 10 ms.
    assert!(start.elapsed() > StdDuration::from_millis(180));
}

#[test]
fn modes_that_send_nothing_are_refused_and_none_changes() {
    let pair = pair_set_up(|builder| builder);
    let topic = pair.0.create_topic::<Blob>("published").unwrap();
    let never = FlowController::bytes_per_second(0);
    let qos = keep_all().publish_mode(PublishMode::Asynchronous(never));
    let refused = pair.0.create_datawriter(&topic, qos);
    assert!(matches!(refused, Err(Error::BadParameter(_))));
    let writer = pair.0.create_datawriter(&topic, keep_all()).unwrap();
    let mode = PublishMode::Asynchronous(FlowController::bytes_per_second(1_000_000));
    let refused = writer.set_qos(writer.qos().publish_mode(mode));
    assert!(matches!(refused, Err(Error::PreconditionNotMet(_))));
}

#[test]
fn messages_are_as_large_as_the_program_says() {
    for (bytes_max, messages) in [(508, 98..=250), (1400, 35..=90), (65_507, 1..=5)] {
        let pair = pair_set_up(|it| it.in_process(InProcess::Off).message_bytes_max(bytes_max));
        let (writer, reader) = ends(&pair, keep_all());
        let before = pair.0.diagnostics().sent;
        writer.write(&blob(0, 50_000)).unwrap();
        take(&reader, 1);
        let after = pair.0.diagnostics().sent;
        let (sent, bytes) = (after.0 - before.0, after.1 - before.1);
        assert!(messages.contains(&sent), "{bytes_max}: {sent}");
        assert!(
            bytes <= sent * bytes_max as u64,
            "{bytes_max}: {bytes} in {sent}"
        );
    }
}
