//! Samples from here to there.

use std::time::{Duration, Instant};

use whimbrel::{DataReaderQos, DataWriterQos, InstanceState};

use super::{Blob, PATIENCE, Position, pair, position};

#[test]
fn reliable_samples_arrive_in_order() {
    let (here, there) = pair();
    let writer = here
        .create_datawriter(
            &here.create_topic::<Position>("positions").unwrap(),
            DataWriterQos::default().reliable().keep_all(),
        )
        .unwrap();
    let reader = there
        .create_datareader(
            &there.create_topic::<Position>("positions").unwrap(),
            DataReaderQos::default().reliable().keep_all(),
        )
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    for x in 0..1000 {
        writer.write(&position("tram", x)).unwrap();
    }
    let mut received = vec![];
    while received.len() < 1000 {
        let samples = reader.take_timeout(usize::MAX, PATIENCE).unwrap();
        received.extend(samples.into_iter().filter_map(|sample| sample.into_data()));
    }
    let expected: Vec<_> = (0..1000).map(|x| position("tram", x)).collect();
    assert_eq!(received, expected);
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert_eq!(reader.undecodable_samples(), 0);
}

#[test]
fn a_reader_may_hold_more_large_samples_than_are_received_into_pooled_memory() {
    let (here, there) = pair();
    let topic = here.create_topic::<Blob>("blobs").unwrap();
    let mut qos = DataWriterQos::default().reliable().keep_all();
    qos.reliability.max_blocking_time = PATIENCE.into();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Blob>("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for number in 0..400 {
        let bytes = vec![number as u8; 20_000];
        writer.write(&Blob { number, bytes }).unwrap();
    }
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert_eq!(writer.statistics().given_up, 0);
    let taken = reader.take(usize::MAX).unwrap();
    let numbers = taken.into_iter().filter_map(|it| it.into_data());
    let numbers: Vec<u32> = numbers.map(|blob| blob.number).collect();
    assert_eq!(numbers, (0..400).collect::<Vec<_>>());
}

#[test]
fn instances_are_disposed_and_lose_their_writers() {
    let (here, there) = pair();
    let topic = here.create_topic::<Position>("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default().reliable())
        .unwrap();
    let topic = there.create_topic::<Position>("positions").unwrap();
    let reader = there
        .create_datareader(&topic, DataReaderQos::default().reliable())
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    writer.write(&position("tram", 1)).unwrap();
    writer.write(&position("bus", 2)).unwrap();
    let mut seen = vec![];
    while seen.len() < 2 {
        seen.extend(reader.take_timeout(usize::MAX, PATIENCE).unwrap());
    }
    writer.dispose(&position("tram", 0)).unwrap();
    let samples = reader.take_timeout(1, PATIENCE).unwrap();
    let sample = samples.into_iter().next().unwrap();
    assert!(sample.data().is_none());
    assert_eq!(sample.key().unwrap().vehicle, "tram");
    assert_eq!(
        sample.info().instance_state,
        InstanceState::NotAliveDisposed
    );
    drop(writer);
    let samples = reader.take_timeout(1, PATIENCE).unwrap();
    let sample = samples.into_iter().next().unwrap();
    assert_eq!(
        sample.info().instance_state,
        InstanceState::NotAliveNoWriters
    );
    assert_eq!(sample.key().unwrap().vehicle, "bus");
}

#[test]
fn large_samples_and_late_joiners() {
    let (here, there) = pair();
    let qos = DataWriterQos::default()
        .reliable()
        .transient_local()
        .keep_last(2);
    let writer = here
        .create_datawriter(&here.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    for number in 0..3 {
        let bytes = vec![number as u8; 1 << 20];
        writer.write(&Blob { number, bytes }).unwrap();
    }
    let qos = DataReaderQos::default()
        .reliable()
        .transient_local()
        .keep_all();
    let reader = there
        .create_datareader(&there.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_historical_data(PATIENCE).unwrap();
    let samples = reader.take(usize::MAX).unwrap();
    let numbers: Vec<_> = samples
        .iter()
        .filter_map(|it| it.data())
        .map(|it| it.number)
        .collect();
    assert_eq!(numbers, [1, 2]);
    let whole = |it: &Blob| {
        it.bytes.len() == 1 << 20 && it.bytes.iter().all(|b| u32::from(*b) == it.number)
    };
    assert!(samples.iter().filter_map(|it| it.data()).all(whole));
}

#[test]
fn a_full_reader_holds_the_writer_back_without_loss() {
    let (here, there) = pair();
    let limits = whimbrel::qos::ResourceLimits::UNLIMITED.max_samples(10);
    let qos = DataWriterQos::default()
        .reliable()
        .keep_all()
        .max_blocking_time(whimbrel::Duration::from_secs(1))
        .resource_limits(limits);
    let writer = here
        .create_datawriter(&here.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .resource_limits(limits);
    let reader = there
        .create_datareader(&there.create_topic::<Blob>("b").unwrap(), qos)
        .unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    let blob = |number| Blob {
        number,
        bytes: vec![],
    };
    let mut written = 0;
    let blocked = loop {
        let begun = Instant::now();
        if writer.write(&blob(written)).is_err() {
            break begun.elapsed();
        }
        written += 1;
        assert!(written < 100, "nothing held the writer back");
    };
    // What the machine is late comes on top of max_blocking_time.
    let bounds = Duration::from_secs(1)..Duration::from_secs(4);
    assert!(bounds.contains(&blocked), "{blocked:?}");
    assert!(written >= 20);
    let mut received = vec![];
    while received.len() < written as usize {
        let samples = reader.take_timeout(3, PATIENCE).unwrap();
        received.extend(
            samples
                .into_iter()
                .filter_map(|it| it.into_data())
                .map(|it| it.number),
        );
    }
    assert_eq!(received, (0..written).collect::<Vec<_>>());
    writer.write(&blob(written)).unwrap();
}

#[test]
fn very_large_samples_arrive() {
    let (here, there) = pair();
    let topic = here.create_topic::<Blob>("b").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Blob>("b").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    let bytes: Vec<u8> = (0..100u32 << 20).map(|at| (at >> 8) as u8).collect();
    let blob = Blob { number: 1, bytes };
    writer.write(&blob).unwrap();
    let samples = reader.take_timeout(1, PATIENCE).unwrap();
    let sample = samples.into_iter().next().unwrap();
    assert!(sample.into_data().unwrap() == blob);
}
