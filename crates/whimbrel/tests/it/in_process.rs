//! Samples that go past the network: the same in every way of going, and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use whimbrel::base::time::Duration;
use whimbrel::domain::InProcess;
use whimbrel::qos::ResourceLimits;
use whimbrel::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    InstanceState, StatusKind, Topic,
};

use super::{Blob, PATIENCE, Position, matched, matched_pair_by, pair_of, pair_set_up, position};

const ALL: [InProcess; 4] = [
    InProcess::Direct,
    InProcess::Queued,
    InProcess::Encoded,
    InProcess::Off,
];

/// Values of `x` taken until there are `count`.
fn take_xs(reader: &DataReader<Position>, count: usize) -> Vec<i32> {
    let mut xs = Vec::new();
    while xs.len() < count {
        let taken = reader.take_timeout(1000, PATIENCE).unwrap();
        assert!(!taken.is_empty(), "nothing more after {}", xs.len());
        xs.extend(taken.iter().filter_map(|it| it.data()).map(|it| it.x));
    }
    xs
}

/// Waits for the answer to the writer's first heartbeat.
fn settle(writer: &DataWriter<Position>) {
    writer.write(&position("tram", -1)).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
}

#[test]
fn samples_go_past_the_network_where_that_is_on_and_both_sides_count_them() {
    for how in ALL {
        let (writer, reader) = matched_pair_by(how);
        settle(&writer);
        let before = (writer.statistics(), reader.statistics());
        for x in 0..50 {
            writer.write(&position("tram", x)).unwrap();
            writer.write(&position("bus", x)).unwrap();
        }
        assert_eq!(take_xs(&reader, 101).len(), 101);
        let (writes, reads) = (writer.statistics(), reader.statistics());
        let passed = if how == InProcess::Off { 0 } else { 100 };
        assert_eq!(writes.in_process - before.0.in_process, passed, "{how}");
        assert_eq!(reads.in_process - before.1.in_process, passed, "{how}");
        assert_eq!(reads.delivered - before.1.delivered, 100);
        if how != InProcess::Off {
            assert_eq!(writes.heartbeats, before.0.heartbeats);
            assert_eq!(reads.duplicates, before.1.duplicates);
        }
        writer.dispose(&position("bus", 0)).unwrap();
        let ends = reader.take_timeout(10, PATIENCE).unwrap();
        let state = ends[0].info().instance_state;
        assert_eq!(state, InstanceState::NotAliveDisposed);
        assert_eq!(ends[0].key().unwrap().vehicle, "bus");
    }
}

#[test]
fn several_threads_and_readers_get_everything_of_each_writer_in_order() {
    const EACH: i32 = 500;
    for how in ALL {
        let (here, there) = pair_set_up(|builder| builder.in_process(how));
        let topic: Topic<Position> = here.create_topic("positions").unwrap();
        let qos = DataWriterQos::default().reliable().keep_all();
        let mut qos = qos.resource_limits(ResourceLimits::UNLIMITED.max_samples(64));
        qos.reliability.max_blocking_time = Duration::INFINITE;
        let writers = [(); 2].map(|()| here.create_datawriter(&topic, qos.clone()).unwrap());
        let theirs: Topic<Position> = there.create_topic("positions").unwrap();
        let qos = DataReaderQos::default().reliable().keep_all();
        let tight = ResourceLimits::UNLIMITED.max_samples(50);
        let readers = [
            there.create_datareader(&theirs, qos.clone()).unwrap(),
            there
                .create_datareader(&theirs, qos.clone().resource_limits(tight))
                .unwrap(),
            here.create_datareader(&topic, qos).unwrap(),
        ];
        for writer in &writers {
            writer.wait_for_matched(3, PATIENCE).unwrap();
        }
        thread::scope(|threads| {
            for (number, writer) in writers.iter().enumerate() {
                threads.spawn(move || {
                    for x in 0..EACH {
                        writer.write(&position(&number.to_string(), x)).unwrap();
                    }
                });
            }
            for reader in &readers {
                threads.spawn(move || {
                    let mut next = [0; 2];
                    while next != [EACH; 2] {
                        let taken = reader.take_timeout(1000, PATIENCE).unwrap();
                        assert!(!taken.is_empty(), "{how}: nothing more after {next:?}");
                        for data in taken.iter().filter_map(|it| it.data()) {
                            let of: usize = data.vehicle.parse().unwrap();
                            assert_eq!(data.x, next[of], "{how}");
                            next[of] += 1;
                        }
                    }
                });
            }
        });
        let lost: u64 = readers.iter().map(|it| it.statistics().lost).sum();
        assert_eq!(lost, 0, "{how}");
    }
}

#[test]
fn late_joiners_get_history_and_then_what_is_handed_over() {
    for how in ALL {
        let (here, there) = pair_set_up(|builder| builder.in_process(how));
        let topic: Topic<Blob> = here.create_topic("blobs").unwrap();
        let qos = DataWriterQos::default().reliable().transient_local();
        let writer = here.create_datawriter(&topic, qos.keep_all()).unwrap();
        let blob = |number| Blob {
            number,
            bytes: vec![number as u8; 100_000],
        };
        let write = |number| writer.write(&blob(number)).unwrap();
        (0..10).for_each(write);
        let topic: Topic<Blob> = there.create_topic("blobs").unwrap();
        let qos = DataReaderQos::default().reliable().transient_local();
        let join = || {
            let qos = qos.clone().keep_all();
            let reader = there.create_datareader(&topic, qos).unwrap();
            reader.wait_for_historical_data(PATIENCE).unwrap();
            reader
        };
        let first = join();
        (10..20).for_each(write);
        let second = join();
        (20..22).for_each(write);
        for reader in [first, second] {
            let mut numbers = Vec::new();
            while numbers.last() != Some(&21) {
                for sample in reader.take_timeout(10, PATIENCE).unwrap() {
                    let data = sample.into_data().unwrap();
                    assert_eq!(data, blob(data.number));
                    numbers.push(data.number);
                }
            }
            assert_eq!(numbers, (0..22).collect::<Vec<_>>(), "{how}");
        }
    }
}

/// Calls the function with each sample.
struct Each<F>(F);

impl<F: FnMut(&Position) + Send> DataReaderListener<Position> for Each<F> {
    fn on_data_available(&mut self, reader: &DataReader<Position>) {
        for sample in reader.take(usize::MAX).unwrap() {
            if let Some(data) = sample.data() {
                self.0(data);
            }
        }
    }
}

fn listen(reader: &DataReader<Position>, f: impl FnMut(&Position) + Send + 'static) {
    reader.set_listener(Some(Box::new(Each(f))), StatusKind::DataAvailable);
}

#[test]
fn a_direct_listener_is_called_before_the_write_returns() {
    let (writer, reader) = matched_pair_by(InProcess::Direct);
    settle(&writer);
    reader.take(10).unwrap();
    let seen = Arc::new(AtomicU32::new(0));
    let sees = Arc::clone(&seen);
    let caller = thread::current().id();
    listen(&reader, move |data| {
        assert_eq!(thread::current().id(), caller);
        sees.store(data.x as u32, Ordering::SeqCst);
        if data.x == 3 {
            panic!("as a listener may");
        }
    });
    for x in 1..=100 {
        writer.write(&position("tram", x)).unwrap();
        assert_eq!(seen.load(Ordering::SeqCst), x as u32);
    }
}

#[test]
fn listeners_that_write_to_each_other_neither_recurse_nor_hold_up_the_first() {
    let (there, here) = pair_set_up(|builder| builder.in_process(InProcess::Direct));
    let join = |written: &str, read: &str, participant: &DomainParticipant| {
        let written = participant.create_topic::<Position>(written).unwrap();
        let read = participant.create_topic::<Position>(read).unwrap();
        let qos = DataWriterQos::default().reliable().keep_all();
        let writer = participant.create_datawriter(&written, qos).unwrap();
        let qos = DataReaderQos::default().reliable().keep_all();
        (writer, participant.create_datareader(&read, qos).unwrap())
    };
    let (ping, pong) = (join("ping", "pong", &here), join("pong", "ping", &there));
    for (writer, _) in [&ping, &pong] {
        writer.wait_for_matched(1, PATIENCE).unwrap();
        settle(writer);
    }
    let depth = Arc::new(AtomicUsize::new(0));
    let (done, is_done) = channel();
    for (writer, reader) in [&ping, &pong] {
        reader.take(10).unwrap();
        let (writer, depth, done) = (writer.clone(), Arc::clone(&depth), done.clone());
        listen(reader, move |data| {
            // One thread goes on where another ends, so at most both are about here.
            assert!(depth.fetch_add(1, Ordering::SeqCst) < 2);
            if data.x == 10_000 {
                done.send(()).unwrap();
            } else {
                writer.write(&position("tram", data.x + 1)).unwrap();
            }
            depth.fetch_sub(1, Ordering::SeqCst);
        });
    }
    ping.0.write(&position("tram", 1)).unwrap();
    is_done.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn a_reader_that_goes_before_the_turn_of_its_listener_hears_nothing() {
    let (first_writer, first) = matched_pair_by(InProcess::Direct);
    let (writer, reader) = matched_pair_by(InProcess::Direct);
    [&first_writer, &writer].into_iter().for_each(settle);
    for reader in [&first, &reader] {
        assert_eq!(take_xs(reader, 1), [-1]);
    }
    let handed_over = || writer.statistics().in_process;
    let before = handed_over();
    let called = Arc::new(AtomicUsize::new(0));
    let calls = Arc::clone(&called);
    listen(&reader, move |_| {
        calls.fetch_add(1, Ordering::SeqCst);
    });
    let (mut goes, put) = (None, writer.clone());
    let (hand, handed) = channel();
    let (left, has_left) = channel();
    listen(&first, move |data| {
        put.write(data).unwrap();
        goes = goes.take().or_else(|| handed.try_recv().ok());
        if data.x == 2 {
            goes = None;
            let begun = Instant::now();
            while !put.matched_subscriptions().is_empty() {
                assert!(begun.elapsed() < PATIENCE, "it is kept");
                thread::yield_now();
            }
            left.send(()).unwrap();
        }
    });
    first_writer.write(&position("tram", 1)).unwrap();
    assert_eq!(called.load(Ordering::SeqCst), 1, "its turn comes after");
    hand.send(reader).unwrap();
    first_writer.write(&position("tram", 2)).unwrap();
    assert_eq!(called.load(Ordering::SeqCst), 1);
    has_left.try_recv().expect("it left the bus meanwhile");
    assert_eq!(handed_over() - before, 2);
}

#[test]
fn a_full_reader_rejects_and_goes_on_as_by_the_network() {
    for how in ALL {
        let (here, there) = pair_set_up(|builder| builder.in_process(how));
        let topic: Topic<Position> = here.create_topic("positions").unwrap();
        let qos = DataWriterQos::default().reliable().keep_all();
        let writer = here.create_datawriter(&topic, qos).unwrap();
        let topic: Topic<Position> = there.create_topic("positions").unwrap();
        let qos = DataReaderQos::default().reliable().keep_all();
        let limits = ResourceLimits::UNLIMITED.max_samples(3);
        let reader = there
            .create_datareader(&topic, qos.resource_limits(limits))
            .unwrap();
        writer.wait_for_matched(1, PATIENCE).unwrap();
        reader.wait_for_matched(1, PATIENCE).unwrap();
        let condition = reader.status_condition();
        condition.set_enabled_statuses(StatusKind::SampleRejected);
        for x in 0..10 {
            writer.write(&position("tram", x)).unwrap();
        }
        let wait_set = whimbrel::WaitSet::new();
        wait_set.attach(condition);
        wait_set.wait(PATIENCE).unwrap();
        assert_eq!(reader.sample_rejected_status().total_count, 1, "{how}");
        assert_eq!(take_xs(&reader, 10), (0..10).collect::<Vec<_>>(), "{how}");
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        writer.write(&position("tram", 10)).unwrap();
        assert_eq!(take_xs(&reader, 1), [10]);
    }
}

#[test]
fn a_shared_value_is_the_same_for_all_readers_of_the_process() {
    let (here, there) = pair_set_up(|builder| builder.in_process(InProcess::Direct));
    let topic: Topic<Blob> = here.create_topic("blobs").unwrap();
    let qos = DataWriterQos::default().reliable().keep_last(1);
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let theirs: Topic<Blob> = there.create_topic("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_last(1);
    let readers = [
        there.create_datareader(&theirs, qos.clone()).unwrap(),
        here.create_datareader(&topic, qos.clone()).unwrap(),
    ];
    writer.wait_for_matched(2, PATIENCE).unwrap();
    let blob = |number| {
        let bytes = vec![number as u8; 50_000];
        Arc::new(Blob { number, bytes })
    };
    let take = |reader: &DataReader<Blob>| {
        let taken = reader.take_timeout(1, PATIENCE).unwrap();
        taken.into_iter().next().unwrap()
    };
    writer.write_shared(blob(0)).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    readers.iter().for_each(|it| drop(take(it)));
    let value = blob(1);
    writer.write_shared(Arc::clone(&value)).unwrap();
    assert!(readers.iter().all(|it| it.memory().bytes > 50_000));
    for reader in &readers {
        let sample = take(reader);
        assert!(std::ptr::eq(sample.data().unwrap(), &*value));
        // Somebody else has it: this is a copy.
        assert_eq!(sample.clone().into_data().as_ref(), Some(&*value));
        assert!(Arc::ptr_eq(&sample.into_shared().unwrap(), &value));
    }
    assert_eq!(Arc::strong_count(&value), 1, "somebody keeps it");
    writer.write_shared(value).unwrap();
    assert_eq!(take(&readers[0]).into_data().unwrap().number, 1);
    // One that gives way is let go of.
    let (old, new) = (blob(2), blob(3));
    writer.write_shared(Arc::clone(&old)).unwrap();
    writer.write_shared(new).unwrap();
    assert_eq!(Arc::strong_count(&old), 1);
    let loaned = readers[1].take_loaned(&Default::default()).unwrap();
    let decoded: Blob = whimbrel::types::from_payload(loaned[0].payload()).unwrap();
    assert_eq!(decoded.number, 3);
    // Whoever reads octets has them made, and the others get the value all the same.
    let raw = here
        .create_raw_topic("blobs", topic.type_name(), false)
        .unwrap();
    let raw = here
        .create_raw_datareader(&raw, Default::default(), qos)
        .unwrap();
    writer.wait_for_matched(3, PATIENCE).unwrap();
    let value = blob(4);
    writer.write_shared(Arc::clone(&value)).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert!(std::ptr::eq(take(&readers[0]).data().unwrap(), &*value));
    raw.wait_for_data(PATIENCE).unwrap();
    let decoded: Blob = whimbrel::types::from_payload(raw.take(1)[0].payload()).unwrap();
    assert_eq!(decoded, *value);
}

#[test]
fn a_reader_that_is_gone_keeps_and_takes_nothing_before_its_writer_knows() {
    for number in 0..10 {
        let (here, there) = pair_set_up(|builder| builder.in_process(InProcess::Direct));
        let topic: Topic<Blob> = here.create_topic("blobs").unwrap();
        let qos = DataWriterQos::default().reliable().keep_last(1);
        let writer = here.create_datawriter(&topic, qos).unwrap();
        let theirs: Topic<Blob> = there.create_topic("blobs").unwrap();
        let qos = DataReaderQos::default().reliable();
        let reader = there.create_datareader(&theirs, qos).unwrap();
        writer.wait_for_matched(1, PATIENCE).unwrap();
        let blob = || {
            let bytes = vec![5; 500];
            Arc::new(Blob { number, bytes })
        };
        writer.write_shared(blob()).unwrap();
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
        let (before, after) = (blob(), blob());
        writer.write_shared(Arc::clone(&before)).unwrap();
        assert_eq!(Arc::strong_count(&before), 2, "the reader has it");
        drop(reader);
        assert_eq!(Arc::strong_count(&before), 1, "kept for nobody");
        writer.write_shared(Arc::clone(&after)).unwrap();
        assert_eq!(Arc::strong_count(&after), 1, "taken by nobody");
    }
}

#[test]
fn shared_values_of_instances_tell_their_keys_and_ends() {
    for how in ALL {
        let (writer, reader) = matched_pair_by(how);
        settle(&writer);
        reader.take(10).unwrap();
        for x in 0..3 {
            writer.write_shared(Arc::new(position("bus", x))).unwrap();
        }
        assert_eq!(take_xs(&reader, 3), [0, 1, 2]);
        let instance = reader
            .lookup_instance(&position("bus", 9))
            .unwrap()
            .unwrap();
        assert_eq!(reader.key_value(instance).unwrap().vehicle, "bus");
        writer.dispose(&position("bus", 0)).unwrap();
        let ends = reader.take_timeout(10, PATIENCE).unwrap();
        assert_eq!(ends[0].key().unwrap().vehicle, "bus");
        let state = ends[0].info().instance_state;
        assert_eq!(state, InstanceState::NotAliveDisposed);
    }
}

#[test]
fn the_first_shared_value_of_an_instance_is_handed_over_too() {
    for how in [InProcess::Direct, InProcess::Queued, InProcess::Encoded] {
        let (writer, reader) = matched_pair_by(how);
        settle(&writer);
        let before = writer.statistics().in_process;
        for (x, vehicle) in (0..).zip(["bus", "ferry", "train", "bus"]) {
            let value = Arc::new(position(vehicle, x));
            writer.write_shared(value).unwrap();
        }
        assert_eq!(writer.statistics().in_process - before, 4, "{how}");
        assert_eq!(take_xs(&reader, 5), [-1, 0, 3, 1, 2]);
    }
}

#[test]
fn values_are_handed_over_encoded_where_either_side_says_so() {
    let (direct, encoded) = (InProcess::Direct, InProcess::Encoded);
    for (ours, theirs, shares) in [
        (direct, direct, true),
        (direct, encoded, false),
        (encoded, direct, false),
        (encoded, encoded, false),
    ] {
        let pair = pair_of([ours, theirs], |builder, how| builder.in_process(how));
        let (writer, reader) = matched(&pair);
        settle(&writer);
        let before = writer.statistics().in_process;
        // What is first of its instance may come encoded, as that tells the key.
        let value = Arc::new(position("tram", 1));
        writer.write_shared(Arc::clone(&value)).unwrap();
        let taken = reader.take_timeout(2, PATIENCE).unwrap();
        let got = taken.into_iter().last().unwrap().into_shared().unwrap();
        assert_eq!((&got, Arc::ptr_eq(&got, &value)), (&value, shares));
        assert_eq!(writer.statistics().in_process - before, 1);
    }
}

#[test]
fn what_cannot_be_encoded_is_refused_though_nobody_needs_it_encoded() {
    for how in ALL {
        let (writer, reader) = matched_pair_by(how);
        settle(&writer);
        let refused = writer.write(&position("a\0b", 1)).unwrap_err();
        assert!(refused.to_string().contains("NUL"), "{how}: {refused}");
        writer.write(&position("bus", 2)).unwrap();
        assert_eq!(take_xs(&reader, 2), [-1, 2], "{how}");
    }
}

#[test]
fn what_was_written_may_change_and_what_was_taken_stays() {
    for how in ALL {
        let (here, there) = pair_set_up(|builder| builder.in_process(how));
        let topic: Topic<Blob> = here.create_topic("blobs").unwrap();
        let qos = DataWriterQos::default().reliable().keep_all();
        let writer = here.create_datawriter(&topic, qos).unwrap();
        let theirs: Topic<Blob> = there.create_topic("blobs").unwrap();
        let qos = DataReaderQos::default().reliable().keep_all();
        let readers = [
            there.create_datareader(&theirs, qos.clone()).unwrap(),
            here.create_datareader(&topic, qos.clone()).unwrap(),
        ];
        writer.wait_for_matched(2, PATIENCE).unwrap();
        let mut blob = Blob {
            number: 0,
            bytes: Vec::new(),
        };
        let (mut written, mut kept) = (Vec::new(), [Vec::new(), Vec::new()]);
        for number in 0..200 {
            blob.number = number;
            blob.bytes = vec![number as u8; number as usize * 7 % 500];
            writer.write(&blob).unwrap();
            written.push(blob.clone());
            for (reader, kept) in readers.iter().zip(&mut kept) {
                let taken = reader.take_timeout(1, PATIENCE).unwrap();
                // Some are kept for long, some go at once.
                kept.extend(taken.into_iter().filter(|_| number % 3 == 0));
            }
        }
        let written = || written.iter().filter(|it| it.number % 3 == 0);
        for kept in kept {
            assert!(
                kept.iter().filter_map(|it| it.data()).eq(written()),
                "{how}"
            );
            let own = kept.into_iter().filter_map(|it| it.into_data());
            assert!(own.eq(written().cloned()), "{how}");
        }
    }
}
