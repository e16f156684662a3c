//! One writer and readers at many addresses.

use whimbrel::domain::InProcess;
use whimbrel::{DataReader, DataReaderQos, DataWriterQos, DomainParticipant};

use super::{Blob, PATIENCE, tag};

/// More than there are sockets of their own for, at any of their addresses.
const READERS: usize = 12;

const SAMPLES: u32 = 200;

fn check(batched_send: bool, ip: &str) {
    let tag = tag();
    let join = || {
        DomainParticipant::builder(77)
            .domain_tag(&tag)
            .interfaces("lo")
            .ip(ip.parse().unwrap())
            .in_process(InProcess::Off)
            .message_bytes_max(1400)
            .batched_send(batched_send)
            .build()
            .unwrap()
    };
    let writing = join();
    let topic = writing.create_topic::<Blob>("blobs").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = writing.create_datawriter(&topic, qos).unwrap();
    let readers: Vec<(DomainParticipant, DataReader<Blob>)> = (0..READERS)
        .map(|_| {
            let participant = join();
            let topic = participant.create_topic("blobs").unwrap();
            let qos = DataReaderQos::default().reliable().keep_all();
            let reader = participant.create_datareader(&topic, qos).unwrap();
            (participant, reader)
        })
        .collect();
    writer.wait_for_matched(READERS, PATIENCE).unwrap();
    // Whole, gathered and in fragments; some readers go before the others.
    let blob = |number: u32| Blob {
        number,
        bytes: vec![number as u8; [10, 700, 9000][number as usize % 3]],
    };
    let (mut gone, stays) = (readers, READERS / 2);
    let all = gone.split_off(stays);
    for number in 0..SAMPLES {
        writer.write(&blob(number)).unwrap();
        if number == SAMPLES / 2 {
            gone.clear();
        }
    }
    for (_, reader) in &all {
        let mut next = 0;
        while next < SAMPLES {
            let taken = reader.take_timeout(1000, PATIENCE).unwrap();
            assert!(!taken.is_empty(), "nothing more after {next}");
            for sample in taken {
                assert_eq!(sample.into_data(), Some(blob(next)));
                next += 1;
            }
        }
    }
}

#[test]
fn all_get_everything_by_one_call_for_many_and_by_one_for_each() {
    for batched_send in [true, false] {
        for ip in ["4", "46"] {
            check(batched_send, ip);
        }
    }
}
