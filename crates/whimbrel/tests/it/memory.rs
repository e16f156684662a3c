//! What entities hold is told, bounded and given back.

use whimbrel::base::limits::Limits;
use whimbrel::base::status::SampleRejectedKind;
use whimbrel::domain::InProcess;
use whimbrel::{DataReaderQos, DataWriterQos, DomainParticipant, ReturnCode, StatusKind, WaitSet};

use super::{Blob, PATIENCE, position, tag};

/// Two participants; the second may hold little.
fn rich_and_poor(memory_bytes_max: usize) -> (DomainParticipant, DomainParticipant) {
    let tag = tag();
    let builder = || {
        DomainParticipant::builder(77)
            .domain_tag(&tag)
            .interfaces("lo")
            .in_process(InProcess::Off)
    };
    let limits = Limits {
        memory_bytes_max,
        ..Limits::DEFAULT
    };
    (
        builder().build().unwrap(),
        builder().limits(limits).build().unwrap(),
    )
}

fn blob(number: u32) -> Blob {
    let bytes = vec![number as u8; 20_000];
    Blob { number, bytes }
}

#[test]
fn a_writer_at_the_limit_says_out_of_resources_and_goes_on_when_there_is_room() {
    let (_, here) = rich_and_poor(1 << 20);
    let topic = here.create_topic::<Blob>("blobs").unwrap();
    let qos = DataWriterQos::default().transient_local().keep_all();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let full = (0..1000).find_map(|number| writer.write(&blob(number)).err());
    let error = full.expect("the history grew without end");
    assert_eq!(error.return_code(), ReturnCode::OutOfResources);
    assert!(error.to_string().contains("memory_bytes_max"), "{error}");
    let memory = here.memory();
    assert_eq!(memory.bytes_max, 1 << 20);
    assert!(
        memory.bytes > 900_000 && memory.bytes <= 1 << 20,
        "{memory:?}"
    );
    let of_writer = writer.memory();
    assert_eq!(memory.writers.as_slice(), std::slice::from_ref(&of_writer));
    assert_eq!(of_writer.topic_name, "blobs");
    assert!(of_writer.samples > 30 && of_writer.bytes == memory.bytes);
    // Another writer of the same participant meets the same limit.
    let other = here
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    let large = Blob {
        number: 0,
        bytes: vec![0; 1 << 20],
    };
    assert!(other.write(&large).is_err());
    drop(writer);
    // A thread of the driver that looks at it just then lets go of it after that.
    let until = std::time::Instant::now() + PATIENCE;
    while here.memory().bytes > 0 && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(here.memory().bytes, 0);
}

#[test]
fn a_reader_at_the_limit_rejects_holds_back_and_gets_everything_once_it_takes() {
    let (here, there) = rich_and_poor(1 << 20);
    let topic = here.create_topic::<Blob>("blobs").unwrap();
    let qos = DataWriterQos::default()
        .reliable()
        .transient_local()
        .keep_all();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    for number in 0..200 {
        writer.write(&blob(number)).unwrap();
    }
    let topic = there.create_topic::<Blob>("blobs").unwrap();
    let qos = DataReaderQos::default()
        .reliable()
        .transient_local()
        .keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    let kinds = StatusKind::SampleRejected;
    let condition = reader.status_condition();
    condition.set_enabled_statuses(kinds);
    let wait_set = WaitSet::new();
    wait_set.attach(condition);
    wait_set.wait(PATIENCE).unwrap();
    let status = reader.sample_rejected_status();
    assert_eq!(status.last_reason, SampleRejectedKind::ByMemoryLimit);
    let memory = there.memory();
    assert!(
        memory.bytes > 900_000 && memory.bytes <= memory.bytes_max,
        "{memory:?}"
    );
    assert_eq!(memory.readers[0].bytes, reader.memory().bytes);
    let mut numbers = vec![];
    while numbers.len() < 200 {
        let taken = reader.take_timeout(1000, PATIENCE).unwrap();
        assert!(!taken.is_empty(), "nothing more after {}", numbers.len());
        numbers.extend(taken.iter().filter_map(|it| it.data()).map(|it| it.number));
    }
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
}

/// Octets that a reader holds of samples of 10,000 which came one by one and which nobody takes.
fn held_of(count: u32, memory_bytes_max: usize) -> usize {
    let (here, there) = rich_and_poor(memory_bytes_max);
    let topic = here.create_topic("blobs").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic = there.create_topic::<Blob>("blobs").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    for number in 0..count {
        let bytes = vec![number as u8; 10_000];
        writer.write(&Blob { number, bytes }).unwrap();
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
    }
    let memory = reader.memory();
    assert_eq!(memory.samples, count as usize);
    memory.bytes
}

#[test]
fn samples_that_nobody_takes_keep_few_of_the_datagrams_in_which_they_came() {
    let (copy_bytes, datagram_bytes) = (17_000, 66_000);
    let held = held_of(40, Limits::DEFAULT.memory_bytes_max);
    assert!(held < 40 * copy_bytes + 6 * datagram_bytes, "{held}");
    // Where there is little for all of them, none.
    let held = held_of(40, 1 << 20);
    assert!(held < 40 * copy_bytes, "{held}");
}

#[test]
fn instances_and_their_keys_are_given_back() {
    let (here, _) = rich_and_poor(1 << 20);
    let topic = here.create_topic("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    for number in 0..100 {
        writer.write(&position(&number.to_string(), 1)).unwrap();
    }
    let memory = writer.memory();
    assert_eq!(memory.instances, 100);
    assert!(memory.bytes > 100 * 64, "{memory:?}");
    for number in 0..100 {
        let item = position(&number.to_string(), 1);
        writer.unregister_instance(&item).unwrap();
    }
    let memory = writer.memory();
    assert_eq!((memory.instances, memory.bytes), (0, 0));
}

#[test]
fn what_discovery_holds_comes_and_goes_with_the_others() {
    let (here, there) = rich_and_poor(1 << 20);
    let topic = there.create_topic::<Blob>("blobs").unwrap();
    let writer = there
        .create_datawriter(&topic, DataWriterQos::default())
        .unwrap();
    assert!(here.wait_for_discovery(PATIENCE, |it| !it.discovered_writers().is_empty()));
    let discovery = here.memory().discovery;
    assert_eq!((discovery.participants, discovery.writers), (1, 1));
    assert!(discovery.bytes > 100, "{discovery:?}");
    drop((writer, topic, there));
    assert!(here.wait_for_discovery(PATIENCE, |it| it.discovered_participants().is_empty()));
    let after = here.memory().discovery;
    assert_eq!((after.participants, after.writers), (0, 0));
    assert!(after.bytes < discovery.bytes, "{after:?}");
}
