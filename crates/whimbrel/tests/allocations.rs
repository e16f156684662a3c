//! In steady state a sample is written, sent, received and taken without an allocation.

#![allow(missing_docs)]

use std::alloc::System;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_core::Stream;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use whimbrel::domain::InProcess;
use whimbrel::qos::{Bundling, History};
use whimbrel::subscription::SampleStream;
use whimbrel::{
    Condition, DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DdsType,
    DomainParticipant, InstanceStates, ReadCondition, Sample, SampleState, SharedBytes, StatusKind,
    ViewStates, WaitSet, block_on,
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

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Track {
    #[dds(key)]
    plane: u32,
    number: u32,
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

impl Numbered for Track {
    fn number(&self) -> u32 {
        self.number
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

/// Enough that both ends have met each of their habits: heartbeats, acknowledgements, trims.
const WARM: u32 = 3000;

/// Samples of a stretch, and stretches.
const STRETCH: u32 = 100;
const STRETCHES: u32 = 21;

/// In so many stretches something else may go on that allocates.
const ELSEWHERE_MAX: usize = 7;

/// How samples travel, and how they are received.
#[derive(Clone, Copy, Debug)]
struct How {
    in_process: InProcess,
    message_bytes_max: usize,
    reliable: bool,
    /// Of both ends.
    history: History,
    by: By,
    bundling: Bundling,
    /// So many are written before they are taken.
    together: u32,
}

/// How they are waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    /// Over and over, without a wait.
    Looks,
    Listener,
    Timeout,
    WaitSet,
    Stream,
}

impl By {
    const ALL: [Self; 5] = [
        Self::Looks,
        Self::Listener,
        Self::Timeout,
        Self::WaitSet,
        Self::Stream,
    ];
}

/// Messages that hold every sample.
const WHOLE: usize = 65_507;

const USUAL: How = How {
    in_process: InProcess::Off,
    message_bytes_max: WHOLE,
    reliable: true,
    history: History::KeepAll,
    by: By::Looks,
    bundling: Bundling::Automatic,
    together: 1,
};

/// What ends keep that exchange one sample at a time: no more is there at once.
const HISTORIES: [History; 2] = [History::KeepLast(1), History::KeepAll];

/// Each of these with each way to receive.
fn kept_and_received() -> impl Iterator<Item = (History, By)> {
    HISTORIES
        .into_iter()
        .flat_map(|history| By::ALL.map(|by| (history, by)))
}

/// Both ends of one topic.
struct Ends<T: DdsType> {
    how: How,
    writer: DataWriter<T>,
    reader: DataReader<T>,
    waiting: Waiting<T>,
    _participants: [DomainParticipant; 2],
}

/// What each wait is done with.
enum Waiting<T: DdsType> {
    Looks,
    /// The number that the listener took last.
    Listener(Arc<AtomicU32>),
    Timeout,
    WaitSet(WaitSet, ReadCondition, Vec<Condition>),
    Stream(SampleStream<T>),
}

impl<T: DdsType + Numbered> Waiting<T> {
    fn new(by: By, reader: &DataReader<T>) -> Self {
        match by {
            By::Looks => Self::Looks,
            By::Listener => {
                let heard = Arc::new(AtomicU32::new(u32::MAX));
                let listener = Box::new(Taking(Arc::clone(&heard)));
                reader.set_listener(Some(listener), StatusKind::DataAvailable);
                Self::Listener(heard)
            }
            By::Timeout => Self::Timeout,
            By::WaitSet => {
                let unread = SampleState::NotRead;
                let condition =
                    reader.create_readcondition(unread, ViewStates::ANY, InstanceStates::ANY);
                let wait_set = WaitSet::new();
                wait_set.attach(condition.clone());
                Self::WaitSet(wait_set, condition, Vec::with_capacity(1))
            }
            By::Stream => Self::Stream(reader.stream()),
        }
    }

    /// The number of the sample that comes next, which is `number`, by way of `room`; `None` where
    /// it is not there yet.
    fn take(
        &mut self,
        reader: &DataReader<T>,
        number: u32,
        room: &mut Vec<Sample<T>>,
    ) -> Option<u32> {
        match self {
            Self::Looks => match number % 4 {
                0 => reader.take_into(1, room).unwrap(),
                1 => room.extend(reader.take_next_sample().unwrap()),
                2 => room.extend(reader.take(1).unwrap()),
                _ => {
                    // None but what is read first is taken.
                    let is_there = !reader.read(1).unwrap().is_empty();
                    room.extend(reader.take(usize::from(is_there)).unwrap());
                }
            },
            Self::Listener(heard) => {
                let last = heard.load(Ordering::Acquire);
                return (last == number).then_some(last);
            }
            Self::Timeout if number.is_multiple_of(2) => {
                reader.take_timeout_into(1, PATIENCE, room).unwrap();
            }
            Self::Timeout => room.extend(reader.take_timeout(1, PATIENCE).unwrap()),
            Self::WaitSet(wait_set, condition, met) => {
                wait_set.wait_into(PATIENCE, met).unwrap();
                assert_eq!(*met, [condition.clone().into()]);
                reader.take_into(1, room).unwrap();
            }
            Self::Stream(stream) => {
                let next = poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
                room.extend(block_on(next));
            }
        }
        let sample = room.pop()?;
        Some(sample.into_data().unwrap().number())
    }
}

/// Takes everything.
struct Taking(Arc<AtomicU32>);

impl<T: DdsType + Numbered> DataReaderListener<T> for Taking {
    fn on_data_available(&mut self, reader: &DataReader<T>) {
        while let Ok(Some(sample)) = reader.take_next_sample() {
            if let Some(data) = sample.into_data() {
                self.0.store(data.number(), Ordering::Release);
            }
        }
    }
}

/// Announcements go on in a thread of their own: none are due while samples are counted.
fn participant(how: How) -> DomainParticipant {
    let minute = whimbrel::Duration::from_secs(60);
    DomainParticipant::builder(221)
        .lease(minute.times(4))
        .announce_period(minute)
        .interfaces("lo")
        .in_process(how.in_process)
        .message_bytes_max(how.message_bytes_max)
        .build()
        .unwrap()
}

fn ends<T: DdsType + Numbered>(how: How) -> Ends<T> {
    let (one, other) = (participant(how), participant(how));
    let mut written = DataWriterQos::default().reliable().bundling(how.bundling);
    let mut read = DataReaderQos::default().reliable();
    (written.history, read.history) = (how.history, how.history);
    if !how.reliable {
        (written, read) = (written.best_effort(), read.best_effort());
    }
    let topic = one.create_topic::<T>("allocations").unwrap();
    let writer = one.create_datawriter(&topic, written).unwrap();
    let topic = other.create_topic::<T>("allocations").unwrap();
    let reader = other.create_datareader(&topic, read).unwrap();
    let waiting = Waiting::new(how.by, &reader);
    writer.wait_for_matched(1, PATIENCE).unwrap();
    reader.wait_for_matched(1, PATIENCE).unwrap();
    Ends {
        how,
        writer,
        reader,
        waiting,
        _participants: [one, other],
    }
}

/// Writes and takes the samples of `numbers`, each as `write` does it, as many together as that
/// says.
fn exchange<T: DdsType + Numbered>(
    ends: &mut Ends<T>,
    numbers: std::ops::Range<u32>,
    write: impl Fn(&DataWriter<T>, u32),
    room: &mut Vec<Sample<T>>,
) {
    let together = ends.how.together;
    for first in numbers.step_by(together as usize) {
        let these = first..first + together;
        for number in these.clone() {
            write(&ends.writer, number);
        }
        // A listener takes all by itself, and tells of the last.
        let told = if ends.how.by == By::Listener {
            these.end - 1
        } else {
            these.start
        };
        for number in told..these.end {
            assert_eq!(arrived(ends, number, room), number);
        }
    }
}

/// The number of the sample that comes next, which is to be `number`.
fn arrived<T: DdsType + Numbered>(
    ends: &mut Ends<T>,
    number: u32,
    room: &mut Vec<Sample<T>>,
) -> u32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(taken) = ends.waiting.take(&ends.reader, number, room) {
            return taken;
        }
        assert!(Instant::now() < deadline, "sample {number} does not arrive");
        std::thread::yield_now();
    }
}

/// The allocations of a stretch of samples that `make` has: of the one with most, but for
/// [`ELSEWHERE_MAX`].
fn made_for<T: DdsType + Numbered>(how: How, make: impl Fn(u32) -> T) -> usize {
    made_by(how, |writer, number| writer.write(&make(number)).unwrap())
}

/// The same, where `write` writes the sample of a number.
fn made_by<T: DdsType + Numbered>(how: How, write: impl Fn(&DataWriter<T>, u32)) -> usize {
    let mut ends = ends(how);
    let mut room = Vec::with_capacity(8);
    exchange(&mut ends, 0..WARM, &write, &mut room);
    let stretch = |stretch: u32| {
        let from = WARM + stretch * STRETCH;
        let region = Region::new(ALLOCATOR);
        exchange(&mut ends, from..from + STRETCH, &write, &mut room);
        let made = region.change();
        made.allocations + made.reallocations
    };
    let mut made: Vec<usize> = (0..STRETCHES).map(stretch).collect();
    made.sort_unstable();
    made[made.len() - 1 - ELSEWHERE_MAX]
}

fn position(number: u32) -> Position {
    Position {
        number,
        at: [f64::from(number); 12],
    }
}

/// Of some keys in turn.
fn track(number: u32) -> Track {
    Track {
        plane: number % 8,
        number,
    }
}

fn check_pictures(how: How, sizes: &[usize]) {
    for size in sizes {
        let pixels = SharedBytes::from(vec![7; *size]);
        let picture = |number| Picture {
            number,
            pixels: pixels.clone(),
        };
        let made = made_for(how, picture);
        assert_eq!(made, 0, "{how:?}, {size} octets: for {STRETCH} samples");
    }
}

/// Of each size, whole and in fragments.
fn pictures_allocate_nothing() {
    for history in HISTORIES {
        let usual = How { history, ..USUAL };
        for in_process in [InProcess::Off, InProcess::Direct] {
            let how = How {
                in_process,
                ..usual
            };
            let sizes = [16, 256, 1024, 2048, 4096, 8192, 16_384, 60_000, 63_000];
            check_pictures(how, &sizes);
        }
        // In two fragments and in three, the last of them shorter.
        let fragments = How {
            message_bytes_max: 1472,
            ..usual
        };
        check_pictures(fragments, &[2048, 4096]);
        // Longer than any message may be.
        check_pictures(usual, &[1 << 20]);
    }
}

/// Samples that wait for one another, alone and in bundles.
fn streams_allocate_nothing() {
    for in_process in [InProcess::Off, InProcess::Direct] {
        for bundling in [Bundling::Off, Bundling::Automatic, Bundling::up_to(1400)] {
            for by in By::ALL {
                let how = How {
                    in_process,
                    bundling,
                    by,
                    together: 20,
                    ..USUAL
                };
                assert_eq!(made_for(how, position), 0, "{how:?}");
            }
        }
    }
}

/// Values that were made before and are shared, and others by the ways that are no default.
fn each_way_allocates_nothing() {
    use InProcess::{Direct, Encoded, Off, Queued};
    let count = WARM + STRETCHES * STRETCH;
    let values: Vec<_> = (0..count).map(|it| Arc::new(position(it))).collect();
    for in_process in [Off, Direct, Queued, Encoded] {
        for (history, by) in kept_and_received() {
            let how = How {
                in_process,
                history,
                by,
                ..USUAL
            };
            let made = made_by(how, |writer, number| {
                let value = Arc::clone(&values[number as usize]);
                writer.write_shared(value).unwrap();
            });
            assert_eq!(made, 0, "{how:?}, shared");
            if matches!(in_process, Queued | Encoded) {
                assert_eq!(made_for(how, position), 0, "{how:?}");
            }
        }
    }
}

#[test]
fn write_and_take_allocate_nothing_in_steady_state() {
    for in_process in [InProcess::Off, InProcess::Direct] {
        for reliable in [true, false] {
            for (history, by) in kept_and_received() {
                let how = How {
                    in_process,
                    reliable,
                    history,
                    by,
                    ..USUAL
                };
                assert_eq!(made_for(how, position), 0, "{how:?}");
                assert_eq!(made_for(how, track), 0, "{how:?}, with keys");
            }
        }
    }
    streams_allocate_nothing();
    each_way_allocates_nothing();
    pictures_allocate_nothing();
}
