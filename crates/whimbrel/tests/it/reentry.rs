//! User code that comes back: wakers, listeners and types that drop, panic and block.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use whimbrel::base::reject::Reject;
use whimbrel::domain::InProcess;
use whimbrel::types::{DdsValue, Decoder, Encoder, KeyBounds, Kind, Shape};
use whimbrel::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DdsType, StatusKind,
    StatusMask, Topic, TopicListener, WaitSet,
};

use super::{PATIENCE, Position, matched_pair, matched_pair_by, pair, position};

/// Longest that the drop of an entity may take, whatever user code does meanwhile.
const DROP_MAX: Duration = Duration::from_millis(500);

fn hear<T>(from: &Receiver<T>, otherwise: &str) -> T {
    from.recv_timeout(PATIENCE).expect(otherwise)
}

/// A waker that does something by itself, at once.
struct Inline<F>(Mutex<Option<F>>);

impl<F: FnOnce() + Send + 'static> Wake for Inline<F> {
    fn wake(self: Arc<Self>) {
        let act = self.0.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
    }
}

fn inline(act: impl FnOnce() + Send + 'static) -> Waker {
    Waker::from(Arc::new(Inline(Mutex::new(Some(act)))))
}

/// Polls once, with the waker's code to run when the future can go on.
fn wait_with(future: Pin<&mut impl Future>, waker: &Waker) {
    let polled = future.poll(&mut Context::from_waker(waker));
    assert!(polled.is_pending(), "nothing to wait for");
}

#[test]
fn a_waker_may_drop_the_last_handle_of_everything() {
    let (here, there) = pair();
    let topic: Topic<Position> = here.create_topic("positions").unwrap();
    let writer = here
        .create_datawriter(&topic, DataWriterQos::default().reliable())
        .unwrap();
    let entity = writer.guid();
    // The future is a handle too, so the waker drops it with the others.
    let everything = Arc::new(Mutex::new(None));
    let (to, from) = channel();
    let waker = inline({
        let everything = Arc::clone(&everything);
        move || {
            drop(everything.lock().unwrap().take());
            to.send(()).unwrap();
        }
    });
    let mut matched = Box::pin(writer.wait_for_matched_async(1));
    wait_with(matched.as_mut(), &waker);
    *everything.lock().unwrap() = Some((matched, writer, topic, here));
    let topic: Topic<Position> = there.create_topic("positions").unwrap();
    let reader = there
        .create_datareader(&topic, DataReaderQos::default().reliable())
        .unwrap();
    hear(&from, "the waker hangs");
    let started = Instant::now();
    while there
        .discovered_writers()
        .iter()
        .any(|it| it.guid == entity)
    {
        assert!(started.elapsed() < PATIENCE, "the writer stayed");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(reader);
}

#[test]
fn a_waker_may_create_match_and_write() {
    let (writer, reader) = matched_pair();
    let participant = reader.subscriber().participant();
    let mut take = pin!(reader.take_async(1));
    let (to, from) = channel();
    let waker = inline(move || {
        let topic: Topic<Position> = participant.create_topic("answers").unwrap();
        let answer = participant
            .create_datawriter(&topic, DataWriterQos::default())
            .unwrap();
        answer.write(&position("tram", 2)).unwrap();
        let _ = participant.discovered_writers();
        to.send(()).unwrap();
    });
    wait_with(take.as_mut(), &waker);
    writer.write(&position("tram", 1)).unwrap();
    hear(&from, "the waker hangs");
}

#[test]
fn a_waker_that_panics_harms_nobody() {
    let (writer, reader) = matched_pair();
    let participant = reader.subscriber().participant();
    let before = participant.listener_panics();
    let (to, from) = channel();
    let mut first = pin!(reader.take_async(1));
    let mut second = pin!(reader.take_async(1));
    wait_with(first.as_mut(), &inline(|| panic!("no bed to leave")));
    wait_with(second.as_mut(), &inline(move || to.send(()).unwrap()));
    writer.write(&position("tram", 1)).unwrap();
    hear(&from, "the other waker was forgotten");
    assert!(participant.listener_panics() > before);
    assert_eq!(reader.take_timeout(1, PATIENCE).unwrap().len(), 1);
}

/// A waker whose last clone, when dropped, drops an entity.
struct Owning(#[expect(dead_code, reason = "held for its drop")] DataWriter<Position>);

impl Wake for Owning {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_waker_that_is_replaced_or_forgotten_may_own_entities() {
    let (writer, reader) = matched_pair();
    let participant = reader.subscriber().participant();
    let other = |name: &str| {
        let topic: Topic<Position> = participant.create_topic(name).unwrap();
        let qos = DataWriterQos::default();
        Waker::from(Arc::new(Owning(
            participant.create_datawriter(&topic, qos).unwrap(),
        )))
    };
    {
        let mut take = pin!(reader.take_async(1));
        for name in ["first", "second", "third"] {
            let waker = other(name);
            wait_with(take.as_mut(), &waker);
        }
    }
    writer.write(&position("tram", 1)).unwrap();
    assert_eq!(reader.take_timeout(1, PATIENCE).unwrap().len(), 1);
}

/// A listener that drops something when it is dropped itself.
struct Holding<T>(Option<T>, Sender<Option<String>>);

impl<T: Send> DataReaderListener<Position> for Holding<T> {}

impl<T: Send> TopicListener for Holding<T> {}

impl<T> Drop for Holding<T> {
    fn drop(&mut self) {
        drop(self.0.take());
        let thread = std::thread::current().name().map(str::to_owned);
        // The test may have ended.
        let _ = self.1.send(thread);
    }
}

#[test]
fn listeners_go_with_their_entity_on_the_thread_that_drops_it() {
    let go = || {
        let (_writer, reader) = matched_pair();
        let participant = reader.subscriber().participant();
        let topic: Topic<Position> = participant.create_topic("held").unwrap();
        let held = participant
            .create_datareader(&topic, DataReaderQos::default())
            .unwrap();
        let (to, from) = channel();
        let listener = Holding(Some(held), to.clone());
        reader.set_listener(Some(Box::new(listener)), StatusMask::ALL);
        let listener = Holding(Some(participant.clone()), to);
        topic.set_listener(Some(Box::new(listener)), StatusMask::ALL);
        drop(reader);
        let of_reader = hear(&from, "the reader's listener stayed");
        drop((topic, participant));
        [of_reader, hear(&from, "the topic's listener stayed")]
    };
    let here = std::thread::current().name().map(str::to_owned);
    // The thread that calls listeners may just have the entity in its hands, to tell of a match.
    let gone = (0..10).find(|_| go() == [here.clone(), here.clone()]);
    assert!(gone.is_some(), "never here");
}

/// Blocks in its call until it is told to go on.
struct Blocking {
    entered: Sender<()>,
    go_on: Receiver<()>,
}

impl DataReaderListener<Position> for Blocking {
    fn on_data_available(&mut self, _: &DataReader<Position>) {
        let _ = self.entered.send(());
        let _ = self.go_on.recv_timeout(PATIENCE);
    }
}

#[test]
fn a_listener_that_blocks_stops_neither_reception_nor_drop() {
    check_blocked(InProcess::Queued);
    check_blocked(InProcess::Off);
}

/// Where samples go in this way and the callback thread calls the listener.
fn check_blocked(how: InProcess) {
    let (writer, reader) = matched_pair_by(how);
    let (entered, has_entered) = channel();
    let (go, go_on) = channel();
    reader.set_listener(
        Some(Box::new(Blocking { entered, go_on })),
        StatusKind::DataAvailable,
    );
    writer.write(&position("tram", 0)).unwrap();
    hear(&has_entered, "the listener is not called");
    // Reception, acknowledgements and other readers go on.
    for x in 1..=100 {
        writer.write(&position("tram", x)).unwrap();
    }
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    assert_eq!(reader.take(1000).unwrap().len(), 101);
    let started = Instant::now();
    drop((writer, reader));
    let took = started.elapsed();
    assert!(took < DROP_MAX, "dropped after {took:?}");
    go.send(()).unwrap();
}

/// A number whose encoding and decoding do what user code may do.
#[derive(Clone, Debug, PartialEq, Default)]
struct Odd(u32);

/// Its encoding writes with the very writer it is written with.
const CHATTY: u32 = 1;
/// Its encoding panics.
const UNWRITABLE: u32 = 2;
/// Its decoding panics.
const UNREADABLE: u32 = 3;

#[derive(DdsType, Clone, Debug, PartialEq)]
struct Strange {
    #[dds(key)]
    number: Odd,
}

static STRANGE_WRITER: Mutex<Option<DataWriter<Strange>>> = Mutex::new(None);

impl DdsValue for Odd {
    const SHAPE: Shape = u32::SHAPE;
    const MIN_SIZE: usize = u32::MIN_SIZE;
    const KEY_BOUNDS: KeyBounds = u32::KEY_BOUNDS;

    fn encode(&self, out: &mut Encoder<'_>) {
        let writer = (self.0 == CHATTY).then(|| STRANGE_WRITER.lock().unwrap().take());
        if let Some(writer) = writer.flatten() {
            writer.write(&Strange { number: Self(100) }).unwrap();
            let _ = (writer.qos(), writer.statistics());
        }
        assert_ne!(self.0, UNWRITABLE, "this cannot be written");
        self.0.encode(out);
    }

    fn decode(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        let number = u32::decode(input)?;
        assert_ne!(number, UNREADABLE, "this cannot be read");
        Ok(Self(number))
    }

    fn skip(input: &mut Decoder<'_>) -> Result<(), Reject> {
        u32::skip(input)
    }

    fn missing(input: &mut Decoder<'_>) -> Result<Self, Reject> {
        u32::missing(input).map(Self)
    }

    fn kind() -> Kind {
        u32::kind()
    }
}

#[test]
fn types_may_use_the_bus_and_panic_while_they_are_encoded_or_decoded() {
    let (here, there) = pair();
    let topic: Topic<Strange> = here.create_topic("strange").unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = here.create_datawriter(&topic, qos).unwrap();
    let topic: Topic<Strange> = there.create_topic("strange").unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.create_datareader(&topic, qos).unwrap();
    writer.wait_for_matched(1, PATIENCE).unwrap();
    let write = |number| {
        writer.write(&Strange {
            number: Odd(number),
        })
    };
    *STRANGE_WRITER.lock().unwrap() = Some(writer.clone());
    write(CHATTY).unwrap();
    let unwritable = catch_unwind(AssertUnwindSafe(|| write(UNWRITABLE)));
    assert!(unwritable.is_err());
    write(UNREADABLE).unwrap();
    write(4).unwrap();
    writer.wait_for_acknowledgments(PATIENCE).unwrap();
    let mut seen = Vec::new();
    let started = Instant::now();
    while !seen.contains(&4) && started.elapsed() < PATIENCE {
        let taken = catch_unwind(AssertUnwindSafe(|| reader.take_timeout(1, PATIENCE)));
        let Ok(samples) = taken else { continue };
        let values = samples.unwrap().into_iter();
        seen.extend(values.filter_map(|sample| sample.into_data().map(|it| it.number.0)));
    }
    assert_eq!(seen, [100, CHATTY, 4]);
}

#[test]
fn a_thread_that_panics_takes_its_entities_off_the_bus() {
    let (writer, reader) = matched_pair();
    let condition = writer.status_condition();
    condition.set_enabled_statuses(StatusKind::PublicationMatched);
    let _ = writer.publication_matched_status();
    let thread = std::thread::spawn(move || {
        let _reader = reader;
        panic!("and everything goes");
    });
    assert!(thread.join().is_err());
    let wait_set = WaitSet::new();
    wait_set.attach(condition);
    wait_set.wait(PATIENCE).unwrap();
    assert_eq!(writer.publication_matched_status().current_count, 0);
    writer.write(&position("tram", 1)).unwrap();
}
