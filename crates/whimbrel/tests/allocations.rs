//! In steady state a sample is written, sent, received and taken without an allocation.

#![allow(missing_docs)]

use std::alloc::System;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use whimbrel::domain::InProcess;
use whimbrel::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DdsType, DomainParticipant, Sample,
    SharedBytes,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Position {
    number: u32,
    at: [f64; 12],
}

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Picture {
    number: u32,
    pixels: SharedBytes,
}

/// What is exchanged, by its number.
trait Numbered {
    fn number(&self) -> u32;
}

impl Numbered for Position {
    fn number(&self) -> u32 {
        self.number
    }
}

impl Numbered for Picture {
    fn number(&self) -> u32 {
        self.number
    }
}

/// Enough that both ends have met each of their habits: heartbeats, acknowledgements, trims.
const WARM: u32 = 3000;

/// Samples of a stretch, and stretches: announcements go on meanwhile, but not in all of them.
const STRETCH: u32 = 100;
const STRETCHES: u32 = 20;

/// How samples travel: within the process or not, and in messages of how many octets.
type How = (InProcess, usize);

/// Messages that hold every sample.
const WHOLE: usize = 65_507;

fn participant((how, message_bytes_max): How) -> DomainParticipant {
    DomainParticipant::builder(221)
        .interfaces("lo")
        .in_process(how)
        .message_bytes_max(message_bytes_max)
        .build()
        .unwrap()
}

fn pair<T: DdsType>(how: How) -> (DataWriter<T>, DataReader<T>, [DomainParticipant; 2]) {
    let (one, other) = (participant(how), participant(how));
    let qos = DataWriterQos::default().reliable().keep_all();
    let topic = one.create_topic::<T>("allocations").unwrap();
    let writer = one.create_datawriter(&topic, qos).unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let topic = other.create_topic::<T>("allocations").unwrap();
    let reader = other.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, Duration::from_secs(20)).unwrap();
    (writer, reader, [one, other])
}

/// Writes and takes the samples of `numbers`, each as `make` has it, one after the other.
fn exchange<T: DdsType + Numbered>(
    (writer, reader): (&DataWriter<T>, &DataReader<T>),
    numbers: std::ops::Range<u32>,
    make: impl Fn(u32) -> T,
    room: &mut Vec<Sample<T>>,
) {
    for number in numbers {
        writer.write(&make(number)).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let taken = loop {
            if number % 2 == 0 {
                reader.take_into(1, room).unwrap();
            } else {
                room.extend(reader.take_next_sample().unwrap());
            }
            if let Some(sample) = room.pop() {
                break sample;
            }
            assert!(Instant::now() < deadline, "sample {number} does not arrive");
            std::thread::yield_now();
        };
        assert_eq!(taken.into_data().map(|it| it.number()), Some(number));
    }
}

/// The fewest allocations of a stretch of samples that `make` has.
fn fewest<T: DdsType + Numbered>(how: How, make: impl Fn(u32) -> T) -> usize {
    let (writer, reader, participants) = pair(how);
    let mut room = Vec::with_capacity(8);
    exchange((&writer, &reader), 0..WARM, &make, &mut room);
    let made = (0..STRETCHES).map(|stretch| {
        let from = WARM + stretch * STRETCH;
        let region = Region::new(ALLOCATOR);
        exchange((&writer, &reader), from..from + STRETCH, &make, &mut room);
        let made = region.change();
        made.allocations + made.reallocations
    });
    let fewest = made.min();
    drop(participants);
    fewest.unwrap()
}

#[test]
fn write_and_take_allocate_nothing_in_steady_state() {
    for how in [(InProcess::Off, WHOLE), (InProcess::Direct, WHOLE)] {
        let position = |number| Position {
            number,
            at: [f64::from(number); 12],
        };
        assert_eq!(fewest(how, position), 0, "{how:?}: for {STRETCH} samples");
        for size in [16, 256, 1024, 2048, 4096, 8192, 16_384, 60_000] {
            let pixels = SharedBytes::from(vec![7; size]);
            let picture = |number| Picture {
                number,
                pixels: pixels.clone(),
            };
            let made = fewest(how, picture);
            assert_eq!(made, 0, "{how:?}, {size} octets: for {STRETCH} samples");
        }
    }
    // In two fragments and in three, the last of them shorter.
    for size in [2048, 4096] {
        let pixels = SharedBytes::from(vec![7; size]);
        let picture = |number| Picture {
            number,
            pixels: pixels.clone(),
        };
        let made = fewest((InProcess::Off, 1472), picture);
        assert_eq!(
            made, 0,
            "in fragments, {size} octets: for {STRETCH} samples"
        );
    }
}
