//! Futures and streams, run by the smallest executor there is.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use futures_core::Stream;
use whimbrel::qos::ResourceLimits;
use whimbrel::{DataReaderQos, DataWriterQos, GuardCondition, Sample, WaitSet};

use super::{PATIENCE, Position, matched_pair, pair, position};

struct Unpark {
    thread: Thread,
    wakes: AtomicUsize,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

fn unpark() -> Arc<Unpark> {
    Arc::new(Unpark {
        thread: thread::current(),
        wakes: AtomicUsize::new(0),
    })
}

/// Runs a future on this thread, asleep between its polls.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(unpark());
    let started = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let left = PATIENCE.saturating_sub(started.elapsed());
        assert!(!left.is_zero(), "the future was not woken in time");
        thread::park_timeout(left);
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn next<S: Stream + Unpin>(stream: &mut S) -> impl Future<Output = Option<S::Item>> {
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context))
}

fn values(samples: impl IntoIterator<Item = Sample<Position>>) -> Vec<i32> {
    let data = samples.into_iter().filter_map(Sample::into_data);
    data.map(|position| position.x).collect()
}

#[test]
fn taking_waits_for_data_and_takes_nothing_when_dropped() {
    let (writer, reader) = matched_pair();
    let mut given_up = Box::pin(reader.take_async(10));
    assert!(poll_once(given_up.as_mut()).is_pending());
    let writing = thread::spawn(move || {
        writer.write(&position("tram", 1)).unwrap();
        writer
    });
    reader.wait_for_data(PATIENCE).unwrap();
    drop(given_up);
    assert_eq!(values(block_on(reader.take_async(10)).unwrap()), [1]);
    drop(writing.join().unwrap());
}

#[test]
fn a_task_sleeps_until_its_reader_has_data_and_is_forgotten_when_dropped() {
    let (writer, reader) = matched_pair();
    let wakes = [unpark(), unpark()];
    let mut futures = wakes.each_ref().map(|wakes| {
        let mut future = Box::pin(reader.take_async(1));
        let waker = Waker::from(Arc::clone(wakes));
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        Some(future)
    });
    assert_eq!(Arc::strong_count(&wakes[0]), 2, "the waker is kept");
    futures[0] = None;
    assert_eq!(
        Arc::strong_count(&wakes[0]),
        1,
        "a dropped future's waker is not"
    );
    writer.write(&position("tram", 1)).unwrap();
    let started = Instant::now();
    while wakes[1].wakes.load(Ordering::SeqCst) == 0 {
        let left = PATIENCE.saturating_sub(started.elapsed());
        assert!(!left.is_zero(), "not woken");
        thread::park_timeout(left);
    }
    assert_eq!(wakes[0].wakes.load(Ordering::SeqCst), 0);
    let future = futures[1].take().unwrap();
    reader.wait_for_data(PATIENCE).unwrap();
    assert_eq!(values(block_on(future).unwrap()), [1]);
}

#[test]
fn streams_give_every_sample_in_order() {
    let (writer, reader) = matched_pair();
    let writing = thread::spawn(move || {
        for x in 0..200 {
            writer.write(&position("tram", x)).unwrap();
        }
        writer.wait_for_acknowledgments(PATIENCE).unwrap();
    });
    let mut stream = reader.stream();
    let mut received = vec![];
    while received.len() < 100 {
        received.extend(block_on(next(&mut stream)).unwrap().into_data());
    }
    // A stream that is dropped leaves the rest in the reader.
    drop(stream);
    let mut stream = reader.stream();
    while received.len() < 200 {
        received.extend(block_on(next(&mut stream)).unwrap().into_data());
    }
    let expected: Vec<_> = (0..200).map(|x| position("tram", x)).collect();
    assert_eq!(received, expected);
    writing.join().unwrap();
}

#[test]
fn iterators_take_what_is_there_or_wait_for_more() {
    let (writer, reader) = matched_pair();
    assert_eq!(reader.samples().count(), 0);
    let writing = thread::spawn(move || {
        (0..50).for_each(|x| writer.write(&position("tram", x)).unwrap());
        writer
    });
    let waited: Vec<_> = reader.samples_timeout(PATIENCE).take(48).collect();
    assert_eq!(values(waited), (0..48).collect::<Vec<_>>());
    let writer = writing.join().unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert_eq!(values(reader.samples()), [48, 49]);
}

#[test]
fn writing_waits_for_room_without_a_thread() {
    let (here, there) = pair();
    let limits = ResourceLimits::UNLIMITED.max_samples(2);
    let qos = DataWriterQos::default().reliable().keep_all();
    let topic = here.create_topic::<Position>("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, qos.resource_limits(limits))
        .unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let topic = there.create_topic::<Position>("positions").unwrap();
    let reader = there
        .create_datareader(&topic, qos.resource_limits(limits))
        .unwrap();
    block_on(writer.wait_for_matched_async(1));
    block_on(reader.wait_for_matched_async(1));
    let mut written = 0;
    let mut stuck = loop {
        let mut future = Box::pin(writer.write_async(&position("tram", written)));
        match poll_once(future.as_mut()) {
            Poll::Ready(outcome) => outcome.unwrap(),
            // Two in the reader and two in the writer are certain to fit, two more are not.
            Poll::Pending if written >= 4 => break future,
            Poll::Pending => block_on(future).unwrap(),
        }
        written += 1;
        assert!(written < 100, "nothing held the writer back");
    };
    // One that is given up is never written.
    let mut given_up = Box::pin(writer.write_async(&position("tram", 1000)));
    assert!(poll_once(given_up.as_mut()).is_pending());
    drop(given_up);
    let mut received = values(block_on(reader.take_async(10)).unwrap());
    block_on(&mut stuck).unwrap();
    while received.len() <= written as usize {
        received.extend(values(block_on(reader.take_async(10)).unwrap()));
    }
    assert_eq!(received, (0..=written).collect::<Vec<_>>());
    block_on(writer.wait_for_acknowledgments_async());
}

#[test]
fn wait_sets_serve_tasks_too() {
    let (wait_set, guard) = (WaitSet::new(), GuardCondition::new());
    wait_set.attach(guard.clone());
    let mut waiting = Box::pin(wait_set.wait_async());
    assert!(poll_once(waiting.as_mut()).is_pending());
    let setting = thread::spawn({
        let guard = guard.clone();
        move || guard.set_trigger_value(true)
    });
    assert_eq!(block_on(waiting), [guard.into()]);
    setting.join().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_readable_while_something_is_unread() {
    use std::os::fd::AsFd;
    use whimbrel_net::poll::{Events, Interest, Poller, Token, Trigger};

    let (writer, reader) = matched_pair();
    let poller = Poller::new().unwrap();
    let fd = reader.readiness_fd().unwrap();
    poller
        .add(&fd.as_fd(), Token(1), Interest::Read, Trigger::Level)
        .unwrap();
    let mut events = Events::with_capacity(4);
    let mut readable = |patience| {
        poller.wait(Some(patience), &mut events).unwrap();
        !events.is_empty()
    };
    assert!(!readable(Duration::ZERO));
    writer.write(&position("tram", 1)).unwrap();
    writer.write(&position("tram", 2)).unwrap();
    assert!(readable(PATIENCE));
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert_eq!(reader.take(1).unwrap().len(), 1);
    assert!(readable(Duration::ZERO), "one is left");
    assert_eq!(reader.read(10).unwrap().len(), 1);
    assert!(!readable(Duration::ZERO), "all are read");
    drop(reader);
    assert!(!readable(Duration::ZERO));
}
