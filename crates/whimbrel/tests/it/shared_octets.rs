//! Octets that a program shares: sent from where they are, received without a copy.

use whimbrel::base::qos::CompressionIds;
use whimbrel::domain::InProcess;
use whimbrel::{DataReaderQos, DataWriterQos, DdsType, SharedBytes};

use crate::{PATIENCE, pair_set_up};

#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(rename = "Scan")]
struct Scan {
    number: u32,
    octets: SharedBytes,
    sum: u64,
}

/// The same type to others.
#[derive(DdsType, Clone, Debug, PartialEq)]
#[dds(rename = "Scan")]
struct Copied {
    number: u32,
    octets: Vec<u8>,
    sum: u64,
}

/// About where octets begin to be left out, where they leave in one message, and in many.
const SIZES: [usize; 7] = [0, 4095, 4096, 4099, 60_001, 70_003, 1 << 20];

fn scan(number: u32, size: usize) -> Scan {
    let octets: Vec<u8> = (0..size).map(|it| (it * 31 + size) as u8).collect();
    let sum = octets.iter().map(|it| u64::from(*it)).sum();
    Scan {
        number,
        octets: octets.into(),
        sum,
    }
}

fn check(how: InProcess, qos: DataWriterQos) {
    let (here, there) = pair_set_up(|builder| builder.in_process(how));
    let qos = qos.reliable().transient_local().keep_all();
    let topic = here.create_topic::<Scan>("scans").unwrap();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let qos = DataReaderQos::default()
        .reliable()
        .transient_local()
        .keep_all();
    let topic = there.create_topic::<Scan>("scans").unwrap();
    let early = there.create_datareader(&topic, qos.clone()).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    let written: Vec<Scan> = (0..).zip(SIZES).map(|(n, size)| scan(n, size)).collect();
    written.iter().for_each(|it| writer.write(it).unwrap());
    let topic = there.create_topic::<Copied>("scans").unwrap();
    let late = there.create_datareader(&topic, qos).unwrap();
    for wanted in &written {
        let heard = early.take_timeout(1, PATIENCE).unwrap();
        assert_eq!(heard[0].data(), Some(wanted));
        let heard = late.take_timeout(1, PATIENCE).unwrap();
        let data = heard[0].data().unwrap();
        assert_eq!((data.number, data.sum), (wanted.number, wanted.sum));
        assert!(data.octets == *wanted.octets);
    }
}

#[test]
fn they_arrive_whole_whatever_their_way() {
    for how in [InProcess::Off, InProcess::Encoded, InProcess::Direct] {
        check(how, DataWriterQos::default());
    }
}

#[test]
fn a_writer_that_compresses_sends_them_too() {
    let qos = DataWriterQos::default().compression_ids(CompressionIds::LZ4);
    check(InProcess::Off, qos);
}
